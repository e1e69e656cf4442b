#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.hpp"
#include "graph/flatbuffer.hpp"
#include "graph/graph.hpp"
#include "graph/tables.hpp"

namespace dmlop {
namespace {

using flatbuffer::Table;

// After this many nodes with findings, the rest are not listed.
constexpr std::size_t nodes_listed = 8;

[[noreturn]] void refuse_table(const Table& table, const std::string& what) {
  throw Error(ErrorKind::invalid_input, "byte " + std::to_string(table.place()) + ": " + what);
}

template <typename T>
T required(std::optional<T> value, const Table& table, const std::string& what) {
  if (!value) refuse_table(table, what + " is missing");
  return std::move(*value);
}

GraphTensor tensor_of(const Table& table) {
  return {required(table.string(tensor_field::data_type, "DataType"), table,
                   "the DataType of a tensor"),
          required(table.numbers(tensor_field::sizes, "Sizes"), table, "the Sizes of a tensor"),
          table.numbers(tensor_field::strides, "Strides"),
          table.uint64(tensor_field::total_size_in_bytes, "TotalTensorSizeInBytes")};
}

std::vector<GraphTensor> tensors_of(const Table& table, std::size_t field, const char* what) {
  std::vector<GraphTensor> tensors;
  for (const Table& tensor : table.tables(field, what)) tensors.push_back(tensor_of(tensor));
  return tensors;
}

/// Reads attributes, and the activations among them, whose own attributes are no activations.
class AttributeReader {
 public:
  explicit AttributeReader(bool is_nested = false) : is_nested_(is_nested) {}

  std::vector<GraphAttribute> read(const Table& owner, std::size_t field) const {
    std::vector<GraphAttribute> attributes;
    for (const Table& table : owner.tables(field, "an attribute")) {
      const std::string name =
          table.string(attribute_field::name, "the name of an attribute").value_or("");
      attributes.push_back({name, value_of(table)});
    }
    return attributes;
  }

 private:
  GraphValue value_of(const Table& table) const {
    const std::uint8_t kind = table.byte(attribute_field::kind, "the type of an attribute");
    if (!table.has(attribute_field::value)) return {};
    switch (static_cast<ValueKind>(kind)) {
      case ValueKind::none:
        return {};
      case ValueKind::activation:
        return activation(inner(table));
      case ValueKind::activations:
        return activations(inner(table));
      case ValueKind::uint32:
        return numbers<std::uint32_t, 1>(table)[0];
      case ValueKind::uint64:
        return numbers<std::uint64_t, 1>(table)[0];
      case ValueKind::int32:
        return numbers<std::int32_t, 1>(table)[0];
      case ValueKind::float32:
        return numbers<float, 1>(table)[0];
      case ValueKind::uint32_array:
        return array<std::uint32_t>(inner(table));
      case ValueKind::int32_array:
        return array<std::int32_t>(inner(table));
      case ValueKind::float32_array:
        return array<float>(inner(table));
      case ValueKind::scale_bias: {
        const auto both = numbers<float, 2>(table);
        return GraphScaleBias{both[0], both[1]};
      }
      case ValueKind::size_2d: {
        const auto both = numbers<std::uint32_t, 2>(table);
        return GraphSize2d{both[0], both[1]};
      }
      case ValueKind::scalar:
        return scalar(inner(table));
      case ValueKind::boolean:
        return numbers<std::uint8_t, 1>(table)[0] != 0;
    }
    refuse_table(table, "an attribute has the type " + std::to_string(kind) + ", which is unknown");
  }

  static Table inner(const Table& table) {
    return *table.table(attribute_field::value, "the value of an attribute");
  }

  GraphActivation activation(const Table& table) const {
    if (is_nested_) refuse_table(table, "an activation has an activation");
    return {required(table.string(activation_field::type, "the type of an activation"), table,
                     "the type of an activation"),
            AttributeReader(true).read(table, activation_field::attributes)};
  }

  std::vector<GraphActivation> activations(const Table& table) const {
    std::vector<GraphActivation> activations;
    for (const Table& item : table.tables(0, "an activation"))
      activations.push_back(activation(item));
    return activations;
  }

  template <typename T, std::size_t count>
  static std::array<T, count> numbers(const Table& table) {
    std::array<T, count> numbers;
    const auto bytes =
        table.structure(attribute_field::value, sizeof numbers, "the value of an attribute");
    std::memcpy(numbers.data(), bytes->data(), sizeof numbers);
    return numbers;
  }

  template <typename T>
  static std::vector<T> array(const Table& table) {
    std::vector<T> array;
    for (const std::uint32_t bits :
         table.numbers(0, "the value of an attribute").value_or(std::vector<std::uint32_t>{}))
      array.push_back(std::bit_cast<T>(bits));
    return array;
  }

  static GraphScalar scalar(const Table& table) {
    GraphScalar scalar;
    const auto bytes =
        required(table.structure(union_field::value, sizeof scalar.bytes, "a DML_SCALAR_UNION"),
                 table, "the value of a DML_SCALAR_UNION");
    std::memcpy(scalar.bytes.data(), bytes.data(), sizeof scalar.bytes);
    return scalar;
  }

  bool is_nested_;
};

GraphOperator operator_of(const Table& table) {
  return {required(table.string(operator_field::type, "the type of an operator"), table,
                   "the type of an operator"),
          tensors_of(table, operator_field::inputs, "an input"),
          tensors_of(table, operator_field::outputs, "an output"),
          AttributeReader().read(table, operator_field::attributes)};
}

GraphConstant constant_of(const Table& table) {
  const std::uint8_t kind = table.byte(union_field::kind, "the kind of a constant");
  const Table value = required(table.table(union_field::value, "the data of a constant"), table,
                               "the data of a constant");
  GraphConstant constant;
  if (kind == static_cast<std::uint8_t>(ConstantKind::name)) {
    constant.name =
        required(value.string(0, "ConstantName"), value, "the ConstantName of a constant");
  } else if (kind == static_cast<std::uint8_t>(ConstantKind::raw)) {
    constant.bytes =
        required(value.bytes(0, "ConstantRawData"), value, "the ConstantRawData of a constant");
  } else {
    refuse_table(table, "a constant is of kind " + std::to_string(kind) + ", must be 1 or 2");
  }
  return constant;
}

NodeKind kind_of(const Table& table) {
  const std::uint8_t kind = table.byte(node_field::kind, "the kind of a node");
  if (kind != static_cast<std::uint8_t>(NodeKind::operation) &&
      kind != static_cast<std::uint8_t>(NodeKind::constant))
    refuse_table(table, "a node is of kind " + std::to_string(kind) + ", must be 1 or 2");
  return static_cast<NodeKind>(kind);
}

Table content_of(const Table& table) {
  return required(table.table(node_field::content, "the desc of a node"), table,
                  "the desc of a node");
}

GraphNode node_of(const Table& table, std::string name) {
  const bool is_operator = kind_of(table) == NodeKind::operation;
  const Table content = content_of(table);
  GraphNode node{.name = std::move(name), .content = {}, .inputs = {}, .outputs = {}};
  node.inputs = table.strings(node_field::inputs, "the name of an input");
  node.outputs = table.strings(node_field::outputs, "the name of an output");
  if (is_operator) node.content = operator_of(content);
  if (!is_operator) node.content = constant_of(content);
  return node;
}

/// The three lists of the root, and the nodes as tables.
struct Lists {
  std::vector<Table> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

Lists lists_of(flatbuffer::Bytes& bytes) {
  const Table root = Table::root(bytes);
  for (const auto& [field, name] :
       {std::pair(graph_field::nodes, "nodes"), std::pair(graph_field::inputs, "input names"),
        std::pair(graph_field::outputs, "output names")}) {
    if (!root.has(field))
      refuse_table(root, std::string("the list of the ") + name + " is missing");
  }
  Lists lists{.nodes = root.tables(graph_field::nodes, "a node"),
              .inputs = root.strings(graph_field::inputs, "the name of an input of the graph"),
              .outputs = root.strings(graph_field::outputs, "the name of an output of the graph")};
  if (lists.nodes.empty()) refuse_table(root, "the graph has no nodes");
  return lists;
}

class GraphReader {
 public:
  GraphReader(Graph& graph, std::span<const std::byte> bytes, Diagnostics& diagnostics)
      : graph_(graph), bytes_(bytes), diagnostics_(diagnostics) {}

  void read() {
    Lists lists = lists_of(bytes_);
    if (lists.nodes.size() > graph_nodes_max)
      throw Error(ErrorKind::invalid_input, "the graph has " + std::to_string(lists.nodes.size()) +
                                                " nodes, must have at most " +
                                                std::to_string(graph_nodes_max));
    graph_.inputs = std::move(lists.inputs);
    graph_.outputs = std::move(lists.outputs);
    for (std::size_t i = 0; i < lists.nodes.size(); ++i) read_node(lists.nodes[i], i);
  }

 private:
  void read_node(const Table& table, std::size_t index) {
    std::string title = "node " + std::to_string(index);
    try {
      auto name = table.string(node_field::name, "the name of a node").value_or("");
      if (!name.empty()) title += " \"" + printable(name) + "\"";
      graph_.nodes.push_back(node_of(table, std::move(name)));
    } catch (const Error& error) {
      if (++refused_ > nodes_listed) {
        ++diagnostics_.back().more;
      } else {
        diagnostics_.push_back(finding_of(error, title));
        diagnostics_.back().file = graph_.file;
      }
    }
  }

  Graph& graph_;
  flatbuffer::Bytes bytes_;
  Diagnostics& diagnostics_;
  std::size_t refused_ = 0;
};

}  // namespace

std::string title_of(const GraphNode& node) {
  const auto* operation = std::get_if<GraphOperator>(&node.content);
  return "node \"" + printable(node.name) + "\" (" +
         (operation != nullptr ? printable(operation->type) : "constant") + ")";
}

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names = graph.inputs;
  auto unread = graph.unread_inputs.begin();
  for (std::string& name : names) {
    if (name.empty() && unread != graph.unread_inputs.end()) name = *unread++;
  }
  return names;
}

std::optional<std::vector<GraphUse>> uses_of(const std::vector<std::string>& edges,
                                             const std::vector<GraphTensor>& tensors) {
  const auto is_named = [](const std::string& edge) { return !edge.empty(); };
  const auto named = static_cast<std::size_t>(std::count_if(edges.begin(), edges.end(), is_named));
  const bool has_all = tensors.size() == edges.size();
  if (!has_all && tensors.size() != named) return std::nullopt;
  std::vector<GraphUse> uses;
  for (std::size_t next = 0; const std::string& edge : edges) {
    const bool is_there = has_all || is_named(edge);
    uses.push_back({edge, is_there ? &tensors[next++] : nullptr});
  }
  return uses;
}

bool is_serialized_graph(std::span<const std::byte> bytes) {
  try {
    flatbuffer::Bytes file(bytes);
    bool has_operator = false;
    for (const Table& node : lists_of(file).nodes) {
      const NodeKind kind = kind_of(node);
      const Table content = content_of(node);
      if (kind != NodeKind::operation) continue;
      const auto type = content.string(operator_field::type, "the type of an operator");
      if (!type || !type->starts_with("DML_OPERATOR_")) return false;
      has_operator = true;
    }
    return has_operator;
  } catch (const Error&) {
    return false;
  }
}

std::optional<Graph> read_graph(const std::string& file, std::span<const std::byte> bytes,
                                Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.size();
  Graph graph{.file = file, .inputs = {}, .outputs = {}, .nodes = {}};
  try {
    GraphReader(graph, bytes, diagnostics).read();
  } catch (const Error& error) {
    diagnostics.push_back(finding_of(error, "this is not a serialized DirectML graph"));
    diagnostics.back().file = file;
  }
  if (diagnostics.size() > before) return std::nullopt;
  return graph;
}

}  // namespace dmlop
