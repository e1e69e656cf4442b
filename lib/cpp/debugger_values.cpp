// The values that debuggers show: numbers, words, pointers and what is in braces.
#include <algorithm>

#include "cpp/addresses.hpp"
#include "cpp/debugger_reader.hpp"
#include "cpp/limits.hpp"
#include "cpp/shown_values.hpp"

namespace dmlop::cpp {
namespace {

constexpr std::size_t max_value_depth = 32;

Number word_number(const Token& token) {
  return *named_number(token.is("inf") ? "INFINITY" : "NAN");
}

// "-0" is a float: no debugger shows an integer like that.
std::optional<Number> negative(const Number& number) {
  const bool is_integer_zero = number.is_integer() && number.integer == 0;
  return is_integer_zero ? real_number(-0.0, Number::Type::single) : apply("-", number);
}

}  // namespace

bool DebuggerReader::is_address(const Token& token) const {
  return is_long_address(token) ||
         (is_hexadecimal(token) && addresses_.contains(plain_address(token.text)));
}

const Token& DebuggerReader::now() const {
  return tokens_[std::min(at_, tokens_.size() - 1)];
}

bool DebuggerReader::is_over() const {
  return at_ >= end_ || now().kind == Token::Kind::end;
}

bool DebuggerReader::take(std::string_view symbol) {
  if (is_over() || !now().is(symbol)) return false;
  ++at_;
  return true;
}

Span DebuggerReader::span_from(std::size_t first) const {
  const std::size_t last = std::max(first, at_ > 0 ? at_ - 1 : 0);
  return {tokens_[first].span.begin, tokens_[std::min(last, tokens_.size() - 1)].span.end};
}

Value DebuggerReader::value(std::size_t depth) {
  const std::size_t first = at_;
  if (depth > max_value_depth || is_over()) return hidden(first);
  const Token token = now();
  if (token.is("{")) return braces(depth);
  if (is_hexadecimal(token) && (is_address(token) || next_is("{") || next_is("<")))
    return pointer(depth);
  if (token.is("-") || token.is("+") || token.is("inf") || token.is("nan") ||
      token.kind == Token::Kind::number)
    return number();
  if (!token.is_word()) return ++at_, hidden(first);
  ++at_;
  if (token.is("true") || token.is("false"))
    return number_value(token.span, integer_number(token.is("true") ? 1 : 0));
  if (token.is("nullptr") || token.is("NULL")) return {.kind = Kind::null, .written = token.span};
  if (take("(")) {  // the number of an enumeration's constant
    while (!is_over() && !take(")")) ++at_;
  }
  return word_value(token.span, std::string(token.text));
}

bool DebuggerReader::next_is(std::string_view symbol) const {
  return at_ + 1 < std::min(end_, tokens_.size()) && tokens_[at_ + 1].is(symbol);
}

Value DebuggerReader::hidden(std::size_t first) const {
  return unresolved(span_from(std::min(first, tokens_.size() - 1)), "the debugger does not show it",
                    "show it, too, and paste all of it");
}

Value DebuggerReader::number() {
  const std::size_t first = at_;
  const bool is_negative = take("-");
  if (!is_negative) take("+");
  const Token token = now();
  ++at_;
  const auto old = old_special();
  auto found = old                                  ? old
               : token.is("inf") || token.is("nan") ? std::optional(word_number(token))
                                                    : literal(token.text);
  if (found && is_negative) found = negative(*found);
  if (continues()) return odd(first);
  while (!is_over() && now().kind == Token::Kind::text) ++at_;  // 65 'A'
  if (!is_over() && token.is("nan") && take("(")) {
    while (!is_over() && !take(")")) ++at_;
  }
  return found ? number_value(span_from(first), *found) : hidden(first);
}

bool DebuggerReader::touches() const {
  return !is_over() && at_ > 0 && now().span.begin == tokens_[at_ - 1].span.end;
}

std::optional<Number> DebuggerReader::old_special() {
  const bool is_special = touches() && now().is("#") && at_ + 1 < end_ &&
                          tokens_[at_].span.end == tokens_[at_ + 1].span.begin;
  if (!is_special) return std::nullopt;
  const std::string_view word = tokens_[at_ + 1].text;
  const bool is_infinite = word.starts_with("INF");
  const bool is_nan =
      word.starts_with("IND") || word.starts_with("QNAN") || word.starts_with("SNAN");
  if (!is_infinite && !is_nan) return std::nullopt;
  at_ += 2;
  return named_number(is_infinite ? "INFINITY" : "NAN");
}

bool DebuggerReader::continues() const {
  if (!touches()) return false;
  const Token& next = now();
  for (const char* end : {",", "}", ")", "]", "<", "("}) {
    if (next.is(end)) return false;
  }
  return next.kind != Token::Kind::text;
}

Value DebuggerReader::odd(std::size_t first) {
  while (touches() && !now().is("}")) ++at_;
  const Span written = span_from(first);
  return unresolved(written, "it is not a C++ number", "write it as C++ does, such as 0.5");
}

Value DebuggerReader::alone(Value number, std::size_t first) {
  const bool goes_on = number.kind == Kind::number && touches() && now().is(",") &&
                       at_ + 1 < end_ && tokens_[at_ + 1].kind == Token::Kind::number &&
                       tokens_[at_ + 1].span.begin == now().span.end;
  return goes_on ? odd(first) : number;
}

Value DebuggerReader::pointer(std::size_t depth) {
  const std::size_t first = at_;
  const std::string address = plain_address(now().text);
  ++at_;
  if (take("<")) {  // a symbol, or <NULL>
    while (!is_over() && !take(">")) ++at_;
  }
  while (!is_over() && now().kind == Token::Kind::text) ++at_;
  const bool has_content = !is_over() && now().is("{");
  Value content = has_content ? braces(depth) : Value{};
  if (address == "0x0") return {.kind = Kind::null, .written = span_from(first)};
  Value result{.kind = Kind::pointer, .written = tokens_[first].span};
  result.target = {object_at(address, tokens_[first].span)};
  if (has_content) merge_shown(memory_, result.target, std::move(content));
  return result;
}

std::size_t DebuggerReader::object_at(const std::string& address, Span written) {
  const auto found = objects_.find(address);
  if (found != objects_.end()) return found->second;
  Value value{.kind = Kind::address, .written = written, .word = address};
  const std::size_t variable =
      memory_.add({.type = address, .declared = written, .value = std::move(value)});
  return objects_[address] = variable;
}

Value DebuggerReader::braces(std::size_t depth) {
  const std::size_t first = at_++;
  Value list{.kind = Kind::list};
  while (!is_over() && !take("}")) {
    if (take(",") || take("...")) continue;  // what is cut may stand in other rows
    const std::size_t begin = at_;
    Entry entry;
    if (now().is_word() && next_is("=")) {
      entry.name = now().text;
      at_ += 2;
    } else if (now().is("[") && at_ + 3 < tokens_.size() && tokens_[at_ + 3].is("=")) {
      at_ += 4;
    }
    const std::size_t first_of_value = at_;
    entry.value = value(depth + 1);
    if (!entry.name.empty()) entry.value = alone(std::move(entry.value), first_of_value);
    memory_.count(entry.value);
    list.entries.push_back(std::move(entry));
    repeat_last(list);
    if (at_ == begin) ++at_;
  }
  list.written = span_from(first);
  return list;
}

void DebuggerReader::repeat_last(Value& list) {
  if (is_over() || !now().is("<") || !next_is("repeats")) return;
  const auto times = at_ + 2 < tokens_.size() ? literal(tokens_[at_ + 2].text) : std::nullopt;
  while (!is_over() && !take(">")) ++at_;
  const auto count = times ? times->count() : std::nullopt;
  const Value last = list.entries.back().value;
  for (std::size_t i = 1; count && i < std::min<std::uint64_t>(*count, max_elements); ++i) {
    memory_.count(last);
    list.entries.push_back({"", last});
  }
}

}  // namespace dmlop::cpp
