// Whether what is measured again and again has become slower since an earlier run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

/// How long the runs of a case took, in seconds: a quarter of them less than `lower`, and a quarter
/// more than `upper`.
struct Quartiles {
  double lower = 0, median = 0, upper = 0;
};

/// Of at least one time; they are sorted.
Quartiles quartiles_of(std::span<const double> sorted);

/// What is measured on its own: an operator, a graph, or a node of one.
struct TimedCase {
  std::string name;
  Quartiles seconds;
};

enum class Pace : std::uint8_t {
  same,     // within the limit
  slower,   // beyond the limit, and more than its runs differ from each other
  faster,   // likewise
  unclear,  // the median is beyond the limit, but the runs differ as much
  added,    // only measured now
  missing,  // only measured before
};

/// "same", "slower", "faster", "unclear", "new", "missing".
std::string_view name_of(Pace pace);

/// `max_slowdown` is the limit: 0.1 lets a case take a tenth longer. It is slower if three quarters
/// of its runs take longer than three quarters of the earlier ones did, by more than the limit. It
/// is faster if the same holds with the runs swapped.
Pace pace_of(const Quartiles& before, const Quartiles& now, double max_slowdown);

/// A case then and now; at least one of the two is there.
struct PaceChange {
  std::string name;
  std::optional<Quartiles> before, now;
  Pace pace;

  /// Now by before; nothing where one is missing or no time was measured.
  std::optional<double> ratio() const;
};

/// Compares case by case, in the order of `now`; what is missing comes last. Of several cases with
/// one name, the first is compared with the first.
std::vector<PaceChange> compare_paces(const std::vector<TimedCase>& before,
                                      const std::vector<TimedCase>& now, double max_slowdown);

/// The cases of `now` that are slower or unclear, so that they are better measured again.
std::vector<std::size_t> suspects_in(const std::vector<TimedCase>& before,
                                     const std::vector<TimedCase>& now, double max_slowdown);

/// Calls `measure` with the suspects, whose times in `now` it may make shorter, until there is none
/// or it was called so many times. Something else may use the machine for a while, and has to do so
/// every time to make a case slower.
template <typename Measure>
void measure_suspects(const std::vector<TimedCase>& before, const std::vector<TimedCase>& now,
                      double max_slowdown, Measure&& measure) {
  constexpr int rounds_max = 5;
  for (int round = 0; round < rounds_max; ++round) {
    const auto suspects = suspects_in(before, now, max_slowdown);
    if (suspects.empty()) return;
    measure(suspects);
  }
}

}  // namespace dmlop
