#include "graph/lower.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "graph/constants.hpp"
#include "graph/describe.hpp"

namespace dmlop {
namespace {

// After this many nodes with findings, the rest are not listed.
constexpr std::size_t findings_listed = 64;

/// Advice about descs, for those who write nodes of ONNX instead.
Advice without_descs(const Advice& advice) {
  Advice result;
  for (Alternative one : advice.alternatives) {
    if (one.kind == Alternative::Kind::add_field) return {};
    // No node has Broadcast, or DirectML's names of modes.
    const bool is_name = one.kind == Alternative::Kind::write && one.value.starts_with('"');
    if (one.kind == Alternative::Kind::stretch || is_name) continue;
    if (one.kind == Alternative::Kind::write_type) {
      one.value = one.value.substr(1, one.value.size() - 2);
      one.remark += ", as Cast does";
    }
    if (one.kind == Alternative::Kind::write || one.kind == Alternative::Kind::write_type)
      one.kind = Alternative::Kind::make;
    if (one.kind == Alternative::Kind::write_sizes) one.kind = Alternative::Kind::give;
    result.add(std::move(one));
  }
  return result;
}

constexpr ModelWords graph_words{"graph", "edge", "EDGE", false};

bool has_4_bits(const TensorDesc& desc) {
  return has_4_bits(*desc.data_type);
}

/// The bytes of a desc in a file of ONNX Runtime, where elements of 4 bits share a byte.
std::uint64_t packed_bytes(const TensorDesc& desc) {
  const std::uint64_t bytes = needed_bytes(desc);
  return has_4_bits(desc) ? (bytes / 2 + 3) / 4 * 4 : bytes;
}

// Bytes that are not UTF-8 are none of a valid name.
std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

enum class Source : std::uint8_t { input, constant, node };

/// What is known of an edge.
struct Edge {
  std::size_t resource = 0;
  Source source = Source::node;
  std::optional<std::uint64_t> bytes = {};  // that it has; absent: unknown
  std::optional<bool> has_4_bits = {};
  std::optional<InitialValues> values = {};       // of a constant
  std::map<DataType, std::size_t> unpacked = {};  // resources of a constant read as 4 bits
  std::size_t input = 0;                          // of an input: which one
};

class Lowering {
 public:
  Lowering(const Graph& graph, const GraphRequest& request, Diagnostics& diagnostics,
           Diagnostics& warnings)
      : graph_(graph), request_(request), diagnostics_(diagnostics), warnings_(warnings) {
    lowered_.model.file = graph.file;
    lowered_.model.words = graph_words;
    lowered_.unread_inputs = graph.unread_inputs;
    for (const std::string& path : graph.external_files)
      lowered_.model.sources.push_back({path, "data of the model"});
  }

  LoweredGraph lower() {
    for (const std::string& input : graph_.inputs) {
      if (!input.empty()) add_input(input);
    }
    list_findings();
    for (const GraphNode& node : graph_.nodes) {
      if (const auto* operation = std::get_if<GraphOperator>(&node.content)) {
        lower_operator(node, *operation);
      } else {
        lower_constant(node, std::get<GraphConstant>(node.content));
      }
      list_findings();
    }
    for (const std::string& output : graph_.outputs) add_output(output);
    list_findings();
    return std::move(lowered_);
  }

 private:
  void refuse(std::string message, std::string rule = "",
              ErrorKind kind = ErrorKind::invalid_input) {
    findings_.push_back({.kind = kind,
                         .file = graph_.file,
                         .message = std::move(message),
                         .rule = std::move(rule)});
  }

  void list_findings() {
    if (findings_.empty()) return;
    if (++refused_ > findings_listed) {
      diagnostics_.back().more += count_of(findings_);
    } else {
      for (Diagnostic& finding : findings_) diagnostics_.push_back(std::move(finding));
    }
    findings_.clear();
  }

  /// A new edge; null, with a finding, if there is one of this name.
  Edge* add_edge(const std::string& name, Source source, const std::string& writer) {
    const auto [found, is_new] = edges_.try_emplace(name);
    if (!is_new) {
      refuse(writer + ": the edge \"" + printable(name) + "\" already exists",
             "an edge has one source: an input of the graph or an output of a node");
      return nullptr;
    }
    Edge& edge = found->second;
    edge.source = source;
    edge.resource = add_resource(name);
    return &edge;
  }

  std::size_t add_resource(std::string name) {
    Resource& added = lowered_.model.resources.emplace_back();
    added.name = std::move(name);
    added.is_usable = true;
    const auto sizes = graph_.sizes.find(added.name);
    if (sizes != graph_.sizes.end()) added.sizes = sizes->second;
    const auto type = graph_.types.find(added.name);
    if (type != graph_.types.end()) added.type = type->second;
    return lowered_.model.resources.size() - 1;
  }

  Resource& resource(const Edge& edge) { return lowered_.model.resources[edge.resource]; }

  void add_input(const std::string& name) {
    Edge* edge = add_edge(name, Source::input, "the inputs of the graph");
    if (edge == nullptr) return;
    const auto bytes = graph_.input_bytes.find(name);
    if (bytes != graph_.input_bytes.end()) edge->bytes = bytes->second;
    edge->input = lowered_.inputs.size();
    lowered_.inputs.push_back({.resource = edge->resource, .types = {}, .sizes = {}});
  }

  void lower_constant(const GraphNode& node, const GraphConstant& constant) {
    const auto values = constant_values(graph_, node, constant, request_, findings_, warnings_);
    if (values && !values->path.empty())
      lowered_.model.sources.push_back({values->path, "the file of " + printable(node.name)});
    for (const std::string& output : node.outputs) {
      Edge* edge = output.empty() ? nullptr : add_edge(output, Source::constant, title_of(node));
      if (edge == nullptr || !values) continue;
      edge->values = values;
      edge->bytes = (values->bytes + 3) / 4 * 4;
    }
  }

  void lower_operator(const GraphNode& node, const GraphOperator& operation) {
    const std::string title = title_of(node);
    std::vector<std::string> messages;
    DescribedNode described = describe(node, operation, messages);
    for (const std::string& message : messages) refuse(title + ": " + message);
    std::optional<Description> description;
    if (messages.empty()) description = description_of(title, described);
    Dispatchable& dispatchable = lowered_.model.dispatchables.emplace_back(
        Dispatchable{.name = node.name, .description = std::move(description)});
    DispatchCommand command{.dispatchable = lowered_.model.dispatchables.size() - 1};
    for (const NodeTensor& tensor : described.tensors) {
      const TensorDesc* desc = dispatchable.description ? dispatchable.description->find_tensor(
                                                              tensor.field->name, tensor.element)
                                                        : nullptr;
      const auto range =
          tensor.field->is_input() ? read_edge(node, tensor, desc) : write_edge(node, tensor, desc);
      if (range) command.bindings.push_back({tensor.field->name, *range, tensor.element});
    }
    lowered_.model.commands.emplace_back(std::move(command));
  }

  std::optional<Description> description_of(const std::string& title,
                                            const DescribedNode& described) {
    Diagnostics findings, warnings;
    std::optional<Description> description;
    auto document = json::Document::parse(graph_.file, text_of(described.description), findings);
    if (document) {
      auto shared = std::make_shared<const json::Document>(std::move(*document));
      std::shared_ptr<const json::Value> root(shared, &shared->root());
      description =
          read_part(std::move(shared), std::move(root), request_.checking.feature_level,
                    request_.checking.judge.value_or(Judge::directml), findings, warnings);
    }
    move_to(findings_, findings, title);
    // The descs of an ONNX model follow from its nodes. Its author cannot change them.
    if (graph_.has_written_descs) move_to(warnings_, warnings, title);
    return description;
  }

  /// What a node's finding advises: its tensors have no files that another type needs first.
  Advice advice(Advice suggestion) const {
    for (Alternative& one : suggestion.alternatives) {
      if (one.kind == Alternative::Kind::write_type) one.reason.clear();
    }
    return graph_.has_written_descs ? suggestion : without_descs(suggestion);
  }

  // Places in the JSON are none of the file.
  void move_to(Diagnostics& list, Diagnostics& found, const std::string& title) const {
    for (Diagnostic& one : found) {
      one.line = one.column = 0;
      one.pointer.clear();
      one.ideas.clear();
      one.suggestion = advice(std::move(one.suggestion));
      one.message = title + ": " + one.message;
      list.push_back(std::move(one));
    }
  }

  /// The bytes of an edge that a node reads. `desc` is null if the node has findings.
  std::optional<BufferRange> read_edge(const GraphNode& node, const NodeTensor& tensor,
                                       const TensorDesc* desc) {
    const std::string reader = title_of(node) + ": " + tensor.name();
    if (tensor.edge.empty()) {
      refuse(reader + " has a desc, but no edge", "an input that is left out has neither");
      return std::nullopt;
    }
    const auto found = edges_.find(tensor.edge);
    if (found == edges_.end()) {
      refuse(reader + " is the edge \"" + printable(tensor.edge) +
                 "\", which is neither an input of the graph nor the output of an earlier node",
             "nodes stand in the order in which they run");
      return std::nullopt;
    }
    if (desc == nullptr) return std::nullopt;
    Edge& edge = found->second;
    const std::uint64_t needed = needed_bytes(*desc);
    if (edge.source == Source::input) add_use(lowered_.inputs[edge.input], *desc);
    if (edge.source == Source::constant) return read_constant(reader, edge, *desc);
    if (edge.has_4_bits.value_or(has_4_bits(*desc)) != has_4_bits(*desc)) {
      refuse(reader + " is " + std::string(name_of(*desc->data_type)) + ", but the edge \"" +
                 printable(tensor.edge) + "\" has elements of " +
                 (has_4_bits(*desc) ? "a whole byte" : "4 bits"),
             "elements of 4 bits have a byte each here, so they cannot be seen as another type",
             ErrorKind::unavailable);
      return std::nullopt;
    }
    const bool is_packed = edge.source == Source::input && lowered_.inputs[edge.input].is_packed;
    require_bytes(reader, edge, is_packed ? packed_bytes(*desc) : needed);
    if (edge.source == Source::input) {
      edge.has_4_bits = has_4_bits(*desc);
      resource(edge).size = std::max(resource(edge).size, needed);
    }
    return BufferRange{edge.resource, 0, needed};
  }

  /// A constant is a buffer only in the forms in which nodes read it.
  std::optional<BufferRange> read_constant(const std::string& reader, Edge& edge,
                                           const TensorDesc& desc) {
    if (has_4_bits(desc) && edge.values && edge.values->file != nullptr) {
      refuse(reader + " is " + std::string(name_of(*desc.data_type)) + ", but the constant \"" +
                 printable(resource(edge).name) + "\" is a .npy file, with a byte for each element",
             "constants of 4 bits share bytes; write a file of raw bytes", ErrorKind::unavailable);
      return std::nullopt;
    }
    require_bytes(reader, edge, packed_bytes(desc));
    const std::uint64_t needed = needed_bytes(desc);
    if (has_4_bits(desc)) return BufferRange{unpacked(edge, desc), 0, needed};
    if (edge.values) set_values(resource(edge), *edge.values, desc);
    resource(edge).size = edge.bytes.value_or(0);
    return BufferRange{edge.resource, 0, needed};
  }

  /// The values of a constant. Raw bytes have the type that the graph says or, where it says none,
  /// that of the first node which reads them.
  void set_values(Resource& constant, const InitialValues& values, const TensorDesc& desc) const {
    if (constant.initial.data_type) return;
    constant.initial = values;
    if (values.file != nullptr) return;
    const auto said = graph_.types.find(constant.name);
    const DataType type = said != graph_.types.end() ? said->second : *desc.data_type;
    if (values.bytes % size_of(type) != 0) return;
    constant.initial.data_type = stored_as(type);
    if (!constant.sizes) constant.sizes = desc.sizes;
  }

  void add_use(GraphInput& input, const TensorDesc& desc) const {
    const std::optional<Sizes>& said = lowered_.model.resources[input.resource].sizes;
    if (input.types.empty()) {
      input.sizes = said.value_or(desc.sizes);
      input.is_in_order = said || !desc.strides;
    }
    // A node may take integers of a model for unsigned ones.
    const DataType type = lowered_.model.resources[input.resource].type.value_or(*desc.data_type);
    if (std::find(input.types.begin(), input.types.end(), type) == input.types.end())
      input.types.push_back(type);
    if (has_4_bits(desc)) {
      input.of_4_bits = desc.data_type;
      input.is_packed = !has_4_bits(type);
    }
    reach(input, desc);
    if (!said) return;
    TensorDesc all;  // of which the node may read a part
    all.data_type = type;
    all.sizes = *said;
    reach(input, all);
  }

  static void reach(GraphInput& input, const TensorDesc& desc) {
    input.bytes = std::max(input.bytes, needed_bytes(desc));
    const auto count =
        reached_elements(desc.sizes, desc.strides.value_or(packed_strides(desc.sizes)));
    input.element_bytes =
        std::max(input.element_bytes, count.value_or(0) * size_of(*desc.data_type));
  }

  void require_bytes(const std::string& reader, const Edge& edge, std::uint64_t needed) {
    if (!edge.bytes || *edge.bytes >= needed) return;
    refuse(reader + " needs " + counted(needed, "byte") + ", but the edge \"" +
           printable(resource(edge).name) + "\" has " + std::to_string(*edge.bytes));
    if (edge.source != Source::node)
      findings_.back().suggestion =
          "give the edge more elements, or repeat its elements with Strides of 0";
  }

  std::size_t unpacked(Edge& edge, const TensorDesc& desc) {
    const std::uint64_t needed = needed_bytes(desc);
    const auto [found, is_new] = edge.unpacked.try_emplace(*desc.data_type);
    if (is_new) found->second = add_resource(resource(edge).name);
    Resource& unpacked = lowered_.model.resources[found->second];
    if (edge.values && unpacked.size < needed) {
      unpacked.initial = unpacked_values(*edge.values, *desc.data_type, needed);
      unpacked.size = needed;
    }
    return found->second;
  }

  // Nodes may share a name, and edges may have any; files of edges are found by it.
  std::string name_of_unread(const std::string& name) {
    if (names_.empty()) {
      names_.insert(graph_.inputs.begin(), graph_.inputs.end());
      for (const GraphNode& node : graph_.nodes)
        names_.insert(node.outputs.begin(), node.outputs.end());
    }
    std::string unique = name;
    std::size_t& number = numbers_.try_emplace(name, 1).first->second;
    while (!names_.insert(unique).second) unique = name + "_" + std::to_string(++number);
    return unique;
  }

  std::optional<BufferRange> write_edge(const GraphNode& node, const NodeTensor& tensor,
                                        const TensorDesc* desc) {
    Edge unread;
    Edge* edge = &unread;
    if (tensor.edge.empty()) {
      unread.resource = add_resource(name_of_unread(node.name + "." + tensor.name()));
    } else {
      edge = add_edge(tensor.edge, Source::node, title_of(node) + ": " + tensor.name());
    }
    if (edge == nullptr || desc == nullptr) return std::nullopt;
    edge->bytes = needed_bytes(*desc);
    edge->has_4_bits = has_4_bits(*desc);
    resource(*edge).size = *edge->bytes;
    return BufferRange{edge->resource, 0, *edge->bytes};
  }

  void add_output(const std::string& name) {
    if (name.empty()) return;
    const auto found = edges_.find(name);
    if (found != edges_.end() && found->second.source == Source::node) {
      lowered_.model.outputs.push_back(found->second.resource);
      return;
    }
    refuse("the output \"" + printable(name) + "\" of the graph is " +
               (found == edges_.end()                      ? "written by no node"
                : found->second.source == Source::constant ? "a constant"
                                                           : "one of its inputs"),
           "an output is that of an operator");
  }

  const Graph& graph_;
  const GraphRequest& request_;
  Diagnostics& diagnostics_;
  Diagnostics& warnings_;
  Diagnostics findings_;  // of the node that is lowered
  std::size_t refused_ = 0;
  LoweredGraph lowered_;
  std::unordered_map<std::string, Edge> edges_;
  std::unordered_set<std::string> names_;                 // of edges, once one has no name
  std::unordered_map<std::string, std::size_t> numbers_;  // the last one behind each name
};

}  // namespace

std::optional<LoweredGraph> lower_graph(const Graph& graph, const GraphRequest& request,
                                        Diagnostics& diagnostics, Diagnostics& warnings) {
  const std::size_t before = diagnostics.size();
  LoweredGraph lowered = Lowering(graph, request, diagnostics, warnings).lower();
  // Behind a mistake, they may only follow from it.
  if (diagnostics.size() == before)
    warnings.insert(warnings.end(), graph.warnings.begin(), graph.warnings.end());
  if (request.checking.warnings_as_errors) refuse_warnings(warnings, diagnostics);
  if (diagnostics.size() > before) return std::nullopt;
  return lowered;
}

}  // namespace dmlop
