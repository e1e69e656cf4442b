#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cpp/layouts.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

// Statements that set no variable.
constexpr std::array<std::string_view, 8> ignored{
    "protected", "friend", "delete", "public", "private", "default", "case", "static_assert"};

// Of an opening bracket: what closes it; "" for all other tokens.
std::string_view partner_of(const Token& token) {
  if (token.is("(")) return ")";
  if (token.is("[")) return "]";
  return token.is("{") ? "}" : "";
}

}  // namespace

Reader::Depth::Depth(Reader& reader) : reader_(reader) {
  if (++reader_.depth_ > max_statement_depth) reader_.refuse_depth();
}

void Reader::refuse_depth() const {
  const LineColumn at = position_of(text_, now().span.begin);
  throw Error(ErrorKind::invalid_input, "line " + std::to_string(at.line) + ", column " +
                                            std::to_string(at.column) + ": more than " +
                                            std::to_string(max_statement_depth) +
                                            " levels are nested; leave only the code of one "
                                            "description");
}

Reader::Reader(std::string_view text, Memory& memory, std::vector<Warning>& warnings,
               const Definitions& definitions, std::set<std::size_t> changed)
    : text_(text),
      definitions_(definitions),
      tokens_(compiled_tokens_of(text, definitions)),
      memory_(memory),
      warnings_(warnings),
      changed_(std::move(changed)) {
  limit_ = tokens_.size() - 1;
  match_brackets();
}

// Brackets of any kind count alike: require_partner() asks for the kind.
void Reader::match_brackets() {
  partners_.assign(tokens_.size(), tokens_.size() - 1);
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    const Token& token = tokens_[at];
    if (!partner_of(token).empty()) open.push_back(at);
    const bool closes = token.is(")") || token.is("]") || token.is("}");
    if (!closes || open.empty()) continue;
    partners_[open.back()] = at;
    open.pop_back();
  }
}

void Reader::read() {
  scopes_.emplace_back();
  while (now().kind != Token::Kind::end) statement();
  while (scopes_.size() > 1) close_scope();
  if (functions_of_descriptions_ < 2) return;
  for (const std::size_t variable : changed_by_description_)
    changed_elsewhere_.insert(memory_.variables()[variable].declared.begin);
}

std::optional<Value> Reader::read_expression() {
  scopes_.emplace_back();
  try {
    Value value = now().is("{") ? list() : evaluate(0, limit_).value;
    if (at_ == limit_) return value;
  } catch (const NotUnderstood&) {
  }
  return std::nullopt;
}

const Token& Reader::after(std::size_t count) const {
  return tokens_[at_ + count < limit_ ? at_ + count : tokens_.size() - 1];
}

bool Reader::take(std::string_view symbol) {
  if (!now().is(symbol)) return false;
  ++at_;
  return true;
}

void Reader::expect(std::string_view symbol) {
  if (!take(symbol)) throw NotUnderstood{};
}

Span Reader::span_of(std::size_t first, std::size_t last) const {
  const std::size_t end = last > first ? last - 1 : first;
  return {tokens_[first].span.begin, tokens_[std::min(end, tokens_.size() - 1)].span.end};
}

std::size_t Reader::matching(std::size_t open) const {
  return std::min(partners_[open], limit_);
}

bool Reader::has_partner(std::size_t open) const {
  return tokens_[partners_[open]].is(partner_of(tokens_[open]));
}

void Reader::require_partner(std::size_t open) const {
  if (has_partner(open)) return;
  // What is closed by a bracket of another kind has taken it from one around it.
  for (std::size_t at = open; at < partners_[open]; ++at) {
    const bool opens = !partner_of(tokens_[at]).empty();
    if (opens && partners_[at] + 1 < tokens_.size() && !has_partner(at)) refuse_bracket(at);
  }
  refuse_bracket(open);
}

void Reader::refuse_bracket(std::size_t open) const {
  const Token& token = tokens_[open];
  refuse_unclosed(text_, token.span.begin,
                  "this " + std::string(token.text) + " has no " + std::string(partner_of(token)));
}

std::size_t Reader::angle_end(std::size_t open) const {
  std::size_t nested = 0;
  for (std::size_t at = open; at < limit_ && at < open + 64; ++at) {
    const Token& token = tokens_[at];
    if (token.is("<")) {
      ++nested;
    } else if (token.is(">") || token.is(">>")) {
      const std::size_t closes = token.text.size();
      if (closes >= nested) return closes == nested ? at + 1 : 0;
      nested -= closes;
    } else if (token.kind == Token::Kind::symbol && !token.is("::") && !token.is(",") &&
               !token.is("*") && !token.is("&") && !token.is("(") && !token.is(")") &&
               !token.is("[") && !token.is("]")) {
      return 0;
    }
  }
  return 0;
}

std::size_t Reader::end_of_operand(std::size_t from) const {
  std::size_t at = from;
  while (at < limit_) {
    const Token& token = tokens_[at];
    if (token.is(",") || token.is(";") || token.is(")") || token.is("]") || token.is("}")) break;
    const bool opens = token.is("(") || token.is("[") || token.is("{");
    const std::size_t end = token.is("<") && at > from ? angle_end(at) : 0;
    const bool is_template =
        end != 0 && end < limit_ &&
        (tokens_[end].is("(") || tokens_[end].is("{") || tokens_[end].is("::"));
    at = opens ? std::min(matching(at) + 1, limit_) : is_template ? end : at + 1;
  }
  return at;
}

void Reader::statement() {
  const Depth depth(*this);
  const std::size_t first = at_;
  try {
    if (take(";")) return;
    if (now().is("#")) return directive();
    if (now().is("{")) return ++at_, open_scope(false);
    if (now().is("}")) return ++at_, close_scope();
    if (now().is_word() && (now().is("for") || now().is("while"))) return loop();
    if (now().is("if") || now().is("else") || now().is("do") || now().is("switch") ||
        now().is("try") || now().is("catch"))
      return control();
    if (skips_by_keyword()) return;
    if (lambda() || headless_function()) return;
    if (now().is_word() && after(1).is(":")) return at_ += 2, void();  // a label
    if (!declaration()) expression_statement();
    spend(at_ - std::min(first, at_));
  } catch (const NotUnderstood&) {
    at_ = std::max(first, at_);
    skip_statement();
    forget_named(first, at_);
    if (at_ == first) ++at_;
  }
}

// #define NAME VALUE is a constant. What stands between #if and #endif may be compiled or not.
void Reader::directive() {
  ++at_;
  const Token kind = now();
  if (kind.is("define")) {
    define();
  } else if (kind.is("if") || kind.is("ifdef") || kind.is("ifndef")) {
    ++conditions_;
  } else if (kind.is("endif") && conditions_ > 0) {
    --conditions_;
  }
  while (now().kind != Token::Kind::line_end && now().kind != Token::Kind::end) ++at_;
  if (now().kind == Token::Kind::line_end) ++at_;
}

// Whether operators around a macro could take its text apart: 1 + 2, but not (1 + 2) or -1.
bool Reader::has_open_operator(std::size_t begin, std::size_t end) const {
  constexpr std::array<std::string_view, 19> operators{
      "+",  "-",  "*", "/",  "%",  "<<", ">>", "&",  "|", "^",
      "&&", "||", "?", "==", "!=", "<",  ">",  "<=", ">="};
  std::size_t depth = 0;
  for (std::size_t at = begin; at < end; ++at) {
    const Token& token = tokens_[at];
    if (token.is("(") || token.is("{") || token.is("[")) ++depth;
    if (token.is(")") || token.is("}") || token.is("]")) depth -= depth > 0 ? 1 : 0;
    const auto is_token = [&](std::string_view text) { return token.is(text); };
    if (at > begin && depth == 0 && std::any_of(operators.begin(), operators.end(), is_token))
      return true;
  }
  return false;
}

void Reader::define() {
  const Token name = after(1);
  std::size_t end = at_;
  while (end < limit_ && tokens_[end].kind != Token::Kind::line_end) ++end;
  const std::size_t begin = at_ + 2;
  if (!name.is_word() || begin >= end) return;
  const bool has_parameters = tokens_[begin].is("(") && tokens_[begin].span.begin == name.span.end;
  if (has_parameters) return;
  Value value;
  try {
    const Unsure unsure(*this);
    value = evaluate(begin, end).value;
  } catch (const NotUnderstood&) {
    value = unresolved(span_of(begin, end), "this macro is not a number", "write its value");
  }
  if (has_open_operator(begin, end))
    value = unresolved(span_of(begin, end),
                       "what a macro without parentheses means depends on its place",
                       "write parentheses around it");
  declare(name, {.name = "auto", .is_constant = true}, std::move(value), false, {});
}

bool Reader::skips_by_keyword() {
  const std::string_view word = now().is_word() ? now().text : std::string_view();
  if (word == "using" || word == "typedef") return alias(), true;
  if (word == "namespace" || word == "extern") {
    if (namespace_body()) return true;
    return word == "namespace" ? (skip_statement(), true) : false;
  }
  if (word == "struct" || word == "class" || word == "enum" || word == "union") {
    std::size_t at = at_;
    while (at < limit_ && !tokens_[at].is("{") && !tokens_[at].is(";") && !tokens_[at].is("=") &&
           !tokens_[at].is("("))
      ++at;
    const bool has_body = at < limit_ && tokens_[at].is("{");
    if (word == "enum" && has_body) return enumeration(at), true;
    if (has_body && class_body(at)) return true;
    const bool has_name = at == at_ + 2 || (at == at_ + 3 && tokens_[at - 1].is("final"));
    if (has_body && word == "struct" && has_name && after(1).is_word())
      structure(std::string(after(1).text), at);
    const bool declares_variable = at < limit_ && (!has_body || at > at_ + 2);
    if (declares_variable && word == "struct") return false;
    return skip_statement(), true;
  }
  if (word == "return" || word == "throw" || word == "co_return" || word == "co_await")
    return leave(word != "co_await"), true;
  if (word == "goto") return skip_statement(), end_scope(), true;
  if (word == "template") {
    const std::size_t end = after(1).is("<") ? angle_end(at_ + 1) : 0;
    if (end == 0) return skip_statement(), true;
    at_ = end;
    ++templates_;
    statement();
    --templates_;
    return true;
  }
  if (word == "break" || word == "continue")
    return skip_statement(), leave_loop(word == "break"), true;
  if (!is_one_of(word, ignored)) return false;
  if (word == "protected" || word == "case" || word == "default" || word == "public" ||
      word == "private") {
    while (at_ < limit_ && !now().is(":") && !now().is(";")) ++at_;
    return ++at_, true;
  }
  return skip_statement(), true;
}

// return VALUE;
void Reader::leave(bool ends) {
  if (ends && is_in_call()) return leave_call();
  ++at_;
  try {
    if (!now().is(";")) {  // who gets a lambda may call it at any time
      const Value value = assignment().value;
      if (value.kind == Value::Kind::function) escape_functions(value);
    }
    while (take(",")) assignment();
    if (now().kind != Token::Kind::end) expect(";");
  } catch (const NotUnderstood&) {
    if (ends) end_scope();
    throw;
  }
  if (ends) end_scope();
}

// typedef struct TAG { ... } NAME;
bool Reader::c_structure() {
  if (!now().is("typedef") || !after(1).is("struct")) return false;
  const std::size_t open = after(2).is("{") ? at_ + 2 : at_ + 3;
  const std::size_t name = open < limit_ && tokens_[open].is("{") ? matching(open) + 1 : limit_;
  if (name + 1 >= limit_ || !tokens_[name].is_word() || !tokens_[name + 1].is(";")) return false;
  structure(std::string(tokens_[name].text), open);
  at_ = name + 2;
  return true;
}

// using NAME = TYPE; or typedef TYPE NAME; or a using of names.
void Reader::alias() {
  std::size_t end = at_;
  while (end < limit_ && !tokens_[end].is(";")) ++end;
  const bool is_using = now().is("using");
  if (c_structure()) return;
  std::size_t at = is_using ? at_ + 3 : at_ + 1;
  const bool has_name = !is_using || (after(1).is_word() && after(2).is("="));
  if (has_name && at < end) {
    const auto type = type_at(at);
    const Token& name = is_using ? tokens_[at_ + 1] : tokens_[at];
    const bool is_simple = type && !type->is_pointer && !type->is_reference;
    if (is_simple && name.is_word() && at <= end) aliases_[std::string(name.text)] = type->name;
  }
  if (is_using && !has_name && at_ + 1 < end) use_names(at_ + 1, end);
  at_ = end;
  take(";");
}

void Reader::skip_statement() {
  while (now().kind != Token::Kind::end) {
    if (take(";")) return;
    if (now().is("}")) return;
    if (now().is("{")) {
      at_ = std::min(matching(at_) + 1, limit_);
      if (!now().is(";") && !now().is(",") && !now().is(")") && !now().is(".")) return;
      continue;
    }
    if (now().is("(") || now().is("[")) {
      at_ = std::min(matching(at_) + 1, limit_);
    } else {
      ++at_;
    }
  }
}

void Reader::expression_statement() {
  if (!now().is(";")) assignment();
  while (take(",")) assignment();
  if (now().is("{")) {  // the body of a macro
    if (is_in_function()) return;
    return open_function(at_);
  }
  if (now().kind != Token::Kind::end) expect(";");
}

std::optional<std::size_t> Reader::find(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

void Reader::forget(const Place& place, Span written, std::string why) {
  Variable& variable = memory_.variables()[place.variable];
  note_change(place.variable);
  if (variable.is_constant) {
    if (!is_description(place.variable)) escape(variable.value, written);
    return;
  }
  Value* value = memory_.make(place);
  if (value == nullptr) value = &variable.value;
  if (value->kind == Value::Kind::unresolved) return;  // the first reason is the one to mend
  const Value lost = std::exchange(
      *value, unresolved(written, std::move(why),
                         "write its value where it is declared and delete this statement, or "
                         "delete it if it changes nothing"));
  if (!is_description(place.variable)) escape(lost, written);
}

// The pointers of descriptions point to constants: nothing changes through them.
bool Reader::is_description(std::size_t variable) const {
  return memory_.variables()[variable].type.starts_with("DML_");
}

// Where a value goes is not followed: what its pointers point to may change at any time from here
// on. This is so for each pointer that is lost, so that no change through it can be missed.
void Reader::escape(const Value& value, Span written) {
  const Depth depth(*this);
  if (value.kind == Value::Kind::function) return escape_functions(value);
  for (const Entry& entry : value.entries) escape(entry.value, written);
  if (value.kind != Value::Kind::pointer) return;
  const std::size_t target = value.target.variable;
  if (is_description(target) || memory_.variables()[target].has_escaped) return;
  memory_.variables()[target].has_escaped = true;
  forget({target}, written, "this may change it, and is not evaluated");
}

// What is not understood may change the variables that it names. Descriptions are passed on to be
// read, not changed, so a word about them is enough.
void Reader::forget_named(std::size_t begin, std::size_t end, bool escapes) {
  for (std::size_t at = begin; at < std::min(end, limit_); ++at) {
    if (!tokens_[at].is_word()) continue;
    const bool is_member = at > begin && (tokens_[at - 1].is(".") || tokens_[at - 1].is("->"));
    if (is_member) continue;
    const auto variable = find(std::string(tokens_[at].text));
    if (!variable || memory_.variables()[*variable].type.starts_with("DML_")) continue;
    const auto& refers = memory_.variables()[*variable].refers;
    const Place place = refers ? *refers : Place{*variable};
    if (escapes) memory_.variables()[place.variable].has_escaped = !is_description(place.variable);
    forget(place, span_of(begin, end), "this may change it, and is not evaluated");
  }
}

void Reader::assign(const Place& place, const std::string& symbol, Value value, Span written) {
  note_change(place.variable);
  if (memory_.variables()[place.variable].conditions < conditions_) {
    if (!is_description(place.variable)) escape(value, written);
    return forget(place, written, "it is assigned under a condition or in a loop" + doubt());
  }
  if (memory_.variables()[place.variable].has_escaped) return escape(value, written);
  if (symbol != "=") {
    const Value* old = memory_.find(place);
    value = combined(symbol.substr(0, symbol.size() - 1), old != nullptr ? *old : Value{}, value,
                     written);
  }
  const Declared declared = declared_at(place);
  const bool is_element =
      !place.path.empty() && std::holds_alternative<std::size_t>(place.path.back());
  const bool is_whole_array = !is_element && (declared.is_array || declared.is_container);
  if (place.variable < created_ && warnings_.size() < max_warnings)
    warnings_.push_back({written, "an operator is created before this; the last value counts"});
  value = is_whole_array ? filled(std::move(value), std::nullopt, declared.type)
                         : typed(std::move(value), declared.type);
  memory_.count(value);
  Value* target = memory_.make(place);
  if (target == nullptr) {
    escape(value, written);
    return forget({place.variable}, written, "this assigns to a part that it does not have");
  }
  *target = std::move(value);
}

}  // namespace dmlop::cpp
