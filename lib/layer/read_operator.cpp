#include "layer/read_operator.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "graph/describe.hpp"
#include "graph/from_description.hpp"
#include "job/job.hpp"
#include "layer/memory_reader.hpp"
#include "layer/struct_layout.hpp"
#include "spec/facts.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::layer {
namespace {

using Json = nlohmann::ordered_json;

// DML_TENSOR_DIMENSION_COUNT_MAX1.
constexpr std::uint32_t dimensions_max = 8;
// No operator has an array that is as long, whatever memory is there.
constexpr std::uint32_t elements_max = 65'536;

constexpr std::int32_t buffer_tensor = 1;  // DML_TENSOR_TYPE_BUFFER
constexpr std::uint32_t owned_by_dml = 1;  // DML_TENSOR_FLAG_OWNED_BY_DML

/// The operator of a DML_OPERATOR_TYPE, or null.
const OperatorSpec* spec_of(std::int32_t type) {
  static const auto specs = [] {
    std::map<std::int64_t, const std::string*> names;
    for (const std::string& name : known_operators()) {
      if (const auto value = operator_value(name)) names.emplace(*value, &name);
    }
    return names;
  }();
  const auto found = specs.find(type);
  return found == specs.end() ? nullptr : find_spec(*found->second);
}

/// The bytes of an operator's struct.
class Struct {
 public:
  explicit Struct(const OperatorSpec& spec) : layout(layout_of(spec)), bytes(layout.bytes) {}

  template <typename T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, &bytes[offset], sizeof(T));
    return value;
  }
  std::uint32_t count(const FieldSpec& field) const {
    for (const FieldLayout& each : layout.fields) {
      if (each.field->name == field.count_field) return at<std::uint32_t>(each.offset);
    }
    return 0;
  }

  StructLayout layout;
  std::vector<std::byte> bytes;
};

class OperatorReader {
 public:
  explicit OperatorReader(Diagnostics& findings) : memory_(findings) {}

  std::optional<ReadOperator> read(Address address) {
    const auto desc = memory_.read<TypedDesc>(address, "desc", "DML_OPERATOR_DESC");
    if (!desc) return std::nullopt;
    const OperatorSpec* spec = spec_of(desc->type);
    if (spec == nullptr) {
      memory_.refuse("Type is " + std::to_string(desc->type) +
                     ", which is not an operator of DirectML 1.15.4");
      return std::nullopt;
    }
    ReadOperator read{.spec = spec,
                      .node = {.name = "", .content = GraphOperator(), .inputs = {}, .outputs = {}},
                      .extras = {}};
    read_ = &read;
    operation().type = serialized_name(*spec);
    const auto fields = struct_of(*spec, desc->desc, "Desc");
    if (!fields) return std::nullopt;
    for (const FieldLayout& field : fields->layout.fields) {
      if (field.field->is_tensor()) {
        read_tensors(*fields, field);
      } else {
        operation().attributes.push_back(attribute(*fields, field, ""));
      }
    }
    return read;
  }

 private:
  GraphOperator& operation() { return std::get<GraphOperator>(read_->node.content); }

  std::optional<Struct> struct_of(const OperatorSpec& spec, Address address,
                                  const std::string& name) {
    Struct fields(spec);
    if (!memory_.copy(address, fields.bytes, name, "DML_" + spec.name + "_OPERATOR_DESC"))
      return std::nullopt;
    return fields;
  }

  void read_tensors(const Struct& fields, const FieldLayout& layout) {
    const FieldSpec& field = *layout.field;
    const auto address = fields.at<Address>(layout.offset);
    if (!field.is_tensor_array()) {
      if (address == 0 && field.optional) return leave_out(field);
      const auto desc = memory_.read<TypedDesc>(address, field.name, "DML_TENSOR_DESC");
      if (desc) add_tensor(field, {}, *desc);
      return;
    }
    const auto descs = memory_.list<TypedDesc>(address, fields.count(field), field.name,
                                               field.count_field, elements_max);
    if (!descs) return;
    for (std::size_t i = 0; i < descs->size(); ++i) add_tensor(field, i, (*descs)[i]);
  }

  void leave_out(const FieldSpec& field) {
    (field.is_input() ? read_->node.inputs : read_->node.outputs).emplace_back();
  }

  void add_tensor(const FieldSpec& field, std::optional<std::size_t> element,
                  const TypedDesc& desc) {
    const std::string name = tensor_name(field.name, element);
    if (desc.type != buffer_tensor)
      return memory_.refuse(name + ".Type is " + std::to_string(desc.type) +
                            ", must be DML_TENSOR_TYPE_BUFFER (1)");
    const auto buffer =
        memory_.read<BufferTensorDesc>(desc.desc, name + ".Desc", "DML_BUFFER_TENSOR_DESC");
    if (!buffer) return;
    auto tensor = tensor_of(*buffer, name);
    if (!tensor) return;
    auto& edges = field.is_input() ? read_->node.inputs : read_->node.outputs;
    auto& tensors = field.is_input() ? operation().inputs : operation().outputs;
    edges.push_back(std::to_string(edges.size()));
    tensors.push_back(std::move(*tensor));
    read_->extras.push_back({field.name, element, (buffer->flags & owned_by_dml) != 0,
                             buffer->guaranteed_base_offset_alignment});
  }

  std::optional<GraphTensor> tensor_of(const BufferTensorDesc& buffer, const std::string& name) {
    if ((buffer.flags & ~owned_by_dml) != 0)
      memory_.refuse(name + ".Flags is " + std::to_string(buffer.flags) +
                     ", which are no DML_TENSOR_FLAGS");
    if (buffer.data_type < 1 || buffer.data_type > static_cast<int>(data_types.size())) {
      memory_.refuse(name + ".DataType is " + std::to_string(buffer.data_type) +
                     ", which is not a type of elements");
      return std::nullopt;
    }
    const DataType type = static_cast<DataType>(buffer.data_type);
    GraphTensor tensor{.data_type = "DML_TENSOR_DATA_TYPE_" + std::string(name_of(type)),
                       .sizes = {},
                       .strides = {},
                       .total_size_in_bytes = buffer.total_size_in_bytes};
    const std::string count_name = name + ".DimensionCount";
    auto sizes = memory_.list<std::uint32_t>(buffer.sizes, buffer.dimension_count, name + ".Sizes",
                                             count_name, dimensions_max);
    if (!sizes) return std::nullopt;
    tensor.sizes = std::move(*sizes);
    if (buffer.strides == 0) return tensor;
    auto strides = memory_.list<std::uint32_t>(buffer.strides, buffer.dimension_count,
                                               name + ".Strides", count_name, dimensions_max);
    if (!strides) return std::nullopt;
    tensor.strides = std::move(*strides);
    return tensor;
  }

  GraphAttribute attribute(const Struct& fields, const FieldLayout& layout,
                           const std::string& prefix) {
    GraphValue value = value_of(fields, layout, prefix + layout.field->name);
    const bool is_absent = std::holds_alternative<std::monostate>(value);
    return {is_absent ? "" : layout.field->name, std::move(value)};
  }

  GraphValue value_of(const Struct& fields, const FieldLayout& layout, const std::string& name) {
    const FieldSpec& field = *layout.field;
    switch (field.kind) {
      case FieldKind::enumeration:
      case FieldKind::uint:
        return fields.at<std::uint32_t>(layout.offset);
      case FieldKind::boolean:
        return fields.at<std::uint32_t>(layout.offset) != 0 ? 1U : 0U;
      case FieldKind::int32:
        return fields.at<std::int32_t>(layout.offset);
      case FieldKind::float32:
        return fields.at<float>(layout.offset);
      case FieldKind::uint_array:
        return list<std::uint32_t>(fields, layout, name);
      case FieldKind::int_array:
        return list<std::int32_t>(fields, layout, name);
      case FieldKind::float_array:
        return list<float>(fields, layout, name);
      case FieldKind::scalar_union:
        return fields.at<GraphScalar>(layout.offset);
      case FieldKind::size_2d:
        return fields.at<GraphSize2d>(layout.offset);
      case FieldKind::scale_bias:
        return scale_bias(fields.at<Address>(layout.offset), name);
      case FieldKind::fused_activation:
        return activation(fields.at<Address>(layout.offset), name);
      case FieldKind::activation_array:
        return activations(fields, layout, name);
      case FieldKind::input_tensor:
      case FieldKind::output_tensor:
      case FieldKind::input_tensor_array:
      case FieldKind::output_tensor_array:
        break;
    }
    return std::monostate();
  }

  template <typename T>
  GraphValue list(const Struct& fields, const FieldLayout& layout, const std::string& name) {
    const FieldSpec& field = *layout.field;
    const auto address = fields.at<Address>(layout.offset);
    if (address == 0 && field.optional) return std::monostate();
    auto values =
        memory_.list<T>(address, fields.count(field), name, field.count_field, elements_max);
    return values ? GraphValue(std::move(*values)) : std::monostate();
  }

  GraphValue scale_bias(Address address, const std::string& name) {
    if (address == 0) return std::monostate();
    const auto both = memory_.read<GraphScaleBias>(address, name, "DML_SCALE_BIAS");
    return both ? GraphValue(*both) : std::monostate();
  }

  GraphValue activation(Address address, const std::string& name) {
    if (address == 0) return std::monostate();
    const auto desc = memory_.read<TypedDesc>(address, name, "DML_OPERATOR_DESC");
    auto read = desc ? activation_of(*desc, name) : std::nullopt;
    return read ? GraphValue(std::move(*read)) : std::monostate();
  }

  GraphValue activations(const Struct& fields, const FieldLayout& layout, const std::string& name) {
    const FieldSpec& field = *layout.field;
    const auto address = fields.at<Address>(layout.offset);
    if (address == 0 && field.optional) return std::monostate();
    const auto descs = memory_.list<TypedDesc>(address, fields.count(field), name,
                                               field.count_field, elements_max);
    std::vector<GraphActivation> list;
    for (std::size_t i = 0; descs && i < descs->size(); ++i) {
      auto one = activation_of((*descs)[i], name + "[" + std::to_string(i) + "]");
      if (!one) break;
      list.push_back(std::move(*one));
    }
    return list;
  }

  // Activations have no activations in them, so that this ends.
  std::optional<GraphActivation> activation_of(const TypedDesc& desc, const std::string& name) {
    const OperatorSpec* spec = spec_of(desc.type);
    if (spec == nullptr || !is_activation(spec->name)) {
      memory_.refuse(name + ".Type is " +
                     (spec == nullptr ? std::to_string(desc.type) : "DML_OPERATOR_" + spec->name) +
                     ", which is not an activation");
      return std::nullopt;
    }
    const auto fields = struct_of(*spec, desc.desc, name + ".Desc");
    if (!fields) return std::nullopt;
    GraphActivation activation{.type = "DML_OPERATOR_" + spec->name, .attributes = {}};
    for (const FieldLayout& layout : fields->layout.fields) {
      if (!layout.field->is_tensor() && !layout.field->is_nested_operator()) {
        activation.attributes.push_back(attribute(*fields, layout, name + "."));
      } else if (fields->at<Address>(layout.offset) != 0) {
        memory_.refuse(name + "." + layout.field->name + " is not null",
                       "an activation that is part of another operator has no tensors");
      }
    }
    return activation;
  }

  MemoryReader memory_;
  ReadOperator* read_ = nullptr;
};

}  // namespace

Json ReadOperator::description() const {
  std::vector<std::string> ignored;  // there are as many attributes as the spec has fields
  Json description = describe(node, operation(), ignored).description;
  description["type"] = "DML_OPERATOR_" + spec->name;
  for (const TensorExtras& each : extras) {
    Json& field = description["desc"][each.field];
    Json& tensor = each.element ? field[*each.element] : field;
    if (each.is_owned_by_dml) tensor["Flags"] = "DML_TENSOR_FLAG_OWNED_BY_DML";
    if (each.alignment != 0) tensor["GuaranteedBaseOffsetAlignment"] = each.alignment;
  }
  return description;
}

Json ReadOperator::description_at(FeatureLevel level) const {
  Json described = description();
  if (level != newest_feature_level) described["featureLevel"] = to_text(level);
  described["as"] = name_of(Judge::directml);
  return described;
}

std::optional<ReadOperator> read_operator(Address desc, Diagnostics& findings) {
  const std::size_t before = findings.size();
  auto read = OperatorReader(findings).read(desc);
  if (findings.size() > before) return std::nullopt;
  return read;
}

}  // namespace dmlop::layer
