#include <algorithm>
#include <array>

#include "cpp/layouts.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;

/// Operators with two operands, from the loosest to the tightest.
constexpr std::array<std::array<std::string_view, 4>, 10> levels{{{"||"},
                                                                  {"&&"},
                                                                  {"|"},
                                                                  {"^"},
                                                                  {"&"},
                                                                  {"==", "!="},
                                                                  {"<", ">", "<=", ">="},
                                                                  {"<<", ">>"},
                                                                  {"+", "-"},
                                                                  {"*", "/", "%"}}};

constexpr std::array<std::string_view, 11> assignments{
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};

// Two names of one enumeration are different numbers.
bool are_of_one_enumeration(const Value& a, const Value& b) {
  return std::ranges::any_of(
      std::array{"DML_TENSOR_DATA_TYPE_", "DML_TENSOR_FLAG_", "DML_OPERATOR_"},
      [&](const char* prefix) { return a.word.starts_with(prefix) && b.word.starts_with(prefix); });
}

// What a condition of two operands is that need not be numbers.
std::optional<bool> truth_of(const std::string& symbol, const Value& left, const Value& right) {
  if (symbol == "&&" || symbol == "||") {
    const auto a = truth_of(left), b = truth_of(right);
    const bool deciding = symbol == "||";
    if (a == deciding) return deciding;
    return a ? b : std::nullopt;
  }
  if (symbol != "==" && symbol != "!=") return std::nullopt;
  const auto is_pointer = [](const Value& v) { return v.kind == Kind::pointer; };
  const auto is_null = [](const Value& v) { return v.kind == Kind::null; };
  std::optional<bool> is_equal;
  if (left.kind == Kind::word && right.kind == Kind::word && are_of_one_enumeration(left, right))
    is_equal = left.word == right.word;
  if (is_null(left) && is_null(right)) is_equal = true;
  if ((is_null(left) && is_pointer(right)) || (is_pointer(left) && is_null(right)))
    is_equal = false;
  return is_equal ? std::optional(*is_equal == (symbol == "==")) : std::nullopt;
}

bool is_flag(const Value& value) {
  return value.kind == Kind::word && value.word.starts_with("DML_TENSOR_FLAG_");
}

}  // namespace

Value Reader::list() {
  const Depth depth(*this);
  const std::size_t first = at_;
  const std::size_t close = matching(at_);
  require_partner(first);
  Value value{.kind = Kind::list};
  ++at_;
  while (at_ < close) {
    const std::size_t begin = at_;
    const std::size_t end = std::min(end_of_operand(at_), close);
    std::string name;
    const bool is_designated = now().is(".") && after(1).is_word();
    if (is_designated) {
      name = after(1).text;
      at_ += 2;
      if (!now().is("{")) take("=");
    }
    memory_.count(Value{});
    value.entries.push_back({std::move(name), element(end)});
    at_ = std::max(end, begin);
    if (at_ < close && now().is(";")) refuse_bracket(first);
    if (at_ < close && !take(",")) ++at_;
  }
  at_ = std::min(close + 1, limit_);
  value.written = span_of(first, at_);
  return value;
}

// One element of a list, which ends at the token `end`.
Value Reader::element(std::size_t end) {
  const std::size_t first = at_;
  if (first >= end) return unresolved(tokens_[first].span, "a value is missing here", "write it");
  try {
    if (now().is("{") && matching(at_) + 1 == end) return list();
    return evaluate(first, end).value;
  } catch (const NotUnderstood&) {
    forget_named(first, end);
    return not_evaluated(first, end);
  }
}

// The value of the expression in the tokens [begin, end), which it must fill.
Reader::Operand Reader::evaluate(std::size_t begin, std::size_t end) {
  const std::size_t outer = limit_;
  at_ = begin;
  limit_ = std::min(end, outer);
  try {
    Operand operand = assignment();
    if (at_ != limit_) throw NotUnderstood{};
    limit_ = outer;
    return operand;
  } catch (...) {
    limit_ = outer;
    throw;
  }
}

Reader::Operand Reader::assignment() {
  const Depth depth(*this);
  const std::size_t first = at_;
  Operand target = conditional();
  const bool assigns = now().kind == Token::Kind::symbol &&
                       std::ranges::find(assignments, now().text) != assignments.end();
  if (!assigns) return target;
  const std::string symbol(now().text);
  ++at_;
  Value value;
  const std::size_t begin = at_;
  if (now().is("{")) {
    value = list();
  } else {
    const std::size_t end = end_of_operand(begin);
    try {
      value = evaluate(begin, end).value;
    } catch (const NotUnderstood&) {
      forget_named(begin, end);
      at_ = end;
      value = not_evaluated(begin, end);
    }
  }
  if (target.place) {
    assign(*target.place, symbol, value, span_of(first, at_));
  } else {  // what is assigned to is not known
    forget_named(first, begin);
    escape(value, span_of(first, at_));
  }
  return {std::move(value), target.place};
}

Reader::Operand Reader::conditional() {
  const std::size_t first = at_;
  Operand condition = binary(0);
  if (!take("?")) return condition;
  const Unsure unsure(*this);
  const Operand yes = assignment();
  expect(":");
  const Operand no = assignment();
  const auto truth = truth_of(condition.value);
  if (!truth) {
    escape(yes.value, span_of(first, at_));
    escape(no.value, span_of(first, at_));
    return {why_no_number(condition.value, span_of(first, at_))};
  }
  const bool is_yes = *truth;
  const Value& chosen = is_yes ? yes.value : no.value;
  const Value& other = is_yes ? no.value : yes.value;
  if (chosen.kind != Kind::number || other.kind != Kind::number ||
      chosen.number.type >= other.number.type)
    return {chosen};
  // Both have one type, and the difference to a 0 of the other's has it.
  Number zero;
  zero.type = other.number.type;
  const auto common = apply("-", chosen.number, zero);
  return {common ? number_value(span_of(first, at_), *common) : chosen};
}

Reader::Operand Reader::binary(int level) {
  if (level == static_cast<int>(levels.size())) return unary();
  const auto& symbols = levels[static_cast<std::size_t>(level)];
  const std::size_t first = at_;
  Operand left = binary(level + 1);
  while (now().kind == Token::Kind::symbol &&
         std::ranges::find(symbols, now().text) != symbols.end()) {
    const std::string symbol(now().text);
    ++at_;
    std::optional<Unsure> unsure;
    if (symbol == "&&" || symbol == "||") unsure.emplace(*this);
    const Operand right = binary(level + 1);
    // An operator of a class may change its operands: stream >> value.
    const bool is_of_class = left.value.kind != Kind::number && !is_flag(right.value);
    if (is_of_class && right.place && (symbol == ">>" || symbol == "&" || symbol == "|"))
      forget(*right.place, span_of(first, at_), "this may change it, and is not evaluated");
    if (is_of_class && left.place && (symbol == ">>" || symbol == "<<"))
      forget(*left.place, span_of(first, at_), "this may change it, and is not evaluated");
    left = {combined(symbol, left.value, right.value, span_of(first, at_))};
  }
  return left;
}

Value Reader::combined(const std::string& symbol, const Value& left, const Value& right,
                       Span written) {
  if (symbol == "|" && (is_flag(left) || left.kind == Kind::list) && is_flag(right)) {
    Value flags{.kind = Kind::list, .written = written};
    flags.entries = left.kind == Kind::list ? left.entries : std::vector<Entry>{{"", left}};
    flags.entries.push_back({"", right});
    return flags;
  }
  if (symbol == "+" || symbol == "-") {  // a pointer that moves out of an array is not followed
    if (const auto pointer = moved(left, right, symbol == "-", written)) return *pointer;
    escape(left, written);
    escape(right, written);
  }
  if (const auto truth = truth_of(symbol, left, right))
    return number_value(written, integer_number(*truth ? 1 : 0));
  if (left.kind != Kind::number) return why_no_number(left, written);
  if (right.kind != Kind::number) return why_no_number(right, written);
  const auto result = apply(symbol, left.number, right.number);
  if (!result) return unresolved(written, "C++ defines no value for it", "write its value");
  return number_value(written, *result);
}

Reader::Operand Reader::unary() {
  const Depth depth(*this);
  const std::size_t first = at_;
  if (now().is("&")) return address();
  if (take("*")) {
    const Operand pointer = unary();
    if (pointer.value.kind != Kind::pointer)
      return {why_no_number(pointer.value, span_of(first, at_))};
    Place place = pointer.value.target;
    const Value* there = memory_.find(place);
    const bool is_array = there != nullptr && there->kind == Kind::list && there->type.empty() &&
                          !there->entries.empty() && there->entries.front().name.empty();
    if (is_array) place.path.emplace_back(std::size_t{0});
    return operand_at(place, span_of(first, at_));
  }
  if (now().is("++") || now().is("--")) {
    const std::string symbol = now().is("++") ? "+=" : "-=";
    ++at_;
    const Operand operand = unary();
    if (operand.place)
      assign(*operand.place, symbol, number_value(span_of(first, at_), integer_number(1)),
             span_of(first, at_));
    else
      forget_named(first, at_);
    return operand.place ? operand_at(*operand.place, span_of(first, at_)) : operand;
  }
  for (const char* symbol : {"+", "-", "!", "~"}) {
    if (!take(symbol)) continue;
    const Operand operand = unary();
    const Span written = span_of(first, at_);
    if (const auto truth = truth_of(operand.value); truth && *symbol == '!')
      return {number_value(written, integer_number(*truth ? 0 : 1))};
    if (operand.value.kind != Kind::number) return {why_no_number(operand.value, written)};
    const auto result = apply(symbol, operand.value.number);
    if (!result) return {unresolved(written, "C++ defines no value for it", "write its value")};
    return {number_value(written, *result)};
  }
  return postfix();
}

// &variable, or &Type{...}, of which a variable without a name is made.
Reader::Operand Reader::address() {
  const std::size_t first = at_++;
  Operand operand = unary();
  Value pointer{.kind = Kind::pointer, .written = span_of(first, at_)};
  if (operand.place) {
    pointer.target = *operand.place;
  } else if (operand.value.kind == Kind::list) {
    const std::string type = operand.value.type;
    pointer.target = {memory_.add({.type = type,
                                   .declared = pointer.written,
                                   .value = std::move(operand.value),
                                   .conditions = conditions_,
                                   .call = call_now()})};
  } else {
    forget_named(first, at_);
    return {why_no_number(operand.value, pointer.written)};
  }
  return {std::move(pointer)};
}

// What stands at a place, as an expression sees it: an array of C is a pointer to its elements.
Reader::Operand Reader::operand_at(const Place& place, Span written) {
  const Value* value = memory_.find(place);
  if (value == nullptr) {
    Place parent = place;
    if (!parent.path.empty()) parent.path.pop_back();
    const Value* owner = memory_.find(parent);
    const bool is_zero = owner != nullptr && owner->is_zeroed;
    return {is_zero ? number_value(written, integer_number(0)) : Value{.written = written}, place};
  }
  if (value->kind == Kind::list && value->type.empty() && declared_at(place).is_array) {
    Value pointer{.kind = Kind::pointer, .written = written};
    pointer.target = place;
    return {std::move(pointer), place};
  }
  if (repeated_ > 0 && !is_spent()) {
    spend(size_of(*value));
  } else {
    memory_.count(*value);
  }
  Operand operand{*value, place};
  if (operand.value.kind != Kind::unresolved) operand.value.written = written;
  return operand;
}

Reader::Operand Reader::postfix() {
  const std::size_t first = at_;
  Operand operand = primary();
  while (true) {
    if (now().is("[")) {
      operand = subscript(operand);
    } else if (now().is(".") || now().is("->")) {
      const bool through_pointer = now().is("->");
      if (!after(1).is_word()) throw NotUnderstood{};
      ++at_;
      if (after(1).is("(")) {
        const std::string method_name(now().text);
        ++at_;
        operand = method(operand, method_name, first);
      } else {
        operand = member(std::move(operand), through_pointer);
      }
    } else if (now().is("++") || now().is("--")) {
      const std::string symbol = now().is("++") ? "+=" : "-=";
      ++at_;
      if (operand.place)
        assign(*operand.place, symbol, number_value(span_of(first, at_), integer_number(1)),
               span_of(first, at_));
      else
        forget_named(first, at_);
    } else if (now().is("(") && operand.value.kind == Kind::function) {
      operand = call_function(operand, first);
    } else if (now().is("(")) {
      arguments("");
      operand = {unresolved(span_of(first, at_), "it is the result of a call", "write its value")};
    } else {
      return operand;
    }
  }
}

Reader::Operand Reader::member(Operand object, bool through_pointer) {
  const std::string member_name(now().text);
  const Span written = now().span;
  ++at_;
  if (through_pointer && object.value.kind == Kind::pointer) object.place = object.value.target;
  if (object.place) {
    Place place = *object.place;
    // A pointer that is written as an object is followed, too: references are like that.
    const Value* value = memory_.find(place);
    if (value != nullptr && value->kind == Kind::pointer) place = value->target;
    if (place.path.size() > 16) throw NotUnderstood{};
    place.path.emplace_back(member_name);
    return operand_at(place, written);
  }
  const Entry* entry = object.value.find(member_name);
  if (entry != nullptr) return {Value(entry->value)};
  return {why_no_number(object.value, written)};
}

Reader::Operand Reader::subscript(const Operand& array) {
  const std::size_t first = at_;
  const std::size_t close = matching(at_);
  const Value index = evaluate(at_ + 1, close).value;
  at_ = std::min(close + 1, limit_);
  const Span written = span_of(first, at_);
  std::optional<std::uint64_t> number;
  if (index.kind == Kind::number) number = index.number.count();
  std::optional<Place> place = array.place;
  if (array.value.kind == Kind::pointer) place = array.value.target;
  if (place && !number) {
    // An assignment to an unknown element may change any of them.
    if (std::ranges::find(assignments, now().text) != assignments.end())
      forget(*place, written, "the index of this element is not known");
    return {why_no_number(index, written)};
  }
  if (!place || !number) throw NotUnderstood{};
  std::size_t offset = 0;
  const Value* target = memory_.find(*place);
  const bool points_to_element =
      array.value.kind == Kind::pointer && !place->path.empty() &&
      std::holds_alternative<std::size_t>(place->path.back()) &&
      (target == nullptr || target->kind != Kind::list || !target->type.empty());
  if (points_to_element) {
    offset = std::get<std::size_t>(place->path.back());
    place->path.pop_back();
  }
  if (*number > 1'000'000 || place->path.size() > 16) throw NotUnderstood{};
  place->path.emplace_back(static_cast<std::size_t>(*number) + offset);
  return operand_at(*place, written);
}

std::optional<std::size_t> Reader::length_of(const Operand& array) const {
  const Value* value = array.place ? memory_.find(*array.place) : &array.value;
  if (value == nullptr || value->kind != Kind::list || !value->type.empty()) return std::nullopt;
  return value->entries.size();
}

// The element that front(), back() or at(index) means.
std::optional<std::size_t> Reader::index_of(const std::string& method_name,
                                            const std::vector<Operand>& given,
                                            std::optional<std::size_t> length) {
  std::optional<std::uint64_t> index;
  if (method_name == "front" && given.empty()) index = 0;
  if (method_name == "back" && given.empty() && length) index = *length - 1;
  if (method_name == "at" && given.size() == 1 && given[0].value.kind == Kind::number)
    index = given[0].value.number.count();
  if (!index || !length || *index >= *length) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

Reader::Operand Reader::method(const Operand& object, const std::string& method_name,
                               std::size_t first) {
  static constexpr std::array<std::string_view, 4> pointers{"data", "begin", "cbegin", "Get"};
  static constexpr std::array<std::string_view, 2> ends{"end", "cend"};
  static constexpr std::array<std::string_view, 3> changes{"push_back", "emplace_back", "Append"};
  // std::size(x) changes nothing, but nobody knows what x.size(y) does.
  const bool is_size_or_data = method_name == "size" || method_name == "data";
  const auto length = length_of(object);
  const bool appends = is_one_of(method_name, changes) && object.place && length &&
                       memory_.variables()[object.place->variable].conditions == conditions_;
  const std::vector<Operand> given = arguments(is_size_or_data ? "" : method_name, appends);
  if (method_name == "CreateOperator") created_ = memory_.variables().size();
  const Span written = span_of(first, at_);
  if ((method_name == "size" || method_name == "Size") && length)
    return {number_value(written,
                         integer_number(static_cast<std::int64_t>(*length), Number::Type::uint64))};
  const bool is_pointer = std::ranges::find(pointers, method_name) != pointers.end();
  if (is_pointer && given.empty() && object.place && (length || method_name == "Get")) {
    Value pointer{.kind = Kind::pointer, .written = written};
    pointer.target = *object.place;
    return {std::move(pointer)};
  }
  if (is_one_of(method_name, ends) && given.empty() && object.place && length) {
    Value pointer{.kind = Kind::pointer, .written = written};
    pointer.target = *object.place;
    pointer.target.path.emplace_back(*length);
    return {std::move(pointer)};
  }
  if (method_name == "empty" && given.empty() && length)
    return {number_value(written, integer_number(*length == 0 ? 1 : 0))};
  if (const auto index = index_of(method_name, given, length)) {
    if (!object.place) return {object.value.entries[*index].value};
    Place place = *object.place;
    place.path.emplace_back(*index);
    return operand_at(place, written);
  }
  if (appends && given.size() == 1) {
    const Declared declared = declared_at(*object.place);
    Value added = typed(given[0].value, declared.is_container ? declared.type : "");
    memory_.count(added);
    memory_.make(*object.place)->entries.push_back({"", std::move(added)});
    return {Value{.written = written}};
  }
  if (appends) {
    for (const Operand& argument : given) escape(argument.value, written);
  }
  const bool is_known = object.value.kind != Kind::unset && object.value.kind != Kind::unresolved;
  if (changes_nothing(method_name)) {
    // It is only read.
  } else if (object.place && (length || is_known) && !is_description(object.place->variable)) {
    forget(*object.place, written, "this may change it, and is not evaluated");
  } else if (!object.place) {
    escape(object.value, written);
  }
  return {unresolved(written, "it is the result of a call", "write its value")};
}

}  // namespace dmlop::cpp
