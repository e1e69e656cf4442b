// Nodes that take the place of one: those of a function, or of the branch of an If.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "onnx/importer.hpp"
#include "onnx/whole_model.hpp"

namespace dmlop::onnx {
namespace {

/// Counts what stands inside each other while it lives.
class Level {
 public:
  explicit Level(std::size_t& depth) : depth_(depth) { ++depth_; }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  std::size_t& depth_;
};

}  // namespace

const Function* Importer::function_of(const Node& node) const {
  const auto found = std::ranges::find_if(model_.functions, [&](const Function& function) {
    return function.name == node.type && function.domain == node.domain &&
           function.overload == node.overload;
  });
  return found == model_.functions.end() ? nullptr : &*found;
}

void Importer::call(const Function& function, const Node& node, const std::string& title) {
  if (node.inputs.size() > function.inputs.size())
    Mapping::refuse_invalid("it has " + counted(node.inputs.size(), "input") +
                            ", but its function has " + std::to_string(function.inputs.size()));
  for (const Attribute& attribute : node.attributes) {
    if (!function.has_attribute(attribute.name))
      Mapping::refuse_invalid("it has the attribute \"" + printable(std::string(attribute.name)) +
                              "\", which its function does not have");
  }
  Scope scope(function, node, names_);
  inline_nodes(function.nodes, function.outputs, node, title, scope);
}

void Importer::expand(const Function& function, const Node& node, const std::string& title) {
  Scope scope(function, node, names_, false);
  inline_nodes(function.nodes, function.outputs, node, title, scope);
  for (const Node& inner : function.nodes) {
    const std::string_view output = inner.outputs.front();
    if (std::ranges::find(function.outputs, output) == function.outputs.end())
      fused_.insert(std::string(scope.read(output)));
  }
}

void Importer::inline_graph(const OnnxGraph& graph, const Node& node, const std::string& title,
                            const Scope& around) {
  if (graph.has_sparse_initializers) Mapping::refuse(no_sparse);
  Scope scope(around);
  for (const Tensor& tensor : graph.initializers)
    add_initializer(tensor, scope.written(tensor.name));
  inline_nodes(graph.nodes, names_of(graph.outputs), node, title, scope);
}

void Importer::inline_nodes(const std::vector<Node>& nodes,
                            const std::vector<std::string_view>& outputs, const Node& node,
                            const std::string& title, Scope& scope) {
  if (outputs.size() < node.outputs.size())
    Mapping::refuse_invalid("it has " + counted(node.outputs.size(), "output") +
                            ", but what it runs has " + std::to_string(outputs.size()));
  if (depth_ == graphs_nested_max)
    Mapping::refuse("more than " + std::to_string(graphs_nested_max) +
                    " functions or branches stand inside each other");
  std::set<std::string_view> written;
  for (const Node& inner : nodes) written.insert(inner.outputs.begin(), inner.outputs.end());
  std::vector<std::string_view> wanted;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    wanted.push_back(outputs[i]);
    if (written.contains(outputs[i])) scope.bind(outputs[i], node.outputs[i]);
  }
  {
    const Level level(depth_);
    add_nodes(nodes, wanted, scope);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    add_alias(scope.read(outputs[i]), node.outputs[i], title);
}

void Importer::add_alias(std::string_view name, std::string_view other, const std::string& title) {
  if (other.empty() || other == name) return;
  const auto found = values_.find(std::string(name));
  if (is_lost(name)) return lose(other);
  if (found == values_.end())
    Mapping::refuse_invalid("what it runs writes no value \"" + printable(std::string(name)) +
                            "\"");
  const Value value = found->second;
  if (Value* made = add_value(other, title)) *made = value;
}

}  // namespace dmlop::onnx
