// Values of a description: numbers, names, arrays, and what is said where they are not known.
#include <algorithm>
#include <cmath>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "cpp/describer.hpp"
#include "tensor/element.hpp"

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;
using Json = nlohmann::ordered_json;

}  // namespace

nlohmann::ordered_json json_of(const Number& number) {
  if (number.is_integer()) {
    if (number.type == Number::Type::uint64) return static_cast<std::uint64_t>(number.integer);
    return number.integer;
  }
  if (std::isnan(number.value)) return "nan";
  if (std::isinf(number.value)) return number.value < 0 ? "-inf" : "inf";
  if (number.value == 0) return number.value;  // with its sign
  if (number.type == Number::Type::single) return Json::parse(float_text(number.value));
  return number.value;
}

Diagnostic Describer::at(Span written, std::string message) const {
  const LineColumn place = position_of(text_, written.begin);
  Diagnostic diagnostic{.file = file_, .line = place.line, .column = place.column};
  diagnostic.message = std::move(message);
  diagnostic.value = printable(text_.substr(written.begin, written.end - written.begin));
  return diagnostic;
}

void Describer::refuse(Span written, const std::string& name, const std::string& why,
                       std::string remedy) {
  const std::string expression =
      printable(text_.substr(written.begin, written.end - written.begin));
  Diagnostic diagnostic = at(written, name + " is not known from \"" + expression + "\": " + why);
  diagnostic.suggestion = std::move(remedy);
  findings_.push_back(std::move(diagnostic));
}

// The text leaves a value open.
void Describer::refuse_open(const Value& value, const std::string& name, const std::string& why,
                            std::string remedy) {
  refuse(value.written, name, why, std::move(remedy));
  open_.insert(findings_.back().message);
  const std::string field = name.substr(0, name.find_first_of("[."));
  if (std::ranges::find(open_fields_, field) == open_fields_.end()) open_fields_.push_back(field);
}

void Describer::add_other_ways(Diagnostics& findings) const {
  constexpr std::size_t shown = 3;
  const auto last = std::find_if(findings.rbegin(), findings.rend(),
                                 [&](const Diagnostic& d) { return open_.contains(d.message); });
  if (last == findings.rend()) return;
  std::string settings;
  for (std::size_t i = 0; i < std::min(open_fields_.size(), shown); ++i)
    settings += " --set " + open_fields_[i] + "=VALUE";
  if (open_fields_.size() > shown) settings += " ...";
  last->note =
      "a debugger knows what the text does not say: stop behind the statements that fill " +
      printable(variable_) + ", and convert what it shows of it in the same way; " +
      "dmlop check " + operator_ + settings + " needs no code";
}

// Says why a value cannot be used where a description needs one.
void Describer::refuse(const Value& value, const std::string& name) {
  switch (value.kind) {
    case Kind::unresolved:
      return refuse_open(value, name, value.why, value.remedy);
    case Kind::unset:
      // What a debugger leaves out of a row that would be too long.
      if (text_.substr(value.written.begin, value.written.end - value.written.begin).find("...") !=
          std::string_view::npos)
        return refuse(value.written, name, "the text is cut short (...)",
                      "open it in the debugger, and copy the rows of its members, too");
      return refuse(value.written, name, "it is never given a value",
                    "write its value, or = {} behind the variable if it is 0");
    case Kind::word:
      return refuse_open(value, name, printable(value.word) + " is not declared in this text",
                         remedy_of_undeclared(printable(value.word)));
    case Kind::address:
      return refuse(value.written, name, "the text does not show what is at this address",
                    "show it in the debugger, too, and paste all of it: in Visual Studio "
                    "(DML_BUFFER_TENSOR_DESC*)" +
                        value.word + " for a tensor's Desc, (UINT*)" + value.word +
                        ",4 for an array of 4; in gdb p *(DML_TENSOR_DESC*)" + value.word);
    case Kind::null:
      return refuse(value.written, name, "it is null", "give it a value");
    case Kind::number:
    case Kind::list:
    case Kind::pointer:
    case Kind::function:
      return refuse(value.written, name, "a value of another kind is expected",
                    "write what the struct of DirectML.h has there");
  }
}

bool Describer::is_null(const Value& value) const {
  if (value.kind == Kind::null) return true;
  return value.kind == Kind::number && value.number.is_integer() && value.number.integer == 0;
}

// A member of a struct: 0 where its braces leave it out.
Value Describer::member(const Value& owner, const std::string& name) const {
  if (const Entry* entry = owner.find(name)) return entry->value;
  Value value{.written = owner.written};
  if (!owner.is_zeroed) return value;
  value.kind = Kind::number;
  return value;
}

void Describer::remember_place(const std::string& name, Span written) {
  if (written.end != 0) places_.emplace(name, written.begin);
}

std::optional<Number> Describer::number(const Value& value, const std::string& name) {
  if (value.kind == Kind::number) return value.number;
  refuse(value, name);
  return std::nullopt;
}

Json Describer::integer(const Value& value, const std::string& name) {
  const auto found = number(value, name);
  if (!found) return nullptr;
  if (found->is_integer()) return json_of(*found);
  refuse(value.written, name, "it is not an integer", "write an integer");
  return nullptr;
}

// A FLOAT.
Json Describer::real(const Value& value, const std::string& name) {
  const auto found = number(value, name);
  return found ? json_of(real_number(found->as_double(), Number::Type::single)) : Json();
}

Json Describer::enumeration(const Value& value, const std::string& enum_name,
                            const std::string& name) {
  std::vector<std::string> names;
  for (const EnumValue& entry : enum_values(enum_name)) {
    const bool is_it = value.kind == Kind::word
                           ? value.word == enum_name + "_" + entry.name
                           : value.kind == Kind::number && value.number.is_integer() &&
                                 value.number.integer == entry.value;
    if (is_it) return enum_name + "_" + entry.name;
    names.push_back(enum_name + "_" + entry.name);
  }
  if (value.kind != Kind::word && value.kind != Kind::number) {
    refuse(value, name);
  } else {
    const std::string nearest = value.kind == Kind::word ? did_you_mean(value.word, names) : "";
    refuse(value.written, name, "it is no " + enum_name,
           nearest.empty() ? "write one of " + join(names) : nearest);
  }
  return nullptr;
}

// A function's own variables are gone when it has returned.
void Describer::warn_of_end(const Value& pointer, const std::string& name) {
  const std::size_t target = pointer.target.variable;
  const Variable& variable = memory_.variables()[target];
  if (memory_.outlives(variable.call, call_) || !ended_.insert(target).second) return;
  const std::string what = variable.name.empty() ? "a value" : printable(variable.name);
  Diagnostic warning = at(pointer.written, name + " points to " + what +
                                               ", which ends with the call that made it; DirectML "
                                               "then reads memory that is no longer its own");
  warning.suggestion =
      "in C++, let it live as long as the description: declare it where the function is called, "
      "and pass it by reference";
  warnings_.push_back(std::move(warning));
}

// The place of the elements that a pointer points to, and how many are before the first.
Describer::Elements Describer::elements_at(const Value& pointer) const {
  Place place = pointer.target;
  const Value* target = memory_.find(place);
  for (int steps = 0; steps < 16 && target != nullptr && target->kind == Kind::pointer; ++steps) {
    place = target->target;
    target = memory_.find(place);
  }
  // A pointer to an element points to the elements behind it, too.
  std::size_t offset = 0;
  if (!place.path.empty() && std::holds_alternative<std::size_t>(place.path.back())) {
    offset = std::get<std::size_t>(place.path.back());
    place.path.pop_back();
    target = memory_.find(place);
  }
  return {target, offset, place.variable};
}

void Describer::refuse_length(const Elements& elements, const Value& pointer, std::size_t there,
                              const Count& count, const std::string& name) {
  const Variable& variable = memory_.variables()[elements.variable];
  const bool is_address = variable.type.starts_with("0x");
  const std::string length = std::to_string(count.length);
  refuse(elements.target->written.end != 0 ? elements.target->written : pointer.written, name,
         "it has " + counted(there, "value") + ", and " + count.name + " is " + length,
         is_address
             ? "show all elements: (UINT*)" + variable.type + "," + length + " in Visual Studio"
             : "write as many values as " + count.name + " says");
}

// `count` elements from where a pointer points.
Json Describer::array(const Value& pointer, const Value& count_value, const std::string& count_name,
                      const std::string& name, const ReadElement& read) {
  Json json = Json::array();
  const auto length = count_value.kind == Kind::number ? count_value.number.count() : std::nullopt;
  if (!length) return json;  // the finding is about the count
  const Count count{count_name, *length};
  if (is_null(pointer)) {
    if (*length > 0)
      refuse(pointer.written, name,
             "it is null, and " + count_name + " is " + std::to_string(*length),
             "give it as many values");
    return json;
  }
  if (pointer.kind != Kind::pointer) return refuse(pointer, name), json;
  warn_of_end(pointer, name);
  const Elements elements = elements_at(pointer);
  const Value* target = elements.target;
  if (target == nullptr) return refuse(Value{.written = pointer.written}, name), json;
  if (target->kind == Kind::unresolved || target->kind == Kind::unset ||
      target->kind == Kind::address)
    return refuse(*target, name), json;
  const bool is_list = target->kind == Kind::list && target->type.empty();
  const std::size_t all = is_list ? target->entries.size() : 1;
  const std::size_t there = all - std::min(elements.offset, all);
  // The lengths of C++'s arrays are known, and the checks say which of them, or the count, is
  // wrong. A count of dimensions that is 0 was forgotten.
  const Variable& variable = memory_.variables()[elements.variable];
  const bool is_whole = variable.is_array || variable.is_container;
  const bool is_forgotten = is_whole && *length == 0 && count_name == "DimensionCount";
  if (there < *length && !is_whole)
    return refuse_length(elements, pointer, there, count, name), json;
  constexpr std::size_t findings_listed = 8;
  const std::size_t before = findings_.size();
  const std::size_t taken = is_forgotten ? there : std::min<std::size_t>(*length, there);
  for (std::size_t i = 0; i < taken; ++i) {
    if (findings_.size() - before >= findings_listed) break;
    const Value& element = is_list ? target->entries[elements.offset + i].value : *target;
    const std::string element_name = name + "[" + std::to_string(i) + "]";
    remember_place(element_name, element.written);
    json.push_back(read(element, element_name));
  }
  return json;
}

// The struct that a pointer points to; null, with a finding, where it is not known.
const Value* Describer::struct_at(const Value& pointer, const std::string& name) {
  if (pointer.kind != Kind::pointer) return refuse(pointer, name), nullptr;
  warn_of_end(pointer, name);
  const Value* value = memory_.shown_by(pointer);
  if (value == nullptr) return refuse(Value{.written = pointer.written}, name), nullptr;
  // An array of structs is a pointer to the first one.
  if (value->kind == Kind::list && value->type.empty() && !value->entries.empty() &&
      value->entries.front().name.empty())
    value = &value->entries.front().value;
  if (value->kind == Kind::list) return value;
  // A variable whose members are never assigned.
  return refuse(*value, name), nullptr;
}

void Describer::refuse_unknown_members(const Value& desc, const std::vector<std::string>& known,
                                       const std::string& type, const std::string& name) {
  for (const Entry& entry : desc.entries) {
    if (std::ranges::find(known, entry.name) != known.end()) continue;
    Diagnostic diagnostic =
        at(entry.value.written, type + " has no member \"" + printable(entry.name) + "\"" +
                                    (name.empty() ? "" : " (" + name + ")"));
    const std::string nearest = did_you_mean(entry.name, known);
    diagnostic.suggestion = nearest.empty() ? "its members are " + join(known) : nearest;
    findings_.push_back(std::move(diagnostic));
    return;
  }
}

}  // namespace dmlop::cpp
