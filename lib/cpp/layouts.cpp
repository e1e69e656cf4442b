#include "cpp/layouts.hpp"

namespace dmlop::cpp {
namespace {

// Pointers and enumerations have no type here: they are kept as they are written.
std::string type_of(const FieldSpec& field) {
  switch (field.kind) {
    case FieldKind::uint:
      return "UINT";
    case FieldKind::int32:
      return "INT";
    case FieldKind::boolean:
      return "BOOL";
    case FieldKind::float32:
      return "FLOAT";
    case FieldKind::scalar_union:
      return "DML_SCALAR_UNION";
    case FieldKind::size_2d:
      return "DML_SIZE_2D";
    case FieldKind::input_tensor:
    case FieldKind::output_tensor:
    case FieldKind::input_tensor_array:
    case FieldKind::output_tensor_array:
    case FieldKind::enumeration:
    case FieldKind::uint_array:
    case FieldKind::int_array:
    case FieldKind::float_array:
    case FieldKind::scale_bias:
    case FieldKind::fused_activation:
    case FieldKind::activation_array:
      return "";
  }
  return "";
}

}  // namespace

const OperatorSpec* operator_of(std::string_view type) {
  constexpr std::string_view prefix = "DML_", suffix = "_OPERATOR_DESC";
  if (type.size() <= prefix.size() + suffix.size() || !type.starts_with(prefix) ||
      !type.ends_with(suffix))
    return nullptr;
  return find_spec(type.substr(prefix.size(), type.size() - prefix.size() - suffix.size()));
}

std::optional<std::vector<Member>> members_of(std::string_view type) {
  using Members = std::vector<Member>;
  if (type == "DML_TENSOR_DESC" || type == "DML_OPERATOR_DESC") return Members{{"Type"}, {"Desc"}};
  if (type == "DML_BUFFER_TENSOR_DESC")
    return Members{{"DataType"},
                   {"Flags"},
                   {"DimensionCount", "UINT"},
                   {"Sizes"},
                   {"Strides"},
                   {"TotalTensorSizeInBytes", "UINT64"},
                   {"GuaranteedBaseOffsetAlignment", "UINT"}};
  if (type == "DML_SCALE_BIAS") return Members{{"Scale", "FLOAT"}, {"Bias", "FLOAT"}};
  if (type == "DML_SIZE_2D") return Members{{"Width", "UINT"}, {"Height", "UINT"}};
  if (type == "DML_SCALAR_UNION")
    return Members{{"Bytes"},
                   {"Int8", "INT8"},
                   {"UInt8", "UINT8"},
                   {"Int16", "INT16"},
                   {"UInt16", "UINT16"},
                   {"Int32", "INT32"},
                   {"UInt32", "UINT32"},
                   {"Int64", "INT64"},
                   {"UInt64", "UINT64"},
                   {"Float32", "FLOAT"},
                   {"Float64", "DOUBLE"}};
  const OperatorSpec* spec = operator_of(type);
  if (spec == nullptr) return std::nullopt;
  Members members;
  for (const FieldSpec& field : spec->fields) members.push_back({field.name, type_of(field)});
  return members;
}

}  // namespace dmlop::cpp
