#include "onnx/graph_nodes.hpp"

#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "tensor/half.hpp"

namespace dmlop::onnx {
namespace {

double number_at(const std::byte* from, DataType type) {
  if (type == DataType::Float32) {
    float number = 0;
    std::memcpy(&number, from, sizeof number);
    return number;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return half_to_float(bits);
}

}  // namespace

const GraphOperator* operator_of_type(const GraphNode& node, std::string_view type) {
  constexpr std::string_view prefix = "DML_OPERATOR_";
  const auto* operation = std::get_if<GraphOperator>(&node.content);
  const bool is_it = operation != nullptr && operation->type.starts_with(prefix) &&
                     std::string_view(operation->type).substr(prefix.size()) == type;
  return is_it ? operation : nullptr;
}

std::vector<Operand> operands_of(const GraphNode& node) {
  std::vector<Operand> operands;
  const auto uses = uses_of(node.inputs, std::get<GraphOperator>(node.content).inputs);
  if (!uses) return operands;
  for (const GraphUse& use : *uses) {
    if (use.tensor != nullptr) operands.push_back({use.edge, *use.tensor});
  }
  return operands;
}

const GraphValue* find_attribute(const GraphOperator& operation, std::string_view name) {
  for (const GraphAttribute& attribute : operation.attributes) {
    const bool is_left_out = std::holds_alternative<std::monostate>(attribute.value);
    if (attribute.name == name && !is_left_out) return &attribute.value;
  }
  return nullptr;
}

bool has_activation(const GraphOperator& operation) {
  return value_of_attribute<GraphActivation>(operation, "FusedActivation") != nullptr;
}

std::optional<DataType> real_type(const GraphTensor& tensor) {
  if (tensor.data_type == "DML_TENSOR_DATA_TYPE_FLOAT32") return DataType::Float32;
  if (tensor.data_type == "DML_TENSOR_DATA_TYPE_FLOAT16") return DataType::Float16;
  return std::nullopt;
}

bool are_same_bytes(const GraphTensor& a, const GraphTensor& b) {
  return !a.strides && !b.strides && a.data_type == b.data_type &&
         a.total_size_in_bytes == b.total_size_in_bytes;
}

std::span<const std::byte> bytes_in_memory(const GraphConstant& constant) {
  if (constant.name || !constant.path.empty()) return {};
  return constant.view ? constant.view->bytes : std::span<const std::byte>(constant.bytes);
}

std::vector<double> numbers_in(const GraphConstant& constant, DataType real_type) {
  const std::span<const std::byte> bytes = bytes_in_memory(constant);
  std::vector<double> numbers(bytes.size() / size_of(real_type));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = number_at(bytes.data() + i * size_of(real_type), real_type);
  const auto& view = constant.view;
  if (view && view->file)
    with_context("reading " + view->path, [&] { view->file->require_intact(); });
  return numbers;
}

std::optional<double> scalar_in(const GraphConstant& constant, const GraphTensor& tensor) {
  const auto type = real_type(tensor);
  if (!type || bytes_in_memory(constant).size() != size_of(*type)) return std::nullopt;
  return numbers_in(constant, *type).front();
}

}  // namespace dmlop::onnx
