// Calls of functions and lambdas that the text defines: the body runs with the arguments.
#include <algorithm>
#include <utility>

#include "cpp/layouts.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;

bool is_view(const std::string& type) {
  return type.ends_with("span") || type.ends_with("Span");
}

}  // namespace

// _In_reads_(count) and [[maybe_unused]]
void Reader::skip_annotations(std::size_t& at) const {
  while (at < limit_) {
    const std::string_view word = tokens_[at].text;
    const bool is_annotation = tokens_[at].is_word() && word.size() > 2 && word[0] == '_' &&
                               word[1] >= 'A' && word[1] <= 'Z' && word.ends_with('_');
    const bool is_attribute = tokens_[at].is("[") && tokens_[at + 1].is("[");
    if (!is_annotation && !is_attribute) return;
    if (is_annotation) ++at;
    if (at < limit_ && (tokens_[at].is("(") || is_attribute))
      at = std::min(matching(at) + 1, limit_);
  }
}

// One parameter, which ends at a comma or at the token `close`.
Reader::Parameter Reader::parameter_at(std::size_t begin, std::size_t close) const {
  Parameter parameter;
  std::size_t at = begin;
  const auto is = [&](std::string_view symbol) { return at < close && tokens_[at].is(symbol); };
  skip_annotations(at);
  const auto type = type_at(at);
  if (!type || at > close) {
    parameter.end = std::min(end_of_operand(begin), close);
    return parameter;
  }
  parameter.type = *type;
  if (is("(") && tokens_[at + 1].is("&") && tokens_[at + 2].is_word()) {  // UINT (&sizes)[4]
    parameter.name = at + 2;
    parameter.type.is_reference = true;
    at = std::min(matching(at) + 1, close);
    while (is("[")) at = std::min(matching(at) + 1, close);
  } else if (at < close && tokens_[at].is_word()) {
    parameter.name = at++;
    for (; is("["); at = std::min(matching(at) + 1, close)) parameter.type.is_pointer = true;
  }
  parameter.end = std::min(end_of_operand(at), close);
  if (is("=")) {
    parameter.standard = at + 1;
    at = parameter.end;
  }
  parameter.is_understood = at == parameter.end;
  return parameter;
}

std::vector<Reader::Parameter> Reader::parameters_of(const Function& function) const {
  std::vector<Parameter> parameters;
  for (std::size_t at = function.open + 1; at < function.close;) {
    parameters.push_back(parameter_at(at, function.close));
    at = parameters.back().end + 1;
  }
  const bool is_void =
      parameters.size() == 1 && parameters[0].type.name == "void" && !parameters[0].type.is_pointer;
  if (is_void) parameters.clear();
  return parameters;
}

// The number of a function that is kept to be called; nothing if there are too many.
std::optional<std::size_t> Reader::keep(Function function) {
  if (functions_.size() == max_functions || kept_names_ + names_.size() > max_kept_names)
    return std::nullopt;
  kept_names_ += names_.size();
  function.names = names_;
  function.parameters = parameters_of(function);
  functions_.push_back(std::move(function));
  return functions_.size() - 1;
}

Value Reader::function_value(std::size_t function, Span written) {
  Value value{.kind = Kind::function, .written = written};
  value.entries.push_back(
      {"", number_value(written, integer_number(static_cast<std::int64_t>(function)))});
  return value;
}

// Gives a function its name, beside others of the same name.
std::optional<std::size_t> Reader::declare_function(Span written, Function function) {
  const std::string name = function.name;
  if (conditions_ > 0 && !function.is_lambda) function.refusal = "it is defined under a condition";
  const auto index = keep(std::move(function));
  if (!index) return std::nullopt;
  const auto other = find(name);
  const bool is_overload = other && memory_.variables()[*other].scope == scopes_.back().id &&
                           memory_.variables()[*other].value.kind == Kind::function;
  if (is_overload) {
    Value& all = memory_.variables()[*other].value;
    all.entries.push_back(function_value(*index, written).entries.front());
  } else {
    declare({Token::Kind::word, written, name}, {.name = "", .is_constant = true},
            function_value(*index, written), false, {});
  }
  if (const auto own = find(name)) functions_[*index].names[name] = *own;
  return index;
}

// The function that a call means.
std::optional<std::size_t> Reader::called(const Value& functions, std::size_t arguments,
                                          std::string& why) const {
  std::vector<std::size_t> fitting;
  for (const Entry& entry : functions.entries) {
    const auto index = static_cast<std::size_t>(entry.value.number.integer);
    const std::vector<Parameter>& parameters = functions_[index].parameters;
    const bool has_all = std::ranges::all_of(
        parameters.begin() + static_cast<std::ptrdiff_t>(std::min(arguments, parameters.size())),
        parameters.end(), [](const Parameter& p) { return p.standard != 0; });
    if (arguments <= parameters.size() && has_all) fitting.push_back(index);
  }
  if (fitting.size() != 1) {
    why = fitting.empty() ? "it takes another number of arguments"
                          : "several functions have this name and take as many arguments";
    return std::nullopt;
  }
  const Function& function = functions_[fitting.front()];
  why = function.refusal;
  if (!std::ranges::all_of(function.parameters, &Parameter::is_understood))
    why = "its parameters are not understood";
  if (frames_.size() >= max_nested_calls)
    why = "more than " + std::to_string(max_nested_calls) + " calls are nested";
  if (is_spent())
    why = "the calls and loops of this text take more than " + std::to_string(max_steps) + " steps";
  return why.empty() ? std::optional(fitting.front()) : std::nullopt;
}

// The call of `callee`, whose parentheses are here.
Reader::Operand Reader::call_function(const Operand& callee, std::size_t first) {
  const std::size_t open = at_;
  const std::vector<Operand> given = arguments("", true);
  const Span written = span_of(first, at_);
  std::string why;
  const auto index = called(callee.value, given.size(), why);
  if (index) return run_function(*index, given, written);
  // A call that is not followed may change what it names, and what it is given.
  const std::size_t end = at_;
  escape(callee.value, written);
  forget_named(open, end, false);
  for (const Operand& argument : given) escape(argument.value, written);
  const auto any = static_cast<std::size_t>(callee.value.entries.front().value.number.integer);
  return {unresolved(
      written,
      "it is the result of a call of " + functions_[any].name + ", which is not evaluated: " + why,
      "write its value")};
}

void Reader::bind_parameter(const Parameter& parameter, const Operand* given, Span written) {
  Operand argument;
  if (given != nullptr) {
    argument = *given;
  } else {
    argument.value = constant(parameter.standard, parameter.end);
  }
  if (parameter.name == 0) return;
  Type type = parameter.type;
  const Token& name = tokens_[parameter.name];
  const bool is_other_number = argument.value.kind == Kind::number && argument.place &&
                               type.name != "auto" && type_of(*argument.place) != type.name;
  if (is_view(type.name) && argument.place) type.is_reference = true;
  const bool refers = type.is_reference && argument.place && !is_other_number;
  if (is_view(parameter.type.name)) {
    // Of a view that is assigned to it is not known what it shows.
    for (std::size_t at = parameter.end; at + 1 < limit_ && at < matching(frames_.back().body);
         ++at) {
      if (tokens_[at].text == name.text && tokens_[at + 1].is("=")) throw NotUnderstood{};
    }
  }
  if (!refers) type.is_reference = false;
  Value value = std::move(argument.value);
  if (!refers && !copies(type)) escape(value, written);
  if (!refers) value = declared_value(type, {}, std::move(value), written);
  declare(name, type, std::move(value), false, refers ? argument.place : std::nullopt);
}

// Runs the body of a function. What it sees are the names at its definition.
Reader::Operand Reader::run_function(std::size_t index, const std::vector<Operand>& given,
                                     Span written) {
  const Repeated repeated(*this);
  const Depth depth(*this);
  const Function& function = functions_[index];
  const std::vector<Parameter>& parameters = function.parameters;
  const std::size_t at = at_, conditions = conditions_, around = scopes_.size();
  const std::size_t limit = std::exchange(limit_, tokens_.size() - 1);
  const std::size_t kept = kept_scopes_, variables = memory_.variables().size();
  auto names = std::exchange(names_, function.names);
  auto breakables = std::exchange(breakables_, {});
  spend(names_.size() / 8 + matching(function.body) - function.body);
  open_scope(false);
  kept_scopes_ = scopes_.size();
  frames_.push_back({.id = memory_.begin_call(call_now()),
                     .body = function.body,
                     .conditions = conditions_,
                     .scopes = scopes_.size()});
  try {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      bind_parameter(parameters[i], i < given.size() ? &given[i] : nullptr, written);
    run(function.body, matching(function.body) + 1);
  } catch (const NotUnderstood&) {
    for (const Operand& argument : given) escape(argument.value, written);
    frames_.back().result = {
        unresolved(written, "its parameters are not understood", "write its value")};
    frames_.back().has_result = true;
  }
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  exit_ = Exit::none;
  kept_scopes_ = kept;
  while (scopes_.size() > around) close_scope();
  names_ = std::move(names);
  breakables_ = std::move(breakables);
  conditions_ = conditions;
  limit_ = limit;
  at_ = at;
  return returned(function, frame, variables, written);
}

// What a call gives that has run. The description that it returns is the caller's; and its own
// body, which was read where it stands, describes nothing more.
Reader::Operand Reader::returned(const Function& function, const Frame& frame,
                                 std::size_t variables, Span written) {
  auto& all = memory_.variables();
  for (std::size_t i = function.first; i < function.last; ++i) all[i].is_superseded = true;
  if (!frame.has_result) {
    if (function.result.name == "void" || function.result.name == "auto") return {};
    return {unresolved(written, "the call of " + function.name + " returns nothing",
                       "write its value")};
  }
  if (function.result.is_reference) return frame.result;
  Value value = declared_value(function.result, {}, frame.result.value, written);
  if (operator_of(value.type) != nullptr) {
    for (std::size_t i = variables; i < all.size(); ++i) all[i].is_superseded = true;
  }
  return {std::move(value)};
}

bool Reader::is_in_call() const {
  if (frames_.empty()) return false;
  return std::none_of(scopes_.begin() + static_cast<std::ptrdiff_t>(frames_.back().scopes),
                      scopes_.end(), [](const Scope& scope) { return scope.is_function; });
}

// return VALUE; or throw VALUE; in a call that is run.
void Reader::leave_call() {
  const bool throws = now().is("throw");
  const std::size_t first = at_++;
  const std::size_t begin = at_, end = end_of_operand(at_);
  Operand result;
  try {
    if (now().is("{")) {
      result = {list()};
    } else if (begin < end) {
      result = evaluate(begin, end);
    }
  } catch (const NotUnderstood&) {
    result = {not_evaluated(begin, end)};
    forget_named(begin, end);
  }
  at_ = end;
  const Span written = span_of(first, std::max(end, first + 1));
  if (now().kind != Token::Kind::end) skip_statement();
  Frame& frame = frames_.back();
  const bool is_certain = conditions_ == frame.conditions + frame.doubts;
  if (throws && !is_certain) return;  // then nothing is made
  if (throws) result = {unresolved(written, "this call throws", "write its value")};
  if (!is_certain) {
    escape(result.value, written);
    result = {unresolved(written, "whether this return runs is not known" + doubt(),
                         "write the value of the call")};
    scopes_[frame.scopes].doubt = "whether an earlier return runs is not known" + doubt();
    ++conditions_;
    ++frame.doubts;
  } else {
    exit_ = Exit::call;
  }
  if (!frame.has_result) frame.result = std::move(result);
  frame.has_result = true;
}

// A lambda that goes where it is not followed may be called at any time from here on.
void Reader::escape_functions(const Value& functions) {
  for (const Entry& entry : functions.entries) {
    Function& function = functions_[static_cast<std::size_t>(entry.value.number.integer)];
    if (!function.is_lambda || std::exchange(function.has_escaped, true)) continue;
    auto names = std::exchange(names_, function.names);
    const std::size_t limit = std::exchange(limit_, tokens_.size() - 1);
    forget_named(function.body, matching(function.body));
    limit_ = limit;
    names_ = std::move(names);
  }
}

}  // namespace dmlop::cpp
