#include "graph/from_description.hpp"

#include <cstring>

#include "base/text.hpp"

namespace dmlop {
namespace {

std::vector<std::uint32_t> narrow(const std::vector<std::uint64_t>& wide) {
  std::vector<std::uint32_t> list;
  for (const std::uint64_t value : wide) list.push_back(static_cast<std::uint32_t>(value));
  return list;
}

/// DMLCalcBufferTensorSize of DirectML's helpers: a multiple of 4 bytes.
std::uint64_t buffer_bytes(const TensorDesc& desc) {
  const Strides strides = desc.strides.value_or(packed_strides(desc.sizes));
  const std::uint64_t elements = reached_elements(desc.sizes, strides).value_or(0);
  return (elements * info(*desc.data_type).bits + 31) / 32 * 4;
}

GraphTensor graph_tensor(const TensorDesc& desc) {
  GraphTensor tensor{.data_type = "DML_TENSOR_DATA_TYPE_" + std::string(name_of(*desc.data_type)),
                     .sizes = narrow(desc.sizes),
                     .strides = {},
                     .total_size_in_bytes = desc.total_size_in_bytes.value_or(buffer_bytes(desc))};
  if (desc.strides) tensor.strides = narrow(*desc.strides);
  return tensor;
}

std::vector<GraphAttribute> attributes_of(const FieldSet& fields);

template <typename T, typename Number>
std::vector<T> list_as(const std::vector<Number>& numbers) {
  std::vector<T> list;
  for (const Number number : numbers) list.push_back(static_cast<T>(number));
  return list;
}

/// The value of a field that is no tensor: one overload for each kind of value.
class AttributeValue {
 public:
  explicit AttributeValue(const Field& field) : spec_(*field.spec) {}

  // A number that has no effect here is written all the same.
  GraphValue operator()(std::monostate) const {
    switch (spec_.kind) {
      case FieldKind::float32:
        return 0.0F;
      case FieldKind::scalar_union:
        return GraphScalar();
      case FieldKind::uint:
      case FieldKind::boolean:
      case FieldKind::enumeration:
        return std::uint32_t{0};
      case FieldKind::int32:
        return std::int32_t{0};
      case FieldKind::uint_array:
        return std::vector<std::uint32_t>{};
      case FieldKind::int_array:
        return std::vector<std::int32_t>{};
      case FieldKind::float_array:
        return std::vector<float>{};
      default:
        return std::monostate();
    }
  }
  GraphValue operator()(std::int64_t integer) const {
    if (spec_.kind == FieldKind::int32) return static_cast<std::int32_t>(integer);
    return static_cast<std::uint32_t>(integer);
  }
  GraphValue operator()(double number) const { return static_cast<float>(number); }
  GraphValue operator()(const std::vector<std::int64_t>& integers) const {
    if (spec_.kind == FieldKind::int_array) return list_as<std::int32_t>(integers);
    return list_as<std::uint32_t>(integers);
  }
  GraphValue operator()(const std::vector<double>& numbers) const {
    return list_as<float>(numbers);
  }
  GraphValue operator()(const Size2d& size) const {
    return GraphSize2d{static_cast<std::uint32_t>(size.width),
                       static_cast<std::uint32_t>(size.height)};
  }
  GraphValue operator()(const ScaleBias& both) const {
    return GraphScaleBias{static_cast<float>(both.scale), static_cast<float>(both.bias)};
  }
  GraphValue operator()(const Scalar& scalar) const {
    GraphScalar value;
    for (std::size_t i = 0; i < value.bytes.size(); ++i)
      value.bytes[i] = static_cast<std::byte>(scalar.bits >> 8 * i & 0xFF);
    return value;
  }
  GraphValue operator()(const std::vector<NestedOperator>& operators) const {
    std::vector<GraphActivation> activations;
    for (const NestedOperator& one : operators)
      activations.push_back({"DML_OPERATOR_" + one.spec->name, attributes_of(one)});
    if (spec_.kind == FieldKind::activation_array) return activations;
    if (activations.empty()) return std::monostate();
    return activations.front();
  }
  GraphValue operator()(const TensorDesc&) const { return std::monostate(); }
  GraphValue operator()(const std::vector<TensorDesc>&) const { return std::monostate(); }

 private:
  const FieldSpec& spec_;
};

std::vector<GraphAttribute> attributes_of(const FieldSet& fields) {
  std::vector<GraphAttribute> attributes;
  for (const Field& field : fields.fields) {
    if (field.spec->is_tensor()) continue;
    GraphValue value = std::visit(AttributeValue(field), field.value);
    const bool is_absent = std::holds_alternative<std::monostate>(value);
    attributes.push_back({is_absent ? "" : field.spec->name, std::move(value)});
  }
  return attributes;
}

}  // namespace

std::string serialized_name(const OperatorSpec& spec) {
  const auto aliases = aliases_of(spec.name);
  return "DML_OPERATOR_" + (aliases.empty() ? spec.name : aliases.front());
}

GraphOperator graph_operator(const Description& description) {
  GraphOperator operation{.type = serialized_name(*description.spec),
                          .inputs = {},
                          .outputs = {},
                          .attributes = attributes_of(description)};
  Description named = description;
  for (const TensorUse& use : tensors_of(named)) {
    auto& tensors = use.spec->is_input() ? operation.inputs : operation.outputs;
    tensors.push_back(graph_tensor(*use.desc));
  }
  return operation;
}

}  // namespace dmlop
