#include <cstring>

#include "graph/flatbuffer_writer.hpp"
#include "graph/graph.hpp"
#include "graph/tables.hpp"

namespace dmlop {
namespace {

using flatbuffer::Field;
using flatbuffer::Fields;
using flatbuffer::Writer;

/// A table as a part: `fields` are made when it is written.
template <typename MakeFields>
Field::Part table_of(MakeFields make) {
  return [make](Writer& writer) { return writer.table(make()); };
}

Fields fields_of(const GraphTensor& tensor) {
  Fields fields;
  fields.string(tensor_field::data_type, tensor.data_type)
      .numbers(tensor_field::sizes, tensor.sizes)
      .uint64(tensor_field::total_size_in_bytes, tensor.total_size_in_bytes);
  if (tensor.strides) fields.numbers(tensor_field::strides, *tensor.strides);
  return fields;
}

Fields fields_of(const GraphAttribute& attribute);

Fields fields_of(const GraphActivation& activation) {
  std::vector<Field::Part> attributes;
  for (const GraphAttribute& attribute : activation.attributes)
    attributes.push_back(table_of([&attribute] { return fields_of(attribute); }));
  return Fields()
      .string(activation_field::type, activation.type)
      .tables(activation_field::attributes, std::move(attributes));
}

/// Adds the kind and the value of an attribute.
class ValueFields {
 public:
  explicit ValueFields(Fields& fields) : fields_(fields) {}

  void operator()(std::monostate) const {}
  void operator()(const GraphActivation& activation) const {
    add(ValueKind::activation, table_of([&activation] { return fields_of(activation); }));
  }
  void operator()(const std::vector<GraphActivation>& activations) const {
    add(ValueKind::activations, table_of([&activations] {
          std::vector<Field::Part> list;
          for (const GraphActivation& activation : activations)
            list.push_back(table_of([&activation] { return fields_of(activation); }));
          return Fields().tables(0, std::move(list));
        }));
  }
  void operator()(std::uint32_t number) const { add_struct(ValueKind::uint32, number); }
  void operator()(std::uint64_t number) const { add_struct(ValueKind::uint64, number); }
  void operator()(std::int32_t number) const { add_struct(ValueKind::int32, number); }
  void operator()(float number) const { add_struct(ValueKind::float32, number); }
  void operator()(const std::vector<std::uint32_t>& numbers) const {
    add_array(ValueKind::uint32_array, numbers);
  }
  void operator()(const std::vector<std::int32_t>& numbers) const {
    add_array(ValueKind::int32_array, numbers);
  }
  void operator()(const std::vector<float>& numbers) const {
    add_array(ValueKind::float32_array, numbers);
  }
  void operator()(const GraphScaleBias& both) const { add_struct(ValueKind::scale_bias, both); }
  void operator()(const GraphSize2d& both) const { add_struct(ValueKind::size_2d, both); }
  void operator()(const GraphScalar& scalar) const {
    add(ValueKind::scalar, table_of([&scalar] {
          return Fields()
              .byte(union_field::kind, scalar_of_bytes)
              .structure(union_field::value, scalar.bytes, 1);
        }));
  }
  void operator()(bool boolean) const { add_struct(ValueKind::boolean, boolean); }

 private:
  void add(ValueKind kind, Field::Part value) const {
    fields_.byte(attribute_field::kind, static_cast<std::uint8_t>(kind))
        .part(attribute_field::value, std::move(value));
  }
  template <typename T>
  void add_struct(ValueKind kind, const T& value) const {
    fields_.byte(attribute_field::kind, static_cast<std::uint8_t>(kind))
        .structure(attribute_field::value, std::as_bytes(std::span(&value, 1)), alignof(T));
  }
  template <typename T>
  void add_array(ValueKind kind, const std::vector<T>& numbers) const {
    add(kind, table_of([&numbers] {
          std::vector<std::uint32_t> bits(numbers.size());
          if (!bits.empty()) std::memcpy(bits.data(), numbers.data(), 4 * bits.size());
          return Fields().part(0, [bits](Writer& writer) { return writer.numbers(bits); });
        }));
  }

  Fields& fields_;
};

Fields fields_of(const GraphAttribute& attribute) {
  Fields fields;
  if (!attribute.name.empty()) fields.string(attribute_field::name, attribute.name);
  std::visit(ValueFields(fields), attribute.value);
  return fields;
}

Fields fields_of(const GraphNode& node);

template <typename Part>
std::vector<Field::Part> tables_of(const std::vector<Part>& parts) {
  std::vector<Field::Part> tables;
  for (const Part& part : parts) tables.push_back(table_of([&part] { return fields_of(part); }));
  return tables;
}

Fields fields_of(const GraphOperator& operation) {
  return Fields()
      .string(operator_field::type, operation.type)
      .tables(operator_field::inputs, tables_of(operation.inputs))
      .tables(operator_field::outputs, tables_of(operation.outputs))
      .tables(operator_field::attributes, tables_of(operation.attributes));
}

Fields fields_of(const GraphConstant& constant) {
  const auto kind = constant.name ? ConstantKind::name : ConstantKind::raw;
  return Fields()
      .byte(union_field::kind, static_cast<std::uint8_t>(kind))
      .part(union_field::value, table_of([&constant] {
              Fields fields;
              if (constant.name) fields.string(0, *constant.name);
              if (!constant.name) fields.bytes(0, constant.bytes);
              return fields;
            }));
}

Fields fields_of(const GraphNode& node) {
  const auto* operation = std::get_if<GraphOperator>(&node.content);
  const auto kind = operation != nullptr ? NodeKind::operation : NodeKind::constant;
  return Fields()
      .byte(node_field::kind, static_cast<std::uint8_t>(kind))
      .part(node_field::content, table_of([&node] {
              return std::visit([](const auto& content) { return fields_of(content); },
                                node.content);
            }))
      .string(node_field::name, node.name)
      .strings(node_field::inputs, node.inputs)
      .strings(node_field::outputs, node.outputs);
}

}  // namespace

std::vector<std::byte> write_graph(const Graph& graph) {
  return Writer::file(Fields()
                          .tables(graph_field::nodes, tables_of(graph.nodes))
                          .strings(graph_field::inputs, graph.inputs)
                          .strings(graph_field::outputs, graph.outputs));
}

}  // namespace dmlop
