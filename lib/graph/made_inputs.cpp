#include "graph/made_inputs.hpp"

#include <algorithm>

#include "job/bench_inputs.hpp"

namespace dmlop {
namespace {

InitialValues values_in_memory(Bytes bytes) {
  const auto kept = std::make_shared<const Bytes>(std::move(bytes));
  const auto fill = [kept](std::span<std::byte> to) {
    std::copy(kept->begin(), kept->end(), to.begin());
  };
  return {.bytes = kept->size(), .fill = fill, .mapped = *kept};
}

/// The tensor of a node that a resource is bound to first.
struct Reader {
  const Description* description = nullptr;
  const TensorBinding* binding = nullptr;
};

Reader first_reader(const Model& model, std::size_t resource) {
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    const Dispatchable& dispatchable = model.dispatchables[dispatch->dispatchable];
    for (const auto* bindings : {&dispatchable.owned, &dispatch->bindings}) {
      for (const TensorBinding& binding : *bindings) {
        if (binding.range.resource == resource) return {&*dispatchable.description, &binding};
      }
    }
  }
  return {};
}

}  // namespace

void make_up_inputs(LoweredGraph& graph, unsigned threads) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    Resource& resource = graph.model.resources[graph.inputs[i].resource];
    if (resource.initial.bytes > 0) continue;
    const auto [description, binding] = first_reader(graph.model, graph.inputs[i].resource);
    if (description == nullptr) continue;  // no node reads it
    const FieldSpec& field = *description->spec->find_field(binding->tensor);
    Bytes bytes = bench_input(*description, field, binding->element, i, threads);
    bytes.resize(static_cast<std::size_t>(resource.size));
    resource.initial = values_in_memory(std::move(bytes));
  }
}

}  // namespace dmlop
