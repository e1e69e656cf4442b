#include "spec/ideas.hpp"

namespace dmlop {

std::string pointer_to(const FieldSet& fields, const Place& place) {
  const json::Value* value = fields.fields_object().find(place.reference.field);
  std::string pointer =
      fields.document().at(fields.fields_object(), "").pointer + "/" + place.reference.field;
  const auto step = [&](const std::string& name, const json::Value* inner) {
    pointer += "/" + name;
    value = inner;
  };
  if (place.element) {
    const bool is_there = value != nullptr && *place.element < value->items.size();
    step(std::to_string(*place.element), is_there ? &value->items[*place.element] : nullptr);
  }
  if (!place.reference.attribute.empty()) {
    const json::Value* desc = value != nullptr ? value->find("Desc") : nullptr;
    if (desc != nullptr) step("Desc", desc);
    pointer += "/" + place.reference.attribute;
  }
  if (place.subscript) pointer += "/" + std::to_string(*place.subscript);
  return pointer;
}

}  // namespace dmlop
