#include "json/value.hpp"

#include "base/text.hpp"

namespace dmlop::json {

const Value* Value::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::boolean:
      return value.boolean ? "true" : "false";
    case Value::Kind::number:
      return printable(value.text);
    case Value::Kind::string:
      return "the string \"" + printable(value.text) + "\"";
    case Value::Kind::array:
      return value.items.empty() ? "an empty array" : "an array";
    case Value::Kind::object:
      return "an object";
  }
  return "";
}

}  // namespace dmlop::json
