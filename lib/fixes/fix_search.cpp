#include "fixes/fix_search.hpp"

#include <algorithm>

#include "fixes/fix_ideas.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

// Json itself takes 1 for 1.0.
bool is_equal(const Json& a, const Json& b) {
  return a.dump() == b.dump();
}

bool is_same(const Diagnostic& a, const Diagnostic& b) {
  return a.pointer == b.pointer && a.message == b.message;
}

bool has(const Diagnostics& findings, const Diagnostic& finding) {
  return std::ranges::any_of(findings,
                             [&](const Diagnostic& each) { return is_same(each, finding); });
}

}  // namespace

std::string field_of(const std::string& message) {
  return message.substr(0, message.find_first_of(" .["));
}

std::string subject_of(const Diagnostic& finding) {
  return field_of(finding.message);
}

FixSearch::FixSearch(const Description& before, const Json& json, FixTrials& trials,
                     Diagnostics findings)
    : before_(before),
      json_(json),
      trials_(trials),
      findings_(std::move(findings)),
      fields_(trials.relative(before.document().at(before.fields_object(), "").pointer)) {}

Diagnostic FixSearch::here(const Diagnostic& finding) const {
  Diagnostic there = finding;
  there.pointer = trials_.relative(finding.pointer);
  for (Fix& idea : there.ideas) {
    for (Replacement& each : idea) each.pointer = trials_.relative(each.pointer);
  }
  return there;
}

bool FixSearch::is_seen(const Diagnostic& here) {
  if (!unchanged_) unchanged_ = trials_.check(json_);
  return !*unchanged_ || has(**unchanged_, here);
}

std::optional<Fix> FixSearch::fix(const Diagnostic& target, const Fix& idea, int steps) {
  return search(target, json_, {}, idea, steps);
}

std::optional<std::size_t> FixSearch::left_with_shape(const Diagnostic& target,
                                                      const OtherArray& array) {
  const auto found = trials_.check(json_, {array});
  if (!found || has(*found, here(target))) return std::nullopt;
  return fresh(*found, target).size();
}

// Whether both are about the same part. Findings about files all are at the description's fields.
bool FixSearch::is_at_the_same(const Diagnostic& a, const Diagnostic& b) const {
  return a.pointer == b.pointer && (a.pointer != fields_ || subject_of(a) == subject_of(b));
}

// Those of `found` that are neither among the findings nor at the place of another one than
// `target`, which is among them if it is still there.
Diagnostics FixSearch::fresh(const Diagnostics& found, const Diagnostic& target) const {
  Diagnostics list;
  for (const Diagnostic& finding : found) {
    const auto is_old = [&](const Diagnostic& old) {
      if (is_same(old, target)) return false;
      const Diagnostic there = here(old);
      return is_same(finding, there) ||
             (is_at_the_same(finding, there) && old.pointer != target.pointer);
    };
    if (std::ranges::none_of(findings_, is_old)) list.push_back(finding);
  }
  return list;
}

// The whole fix that begins with these replacements and goes on with `idea`.
std::optional<Fix> FixSearch::search(const Diagnostic& target, const Json& from, const Fix& begun,
                                     const Fix& idea, int steps) {
  Json json = from;
  for (const Replacement& each : idea) {
    if (trials_.is_said_by_file(each.pointer) || !apply(json, each)) return std::nullopt;
  }
  if (is_equal(json, from) || !tried_.insert(json.dump()).second) return std::nullopt;
  const auto found = trials_.check(json);
  if (!found || has(*found, here(target))) return std::nullopt;
  const Fix whole = combined(begun, idea, json);
  const Diagnostics left = fresh(*found, target);
  if (left.empty()) return whole;
  if (steps == 1 || left.size() > 2) return std::nullopt;
  for (const Fix& next : ideas_for(left.front(), json, *before_.spec, trials_.first_dimensions())) {
    if (const auto fix = search(target, json, whole, next, steps - 1)) return fix;
  }
  return std::nullopt;
}

}  // namespace dmlop
