#include "onnx/fold.hpp"

#include <set>

#include "graph/lower.hpp"
#include "job/backend.hpp"
#include "model/outputs.hpp"
#include "model/runtime.hpp"

namespace dmlop::onnx {
namespace {

Graph graph_of(const Mapping& mapping) {
  Graph graph{.file = "", .inputs = {}, .outputs = {}, .nodes = {}};
  std::set<std::string> constants;
  for (const Value* value : mapping.used) {
    if (constants.insert(value->edge).second)
      graph.nodes.push_back(constant_node(value->edge, *value->known()));
  }
  for (const Mapping::Constant& constant : mapping.constants)
    graph.nodes.push_back(constant_node(constant.edge, constant.data));
  for (const DmlOperator& operation : mapping.operators)
    graph.nodes.push_back(operation.node("folded"));
  for (const std::optional<Value>& output : mapping.outputs) {
    if (output && !output->constant) graph.outputs.push_back(output->edge);
  }
  return graph;
}

}  // namespace

bool compute(Mapping& mapping, bool is_constant) {
  Diagnostics findings, warnings;
  const Graph graph = graph_of(mapping);
  const auto lowered = lower_graph(graph, {}, findings, warnings);
  if (!lowered) return false;
  Backend cpu;
  try {
    Runtime runtime(lowered->model, cpu, {.threads = 1});
    for (const ModelCommand& command : lowered->model.commands)
      runtime.dispatch(std::get<DispatchCommand>(command));
    std::size_t next = 0;
    for (std::optional<Value>& output : mapping.outputs) {
      if (!output || output->constant) continue;
      const std::size_t resource = lowered->model.outputs[next++];
      const Buffer packed =
          packed_elements(tensor_of(lowered->model, resource), runtime.contents(resource));
      const auto bytes = packed.bytes();
      TensorData data = new_data(output->type, output->sizes, {bytes.begin(), bytes.end()});
      data.is_boolean = output->is_boolean;
      (is_constant ? output->constant : output->given) = std::move(data);
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return false;
  }
  return true;
}

GraphNode constant_node(const std::string& edge, const TensorData& data) {
  GraphConstant constant;
  constant.view =
      std::make_shared<const GraphBytes>(GraphBytes{data.bytes, data.owner, data.file, data.path});
  return {.name = edge, .content = std::move(constant), .inputs = {}, .outputs = {edge}};
}

}  // namespace dmlop::onnx
