#include <algorithm>

#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/graph.hpp"
#include "onnx/message.hpp"
#include "onnx/onnx_model.hpp"
#include "onnx/tensor_message.hpp"

namespace dmlop::onnx {
namespace {

// After this many nodes with findings, the rest are not listed.
constexpr std::size_t nodes_listed = 8;
constexpr std::size_t tensors_max = 100'000;
constexpr std::size_t values_max = 100'000;
constexpr std::size_t edges_of_node_max = 10'000;
constexpr std::size_t attributes_of_node_max = 1'000;
constexpr std::size_t numbers_of_attribute_max = std::size_t{1} << 20;

// The fields of onnx.proto that are read here. Numbers of other fields are skipped.
namespace model_field {
constexpr std::uint32_t graph = 7, operator_set = 8, functions = 25;
}
namespace operator_set_field {
constexpr std::uint32_t domain = 1, version = 2;
}
namespace graph_field {
constexpr std::uint32_t node = 1, initializer = 5, input = 11, output = 12, value = 13,
                        sparse_initializer = 15;
}
namespace node_field {
constexpr std::uint32_t input = 1, output = 2, name = 3, type = 4, attribute = 5, domain = 7,
                        overload = 8;
}
namespace function_field {
constexpr std::uint32_t name = 1, input = 4, output = 5, attribute = 6, node = 7, operator_set = 9,
                        domain = 10, default_attribute = 11, overload = 13;
}
namespace attribute_field {
constexpr std::uint32_t name = 1, real = 2, integer = 3, text = 4, tensor = 5, graph = 6, reals = 7,
                        integers = 8, texts = 9, kind = 20, reference = 21;
}
namespace value_field {
constexpr std::uint32_t name = 1, type = 2;
}
namespace type_field {
constexpr std::uint32_t tensor = 1, sequence = 4, map = 5, optional = 9;
}
namespace tensor_type_field {
constexpr std::uint32_t element_type = 1, shape = 2;
}
namespace shape_field {
constexpr std::uint32_t dimension = 1;
}
namespace dimension_field {
constexpr std::uint32_t size = 1, name = 2;
}

template <typename T>
void require_room(const std::vector<T>& list, std::size_t most, const char* things) {
  if (list.size() >= most)
    throw Error(ErrorKind::unavailable,
                "there are more than " + std::to_string(most) + " " + things);
}

OnnxGraph read_inner_graph(Message message, std::size_t depth);

/// `depth` counts the graphs around it.
Attribute attribute_of(Message message, std::size_t depth) {
  Attribute attribute;
  while (message.next()) {
    switch (message.field()) {
      case attribute_field::name:
        attribute.name = message.text();
        break;
      case attribute_field::kind:
        attribute.kind = static_cast<AttributeKind>(message.integer());
        break;
      case attribute_field::integer:
        attribute.integer = message.integer();
        break;
      case attribute_field::real:
        attribute.real = message.real();
        break;
      case attribute_field::text:
        attribute.text = message.text();
        break;
      case attribute_field::tensor:
        attribute.tensor = tensor_of(message.message());
        break;
      case attribute_field::integers:
        message.add_integers(attribute.integers, numbers_of_attribute_max);
        break;
      case attribute_field::reals:
        message.add_floats(attribute.reals, numbers_of_attribute_max);
        break;
      case attribute_field::texts:
        require_room(attribute.texts, numbers_of_attribute_max, "texts");
        attribute.texts.push_back(message.text());
        break;
      case attribute_field::graph:
        attribute.graph =
            std::make_shared<const OnnxGraph>(read_inner_graph(message.message(), depth + 1));
        break;
      case attribute_field::reference:
        attribute.reference = message.text();
        break;
      default:
        break;
    }
  }
  return attribute;
}

void read_node(Message message, Node& node, std::size_t depth) {
  while (message.next()) {
    switch (message.field()) {
      case node_field::input:
        require_room(node.inputs, edges_of_node_max, "inputs");
        node.inputs.push_back(message.text());
        break;
      case node_field::output:
        require_room(node.outputs, edges_of_node_max, "outputs");
        node.outputs.push_back(message.text());
        break;
      case node_field::name:
        node.name = message.text();
        break;
      case node_field::type:
        node.type = message.text();
        break;
      case node_field::domain:
        node.domain = message.text();
        break;
      case node_field::overload:
        node.overload = message.text();
        break;
      case node_field::attribute:
        require_room(node.attributes, attributes_of_node_max, "attributes");
        node.attributes.push_back(attribute_of(message.message(), depth));
        break;
      default:
        break;
    }
  }
}

Dimension dimension_of(Message message) {
  Dimension dimension;
  while (message.next()) {
    if (message.field() == dimension_field::size)
      dimension.size = message.integer();
    else if (message.field() == dimension_field::name)
      dimension.name = message.text();
  }
  return dimension;
}

void read_tensor_type(Message message, ValueInfo& value) {
  while (message.next()) {
    if (message.field() == tensor_type_field::element_type) {
      value.element_type = message.integer();
    } else if (message.field() == tensor_type_field::shape) {
      value.sizes.emplace();
      Message shape = message.message();
      while (shape.next()) {
        if (shape.field() != shape_field::dimension) continue;
        require_room(*value.sizes, tensor_dimensions_max, "dimensions");
        value.sizes->push_back(dimension_of(shape.message()));
      }
    }
  }
}

ValueInfo value_of(Message message) {
  ValueInfo value;
  while (message.next()) {
    if (message.field() == value_field::name) value.name = message.text();
    if (message.field() != value_field::type) continue;
    Message type = message.message();
    while (type.next()) {
      if (type.field() == type_field::tensor)
        read_tensor_type(type.message(), value);
      else if (type.field() == type_field::sequence)
        value.other = "sequence";
      else if (type.field() == type_field::map)
        value.other = "map";
      else if (type.field() == type_field::optional)
        value.other = "optional";
    }
  }
  return value;
}

OperatorSet operator_set_of(Message message) {
  OperatorSet set;
  while (message.next()) {
    if (message.field() == operator_set_field::domain)
      set.domain = message.text();
    else if (message.field() == operator_set_field::version)
      set.version = message.integer();
  }
  return set;
}

void add_value(std::vector<ValueInfo>& values, Message& message) {
  require_room(values, values_max, "values");
  values.push_back(value_of(message.message()));
}

void add_operator_set(std::vector<OperatorSet>& sets, Message& message) {
  require_room(sets, values_max, "operator sets");
  sets.push_back(operator_set_of(message.message()));
}

/// `read_node` is called for each node with its message.
void read_graph(Message message, OnnxGraph& graph, auto&& read_node) {
  while (message.next()) {
    switch (message.field()) {
      case graph_field::node:
        require_room(graph.nodes, nodes_max, "nodes");
        read_node(message.message(), graph.nodes.emplace_back());
        break;
      case graph_field::initializer:
        require_room(graph.initializers, tensors_max, "initializers");
        graph.initializers.push_back(tensor_of(message.message()));
        break;
      case graph_field::input:
        add_value(graph.inputs, message);
        break;
      case graph_field::output:
        add_value(graph.outputs, message);
        break;
      case graph_field::value:
        add_value(graph.values, message);
        break;
      case graph_field::sparse_initializer:
        graph.has_sparse_initializers = true;
        break;
      default:
        break;
    }
  }
}

OnnxGraph read_inner_graph(Message message, std::size_t depth) {
  if (depth > graphs_nested_max)
    throw Error(ErrorKind::unavailable, "more than " + std::to_string(graphs_nested_max) +
                                            " graphs stand inside each other");
  OnnxGraph graph;
  read_graph(message, graph, [&](Message inner, Node& node) { read_node(inner, node, depth); });
  return graph;
}

Function read_function(Message message) {
  Function function;
  while (message.next()) {
    switch (message.field()) {
      case function_field::name:
        function.name = message.text();
        break;
      case function_field::domain:
        function.domain = message.text();
        break;
      case function_field::overload:
        function.overload = message.text();
        break;
      case function_field::input:
        require_room(function.inputs, edges_of_node_max, "inputs");
        function.inputs.push_back(message.text());
        break;
      case function_field::output:
        require_room(function.outputs, edges_of_node_max, "outputs");
        function.outputs.push_back(message.text());
        break;
      case function_field::attribute:
        require_room(function.attributes, attributes_of_node_max, "attributes");
        function.attributes.push_back(message.text());
        break;
      case function_field::default_attribute:
        require_room(function.defaults, attributes_of_node_max, "attributes");
        function.defaults.push_back(attribute_of(message.message(), 0));
        break;
      case function_field::node:
        require_room(function.nodes, nodes_max, "nodes");
        read_node(message.message(), function.nodes.emplace_back(), 0);
        break;
      case function_field::operator_set:
        add_operator_set(function.operator_sets, message);
        break;
      default:
        break;
    }
  }
  return function;
}

class Reader {
 public:
  Reader(OnnxModel& model, std::span<const std::byte> bytes, Diagnostics& diagnostics)
      : model_(model), bytes_(bytes), diagnostics_(diagnostics) {}

  void read() {
    Message message(bytes_, bytes_);
    bool has_graph = false;
    while (message.next()) {
      if (message.field() == model_field::operator_set) {
        add_operator_set(model_.operator_sets, message);
      } else if (message.field() == model_field::functions) {
        require_room(model_.functions, values_max, "functions");
        model_.functions.push_back(read_function(message.message()));
      } else if (message.field() == model_field::graph) {
        has_graph = true;
        read_graph(message.message(), model_,
                   [&](Message inner, Node& node) { read_listed(inner, node); });
      }
    }
    if (!has_graph) throw Error(ErrorKind::invalid_input, "it has no graph");
  }

 private:
  /// What is wrong with a node becomes a finding, and the next one is read.
  void read_listed(Message message, Node& node) {
    try {
      read_node(message, node, 0);
    } catch (const Error& error) {
      if (++refused_ > nodes_listed) {
        ++diagnostics_.back().more;
        return;
      }
      std::string title = "node " + std::to_string(model_.nodes.size() - 1);
      if (!node.name.empty()) title += " \"" + printable(std::string(node.name)) + "\"";
      diagnostics_.push_back({.file = model_.path, .message = title + ": " + error.what()});
    }
  }

  OnnxModel& model_;
  std::span<const std::byte> bytes_;
  Diagnostics& diagnostics_;
  std::size_t refused_ = 0;
};

}  // namespace

std::string_view Node::first_output() const {
  const auto found =
      std::ranges::find_if(outputs, [](std::string_view output) { return !output.empty(); });
  return found == outputs.end() ? std::string_view() : *found;
}

std::int64_t version_of(std::string_view domain, const std::vector<OperatorSet>& sets) {
  // Both names are those of ONNX's own operators.
  const auto plain = [](std::string_view name) { return name == "ai.onnx" ? "" : name; };
  // As in ONNX Runtime, the last one counts, and its own operators need none.
  std::int64_t version = domain == "com.microsoft" ? 1 : 0;
  for (const OperatorSet& set : sets) {
    if (plain(set.domain) == plain(domain)) version = set.version;
  }
  return version;
}

bool is_named_onnx(const std::string& path) {
  return lower_extension(path) == ".onnx";
}

bool is_onnx(std::span<const std::byte> bytes) {
  constexpr std::byte ir_version{0x08};  // field 1, a number, here of one byte
  constexpr std::byte version_max{0x7F};
  return bytes.size() > 1 && bytes[0] == ir_version && bytes[1] > std::byte{0} &&
         bytes[1] <= version_max;
}

namespace {

/// What a file that cannot be read is instead, and what to do with it.
std::string remedy_of_bytes(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) return "it is empty: copy or download it again";
  if (text.starts_with("version https://git-lfs"))
    return "it is a pointer of Git LFS: git lfs pull gets the model";
  if (text.starts_with("\x1F\x8B")) return "it is compressed: unpack it with gunzip";
  if (text.starts_with("PK\3\4")) return "it is an archive: unpack it with unzip";
  if (text.starts_with("<")) return "it is a page of the web: download the model itself";
  if (is_onnx(bytes))
    return "it may be cut off at its end, at byte " + std::to_string(bytes.size()) +
           ": copy or download it again";
  return "";
}

}  // namespace

std::optional<OnnxModel> read_onnx(const std::string& path, std::span<const std::byte> bytes,
                                   Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.size();
  OnnxModel model;
  model.path = path;
  try {
    Reader(model, bytes, diagnostics).read();
  } catch (const Error& error) {
    const bool is_model = error.kind() == ErrorKind::unavailable;
    Diagnostic finding =
        finding_of(error, is_model ? "this ONNX model is not read" : "this is not an ONNX model");
    finding.file = path;
    if (!is_model) finding.suggestion = remedy_of_bytes(bytes);
    diagnostics.push_back(std::move(finding));
  }
  if (diagnostics.size() > before) return std::nullopt;
  return model;
}

std::optional<OnnxModel> open_onnx(const std::string& path, Diagnostics& diagnostics,
                                   const SharedConfinement& confinement) {
  return with_context("reading the model " + path, [&] {
    auto file = std::make_shared<const InputFile>(InputFile::open(PinnedFile(confinement, path)));
    auto model = file->read_intact(
        [&](std::span<const std::byte> bytes) { return read_onnx(path, bytes, diagnostics); });
    if (model) model->file = std::move(file);
    return model;
  });
}

}  // namespace dmlop::onnx
