// Lambdas: their parts, and what they capture.
#include <algorithm>

#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;

}  // namespace

// The lambda whose "[" is a token; nothing if it is none.
std::optional<Reader::Function> Reader::lambda_at(std::size_t captures) const {
  Function function{.name = "the lambda in line " +
                            std::to_string(position_of(text_, tokens_[captures].span.begin).line),
                    .result = {.name = "auto"},
                    .is_lambda = true};
  std::size_t at = matching(captures) + 1;
  if (at < limit_ && tokens_[at].is("(")) {
    function.open = at;
    function.close = matching(at);
    at = function.close + 1;
  }
  for (; at < limit_ && !tokens_[at].is("{"); ++at) {
    const Token& token = tokens_[at];
    if (token.is("mutable")) function.refusal = "it is mutable";
    if (token.is("->")) {
      std::size_t behind = at + 1;
      const auto type = type_at(behind);
      if (!type) return std::nullopt;
      function.result = *type;
      at = behind - 1;
    } else if (!token.is("mutable") && !token.is("constexpr") && !token.is("noexcept")) {
      return std::nullopt;
    }
  }
  if (at >= limit_) return std::nullopt;
  function.body = at;
  return function;
}

// A variable as it is now, under a name that only the lambda sees.
void Reader::capture_copy(Function& function, const std::string& name, Value value,
                          const Variable* from) {
  spend(size_of(value));
  Variable copy{.name = name, .type = "auto", .declared = value.written};
  if (from != nullptr) {
    copy.type = from->type;
    copy.declared = from->declared;
    copy.is_array = from->is_array;
    copy.is_container = from->is_container;
  }
  copy.value = std::move(value);
  copy.is_constant = true;
  copy.conditions = conditions_;
  copy.call = call_now();
  function.names[name] = memory_.add(std::move(copy));
}

void Reader::capture_copy(Function& function, const std::string& name) {
  const auto variable = find(name);
  if (!variable) return;
  const Variable found = memory_.variables()[*variable];
  const Place place = found.refers.value_or(Place{*variable});
  const Value* value = memory_.find(place);
  capture_copy(function, name, value != nullptr ? *value : Value{},
               &memory_.variables()[place.variable]);
}

// [=]: a copy of each variable of a block that the body names.
void Reader::capture_named(Function& function) {
  std::set<std::string> names;
  for (std::size_t at = function.body; at < matching(function.body); ++at) {
    const bool is_member = tokens_[at - 1].is(".") || tokens_[at - 1].is("->");
    const std::string name(tokens_[at].text);
    const auto variable =
        tokens_[at].is_word() && !is_member ? find(name) : std::optional<std::size_t>();
    if (!variable) continue;
    const Variable& found = memory_.variables()[*variable];
    if (found.scope != 0 && !found.is_static && found.value.kind != Kind::function)
      names.insert(name);
  }
  for (const std::string& name : names) capture_copy(function, name);
}

// Makes copies of what the brackets from the token `open` on capture by value.
void Reader::capture(Function& function, std::size_t open) {
  const std::size_t close = matching(open);
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t end = std::min(end_of_operand(at), close);
    const bool is_reference = tokens_[at].is("&");
    const std::size_t name = is_reference ? at + 1 : at;
    const bool is_initialized = name + 1 < end && tokens_[name + 1].is("=");
    if (tokens_[at].is("=")) {
      capture_named(function);
    } else if (is_initialized) {
      if (is_reference) throw NotUnderstood{};
      const std::size_t here = at_;
      capture_copy(function, std::string(tokens_[name].text), constant(name + 2, end), nullptr);
      at_ = here;
    } else if (!is_reference && tokens_[at].is_word() && !tokens_[at].is("this")) {
      if (at + 1 != end) throw NotUnderstood{};
      capture_copy(function, std::string(tokens_[at].text));
    }
    at = end + 1;
  }
}

Reader::Operand Reader::lambda_value() {
  const std::size_t first = at_;
  if (after(1).is("[")) throw NotUnderstood{};
  auto function = lambda_at(first);
  if (!function) throw NotUnderstood{};
  const auto index = keep(std::move(*function));
  if (!index) throw NotUnderstood{};
  capture(functions_[*index], first);
  at_ = std::min(matching(functions_[*index].body) + 1, limit_);
  return {function_value(*index, span_of(first, at_))};
}

// Reads a lambda that makes a description as if it ran once. It is known by its name, too.
bool Reader::lambda() {
  constexpr std::size_t head = 128;  // tokens that are searched for one
  for (std::size_t at = at_; at < std::min(limit_, at_ + head); ++at) {
    if (tokens_[at].is(";") || tokens_[at].is("{") || tokens_[at].is("}")) return false;
    if (!tokens_[at].is("[")) continue;
    const bool is_subscript =
        at > at_ && (tokens_[at - 1].is("]") || tokens_[at - 1].is(")") ||
                     (tokens_[at - 1].is_word() && !tokens_[at - 1].is("return")));
    if (is_subscript) continue;
    const std::size_t open = matching(at) + 1;
    const bool has_parameters = open < limit_ && tokens_[open].is("(");
    const std::size_t close = has_parameters ? matching(open) : open;
    std::size_t body = has_parameters ? close + 1 : open;
    while (body < limit_ && !tokens_[body].is("{") && !tokens_[body].is(";")) ++body;
    if (body >= limit_ || !tokens_[body].is("{")) return false;
    if (!names_description(body, matching(body))) continue;
    const auto index = named_lambda(at);
    if (!index) forget_named(at_, at);
    open_function(body, index);
    if (has_parameters) parameters(open, close);
    return true;
  }
  return false;
}

// auto NAME = [...
std::optional<std::size_t> Reader::named_lambda(std::size_t captures) {
  const std::size_t name = now().is("const") ? at_ + 2 : at_ + 1;
  const bool is_named = captures == name + 2 && tokens_[name - 1].is("auto") &&
                        tokens_[name].is_word() && tokens_[name + 1].is("=");
  auto function = is_named ? lambda_at(captures) : std::nullopt;
  if (!function) return std::nullopt;
  function->name = tokens_[name].text;
  const auto index = declare_function(tokens_[name].span, std::move(*function));
  if (index) capture(functions_[*index], captures);
  return index;
}

}  // namespace dmlop::cpp
