#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/describe.hpp"
#include "graph/files.hpp"
#include "graph/json_graph.hpp"
#include "model/convert_json.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

/// The first desc by which a node reads each edge.
std::map<std::string, const GraphTensor*> first_readers(const Graph& graph) {
  std::map<std::string, const GraphTensor*> readers;
  for (const GraphNode& node : graph.nodes) {
    const auto* operation = std::get_if<GraphOperator>(&node.content);
    if (operation == nullptr) continue;
    const auto uses = uses_of(node.inputs, operation->inputs);
    if (!uses) continue;
    for (const GraphUse& use : *uses) {
      if (use.tensor != nullptr) readers.try_emplace(use.edge, use.tensor);
    }
  }
  return readers;
}

std::string short_type(const GraphTensor& tensor) {
  constexpr std::string_view prefix = "DML_TENSOR_DATA_TYPE_";
  return tensor.data_type.starts_with(prefix) ? tensor.data_type.substr(prefix.size())
                                              : tensor.data_type;
}

/// Bytes that stand in the graph: as elements of the type that their reader takes them for, where
/// that is possible.
Json values_json(const std::vector<std::byte>& bytes, const GraphTensor* reader) {
  const auto named = reader != nullptr ? data_type_named(short_type(*reader)) : std::nullopt;
  DataType type = named.value_or(DataType::UInt8);
  if (has_4_bits(type) || bytes.size() % size_of(type) != 0) type = DataType::UInt8;
  const std::size_t size = size_of(type);
  Json values = Json::array();
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::string text = element_text(type, &bytes[at]);
    const bool is_number = text.find_first_of("nN") == std::string::npos;  // nan, inf
    values.push_back(is_number ? Json::parse(text) : Json(text));
  }
  return {{"DataType", name_of(type)}, {"Sizes", {values.size()}}, {"Values", std::move(values)}};
}

class GraphJson {
 public:
  GraphJson(const Graph& graph, const std::string& path)
      : graph_(graph), path_(path), readers_(first_readers(graph)) {
    for (const GraphNode& node : graph.nodes)
      names_.insert(node.outputs.begin(), node.outputs.end());
    names_.insert(graph.inputs.begin(), graph.inputs.end());
  }

  Json make() {
    Json json{{"inputs", Json::array()}};
    for (const std::string& input : input_names(graph_))
      json["inputs"].push_back(input_json(input));
    Json constants = Json::object(), nodes = Json::array();
    for (const GraphNode& node : graph_.nodes) {
      if (const auto* operation = std::get_if<GraphOperator>(&node.content)) {
        nodes.push_back(node_json(node, *operation));
        continue;
      }
      for (const std::string& edge : node.outputs) {
        if (!edge.empty())
          constants[edge] = constant_json(std::get<GraphConstant>(node.content), edge);
      }
    }
    if (!constants.empty()) json["constants"] = std::move(constants);
    json["nodes"] = std::move(nodes);
    json["outputs"] = graph_.outputs;
    return json;
  }

 private:
  Json input_json(const std::string& name) const {
    if (name.empty()) return nullptr;
    Json json{{"name", name}};
    const auto reader = readers_.find(name);
    if (reader == readers_.end()) return json;
    const auto type = graph_.types.find(name);
    json["DataType"] = type != graph_.types.end() ? std::string(name_of(type->second))
                                                  : short_type(*reader->second);
    // A node may read a part of an input, or take its dimensions in another order.
    const auto said = graph_.sizes.find(name);
    if (said != graph_.sizes.end())
      json["Sizes"] = said->second;
    else
      json["Sizes"] = reader->second->sizes;
    return json;
  }

  Json constant_json(const GraphConstant& constant, const std::string& edge) const {
    const auto reader = readers_.find(edge);
    if (!constant.path.empty()) return path_from(path_, constant.path);
    if (constant.name) return path_from(path_, constant_path(graph_, *constant.name));
    return values_json(constant.bytes, reader == readers_.end() ? nullptr : reader->second);
  }

  Json node_json(const GraphNode& node, const GraphOperator& operation) {
    std::vector<std::string> messages;
    DescribedNode described = describe(node, operation, messages);
    if (!messages.empty())
      throw Error(ErrorKind::invalid_input, title_of(node) + ": " + messages.front());
    Json json{{"name", node.name}, {"type", described.description["type"]}};
    Json bindings = Json::object();
    for (const NodeTensor& tensor : described.tensors) {
      if (tensor.field->is_tensor_array()) {
        bindings[tensor.field->name].push_back(
            tensor.edge.empty() ? new_name(node.name + "." + tensor.name()) : tensor.edge);
      } else if (!tensor.edge.empty()) {
        bindings[tensor.field->name] = tensor.edge;
      }
    }
    json["bindings"] = std::move(bindings);
    json["desc"] = std::move(described.description["desc"]);
    return json;
  }

  /// A name for one of several tensors that nothing reads, so that the others keep their places.
  std::string new_name(const std::string& wanted) {
    std::string name = wanted;
    for (std::size_t i = 2; !names_.insert(name).second; ++i) name = wanted + std::to_string(i);
    return name;
  }

  const Graph& graph_;
  const std::string& path_;
  std::map<std::string, const GraphTensor*> readers_;
  std::set<std::string> names_;  // of edges
};

}  // namespace

Json json_of(const Graph& graph, const std::string& path) {
  return GraphJson(graph, path).make();
}

}  // namespace dmlop
