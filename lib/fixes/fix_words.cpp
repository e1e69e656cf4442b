#include "fixes/fix_words.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "fixes/fix_ideas.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

using Kind = Alternative::Kind;

bool is_saving(const Alternative& one) {
  return one.kind == Kind::save;
}

}  // namespace

Alternative words_of(const Fix& fix, const std::string& here) {
  std::vector<Alternative> steps;
  for (const Replacement& each : fix) {
    const std::string place = each.pointer == here ? "" : name_of_place(each.pointer);
    if (each.value == "null") {
      steps.push_back({.kind = Kind::leave_out, .place = place});
    } else {
      steps.push_back(Alternative::write_for(place, each.value));
    }
  }
  return Alternative::together(std::move(steps));
}

bool begins_with_value(const Advice& advice) {
  if (advice.empty() || !advice.alternatives.front().reason.empty()) return false;
  const Kind kind = advice.alternatives.front().kind;
  return kind == Kind::write || kind == Kind::write_type || kind == Kind::write_sizes;
}

bool begin_with(Advice& advice, const std::string& value, const std::string& place, bool is_here) {
  auto& list = advice.alternatives;
  const auto writes_it = [&](const Alternative& one) {
    if (one.kind == Kind::sentence || !(one.place.empty() ? is_here : one.place == place))
      return false;
    return value == "null" ? one.kind == Kind::leave_out : one.value == value;
  };
  const auto found = std::ranges::find_if(list, writes_it);
  if (found == list.end()) return false;
  // Behind a name, a value without one would seem to be for the same place.
  if (found != list.begin() && !found->place.empty()) return false;
  std::rotate(list.begin(), found, found + 1);
  return true;
}

bool has_saving(const Advice& advice) {
  return std::ranges::any_of(advice.alternatives, is_saving);
}

Advice without_failed_sizes(Advice advice) {
  for (Alternative& one : advice.alternatives) {
    if (one.kind != Kind::write || one.reason.empty()) continue;
    const auto sizes = nlohmann::json::parse(one.value, nullptr, false);
    if (sizes.is_array()) one = Alternative::write_sizes(counted(sizes.size(), "dimension"));
  }
  return advice;
}

Advice with_saving(Advice advice, Alternative saving) {
  auto& list = advice.alternatives;
  const auto old = std::ranges::find_if(list, is_saving);
  list.erase(old == list.end() ? list.begin() : old, list.end());
  advice.add(std::move(saving));
  return advice;
}

Advice with_shape(const Advice& advice, const Sizes& from, const Sizes& sizes) {
  Alternative saving = rearranging(from, sizes);
  const auto old = std::ranges::find_if(advice.alternatives, is_saving);
  if (old != advice.alternatives.end() && without_ones(from) == without_ones(sizes))
    saving.reason = old->reason;
  return with_saving(advice, std::move(saving));
}

Advice with_common(Advice advice, Alternative common, std::size_t findings) {
  const auto is_same = [&](const Alternative& one) {
    return one.value == common.value && one.place == common.place;
  };
  const bool is_said = std::ranges::any_of(advice.alternatives, is_same);
  // A finding that names this value itself has no other advice.
  if (is_said && !is_saving(common)) advice = {};
  std::erase_if(advice.alternatives, is_same);
  common.remark +=
      ", which mends " + (findings == 2 ? "both" : "all " + std::to_string(findings)) + " findings";
  common.is_best = true;
  advice.alternatives.insert(advice.alternatives.begin(), std::move(common));
  return advice;
}

}  // namespace dmlop
