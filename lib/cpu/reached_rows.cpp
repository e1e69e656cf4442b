#include "cpu/reached_rows.hpp"

#include <algorithm>

namespace dmlop::cpu {

ReachedRows::ReachedRows(const std::vector<WindowAxis>& axes)
    : axes_(axes), reached_(axes.size() - 1), rows_(axes.size()), packed_strides_(axes.size(), 1) {
  for (const WindowAxis& axis : axes) taps_.emplace_back(axis);
  for (std::size_t a = axes.size() - 1; a-- > 0;)
    packed_strides_[a] = packed_strides_[a + 1] * axes[a + 1].input_extent;
}

// From one row to the next most places stay, and no division is needed.
void ReachedRows::set(std::uint64_t row) {
  std::size_t changed = 0;  // the outermost axis whose place does
  if (row == row_ + 1) {
    changed = reached_.size();
    while (changed-- > 0 && ++reached_[changed].place == axes_[changed].output_extent)
      reached_[changed].place = 0;
  } else {
    std::uint64_t rest = row;
    for (std::size_t a = reached_.size(); a-- > 0; rest /= axes_[a].output_extent)
      reached_[a].place = rest % axes_[a].output_extent;
  }
  row_ = row;
  for (std::size_t a = changed; a < reached_.size(); ++a) {
    auto& [place, run] = reached_[a];
    run = taps_[a].of(place);
    const Rows& outer = rows_[a];
    Rows& rows = rows_[a + 1];
    rows.first = outer.first + run.first * axes_[a].input_stride;
    rows.count = outer.count * run.count;
    rows.are_none = outer.are_none || run.count == 0;
    rows.divisor = outer.divisor * taps_[a].divisor(place);
  }
}

std::span<const std::uint64_t> ReachedRows::offsets(std::uint64_t begin, std::uint64_t count,
                                                    std::span<std::uint64_t> room) const {
  const auto step_along = [&](std::size_t a) {
    return reached_[a].run.step * axes_[a].input_stride;
  };
  if (reached_.empty()) {
    std::fill_n(room.begin(), count, 0);
    return room.first(count);
  }
  const std::size_t outer = reached_.size() - 1;
  const std::uint64_t step = step_along(outer), in_run = reached_[outer].run.count;
  // One run along the last axis after the other.
  for (std::uint64_t done = 0; done < count;) {
    std::uint64_t at = all().first, k = begin + done;
    if (k >= in_run) {
      std::uint64_t run = k / in_run;
      k -= run * in_run;
      for (std::size_t a = outer; a-- > 0 && run > 0; run /= reached_[a].run.count)
        at += run % reached_[a].run.count * step_along(a);
    }
    at += k * step;
    const std::uint64_t end = std::min(count, done + in_run - k);
    room[done++] = at;
    for (; done < end; ++done) room[done] = room[done - 1] + step;
  }
  return room.first(count);
}

}  // namespace dmlop::cpu
