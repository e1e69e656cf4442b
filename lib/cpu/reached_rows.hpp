// The rows of an input that a row of outputs reaches (ops/kernels/window_axis.hpp).
#pragma once

#include <array>
#include <vector>

#include "ops/taps.hpp"

namespace dmlop::cpu {

/// The rows that an output row reaches: taps along all axes but the last.
class ReachedRows {
 public:
  /// The axes must outlive it.
  explicit ReachedRows(const std::vector<WindowAxis>& axes)
      : axes_(axes), runs_(axes.size() - 1), packed_strides_(axes.size(), 1) {
    for (const WindowAxis& axis : axes) taps_.emplace_back(axis);
    for (std::size_t a = axes.size() - 1; a-- > 0;)
      packed_strides_[a] = packed_strides_[a + 1] * axes[a + 1].input_extent;
  }

  /// Goes to an output row.
  void set(std::uint64_t row) {
    places_.assign(runs_.size(), 0);
    divisor_ = 1;
    is_empty_ = false;
    for (std::size_t a = runs_.size(); a-- > 0; row /= axes_[a].output_extent) {
      places_[a] = row % axes_[a].output_extent;
      runs_[a] = taps_[a].of(places_[a]);
      divisor_ *= taps_[a].divisor(places_[a]);
      is_empty_ = is_empty_ || runs_[a].count == 0;
    }
  }

  /// The index of the row along an axis.
  std::uint64_t place(std::size_t axis) const { return places_[axis]; }
  double divisor() const { return divisor_; }
  bool is_empty() const { return is_empty_; }

  /// Calls action(offset, place, weight) for each row in order: the offset of its first element,
  /// and the index of that into the whole input.
  template <typename Action>
  void for_each(Action&& action) const {
    if (is_empty_) return;
    const std::size_t n = runs_.size();
    std::array<std::uint64_t, axes_max> ks{};
    std::array<Sums, axes_max + 1> sums;
    sums[0] = {0, 0, 1};
    for (std::size_t from = 0;;) {
      for (std::size_t a = from; a < n; ++a) sums[a + 1] = next(sums[a], a, ks[a]);
      action(sums[n].offset, sums[n].place, sums[n].weight);
      std::size_t a = n;
      while (a > 0 && ++ks[a - 1] == runs_[a - 1].count) ks[--a] = 0;
      if (a == 0) return;
      from = a - 1;
    }
  }

 private:
  static constexpr std::size_t axes_max = 8;
  struct Sums {
    std::uint64_t offset;
    std::uint64_t place;
    double weight;
  };

  Sums next(const Sums& before, std::size_t a, std::uint64_t k) const {
    const std::uint64_t index = runs_[a].first + k * runs_[a].step;
    return {before.offset + index * axes_[a].input_stride,
            before.place + index * packed_strides_[a],
            before.weight * taps_[a].weight(places_[a], runs_[a], k)};
  }

  const std::vector<WindowAxis>& axes_;
  std::vector<Taps> taps_;
  std::vector<TapRun> runs_;
  std::vector<std::uint64_t> packed_strides_;
  std::vector<std::uint64_t> places_;
  double divisor_ = 1;
  bool is_empty_ = false;
};

}  // namespace dmlop::cpu
