// Operators of ONNX that run other nodes.
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

void map_if(Mapping& node) {
  const TensorData& condition = node.known(0, "DirectML's graphs do not branch");
  if (condition.count() != 1 || condition.type != DataType::UInt8)
    Mapping::refuse_invalid("its condition must be one element of BOOL");
  const bool holds = condition.bytes.front() != std::byte{0};
  const char* branch = holds ? "then_branch" : "else_branch";
  node.require_attribute(branch);
  node.ignore({"then_branch", "else_branch"});  // the other one
  const Attribute& attribute = *node.find(branch);
  if (attribute.graph == nullptr)
    Mapping::refuse_invalid("its attribute " + std::string(branch) + " is not a graph");
  node.inlined = attribute.graph;
}

constexpr OnnxOperator control_table[]{
    {"If", "", "the nodes of the branch that its condition chooses", map_if},
};

}  // namespace

std::span<const OnnxOperator> control_rows() {
  return control_table;
}

}  // namespace dmlop::onnx
