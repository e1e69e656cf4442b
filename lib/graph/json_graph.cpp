#include "graph/json_graph.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/caller.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/files.hpp"
#include "graph/from_description.hpp"
#include "job/confined_files.hpp"
#include "model/values.hpp"
#include "npy/npy.hpp"
#include "ops/operator.hpp"
#include "spec/field_reader.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

/// What the next reader of an edge takes it for, unless it writes its own desc.
struct JsonEdge {
  std::optional<TensorDesc> desc = {};   // absent: its source does not say
  const json::Value* written = nullptr;  // where its source stands
  bool is_read = false;
  bool is_of_node = false;
  bool is_doubtful = false;  // the node that writes it has findings
};

class JsonGraphReader {
 public:
  JsonGraphReader(std::shared_ptr<const json::Document> document, const GraphRequest& request,
                  Diagnostics& diagnostics)
      : document_(std::move(document)),
        request_(request),
        diagnostics_(diagnostics),
        reader_(*document_, diagnostics) {
    graph_.file = document_->file();
  }

  Graph read() {
    const json::Value& root = document_->root();
    reader_.refuse_unknown(root, {"inputs", "constants", "nodes", "outputs", "$schema"}, "a graph");
    if (const json::Value* inputs = root.find("inputs")) read_inputs(*inputs);
    if (const json::Value* constants = root.find("constants")) read_constants(*constants);
    const json::Value& nodes = *root.find("nodes");
    if (nodes.items.empty()) reader_.expected(nodes, "nodes", "a list of at least one node");
    if (nodes.items.size() > graph_nodes_max)
      reader_.expected(nodes, "nodes", "at most " + std::to_string(graph_nodes_max) + " nodes");
    for (std::size_t i = 0; i < std::min(nodes.items.size(), graph_nodes_max); ++i)
      read_node(nodes.items[i], i);
    read_outputs(root);
    return std::move(graph_);
  }

 private:
  JsonEdge* add_edge(const json::Value& place, const std::string& name,
                     const std::string& remedy = "give one of them another name") {
    const auto [found, is_new] = edges_.try_emplace(name, JsonEdge{.written = &place});
    if (is_new) return &found->second;
    const json::Value* other = found->second.written;
    const std::string where =
        other == nullptr ? "" : ", see line " + std::to_string(document_->line_of(*other));
    reader_.refuse(place, "the edge \"" + printable(name) + "\" already exists" + where,
                   "an edge has one source: an input, a constant or an output of a node", remedy);
    return nullptr;
  }

  void read_inputs(const json::Value& inputs) {
    const auto takes = [](const json::Value& list) {
      const auto is_input = [](const json::Value& item) {
        return item.kind == Kind::string || item.find("name") != nullptr;
      };
      return list.kind == Kind::array &&
             std::all_of(list.items.begin(), list.items.end(), is_input);
    };
    if (!reader_.is_list(inputs, "inputs",
                         {"an array of names or objects", Form::tensors,
                          R"([{"name": "x", "DataType": "FLOAT32", "Sizes": [1, 4]}])", takes}))
      return;
    for (std::size_t i = 0; i < inputs.items.size(); ++i) {
      const json::Value& input = inputs.items[i];
      const std::string called = "inputs[" + std::to_string(i) + "]";
      std::string name;
      if (input.kind == Kind::object) {
        reader_.refuse_unknown(input, {"name", "DataType", "Sizes"}, called);
        name = name_of_input(input, called);
        JsonEdge* edge = name.empty() ? nullptr : add_edge(input, name);
        if (edge != nullptr) edge->desc = read_desc(input, called);
        if (edge != nullptr && edge->desc && edge->desc->data_type && !edge->desc->sizes.empty()) {
          graph_.input_bytes[name] = needed_bytes(*edge->desc);
          graph_.types.emplace(name, *edge->desc->data_type);
          graph_.sizes.emplace(name, edge->desc->sizes);
        }
      } else if (input.kind == Kind::string && !input.text.empty()) {
        name = input.text;  // its nodes say what it is
        add_edge(input, name);
      } else if (input.kind != Kind::null) {
        reader_.expected(input, called,
                         "a name, an object with a name, or null for one that is not used",
                         R"(write "x", for example)");
      }
      graph_.inputs.push_back(name);
    }
  }

  std::string name_of_input(const json::Value& input, const std::string& called) {
    const json::Value* name = input.find("name");
    if (name == nullptr) {
      reader_.missing(input, "name", "nodes name the inputs that they read",
                      "write \"name\": \"x\"");
      return "";
    }
    return reader_.string(*name, called + ".name").value_or("");
  }

  /// The type and the sizes that an object has. Nothing if it has neither.
  std::optional<TensorDesc> read_desc(const json::Value& object, const std::string& called) {
    TensorDesc desc;
    if (const json::Value* type = object.find("DataType")) {
      const auto value = reader_.enumeration(*type, called + ".DataType", "DML_TENSOR_DATA_TYPE",
                                             enum_values("DML_TENSOR_DATA_TYPE"));
      if (value && *value != 0) desc.data_type = static_cast<DataType>(*value);
    }
    if (const json::Value* sizes = object.find("Sizes")) {
      const auto list = reader_.sizes(*sizes, called + ".Sizes");
      if (list) desc.sizes.assign(list->begin(), list->end());
    }
    if (!desc.data_type && desc.sizes.empty()) return std::nullopt;
    return desc;
  }

  void read_constants(const json::Value& constants) {
    if (constants.kind != Kind::object) {
      reader_.expected(constants, "constants", "an object such as {\"weights\": \"weights.npy\"}",
                       R"(write {"weights": "weights.npy"}, for example)");
      return;
    }
    for (const json::Member& member : constants.members) {
      const std::string called = "constants." + printable(member.name);
      JsonEdge* edge = add_edge(member.value, member.name);
      if (edge == nullptr) continue;
      auto constant = member.value.kind == Kind::string
                          ? constant_of_file(member.value, called, *edge)
                          : constant_of_values(member.value, called, *edge);
      if (!constant) continue;
      if (edge->desc) {
        graph_.types.emplace(member.name, *edge->desc->data_type);
        graph_.sizes.emplace(member.name, edge->desc->sizes);
      }
      graph_.nodes.push_back(
          {.name = member.name, .content = std::move(*constant), .inputs = {}, .outputs = {}});
      graph_.nodes.back().outputs.push_back(member.name);
    }
  }

  std::optional<GraphConstant> constant_of_file(const json::Value& value, const std::string& called,
                                                JsonEdge& edge) {
    if (value.text.empty() || value.text.find('\0') != std::string::npos) {
      reader_.expected(value, called, "the path of a .npy file, or of one of raw bytes");
      return std::nullopt;
    }
    const std::string path =
        to_text(to_path(document_->file()).parent_path() / to_path(value.text));
    if (request_.confinement) {
      PathProblem problem = request_.confinement->problem_of_text(value.text);
      if (!problem) problem = request_.confinement->problem_of_file(path);
      if (problem) {
        reader_.add(confinement_finding(*document_, value, called, problem, *request_.confinement));
        return std::nullopt;
      }
    }
    try {
      with_context("reading " + path, [&] { read_header(path, edge); });
    } catch (const Error& error) {
      reader_.add(document_->at(value, error, called));
      diagnostics_.back().rule = "paths are relative to the graph's folder";
      return std::nullopt;
    }
    return GraphConstant{.path = path};
  }

  void read_header(const std::string& path, JsonEdge& edge) const {
    const PinnedFile pinned(request_.confinement, path);
    if (!is_npy(path)) {
      InputFile::open(pinned);
      return;
    }
    const NpyFile file = NpyFile::open(pinned);
    edge.desc.emplace();
    edge.desc->data_type = file.header().data_type;
    edge.desc->sizes = file.header().sizes;
  }

  std::optional<GraphConstant> constant_of_values(const json::Value& value,
                                                  const std::string& called, JsonEdge& edge) {
    if (value.kind != Kind::object) {
      reader_.expected(value, called,
                       "the path of a file, or an object with DataType, Sizes and Values");
      return std::nullopt;
    }
    reader_.refuse_unknown(value, {"DataType", "Sizes", "Values"}, called);
    const std::size_t before = diagnostics_.size();
    edge.desc = read_desc(value, called);
    for (const char* member : {"DataType", "Sizes", "Values"}) {
      if (value.find(member) == nullptr)
        reader_.missing(value, member, "a constant has a type, sizes and values",
                        R"(write {"DataType": "FLOAT32", "Sizes": [2], "Values": [1, 2]})");
    }
    if (diagnostics_.size() > before || !edge.desc) return std::nullopt;
    const json::Value& values = *value.find("Values");
    if (values.kind != Kind::array) {
      reader_.expected(values, called + ".Values", "an array of numbers");
      return std::nullopt;
    }
    const auto count = element_count(edge.desc->sizes);
    if (count != values.items.size()) {
      reader_.refuse(values,
                     called + ".Values has " + counted(values.items.size(), "value") +
                         ", must have " + (count ? std::to_string(*count) : "more than 2^64"),
                     "Sizes are " + list_of(edge.desc->sizes), "");
      return std::nullopt;
    }
    return bytes_of(values, called, *edge.desc->data_type);
  }

  std::optional<GraphConstant> bytes_of(const json::Value& values, const std::string& called,
                                        DataType type) {
    if (has_4_bits(type)) {
      reader_.expected(values, called + ".Values", "of a type of at least 8 bits",
                       "write the packed bytes as UINT8");
      return std::nullopt;
    }
    const auto initial = read_list(reader_, values, called + ".Values", type);
    if (!initial) return std::nullopt;
    GraphConstant constant;
    constant.bytes.resize(initial->bytes);
    initial->fill(constant.bytes);
    return constant;
  }

  void read_node(const json::Value& value, std::size_t index) {
    // Findings of one node must not be searched for each other node.
    Diagnostics findings;
    const std::shared_ptr<const json::Value> root(document_, &value);
    auto description =
        read_description(document_, root, {"name"}, request_.checking.feature_level, findings);
    if (const json::Value* judge = value.find("as")) {
      findings.push_back(document_->at(*judge, "a node has no judge of its own"));
      findings.back().suggestion =
          "leave it out; " + option_text("--as") + " is for the whole graph";
    }
    std::string name;
    if (const json::Value* written = value.find("name"))
      name = reader_.string(*written, "name").value_or("");
    if (description) {
      if (name.empty()) name = description->spec->name + "_" + std::to_string(index);
      const bool is_added = findings.empty() && add_node(*description, name, findings);
      if (!is_added) forget_outputs(*description);
    }
    diagnostics_.insert(diagnostics_.end(), std::make_move_iterator(findings.begin()),
                        std::make_move_iterator(findings.end()));
  }

  /// Returns false if the node cannot be checked: it has findings, or an earlier one has.
  bool add_node(Description& description, const std::string& name, Diagnostics& findings) {
    std::map<std::string, std::string> edges;  // by tensor
    bool is_doubtful = false;
    for (const Binding& binding : description.bindings) {
      if (binding.random)
        findings.push_back(
            document_->at(*binding.written,
                          "bindings." + tensor_name(binding.tensor, binding.element) +
                              " must be the edge of a graph; random numbers are for its inputs"));
      const FieldSpec& field = *description.spec->find_field(binding.tensor);
      TensorDesc& desc = present(description, field, binding.element.value_or(0));
      edges[tensor_name(binding.tensor, binding.element)] = binding.path;
      if (!field.is_input()) continue;
      const JsonEdge* edge = take_edge(description, binding, desc, findings);
      is_doubtful |= edge == nullptr || edge->is_doubtful;
    }
    if (is_doubtful) return false;
    description.judge = request_.checking.judge.value_or(Judge::directml);
    const std::vector<std::string> unknown = fields_of_unknown_type(description);
    check_description(description, findings);
    if (!findings.empty()) return false;
    GraphOperator operation = graph_operator(description);
    for (GraphAttribute& attribute : operation.attributes) {
      if (std::ranges::find(unknown, attribute.name) != unknown.end())
        attribute.value = std::uint32_t{0};
    }
    GraphNode node{.name = name, .content = std::move(operation), .inputs = {}, .outputs = {}};
    for (const FieldSpec& field : description.spec->fields) {
      if (field.is_tensor()) bind(description, field, edges, node, findings);
    }
    graph_.nodes.push_back(std::move(node));
    return findings.empty();
  }

  /// The fields that are UNKNOWN. They stay so in the graph, which says so again when it is
  /// checked.
  static std::vector<std::string> fields_of_unknown_type(const Description& description) {
    std::vector<std::string> fields;
    for (const Field& field : description.fields) {
      const auto* value = std::get_if<std::int64_t>(&field.value);
      if (field.spec->enum_name == "DML_TENSOR_DATA_TYPE" && value != nullptr && *value == 0)
        fields.push_back(field.spec->name);
    }
    return fields;
  }

  /// The desc of a tensor that has an edge, whether or not it is written.
  static TensorDesc& present(Description& description, const FieldSpec& spec, std::size_t element) {
    Field& field = *description.find(spec.name);
    if (!spec.is_tensor_array()) {
      if (!std::holds_alternative<TensorDesc>(field.value)) field.value = TensorDesc();
      return std::get<TensorDesc>(field.value);
    }
    if (!std::holds_alternative<std::vector<TensorDesc>>(field.value))
      field.value = std::vector<TensorDesc>();
    auto& list = std::get<std::vector<TensorDesc>>(field.value);
    if (list.size() <= element) list.resize(element + 1);
    return list[element];
  }

  /// The edge that a binding names, of which the desc takes what it does not say; null, with a
  /// finding, if there is none.
  const JsonEdge* take_edge(const Description& description, const Binding& binding,
                            TensorDesc& desc, Diagnostics& findings) {
    const auto found = edges_.find(binding.path);
    if (found == edges_.end()) {
      findings.push_back(description.document().at(
          *binding.written,
          "bindings." + tensor_name(binding.tensor, binding.element) + " is the edge \"" +
              printable(binding.path) +
              "\", which is neither an input, a constant nor the output of an earlier node"));
      findings.back().rule = "nodes stand in the order in which they run";
      findings.back().suggestion = remedy_of_missing_edge(binding.path);
      return nullptr;
    }
    found->second.is_read = true;
    if (!found->second.desc) return &found->second;
    const TensorDesc& known = *found->second.desc;
    if (!desc.data_type) desc.data_type = known.data_type;
    if (!desc.sizes.empty() || desc.dimension_count) return &found->second;
    desc.sizes = known.sizes;
    if (!desc.sizes.empty()) desc.dimension_count = desc.sizes.size();
    if (!desc.strides) desc.strides = known.strides;
    return &found->second;
  }

  std::string remedy_of_missing_edge(const std::string& name) {
    if (const auto writer = node_that_writes(name))
      return "move nodes[" + std::to_string(*writer) +
             "], which writes it, in front of this node; a graph has no cycles";
    const std::string added = "add \"" + printable(name) + "\" to inputs";
    // Names are not compared with very many edges, as each node could have such a finding.
    constexpr std::size_t compared_max = 256;
    if (edges_.empty() || edges_.size() > compared_max) return added;
    std::vector<std::string> names;
    for (const auto& [edge, source] : edges_) names.push_back(edge);
    const std::string nearest = nearest_name(name, names);
    if (!nearest.empty()) return "did you mean \"" + nearest + "\"?";
    return added + ", or write one of these: " + names_of_list(names);
  }

  /// The node of the file that has an output of this name, wherever it stands.
  std::optional<std::size_t> node_that_writes(std::string_view edge) {
    if (!writers_) find_writers();
    const auto found = writers_->find(edge);
    if (found == writers_->end()) return std::nullopt;
    return found->second;
  }

  void find_writers() {
    writers_.emplace();
    const json::Value& nodes = *document_->root().find("nodes");
    for (std::size_t i = 0; i < std::min(nodes.items.size(), graph_nodes_max); ++i) {
      const json::Value* bindings = nodes.items[i].find("bindings");
      if (bindings == nullptr) continue;
      for (const json::Member& member : bindings->members) {
        const bool is_output = member.name.starts_with("Output");  // of every operator
        if (is_output && member.value.kind == Kind::string)
          writers_->try_emplace(member.value.text, i);
      }
    }
  }

  /// Adds the edges of a field's tensors to the node. An output without one gets a name of its own.
  void bind(Description& description, const FieldSpec& field,
            const std::map<std::string, std::string>& edges, GraphNode& node,
            Diagnostics& findings) {
    std::vector<std::string>& names = field.is_input() ? node.inputs : node.outputs;
    bool is_there = false;
    for (const TensorUse& use : tensors_of(description)) {
      if (use.spec != &field) continue;
      is_there = true;
      const auto found = edges.find(use.name());
      std::string edge = found == edges.end() ? "" : found->second;
      if (edge.empty() && field.is_input()) {
        findings.push_back(description.at(use.place(), use.name() + " has no edge"));
        findings.back().rule =
            "the inputs of a node are inputs of the graph, constants, or outputs "
            "of earlier nodes";
        findings.back().suggestion =
            "write \"bindings\": {\"" + field.name + "\": \"NAME\"} beside its type";
      }
      const bool is_named = !edge.empty();
      if (!is_named) edge = node.name + "." + use.name();
      names.push_back(edge);
      if (field.is_input()) continue;
      JsonEdge* made = is_named ? add_edge(description.fields_object(), edge)
                                : add_edge(description.fields_object(), edge,
                                           "give the node another name, or write \"" + use.name() +
                                               "\": \"NAME\" in its bindings");
      if (made == nullptr) continue;
      made->desc = *use.desc;
      made->desc->flags.clear();
      made->is_of_node = true;
    }
    if (!is_there && !field.is_tensor_array()) names.emplace_back();
  }

  // Nodes that read what a node with findings writes have none for that.
  void forget_outputs(const Description& description) {
    for (const Binding& binding : description.bindings) {
      if (description.spec->find_field(binding.tensor)->is_output())
        edges_.try_emplace(binding.path, JsonEdge{.is_of_node = true, .is_doubtful = true});
    }
  }

  void read_outputs(const json::Value& root) {
    const json::Value* outputs = root.find("outputs");
    if (outputs == nullptr) {
      // What no node reads.
      for (const GraphNode& node : graph_.nodes) {
        for (const std::string& edge : node.outputs) {
          const auto found = edges_.find(edge);
          if (found != edges_.end() && found->second.is_of_node && !found->second.is_read)
            graph_.outputs.push_back(edge);
        }
      }
      return;
    }
    const auto takes = [](const json::Value& list) {
      const auto is_edge = [](const json::Value& item) { return item.kind == Kind::string; };
      return list.kind == Kind::array && std::all_of(list.items.begin(), list.items.end(), is_edge);
    };
    if (!reader_.is_list(*outputs, "outputs",
                         {"an array of edges", Form::names, R"(["y"])", takes}))
      return;
    for (std::size_t i = 0; i < outputs->items.size(); ++i) {
      const std::string called = "outputs[" + std::to_string(i) + "]";
      const auto name = reader_.string(outputs->items[i], called);
      if (!name) continue;
      if (!edges_.contains(*name))
        reader_.refuse(outputs->items[i],
                       called + " is \"" + printable(*name) + "\", which no node writes",
                       "an output is an edge that a node writes", "");
      graph_.outputs.push_back(*name);
    }
  }

  std::shared_ptr<const json::Document> document_;
  const GraphRequest& request_;
  Diagnostics& diagnostics_;
  FieldReader reader_;
  Graph graph_;
  std::map<std::string, JsonEdge> edges_;
  std::optional<std::map<std::string_view, std::size_t>> writers_;  // of edges, once one is missing
};

}  // namespace

std::optional<Graph> read_json_graph(std::shared_ptr<const json::Document> document,
                                     const GraphRequest& request, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.size();
  Graph graph = JsonGraphReader(std::move(document), request, diagnostics).read();
  if (diagnostics.size() == before) return graph;
  sort_by_position(diagnostics);
  return std::nullopt;
}

}  // namespace dmlop
