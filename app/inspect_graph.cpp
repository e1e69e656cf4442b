// dmlop inspect of a graph. It shows what the file says, whether or not that is valid.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/files.hpp"
#include "graph_commands.hpp"
#include "spec/facts.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view tensor_type_prefix = "DML_TENSOR_DATA_TYPE_";

// Names are padded up to this width.
constexpr std::size_t width_max = 32;

std::string short_type(const GraphTensor& tensor) {
  std::string_view type = tensor.data_type;
  if (type.starts_with(tensor_type_prefix)) type.remove_prefix(tensor_type_prefix.size());
  return std::string(type);
}

std::string text_of(const GraphTensor& tensor) {
  return short_type(tensor) + " " + list_of(tensor.sizes) +
         (tensor.strides ? " strides " + list_of(*tensor.strides) : "");
}

/// The file of a constant. Without a size it is not there, or its name is refused.
struct ConstantFile {
  std::string name;
  std::optional<std::uint64_t> bytes;
};

std::optional<ConstantFile> file_of(const Graph& graph, const GraphConstant& constant) {
  if (!constant.name && constant.path.empty()) return std::nullopt;
  ConstantFile file{constant.name ? *constant.name + ".bin" : constant.path, {}};
  if (constant.name && problem_of_constant(*constant.name)) return file;
  const std::string path = constant.name ? constant_path(graph, *constant.name) : constant.path;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(to_path(path), error);
  if (!error) file.bytes = bytes;
  return file;
}

/// The tensors of the edges: as they are written or, if nothing writes them, as they are read
/// first. They have the sizes that the file says, which nodes may see in another way.
std::map<std::string, GraphTensor> tensors_by_edge(const Graph& graph) {
  std::map<std::string, GraphTensor> written, read;
  const auto gather = [](const std::vector<std::string>& edges,
                         const std::vector<GraphTensor>& tensors, auto& gathered) {
    for (const GraphUse& use : uses_of(edges, tensors).value_or(std::vector<GraphUse>{})) {
      if (use.tensor != nullptr && !use.edge.empty()) gathered.try_emplace(use.edge, *use.tensor);
    }
  };
  for (const GraphNode& node : graph.nodes) {
    const auto* operation = std::get_if<GraphOperator>(&node.content);
    if (operation == nullptr) continue;
    gather(node.outputs, operation->outputs, written);
    gather(node.inputs, operation->inputs, read);
  }
  written.merge(read);
  for (auto& [edge, tensor] : written) {
    const auto type = graph.types.find(edge);
    if (type != graph.types.end())
      tensor.data_type = "DML_TENSOR_DATA_TYPE_" + std::string(name_of(type->second));
    const auto said = graph.sizes.find(edge);
    if (said == graph.sizes.end()) continue;
    tensor.sizes.assign(said->second.begin(), said->second.end());
    tensor.strides.reset();
  }
  return written;
}

struct Totals {
  std::map<std::string, std::size_t> operators;
  std::size_t constants = 0;
  std::uint64_t constant_bytes = 0;
  std::uint64_t output_bytes = 0;       // of all nodes
  std::uint64_t peak_output_bytes = 0;  // that are there at a time
};

/// The bytes of nodes' outputs that a run needs at a time: each from the node that writes it to the
/// last that reads it, and outputs of the graph to the end.
std::uint64_t peak_bytes(const Graph& graph) {
  std::map<std::string, std::size_t> last;  // the node that needs an edge for the last time
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const auto* edges : {&graph.nodes[i].outputs, &graph.nodes[i].inputs}) {
      for (const std::string& edge : *edges) last[edge] = i;
    }
  }
  for (const std::string& edge : graph.outputs) last[edge] = graph.nodes.size();
  std::vector<std::uint64_t> ended(graph.nodes.size() + 1);
  std::uint64_t now = 0, peak = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* operation = std::get_if<GraphOperator>(&graph.nodes[i].content);
    if (operation != nullptr) {
      const auto uses = uses_of(graph.nodes[i].outputs, operation->outputs);
      for (const GraphUse& use : uses.value_or(std::vector<GraphUse>{})) {
        const std::uint64_t bytes = use.tensor == nullptr ? 0 : use.tensor->total_size_in_bytes;
        now += bytes;
        ended[use.edge.empty() ? i : last[use.edge]] += bytes;
      }
    }
    peak = std::max(peak, now);
    now -= ended[i];
  }
  return peak;
}

Totals totals_of(const Graph& graph) {
  Totals totals;
  for (const GraphNode& node : graph.nodes) {
    if (const auto* operation = std::get_if<GraphOperator>(&node.content)) {
      ++totals.operators[operation->type];
      for (const GraphTensor& output : operation->outputs)
        totals.output_bytes += output.total_size_in_bytes;
      continue;
    }
    const auto& constant = std::get<GraphConstant>(node.content);
    ++totals.constants;
    const auto file = file_of(graph, constant);
    totals.constant_bytes += constant.view ? constant.view->bytes.size()
                             : file        ? file->bytes.value_or(0)
                                           : constant.bytes.size();
  }
  totals.peak_output_bytes = peak_bytes(graph);
  return totals;
}

const char* format_of(const Graph& graph) {
  const std::string file = lower_case(graph.file);
  if (file.ends_with(".onnx")) return "ONNX model as a graph of DirectML";
  return file.ends_with(".json") ? "graph" : "serialized DirectML graph";
}

class GraphPrinter {
 public:
  explicit GraphPrinter(const Graph& graph)
      : graph_(graph), tensors_(tensors_by_edge(graph)), totals_(totals_of(graph)) {}

  void print_all() const {
    print({graph_.file, ": ", std::string(format_of(graph_)), ", ",
           counted(graph_.nodes.size() - totals_.constants, "operator"), ", ",
           counted(totals_.constants, "constant"), "\n"});
    print_edges(input_names(graph_), "input");
    print_edges(graph_.outputs, "output");
    for (const GraphNode& node : graph_.nodes) {
      if (const auto* constant = std::get_if<GraphConstant>(&node.content))
        print_constant(node, *constant);
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (const auto* operation = std::get_if<GraphOperator>(&graph_.nodes[i].content))
        print_operator(i, graph_.nodes[i], *operation);
    }
    std::vector<std::string> operators;
    for (const auto& [type, count] : totals_.operators)
      operators.push_back(std::to_string(count) + " " + std::string(without_operator_prefix(type)));
    print({"total: ", join(operators), "; constants ", totals_.constant_bytes,
           " bytes, outputs of nodes ", totals_.output_bytes, " bytes, ", totals_.peak_output_bytes,
           " at a time\n"});
  }

 private:
  static std::size_t width_of(const std::vector<std::string>& names) {
    std::size_t width = 0;
    for (const std::string& name : names) width = std::max(width, name.size());
    return std::min(width, width_max);
  }

  std::string text_of_edge(const std::string& edge) const {
    const auto found = tensors_.find(edge);
    return found == tensors_.end() ? "" : text_of(found->second);
  }

  void print_edges(const std::vector<std::string>& edges, const std::string& kind) const {
    const std::size_t width = width_of(edges);
    for (const std::string& edge : edges) {
      const std::string text = edge.empty()                 ? "not used"
                               : text_of_edge(edge).empty() ? "used by no operator"
                                                            : text_of_edge(edge);
      print({padded(kind, 8), " ", padded(edge, width), "  ", text, "\n"});
    }
  }

  void print_constant(const GraphNode& node, const GraphConstant& constant) const {
    const std::size_t bytes = constant.view ? constant.view->bytes.size() : constant.bytes.size();
    std::string place = counted(bytes, "byte") + " in the graph";
    if (const auto file = file_of(graph_, constant))
      place = file->bytes ? counted(*file->bytes, "byte") + " in " + file->name
                          : "no file " + file->name;
    const std::string& edge = node.outputs.empty() ? node.name : node.outputs.front();
    const std::string text = text_of_edge(edge);
    print({"constant ", node.name, "  ", text.empty() ? place : text + ", " + place, "\n"});
  }

  static std::string list_of_uses(const std::vector<std::string>& edges,
                                  const std::vector<GraphTensor>& tensors) {
    const auto uses = uses_of(edges, tensors);
    if (!uses) return join(edges);
    std::vector<std::string> texts;
    for (const GraphUse& use : *uses) {
      const std::string edge = use.edge.empty() ? "-" : use.edge;
      texts.push_back(use.tensor == nullptr ? edge : edge + " " + text_of(*use.tensor));
    }
    return join(texts);
  }

  /// "CONVOLUTION", or "CONVOLUTION with ACTIVATION_RELU".
  static std::string text_of_type(const GraphOperator& operation) {
    std::string text(without_operator_prefix(operation.type));
    for (const GraphAttribute& attribute : operation.attributes) {
      const auto* activation = std::get_if<GraphActivation>(&attribute.value);
      if (activation != nullptr)
        text += " with " + std::string(without_operator_prefix(activation->type));
    }
    return text;
  }

  static void print_operator(std::size_t index, const GraphNode& node,
                             const GraphOperator& operation) {
    print({"node ", index, " ", node.name, "  ", text_of_type(operation), "\n", "  ",
           list_of_uses(node.inputs, operation.inputs), "\n", "  -> ",
           list_of_uses(node.outputs, operation.outputs), "\n"});
  }

  const Graph& graph_;
  std::map<std::string, GraphTensor> tensors_;
  Totals totals_;
};

Json to_json(const GraphTensor& tensor) {
  Json json{{"dataType", short_type(tensor)}, {"sizes", tensor.sizes}};
  if (tensor.strides) json["strides"] = *tensor.strides;
  json["totalTensorSizeInBytes"] = tensor.total_size_in_bytes;
  return json;
}

Json number_json(float number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
}

Json to_json(const std::vector<GraphAttribute>& attributes);

Json to_json(const GraphActivation& activation) {
  return {{"type", activation.type}, {"attributes", to_json(activation.attributes)}};
}

/// A value of an attribute.
struct ValueToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const GraphActivation& activation) const { return to_json(activation); }
  Json operator()(const std::vector<GraphActivation>& activations) const {
    Json list = Json::array();
    for (const GraphActivation& activation : activations) list.push_back(to_json(activation));
    return list;
  }
  Json operator()(float number) const { return number_json(number); }
  Json operator()(const std::vector<float>& numbers) const {
    Json list = Json::array();
    for (const float number : numbers) list.push_back(number_json(number));
    return list;
  }
  Json operator()(const GraphScaleBias& both) const {
    return {{"Scale", number_json(both.scale)}, {"Bias", number_json(both.bias)}};
  }
  Json operator()(const GraphSize2d& size) const {
    return {{"Width", size.width}, {"Height", size.height}};
  }
  Json operator()(const GraphScalar& scalar) const {
    return {{"bits", std::bit_cast<std::uint64_t>(scalar.bytes)}};
  }
  Json operator()(const auto& value) const { return value; }
};

Json to_json(const std::vector<GraphAttribute>& attributes) {
  Json list = Json::array();
  for (const GraphAttribute& attribute : attributes)
    list.push_back(
        {{"name", attribute.name}, {"value", std::visit(ValueToJson(), attribute.value)}});
  return list;
}

Json to_json(const std::vector<GraphTensor>& tensors) {
  Json list = Json::array();
  for (const GraphTensor& tensor : tensors) list.push_back(to_json(tensor));
  return list;
}

Json to_json(const Graph& graph, const GraphNode& node) {
  Json json{{"name", node.name}};
  if (const auto* operation = std::get_if<GraphOperator>(&node.content)) {
    json["operator"] = operation->type;
    json["inputs"] = node.inputs;
    json["inputTensors"] = to_json(operation->inputs);
    json["outputs"] = node.outputs;
    json["outputTensors"] = to_json(operation->outputs);
    json["attributes"] = to_json(operation->attributes);
    return json;
  }
  const auto& constant = std::get<GraphConstant>(node.content);
  json["outputs"] = node.outputs;
  if (constant.view) {
    json["byteCount"] = constant.view->bytes.size();
    return json;
  }
  Json bytes = Json::array();
  for (const std::byte byte : constant.bytes) bytes.push_back(std::to_integer<int>(byte));
  const auto file = file_of(graph, constant);
  if (!file) {
    json["bytes"] = std::move(bytes);
    return json;
  }
  json["file"] = file->name;
  json["fileBytes"] = file->bytes ? Json(*file->bytes) : Json(nullptr);
  return json;
}

Json described_edges(const std::vector<std::string>& edges,
                     const std::map<std::string, GraphTensor>& tensors) {
  Json list = Json::array();
  for (const std::string& edge : edges) {
    list.push_back({{"name", edge}});
    const auto found = tensors.find(edge);
    if (found != tensors.end()) list.back().update(to_json(found->second));
  }
  return list;
}

}  // namespace

void print_graph(const Graph& graph) {
  GraphPrinter(graph).print_all();
}

Json graph_json(const Graph& graph) {
  const auto tensors = tensors_by_edge(graph);
  const Totals totals = totals_of(graph);
  Json json{{"file", graph.file},
            {"format", format_of(graph)},
            {"inputs", described_edges(input_names(graph), tensors)},
            {"outputs", described_edges(graph.outputs, tensors)},
            {"nodes", Json::array()}};
  for (const GraphNode& node : graph.nodes) json["nodes"].push_back(to_json(graph, node));
  json["totals"] = {{"operators", totals.operators},
                    {"constants", totals.constants},
                    {"constantBytes", totals.constant_bytes},
                    {"outputBytes", totals.output_bytes},
                    {"peakOutputBytes", totals.peak_output_bytes}};
  return json;
}

}  // namespace dmlop::app
