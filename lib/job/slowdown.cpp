#include "job/slowdown.hpp"

#include <algorithm>
#include <array>

namespace dmlop {

Quartiles quartiles_of(std::span<const double> sorted) {
  const std::size_t count = sorted.size();
  return {sorted[count / 4], sorted[count / 2], sorted[count * 3 / 4]};
}

std::string_view name_of(Pace pace) {
  constexpr std::array<std::string_view, 6> names{"same",    "slower", "faster",
                                                  "unclear", "new",    "missing"};
  return names[static_cast<std::size_t>(pace)];
}

Pace pace_of(const Quartiles& before, const Quartiles& now, double max_slowdown) {
  const double most = 1 + max_slowdown;
  if (now.lower > before.upper * most) return Pace::slower;
  if (before.lower > now.upper * most) return Pace::faster;
  return now.median > before.median * most ? Pace::unclear : Pace::same;
}

std::optional<double> PaceChange::ratio() const {
  if (!before || !now || before->median == 0) return std::nullopt;
  return now->median / before->median;
}

std::vector<PaceChange> compare_paces(const std::vector<TimedCase>& before,
                                      const std::vector<TimedCase>& now, double max_slowdown) {
  std::vector<TimedCase> left = before;
  std::vector<PaceChange> changes;
  for (const TimedCase& one : now) {
    const auto is_it = [&](const TimedCase& other) { return other.name == one.name; };
    const auto then = std::find_if(left.begin(), left.end(), is_it);
    if (then == left.end()) {
      changes.push_back({one.name, std::nullopt, one.seconds, Pace::added});
    } else {
      changes.push_back({one.name, then->seconds, one.seconds,
                         pace_of(then->seconds, one.seconds, max_slowdown)});
      left.erase(then);
    }
  }
  for (const TimedCase& one : left)
    changes.push_back({one.name, one.seconds, std::nullopt, Pace::missing});
  return changes;
}

std::vector<std::size_t> suspects_in(const std::vector<TimedCase>& before,
                                     const std::vector<TimedCase>& now, double max_slowdown) {
  const auto changes = compare_paces(before, now, max_slowdown);
  std::vector<std::size_t> suspects;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (changes[i].pace == Pace::slower || changes[i].pace == Pace::unclear) suspects.push_back(i);
  }
  return suspects;
}

}  // namespace dmlop
