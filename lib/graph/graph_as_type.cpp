#include "graph/graph_as_type.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "base/text.hpp"
#include "job/as_type.hpp"
#include "npy/converted.hpp"

namespace dmlop {
namespace {

// After this many nodes that do not accept the type, the rest are counted.
constexpr std::size_t refusals_listed = 16;

InitialValues values_as(DataType type, DataType own, const InitialValues& values) {
  const std::uint64_t count = values.bytes / size_of(own);
  InitialValues changed{.data_type = type, .bytes = count * size_of(type), .path = values.path};
  changed.fill = [=, fill = values.fill, bytes = values.bytes](std::span<std::byte> to) {
    Buffer from(bytes, "values to convert");
    fill(from.bytes());
    convert_elements(own, from.bytes(), type, to);
  };
  return changed;
}

class GraphChange {
 public:
  GraphChange(DataType type, Model& graph, Diagnostics& diagnostics)
      : type_(type), graph_(graph), diagnostics_(diagnostics), types_(graph.resources.size()) {}

  void run() {
    for_each_binding([&](const Description& node, const TensorBinding& binding) {
      add_use(*node.find_tensor(binding.tensor, binding.element)->data_type,
              binding.range.resource);
    });
    std::vector<Description> changed;
    bool has_any = false;
    for (const Dispatchable& node : graph_.dispatchables) {
      has_any = has_any || has_floating_type(*node.description);
      if (auto description = description_of(node)) changed.push_back(std::move(*description));
    }
    if (!has_any) diagnostics_.push_back(nothing_to_compute_as(type_, graph_.file));
    if (!diagnostics_.empty()) return;
    for (std::size_t i = 0; i < changed.size(); ++i)
      graph_.dispatchables[i].description = std::move(changed[i]);
    change_edges();
  }

 private:
  template <typename Action>
  void for_each_binding(const Action& action) {
    for (ModelCommand& command : graph_.commands) {
      auto& dispatch = std::get<DispatchCommand>(command);
      Dispatchable& node = graph_.dispatchables[dispatch.dispatchable];
      for (auto* bindings : {&dispatch.bindings, &node.owned}) {
        for (TensorBinding& binding : *bindings) action(*node.description, binding);
      }
    }
  }

  // An edge is converted as a whole.
  void add_use(DataType type, std::size_t edge) {
    if (!types_[edge]) types_[edge] = type;
    const DataType first = *types_[edge];
    if (first == type || (!is_floating(first) && !is_floating(type)) || has_finding_) return;
    has_finding_ = true;
    diagnostics_.push_back(
        {.file = graph_.file,
         .message = "nodes see the edge \"" + printable(graph_.resources[edge].name) + "\" as " +
                    std::string(name_of(first)) + " and as " + std::string(name_of(type)) +
                    ", so its numbers cannot become " + std::string(name_of(type_)),
         .suggestion = "leave --as-type out",
         .argument = as_type_option(type_)});
  }

  std::optional<Description> description_of(const Dispatchable& node) {
    if (!has_floating_type(*node.description)) return node.description;
    Diagnostics findings;
    auto description = description_as(
        type_, *node.description,
        "node \"" + printable(node.name) + "\" (" + node.description->spec->name + ")", findings);
    for (Diagnostic& finding : findings) {
      finding.file = graph_.file;
      if (refused_++ < refusals_listed) {
        diagnostics_.push_back(std::move(finding));
      } else {
        ++diagnostics_.back().more;
      }
    }
    return description;
  }

  void change_edges() {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      Resource& edge = graph_.resources[i];
      if (!types_[i] || !is_floating(*types_[i]) || *types_[i] == type_) continue;
      edge.size = 0;
      if (!edge.initial.fill) continue;
      edge.initial = values_as(type_, *types_[i], edge.initial);
      edge.size = (edge.initial.bytes + 3) / 4 * 4;
    }
    for_each_binding([&](const Description& node, TensorBinding& binding) {
      const TensorDesc& desc = *node.find_tensor(binding.tensor, binding.element);
      if (!is_floating(*desc.data_type)) return;
      binding.range.size = needed_bytes(desc);
      std::uint64_t& size = graph_.resources[binding.range.resource].size;
      size = std::max(size, binding.range.size);
    });
  }

  DataType type_;
  Model& graph_;
  Diagnostics& diagnostics_;
  std::vector<std::optional<DataType>> types_;  // in which nodes see each edge; absent: in none
  bool has_finding_ = false;
  std::size_t refused_ = 0;
};

}  // namespace

void compute_as(DataType type, Model& graph, Diagnostics& diagnostics) {
  GraphChange(type, graph, diagnostics).run();
}

}  // namespace dmlop
