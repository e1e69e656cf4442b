// Scopes and the names in them: blocks, namespaces and enumerations.
#include <algorithm>

#include "base/text.hpp"
#include "cpp/layouts.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {

void Reader::open_scope(bool is_conditional, std::string doubt) {
  if (scopes_.size() > max_statement_depth) refuse_depth();
  if (is_conditional) ++conditions_;
  scopes_.push_back({.id = next_scope_++,
                     .is_conditional = is_conditional,
                     .conditions = conditions_,
                     .doubt = std::move(doubt)});
}

void Reader::open_named_scope(std::string prefix) {
  open_scope(false);
  scopes_.back().prefix = std::move(prefix);
}

void Reader::close_scope() {
  if (scopes_.size() <= kept_scopes_) return;  // an opening brace was not pasted
  const Scope closed = std::move(scopes_.back());
  std::vector<std::pair<std::string, std::size_t>> qualified;
  for (auto row = closed.hidden.rbegin(); row != closed.hidden.rend(); ++row) {
    if (const auto variable = find(row->first); closed.prefix && variable)
      qualified.emplace_back(*closed.prefix + row->first, *variable);
    if (row->second) {
      names_[row->first] = *row->second;
    } else {
      names_.erase(row->first);
    }
  }
  if (closed.is_function) close_function(closed);
  if (closed.is_conditional) --conditions_;
  if (closed.has_ended) --conditions_;
  scopes_.pop_back();
  for (auto row = qualified.rbegin(); row != qualified.rend(); ++row) bind(row->first, row->second);
}

// Lets a name mean a variable up to the end of the scope.
void Reader::bind(const std::string& name, std::size_t variable) {
  scopes_.back().hidden.emplace_back(name, find(name));
  names_[name] = variable;
}

// What stands behind a statement that always leaves the scope does not run.
void Reader::end_scope() {
  Scope& scope = scopes_.back();
  if (scope.has_ended || conditions_ != scope.conditions) return;
  scope.has_ended = true;
  ++conditions_;
}

// namespace NAME { or extern "C" {: what it declares is known outside, too.
bool Reader::namespace_body() {
  const bool is_namespace = now().is("namespace");
  std::string name;
  std::size_t at = at_ + 1;
  while (at < limit_ && !tokens_[at].is("{") && !tokens_[at].is(";")) {
    if (is_namespace && (tokens_[at].is_word() || tokens_[at].is("::"))) name += tokens_[at].text;
    ++at;
  }
  if (at >= limit_ || !tokens_[at].is("{")) return false;
  at_ = at + 1;
  open_named_scope(name.empty() ? "" : name + "::");
  return true;
}

// using namespace NAME; or using NAME::OTHER;
void Reader::use_names(std::size_t begin, std::size_t end) {
  const bool is_whole = tokens_[begin].is("namespace");
  std::string name;
  for (std::size_t at = begin + (is_whole ? 1 : 0); at < end; ++at) {
    if (!name.empty() || !tokens_[at].is("::")) name += tokens_[at].text;
  }
  if (!is_whole) {
    const auto variable = find(name);
    if (const std::size_t last = name.rfind("::"); variable && last != name.npos)
      bind(name.substr(last + 2), *variable);
    return;
  }
  name += "::";
  std::vector<std::pair<std::string, std::size_t>> found;
  for (auto row = names_.lower_bound(name); row != names_.end() && row->first.starts_with(name);
       ++row)
    found.emplace_back(row->first.substr(name.size()), row->second);
  for (const auto& [inner, variable] : found) {
    if (!find(inner)) bind(inner, variable);
  }
}

// enum NAME : TYPE { A, B = 4 }; those of an enum class are NAME::A only.
void Reader::enumeration(std::size_t open) {
  const bool is_scoped = after(1).is("class") || after(1).is("struct");
  const Token& name = after(is_scoped ? 2 : 1);
  const std::string prefix = name.is_word() ? std::string(name.text) + "::" : "";
  const std::size_t close = matching(open);
  at_ = open + 1;
  if (is_scoped) open_named_scope(prefix);
  Value next = number_value(name.span, integer_number(0));
  while (at_ < close && now().is_word()) {
    const Token enumerator = now();
    ++at_;
    const std::size_t begin = now().is("=") ? at_ + 1 : at_;
    const std::size_t end = std::min(end_of_operand(at_), close);
    if (begin < end) next = constant(begin, end);
    next.written = enumerator.span;
    declare(enumerator, {.name = "auto", .is_constant = true}, next, false, {});
    if (!is_scoped && !prefix.empty())
      bind(prefix + std::string(enumerator.text), *find(std::string(enumerator.text)));
    next = combined("+", next, number_value(name.span, integer_number(1)), enumerator.span);
    at_ = end;
    if (!take(",")) break;
  }
  if (is_scoped) close_scope();
  at_ = std::min(close + 1, limit_);
  skip_statement();
}

// The value of an expression, or that it is not known.
Value Reader::constant(std::size_t begin, std::size_t end) {
  try {
    return evaluate(begin, end).value;
  } catch (const NotUnderstood&) {
    return not_evaluated(begin, end);
  }
}

// The value of an expression that stopped being understood here.
Value Reader::not_evaluated(std::size_t begin, std::size_t end) const {
  std::string why = "this expression is not evaluated";
  if (at_ >= begin && at_ < std::min(end, limit_))
    why += "; \"" + printable(tokens_[at_].text) + "\" in it is not understood";
  return unresolved(span_of(begin, end), std::move(why), "write its value");
}

}  // namespace dmlop::cpp
