// Bodies of functions, classes and lambdas: the one that makes a description is read as if it ran
// once. When others run is not known, so what they change is not known either.
#include <algorithm>

#include "cpp/layouts.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {

bool Reader::names_description(std::size_t begin, std::size_t end) const {
  for (std::size_t at = begin; at < std::min(end, limit_); ++at) {
    if (tokens_[at].is_word() && operator_of(tokens_[at].text) != nullptr) return true;
  }
  return false;
}

bool Reader::is_in_function() const {
  return !frames_.empty() || std::ranges::any_of(scopes_, &Scope::is_function);
}

// Opens the scope of the function whose body begins at the token `body`.
void Reader::open_function(std::size_t body, std::optional<std::size_t> function) {
  at_ = std::min(body + 1, limit_);
  open_scope(false);
  Scope& scope = scopes_.back();
  scope.is_function = true;
  scope.is_of_description = names_description(body, matching(body));
  scope.variables = memory_.variables().size();
  scope.function = function;
}

void Reader::close_function(const Scope& scope) {
  if (scope.function) {
    functions_[*scope.function].first = scope.variables;
    functions_[*scope.function].last = memory_.variables().size();
  }
  if (scope.is_of_description) {
    ++functions_of_descriptions_;
    changed_by_description_.insert(changed_by_description_.end(), scope.changed.begin(),
                                   scope.changed.end());
    return;
  }
  for (const std::size_t variable : scope.changed)
    changed_elsewhere_.insert(memory_.variables()[variable].declared.begin);
}

void Reader::note_change(std::size_t variable) {
  if (memory_.variables()[variable].is_constant) return;
  for (Scope& scope : scopes_) {
    const bool is_outer = scope.is_function && variable < scope.variables;
    if (is_outer && std::ranges::find(scope.changed, variable) == scope.changed.end())
      scope.changed.push_back(variable);
  }
}

void Reader::taint_changed(std::size_t variable) {
  Variable& changed = memory_.variables()[variable];
  if (changed.is_constant || !changed_.contains(changed.declared.begin)) return;
  changed.has_escaped = true;
  changed.value = unresolved(changed.declared, "another function changes it",
                             "write its value, or leave only the function of the description");
}

// Type::Type(UINT n) : member(n) { and the like: a function without a type before its name.
bool Reader::headless_function() {
  if (is_in_function()) return false;
  std::size_t at = at_;
  while (at < limit_ && (tokens_[at].is_word() || tokens_[at].is("::") || tokens_[at].is("~"))) {
    // Two words in a row are a type and a name.
    if (at > at_ && tokens_[at].is_word() && tokens_[at - 1].is_word()) return false;
    ++at;
  }
  if (at == at_ || at >= limit_ || !tokens_[at].is("(")) return false;
  const std::size_t open = at, close = matching(at);
  at = close + 1;
  while (at < limit_ && (tokens_[at].is("noexcept") || tokens_[at].is("try"))) ++at;
  const bool has_members = at < limit_ && tokens_[at].is(":");
  if (has_members) ++at;
  const std::size_t members = at;
  while (has_members && at < limit_ && tokens_[at].is_word()) {
    while (at < limit_ && (tokens_[at].is_word() || tokens_[at].is("::"))) ++at;
    if (at >= limit_ || (!tokens_[at].is("(") && !tokens_[at].is("{"))) return false;
    at = matching(at) + 1;
    if (at < limit_ && tokens_[at].is(",")) ++at;
  }
  if (at >= limit_ || !tokens_[at].is("{")) return false;
  open_function(at);
  parameters(open, close);
  forget_named(members, at);
  return true;
}

// A class is read where a function in it makes a description.
bool Reader::class_body(std::size_t open) {
  const std::size_t close = matching(open);
  for (std::size_t at = open + 1; at < close; ++at) {
    if (!tokens_[at].is("{")) continue;
    if (names_description(at, matching(at))) {
      at_ = open + 1;
      open_scope(false);
      return true;
    }
    at = std::min(matching(at), close);
  }
  return false;
}

}  // namespace dmlop::cpp
