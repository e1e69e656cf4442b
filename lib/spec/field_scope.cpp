#include "spec/field_scope.hpp"

namespace dmlop {
namespace {

std::optional<Number> tensor_value(const TensorDesc& tensor, const Place& place) {
  const std::string& attribute = place.reference.attribute;
  if (attribute == "DataType") {
    if (!tensor.data_type) return std::nullopt;
    return Number(static_cast<std::int64_t>(*tensor.data_type));
  }
  if (attribute == "DimensionCount") {
    if (!tensor.dimension_count) return std::nullopt;
    return Number(static_cast<std::int64_t>(*tensor.dimension_count));
  }
  if (!place.subscript || *place.subscript >= tensor.sizes.size()) return std::nullopt;
  return Number(static_cast<std::int64_t>(tensor.sizes[*place.subscript]));
}

template <typename T>
const T* element_of(const std::vector<T>& list, const std::optional<std::size_t>& index) {
  return index && *index < list.size() ? &list[*index] : nullptr;
}

}  // namespace

// The data type of a refused tensor still counts.
bool FieldScope::is_field_refused(const Place& place) const {
  if (refused_fields_.empty() || place.reference.attribute == "DataType") return false;
  const Place whole{{place.reference.field}, place.element};
  return refused_fields_.contains(to_text(whole)) ||
         refused_fields_.contains(place.reference.field);
}

std::optional<Number> FieldScope::value(const Place& place) const {
  const Field* field = fields_.find(place.reference.field);
  if (field == nullptr || is_refused(place)) return std::nullopt;
  if (field->spec->is_tensor()) {
    const TensorDesc* tensor = fields_.find_tensor(place.reference.field, place.element);
    return tensor != nullptr ? tensor_value(*tensor, place) : std::nullopt;
  }
  return field_value(*field, place);
}

std::optional<Number> FieldScope::field_value(const Field& field, const Place& place) const {
  if (const auto* integer = std::get_if<std::int64_t>(&field.value)) return Number(*integer);
  if (const auto* real = std::get_if<double>(&field.value)) return Number::real(*real);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&field.value)) {
    const auto* number = element_of(*list, place.subscript);
    return number != nullptr ? std::optional<Number>(*number) : std::nullopt;
  }
  if (const auto* list = std::get_if<std::vector<double>>(&field.value)) {
    const auto* number = element_of(*list, place.subscript);
    return number != nullptr ? std::optional(Number::real(*number)) : std::nullopt;
  }
  if (const auto* size = std::get_if<Size2d>(&field.value))
    return Number(place.reference.attribute == "Width" ? size->width : size->height);
  if (const auto* both = std::get_if<ScaleBias>(&field.value))
    return Number::real(place.reference.attribute == "Scale" ? both->scale : both->bias);
  if (const auto* scalar = std::get_if<Scalar>(&field.value))
    return scalar->type ? std::optional(Number::real(scalar->approximate)) : std::nullopt;
  if (const auto* nested = std::get_if<std::vector<NestedOperator>>(&field.value)) {
    const auto* one = element_of(*nested, place.element ? place.element : 0);
    return one != nullptr ? std::optional<Number>(*operator_value(one->spec->name)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::size_t> FieldScope::length(const Place& place) const {
  const Field* field = fields_.find(place.reference.field);
  if (field == nullptr || is_field_refused(place)) return std::nullopt;
  if (place.reference.attribute.empty()) {
    if (const auto* list = std::get_if<std::vector<TensorDesc>>(&field->value)) return list->size();
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&field->value))
      return list->size();
    if (const auto* list = std::get_if<std::vector<double>>(&field->value)) return list->size();
    if (const auto* list = std::get_if<std::vector<NestedOperator>>(&field->value))
      return list->size();
    return std::nullopt;
  }
  const TensorDesc* tensor = fields_.find_tensor(place.reference.field, place.element);
  if (tensor == nullptr) return std::nullopt;
  return tensor->sizes.empty() ? tensor->dimension_count : std::optional(tensor->sizes.size());
}

std::optional<bool> FieldScope::is_present(const Place& place) const {
  const Field* field = fields_.find(place.reference.field);
  if (field == nullptr) return std::nullopt;
  if (!field->spec->optional) return true;
  // A value that is written but could not be read has its own finding.
  if (field->is_absent() && field->written != nullptr) return std::nullopt;
  return !field->is_absent();
}

std::string FieldScope::show(const Reference& reference, const Number& value) const {
  const Field* field = fields_.find(reference.field);
  if (field == nullptr || value.is_real()) return to_text(value);
  std::string enum_name = field->spec->enum_name;
  if (reference.attribute == "DataType") enum_name = "DML_TENSOR_DATA_TYPE";
  if (reference.attribute == "Type") {
    for (const std::string& name : known_operators()) {
      if (operator_value(name) == value.integer()) return name;
    }
  }
  if (!enum_name.empty()) {
    for (const EnumValue& entry : enum_values(enum_name)) {
      if (entry.value == value.integer()) return entry.name;
    }
  }
  return to_text(value);
}

}  // namespace dmlop
