#include "base/advice.hpp"

#include <algorithm>

#include "base/caller.hpp"

namespace dmlop {
namespace {

using Kind = Alternative::Kind;

bool is_writing(const Alternative& one) {
  return one.kind == Kind::write || one.kind == Kind::write_type;
}

/// A value alone, which needs no comma behind it.
bool is_bare(const Alternative& one) {
  return (is_writing(one) || one.kind == Kind::make) && one.place.empty() && one.remark.empty();
}

/// Whether "write" or "make it" is said once for both.
bool share_verb(const Alternative& one, const Alternative& next) {
  if (one.is_best || !next.reason.empty()) return false;
  return (is_writing(one) && is_writing(next)) || (one.kind == Kind::make && next.kind == one.kind);
}

std::string with_verb(const Alternative& one) {
  const std::string it = one.place.empty() ? "it" : one.place;
  switch (one.kind) {
    case Kind::write:
    case Kind::write_type:
      return "write " + one.value;
    case Kind::write_sizes:
      return "write Sizes of " + one.value;
    case Kind::add_field:
      return "write \"" + one.place + "\": " + one.value;
    case Kind::state_level:
      return "write \"featureLevel\": \"" + one.value + "\"";
    case Kind::make:
      return "make " + it + " " + one.value;
    case Kind::give:
      return "give " + it + " " + one.value;
    case Kind::mean:
      return "did you mean " + one.value + "?";
    case Kind::leave_out:
      return "leave " + it + " out";
    case Kind::save:
      return (current_caller() == Caller::library ? "pass " : "save ") + one.value;
    case Kind::sentence:
    case Kind::stretch:
      break;
  }
  return one.value;
}

std::string words(const Alternative& one, const Alternative* before) {
  const bool has_verb = before == nullptr || !share_verb(*before, one);
  const std::string place = is_writing(one) && !one.place.empty() ? " for " + one.place : "";
  return one.reason + (has_verb ? with_verb(one) : one.value) + place + one.remark;
}

/// Values alone are a list: "1, 2 or 3".
std::string joint(const std::vector<Alternative>& list, std::size_t next) {
  const auto continues = [&](std::size_t i) {
    return i < list.size() && is_bare(list[i - 1]) && is_bare(list[i]) &&
           share_verb(list[i - 1], list[i]);
  };
  if (list[next - 1].is_best) return "; otherwise ";
  if (continues(next)) return continues(next + 1) ? ", " : " or ";
  const bool is_short = is_bare(list[next - 1]) && list[next].kind == Kind::leave_out;
  return is_short ? " or " : ", or ";
}

}  // namespace

Alternative Alternative::together(std::vector<Alternative> steps) {
  std::string others;
  for (std::size_t i = 1; i < steps.size(); ++i) others += " and " + words(steps[i], &steps[i - 1]);
  Alternative whole = std::move(steps.front());
  whole.remark += others;
  return whole;
}

void Advice::prefer_others_to(Alternative::Kind kind) {
  const auto is_kind = [kind](const Alternative& one) { return one.kind == kind && !one.is_best; };
  if (!std::all_of(alternatives.begin(), alternatives.end(), is_kind))
    std::erase_if(alternatives, is_kind);
}

std::string Advice::text() const {
  std::string text;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    if (i > 0) text += joint(alternatives, i);
    text += words(alternatives[i], i > 0 ? &alternatives[i - 1] : nullptr);
  }
  if (then.empty()) return text;
  return text + (text.ends_with('?') ? " Then " : "; then ") + then;
}

}  // namespace dmlop
