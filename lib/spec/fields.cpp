#include "spec/fields.hpp"

namespace dmlop {
namespace {

// Finds a tensor desc, which is the value itself or its member Desc.
const json::Value* desc_of(const json::Value* value) {
  const json::Value* nested = value->find("Desc");
  return nested != nullptr ? nested : value;
}

const json::Value* member_of_either_name(const json::Value* value, const char* name,
                                         const char* other) {
  const json::Value* found = value->find(name);
  return found != nullptr ? found : value->find(other);
}

}  // namespace

bool Field::is_absent() const {
  if (std::holds_alternative<std::monostate>(value)) return true;
  const auto* nested = std::get_if<std::vector<NestedOperator>>(&value);
  return nested != nullptr && nested->empty() && spec->kind == FieldKind::fused_activation;
}

Field* FieldSet::find(std::string_view name) {
  for (Field& field : fields) {
    if (field.spec->name == name) return &field;
  }
  return nullptr;
}

const Field* FieldSet::find(std::string_view name) const {
  return const_cast<FieldSet*>(this)->find(name);
}

TensorDesc* FieldSet::find_tensor(std::string_view name, std::optional<std::size_t> element) {
  Field* field = find(name);
  if (field == nullptr) return nullptr;
  if (!element) return std::get_if<TensorDesc>(&field->value);
  auto* list = std::get_if<std::vector<TensorDesc>>(&field->value);
  return list != nullptr && *element < list->size() ? &(*list)[*element] : nullptr;
}

const TensorDesc* FieldSet::find_tensor(std::string_view name,
                                        std::optional<std::size_t> element) const {
  return const_cast<FieldSet*>(this)->find_tensor(name, element);
}

const TensorDesc& FieldSet::tensor(std::string_view name) const {
  return std::get<TensorDesc>(find(name)->value);
}

std::int64_t FieldSet::integer(std::string_view name) const {
  return std::get<std::int64_t>(find(name)->value);
}

double FieldSet::number(std::string_view name, double otherwise) const {
  const double* value = std::get_if<double>(&find(name)->value);
  return value != nullptr ? *value : otherwise;
}

const std::vector<std::int64_t>& FieldSet::integers(std::string_view name) const {
  return std::get<std::vector<std::int64_t>>(find(name)->value);
}

// What the file has at the place, or null.
const json::Value* FieldSet::value_of(const Place& place) const {
  const Field* field = find(place.reference.field);
  const json::Value* value = field != nullptr ? field->written : nullptr;
  if (value == nullptr) return nullptr;
  if (place.element) {
    if (value->kind != json::Value::Kind::array) return *place.element == 0 ? value : nullptr;
    if (*place.element >= value->items.size()) return nullptr;
    value = &value->items[*place.element];
  }
  const std::string& attribute = place.reference.attribute;
  if (attribute.empty()) return value;
  if (field->spec->is_nested_operator()) return member_of_either_name(value, "Type", "type");
  value = desc_of(value);
  const json::Value* found = value->find(attribute);
  if (found == nullptr && attribute == "DimensionCount") found = value->find("Sizes");
  return found;
}

Diagnostic FieldSet::at(const Place& place, std::string message) const {
  const json::Value* value = value_of(place);
  if (value == nullptr && place.element) value = value_of({{place.reference.field}, place.element});
  if (value == nullptr) value = value_of({{place.reference.field}});
  if (value == nullptr) {
    Diagnostic diagnostic = document_->at(*fields_object_, std::move(message));
    diagnostic.value.clear();
    return diagnostic;
  }
  if (place.subscript && *place.subscript < value->items.size())
    value = &value->items[*place.subscript];
  return document_->at(*value, std::move(message));
}

bool FieldSet::is_written(const Place& place) const {
  return value_of({place.reference, place.element}) != nullptr;
}

std::string TensorUse::name() const {
  return to_text(place());
}

std::vector<TensorUse> tensors_of(FieldSet& fields) {
  std::vector<TensorUse> uses;
  for (Field& field : fields.fields) {
    if (auto* desc = std::get_if<TensorDesc>(&field.value))
      uses.push_back({field.spec, std::nullopt, desc});
    auto* list = std::get_if<std::vector<TensorDesc>>(&field.value);
    for (std::size_t j = 0; list != nullptr && j < list->size(); ++j)
      uses.push_back({field.spec, j, &(*list)[j]});
  }
  return uses;
}

}  // namespace dmlop
