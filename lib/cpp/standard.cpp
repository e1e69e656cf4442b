// Functions of the standard library, as far as descriptions use them. Those of numbers are the ones
// whose results are exact, so that every library has the same.
#include <algorithm>
#include <array>
#include <cmath>

#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;

// Their names without std:: and template arguments. They change none of their arguments.
constexpr std::array<std::string_view, 17> of_containers{
    "ARRAYSIZE", "_countof", "size", "ssize", "data",      "begin",   "cbegin",     "end",  "cend",
    "move",      "as_const", "max",  "min",   "addressof", "forward", "accumulate", "clamp"};

constexpr std::array<std::string_view, 12> of_numbers{"sqrt",  "sqrtf", "fabs",   "fabsf",
                                                      "abs",   "floor", "floorf", "ceil",
                                                      "ceilf", "trunc", "truncf", "round"};

std::string library_name(const std::string& function) {
  const std::string plain = function.starts_with("std::") ? function.substr(5) : function;
  return plain.substr(0, plain.find('<'));
}

double exact(const std::string& name, double value) {
  if (name.starts_with("sqrt")) return std::sqrt(value);
  if (name.starts_with("fabs") || name == "abs") return std::fabs(value);
  if (name.starts_with("floor")) return std::floor(value);
  if (name.starts_with("ceil")) return std::ceil(value);
  return name.starts_with("trunc") ? std::trunc(value) : std::round(value);
}

// The function of a float is a float, and that of an integer a double, except abs.
std::optional<Number> number_of(const std::string& name, const Number& number) {
  if (name == "abs" && number.is_integer())
    return number.is_negative() ? apply("-", number) : std::optional(number);
  const bool is_single = name.ends_with("f") || number.type == Number::Type::single;
  const Number given = *converted(number, is_single ? "float" : "double");
  return real_number(exact(name, given.value), given.type);
}

std::string_view type_name(Number::Type type) {
  switch (type) {
    case Number::Type::int32:
      return "int";
    case Number::Type::uint32:
      return "UINT";
    case Number::Type::int64:
      return "int64_t";
    case Number::Type::uint64:
      return "uint64_t";
    case Number::Type::single:
      return "float";
    case Number::Type::real:
      return "double";
  }
  return "";
}

}  // namespace

bool Reader::is_standard(const std::string& function) {
  const std::string name = library_name(function);
  return is_one_of(name, of_containers) || is_one_of(name, of_numbers);
}

// std::multiplies<UINT>() and the like, which are passed on by their names.
bool Reader::is_operation(const std::string& name) {
  return name.starts_with("std::multiplies<") || name.starts_with("std::plus<");
}

// The element that a pointer shows. A pointer to an array shows its first one.
std::optional<Reader::Element> Reader::element_at(const Value& pointer) const {
  if (pointer.kind != Kind::pointer) return std::nullopt;
  Element element{.array = pointer.target};
  const Value* target = memory_.find(element.array);
  const bool is_array = target != nullptr && target->kind == Kind::list && target->type.empty();
  if (is_array) return element;
  if (element.array.path.empty() || !std::holds_alternative<std::size_t>(element.array.path.back()))
    return std::nullopt;
  element.index = std::get<std::size_t>(element.array.path.back());
  element.array.path.pop_back();
  return element;
}

// The elements from one pointer to another one; nothing if they are not of one array.
std::optional<std::vector<Place>> Reader::range_of(const Value& first, const Value& last) const {
  const auto begin = element_at(first), end = element_at(last);
  if (!begin || !end || begin->array.variable != end->array.variable ||
      begin->array.path != end->array.path || begin->index > end->index)
    return std::nullopt;
  const Value* array = memory_.find(begin->array);
  if (array == nullptr || array->entries.size() < end->index) return std::nullopt;
  std::vector<Place> places;
  for (std::size_t i = begin->index; i < end->index; ++i) {
    places.push_back(begin->array);
    places.back().path.emplace_back(i);
  }
  return places;
}

// A pointer into an array, moved by some elements.
std::optional<Value> Reader::moved(const Value& pointer, const Value& by, bool is_back,
                                   Span written) {
  const auto element = element_at(pointer);
  if (!element || by.kind != Kind::number || !by.number.is_integer()) return std::nullopt;
  constexpr std::int64_t far = 1'000'000;
  const std::int64_t steps = is_back ? -by.number.integer : by.number.integer;
  const std::int64_t index = static_cast<std::int64_t>(element->index) + steps;
  if (std::abs(by.number.integer) > far || index < 0) return std::nullopt;
  Value result{.kind = Kind::pointer, .written = written};
  result.target = element->array;
  result.target.path.emplace_back(static_cast<std::size_t>(index));
  return result;
}

Reader::Operand Reader::known_call(const std::string& function, const std::vector<Operand>& given,
                                   Span written) {
  if (given.empty()) return {};
  const std::string name = library_name(function);
  const Operand& only = given.front();
  const bool is_unary = given.size() == 1;
  const bool is_length =
      name == "ARRAYSIZE" || name == "_countof" || name == "size" || name == "ssize";
  if (const auto length = length_of(only); is_unary && is_length && length)
    return {number_value(written,
                         integer_number(static_cast<std::int64_t>(*length), Number::Type::uint64))};
  const bool is_end = name == "end" || name == "cend";
  const bool is_begin = name == "data" || name == "begin" || name == "cbegin";
  if (is_unary && only.place && (is_begin || is_end || name == "addressof")) {
    Value pointer{.kind = Kind::pointer, .written = written};
    pointer.target = *only.place;
    const auto length = length_of(only);
    if (is_end && !length) return {};
    if (is_end) pointer.target.path.emplace_back(*length);
    return {std::move(pointer)};
  }
  if (is_unary && (name == "move" || name == "as_const" || name == "forward")) return only;
  if (is_unary && is_one_of(name, of_numbers)) {
    if (only.value.kind != Kind::number) return {why_no_number(only.value, written)};
    const auto result = number_of(name, only.value.number);
    if (result) return {number_value(written, *result)};
  }
  const bool has_two = given.size() == 2 && given[0].value.kind == Kind::number &&
                       given[1].value.kind == Kind::number;
  if (has_two && (name == "max" || name == "min")) {
    const auto is_less = apply("<", given[0].value.number, given[1].value.number);
    const bool first_is_less = is_less && is_less->as_double() != 0;
    return {given[first_is_less == (name == "max") ? 1 : 0].value};
  }
  if (name == "accumulate") return accumulated(given, written);
  return {};
}

// std::accumulate(first, last, sum, operation)
Reader::Operand Reader::accumulated(const std::vector<Operand>& given, Span written) {
  if (given.size() != 3 && given.size() != 4) return {};
  const auto places = range_of(given[0].value, given[1].value);
  if (!places) return {};
  const Repeated repeated(*this);
  Value sum = given[2].value;
  for (const Place& place : *places) {
    if (sum.kind != Kind::number) break;
    const std::string_view type = type_name(sum.number.type);
    const Operand element = operand_at(place, written);
    sum = folded(sum, element, given.size() == 4 ? &given[3] : nullptr, written);
    if (sum.kind == Kind::number) sum.number = converted(sum.number, type).value_or(sum.number);
  }
  if (sum.kind == Kind::number) return {number_value(written, sum.number)};
  return {why_no_number(sum, written)};
}

// The sum with one more element.
Value Reader::folded(const Value& sum, const Operand& element, const Operand* operation,
                     Span written) {
  if (operation == nullptr) return combined("+", sum, element.value, written);
  if (operation->value.kind == Kind::function) {
    std::string why;
    const auto function = called(operation->value, 2, why);
    if (function) return run_function(*function, {{sum}, element}, written).value;
    escape(operation->value, written);
    return unresolved(written, "a call in it is not evaluated: " + why, "write its value");
  }
  const std::string& word = operation->value.word;
  if (operation->value.kind != Kind::word || !is_operation(word))
    return unresolved(written, "its operation is not understood", "write its value");
  const std::string symbol = word.starts_with("std::plus") ? "+" : "*";
  const std::size_t open = word.find('<') + 1;
  const std::string type = word.substr(open, word.size() - 1 - open);
  return typed(combined(symbol, typed(sum, type), typed(element.value, type), written), type);
}

}  // namespace dmlop::cpp
