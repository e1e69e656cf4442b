// Names in expressions: variables, constants, calls and casts.
#include <algorithm>
#include <array>

#include "cpp/layouts.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;

// Functions that change none of their arguments.
constexpr std::array<std::string_view, 17> harmless{"CreateOperator",
                                                    "CreateOperatorInitializer",
                                                    "CompileOperator",
                                                    "CompileGraph",
                                                    "CreateBindingTable",
                                                    "QueryInterface",
                                                    "DMLCalcBufferTensorSize",
                                                    "IID_PPV_ARGS",
                                                    "ThrowIfFailed",
                                                    "THROW_IF_FAILED",
                                                    "DML_CHECK",
                                                    "assert",
                                                    "static_assert",
                                                    "printf",
                                                    "size",
                                                    "data",
                                                    "FAILED"};

// Their arguments may be read by the compiler alone.
constexpr std::array<std::string_view, 6> perhaps_unevaluated{"decltype", "noexcept", "alignof",
                                                              "assert",   "typeid",   "ASSERT"};

constexpr std::array<std::string_view, 8> no_values{"new",   "delete", "co_await", "typeid",
                                                    "throw", "return", "operator", "requires"};

// Whether numbers of two types have the same bytes; also where a type is none of a number.
bool is_same_layout(const std::string& a, const std::string& b) {
  if (size_of_type(a) == 0 || size_of_type(b) == 0) return true;
  const auto is_real = [](const std::string& type) {
    const auto number = converted(integer_number(0), type);
    return number && !number->is_integer();
  };
  return size_of_type(a) == size_of_type(b) && is_real(a) == is_real(b);
}

}  // namespace

Reader::Operand Reader::primary() {
  const Token token = now();
  if (token.is("(")) return parenthesized();
  if (token.kind == Token::Kind::number) {
    ++at_;
    const auto number = literal(token.text);
    if (!number)
      return {unresolved(token.span, "it is not a C++ number that fits 64 bits",
                         "write a number such as 4 or 0.5f")};
    return {number_value(token.span, *number)};
  }
  if (token.kind == Token::Kind::text) {
    ++at_;
    return {unresolved(token.span, "it is a text", "write a number")};
  }
  if (token.is("[")) return lambda_value();
  if (token.is("::") || (token.is_word() && !is_one_of(token.text, no_values))) return name();
  throw NotUnderstood{};
}

// (Type)value or (expression)
Reader::Operand Reader::parenthesized() {
  const std::size_t first = at_;
  const std::size_t close = matching(at_);
  std::size_t at = at_ + 1;
  const auto type = type_at(at);
  const Token& next = tokens_[std::min(close + 1, limit_)];
  const bool follows_value =
      close + 1 < limit_ && (next.is_word() || next.kind == Token::Kind::number || next.is("("));
  const bool is_known = type && (size_of_type(type->name) > 0 || type->is_pointer ||
                                 is_struct(type->name) || type->name.starts_with("DML_"));
  const bool follows_list = close + 1 < limit_ && next.is("{");
  const bool follows_sign = close + 1 < limit_ && (next.is("-") || next.is("&") || next.is("~") ||
                                                   next.is("*") || next.is("+"));
  const bool is_variable = type && find(type->name);
  if (type && at == close && !is_variable &&
      (follows_value || ((follows_sign || follows_list) && is_known))) {
    at_ = close + 1;
    if (follows_list) return {typed(list(), type->name)};
    const Operand operand = unary();
    return cast_to(*type, operand, span_of(first, at_));
  }
  Operand operand = evaluate(first + 1, close);
  at_ = std::min(close + 1, limit_);
  return operand;
}

Reader::Operand Reader::cast_to(const Type& type, const Operand& operand, Span written) {
  if (type.is_reference) {
    if (!operand.place || type_of(*operand.place) == type.name)
      return {operand.value, operand.place};
    forget(*operand.place, written, "this may change it, and is not evaluated");
    return {unresolved(written, "it is read as another type", "write its value")};
  }
  const bool is_seen_as_other = operand.value.kind == Kind::pointer &&
                                !is_same_layout(type.name, type_of(operand.value.target));
  if (is_seen_as_other) {
    escape(operand.value, written);
    return {unresolved(written, "it is read as another type", "write its value")};
  }
  if (operand.value.kind != Kind::number || type.is_pointer) return {operand.value, operand.place};
  const auto number = converted(operand.value.number, type.name);
  if (!number)
    return {unresolved(written, "its value does not fit " + type.name, "write a value that fits")};
  return {number_value(written, *number)};
}

// static_cast<Type>(value), and narrow<Type>(value), which throws where it would lose something.
Reader::Operand Reader::named_cast(std::size_t first) {
  const bool keeps_value = now().is("narrow");
  ++at_;
  const std::size_t end = now().is("<") ? angle_end(at_) : 0;
  std::size_t at = at_ + 1;
  const auto type = type_at(at);
  if (end == 0 || !type || end >= limit_ || !tokens_[end].is("(")) throw NotUnderstood{};
  const std::size_t close = matching(end);
  const Operand operand = evaluate(end + 1, close);
  at_ = std::min(close + 1, limit_);
  Operand result = cast_to(*type, operand, span_of(first, at_));
  const bool loses = keeps_value && result.value.kind == Kind::number &&
                     result.value.number.as_double() != operand.value.number.as_double();
  if (loses)
    return {unresolved(span_of(first, at_), "its value does not fit " + type->name,
                       "write a value that fits")};
  return result;
}

std::optional<std::size_t> Reader::bytes_of(const std::string& type) const {
  if (type.ends_with("*")) return 8;
  const std::size_t size = size_of_type(type);
  return size > 0 ? std::optional(size) : std::nullopt;
}

// sizeof(type), sizeof(array), sizeof array[0]
Reader::Operand Reader::size_in_bytes() {
  const Unsure unsure(*this);
  const std::size_t first = at_++;
  std::optional<std::size_t> bytes;
  const std::size_t close = now().is("(") ? matching(at_) : at_;
  std::size_t at = at_ + 1;
  const auto type = now().is("(") ? type_at(at) : std::nullopt;
  if (type && at == close && !find(type->name)) {
    bytes = bytes_of(type->is_pointer ? type->name + "*" : type->name);
    at_ = close + 1;
  } else {
    const Operand operand = unary();
    if (operand.place) {
      const auto size = bytes_of(type_of(*operand.place));
      const bool is_container = memory_.variables()[operand.place->variable].is_container;
      const auto count = length_of(operand);
      if (size && !(is_container && operand.place->path.empty()))
        bytes = count ? *size * *count : *size;
      // An array of structs has a length, too: sizeof(array) / sizeof(array[0]) is all that counts.
      if (!size && is_struct(type_of(*operand.place))) bytes = count.value_or(1);
    }
  }
  const Span written = span_of(first, at_);
  if (!bytes) return {unresolved(written, "the size of this type is not known", "write its value")};
  return {number_value(written,
                       integer_number(static_cast<std::int64_t>(*bytes), Number::Type::uint64))};
}

Reader::Operand Reader::name() {
  const std::size_t first = at_;
  if (now().is("gsl") && after(1).is("::")) at_ += 2;
  for (const char* cast :
       {"static_cast", "const_cast", "reinterpret_cast", "dynamic_cast", "narrow_cast", "narrow"}) {
    if (now().is(cast) && after(1).is("<")) return named_cast(first);
  }
  at_ = first;
  if (now().is("sizeof")) return size_in_bytes();
  if (now().is("this") && after(1).is("->")) at_ += 2;
  std::size_t at = at_;
  const auto type = type_at(at);
  // Only a type has "*" or "&" behind it; an expression has an operator there.
  std::string full;
  while (at_ < limit_ && (now().is_word() || now().is("::"))) {
    if (!now().is("::") || !full.empty()) full += now().text;
    const bool was_word = now().is_word();
    ++at_;
    if (!was_word) continue;
    const std::size_t end = now().is("<") ? angle_end(at_) : 0;
    const bool is_template =
        end != 0 && end < limit_ &&
        (tokens_[end].is("(") || tokens_[end].is("{") || tokens_[end].is("::"));
    if (is_template) {
      for (bool was_in_word = false; at_ < end; ++at_) {
        const bool is_in_word = now().is_word();
        if (was_in_word && is_in_word) full += ' ';
        full += now().text;
        was_in_word = is_in_word;
      }
    }
    if (!now().is("::")) break;
  }
  const Span written = span_of(first, at_);
  if (full == "nullptr" || full == "NULL") return {Value{.kind = Kind::null, .written = written}};
  if (const auto variable = find(full)) {
    const auto& refers = memory_.variables()[*variable].refers;
    return operand_at(refers ? *refers : Place{*variable}, written);
  }
  const bool is_call = now().is("(");
  if (is_operation(full) && (is_call || now().is("{"))) {
    at_ = std::min(matching(at_) + 1, limit_);
    return {word_value(written, full)};
  }
  if (const auto number = named_number(full)) {
    if (is_call) arguments(full);
    return {number_value(written, *number)};
  }
  const std::string plain = without_alias(type ? type->name : full);
  const bool is_type =
      type && (is_struct(plain) || size_of_type(plain) > 0 || type->is_container());
  if (now().is("{") && is_type) {
    Value value = list();
    if (!type->is_container()) return {typed(std::move(value), plain)};
    return {filled(std::move(value), std::nullopt, type->element)};
  }
  if (is_call && size_of_type(plain) > 0) {
    const std::vector<Operand> given = arguments(full);
    if (given.size() == 1) return cast_to({.name = plain}, given[0], span_of(first, at_));
    return {number_value(written, integer_number(0))};
  }
  if (is_call) return call(full, first);
  if (const Value* given = definitions_.use(full)) return {moved_to(*given, written)};
  if ((now().is(".") || now().is("->")) && after(1).is_word() && !after(2).is("(")) {
    // A variable that is declared elsewhere, with members that are assigned here.
    const std::size_t variable = memory_.add({.name = full, .type = "", .declared = written});
    names_[full] = variable;
    taint_changed(variable);
    return operand_at({variable}, written);
  }
  return {word_value(written, full)};
}

bool Reader::changes_nothing(const std::string& function) {
  return is_one_of(function, harmless) || is_standard(function) || named_number(function) ||
         size_of_type(function) > 0;
}

std::vector<Reader::Operand> Reader::arguments(const std::string& function, bool is_followed) {
  const Depth depth(*this);
  const std::size_t first = at_;
  const std::size_t close = matching(at_);
  const bool is_harmless = is_followed || changes_nothing(function) || zeroes(function);
  std::optional<Unsure> unsure;
  if (is_one_of(function, perhaps_unevaluated)) unsure.emplace(*this);
  std::vector<Operand> given;
  ++at_;
  while (at_ < close) {
    const std::size_t begin = at_;
    const std::size_t end = std::min(end_of_operand(at_), close);
    try {
      if (now().is("{")) {
        given.push_back({list()});
        if (at_ != end) throw NotUnderstood{};
      } else {
        given.push_back(evaluate(begin, end));
      }
      if (!is_harmless) {
        forget_named(begin, end, false);
        escape(given.back().value, span_of(begin, end));
      }
    } catch (const NotUnderstood&) {
      forget_named(begin, end);
      given.push_back({not_evaluated(begin, std::max(end, begin + 1))});
    }
    at_ = std::max(end, begin);
    if (at_ < close && !take(",")) ++at_;
  }
  at_ = std::min(close + 1, limit_);
  if (!is_harmless && !function.empty()) warn_of_descriptions(first, close, function);
  return given;
}

// A description that is passed to a function is most likely only read, but that is not certain.
void Reader::warn_of_descriptions(std::size_t begin, std::size_t end, const std::string& function) {
  for (std::size_t at = begin; at + 1 < end; ++at) {
    const bool is_member = tokens_[at].is(".") || tokens_[at].is("->");
    const bool is_name = !is_member && tokens_[at + 1].is_word();
    const auto variable = is_name ? find(std::string(tokens_[at + 1].text)) : std::nullopt;
    if (!variable || warnings_.size() >= max_warnings) continue;
    const Variable& passed = memory_.variables()[*variable];
    if (!passed.type.starts_with("DML_") || passed.is_constant) continue;
    warnings_.push_back({tokens_[at + 1].span, passed.name + " is passed to " + function +
                                                   "; what that changes in it is not known"});
  }
}

bool Reader::zeroes(const std::string& function) {
  return function == "memset" || function == "std::memset" || function == "ZeroMemory" ||
         function == "SecureZeroMemory";
}

// Whether ZeroMemory(&desc, sizeof(desc)) or the like is done with this.
bool Reader::zeroed_by(const std::string& function, const std::vector<Operand>& given,
                       Span written) {
  const bool is_zero =
      !function.ends_with("memset") || (given.size() > 1 && given[1].value.kind == Kind::number &&
                                        given[1].value.number.as_double() == 0);
  if (given.empty() || given[0].value.kind != Kind::pointer || !is_zero) return false;
  const Place& place = given[0].value.target;
  const Variable& variable = memory_.variables()[place.variable];
  Value* value = memory_.make(place);
  if (value == nullptr || variable.conditions < conditions_ || !members_of(type_of(place)))
    return false;
  *value = {.kind = Kind::list, .written = written, .type = type_of(place), .is_zeroed = true};
  return true;
}

Reader::Operand Reader::call(const std::string& function, std::size_t first) {
  const std::vector<Operand> given = arguments(function);
  const Span written = span_of(first, at_);
  if (zeroes(function)) {
    if (!zeroed_by(function, given, written) && !given.empty() &&
        given[0].value.kind == Kind::pointer)
      forget(given[0].value.target, written, "this changes it, and is not evaluated");
    return {};
  }
  Operand known = known_call(function, given, written);
  if (known.value.kind != Kind::unset || known.place) return known;
  const auto defined = find(function.substr(0, function.find('<')));
  const bool is_template = defined && memory_.variables()[*defined].value.kind == Kind::function;
  return {unresolved(
      written,
      "it is the result of a call of " + function +
          (is_template ? ", which is a template" : ", which this text does not define above"),
      "write its value")};
}

}  // namespace dmlop::cpp
