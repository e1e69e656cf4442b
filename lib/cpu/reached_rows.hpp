// The rows of an input that a row of outputs reaches (ops/kernels/window_axis.hpp).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ops/taps.hpp"

namespace dmlop::cpu {

/// The rows that an output row reaches: taps along all axes but the last.
class ReachedRows {
 public:
  /// The axes must outlive it.
  explicit ReachedRows(const std::vector<WindowAxis>& axes);

  /// Goes to an output row.
  void set(std::uint64_t row);

  /// The index of the row along an axis.
  std::uint64_t place(std::size_t axis) const { return reached_[axis].place; }
  double divisor() const { return all().divisor; }
  bool is_empty() const { return all().are_none; }
  /// From a row to what the next output row reaches in its place, in elements.
  std::uint64_t next_row() const {
    if (axes_.size() < 2) return 0;
    const WindowAxis& height = axes_[axes_.size() - 2];
    const auto* windows = std::get_if<Windows>(&height.reach);
    const bool is_forward = windows != nullptr && !height.is_transposed;
    return (is_forward ? windows->stride : 1) * height.input_stride;
  }

  /// Calls action(offset, place, weight) for each row in order: the offset of its first element,
  /// and the index of that into the whole input.
  template <typename Action>
  void for_each(Action&& action) const {
    if (is_empty()) return;
    const std::size_t n = reached_.size();
    std::array<std::uint64_t, axes_max> ks{};
    std::array<Sums, axes_max + 1> sums;
    sums[0] = {0, 0, 1};
    for (std::size_t from = 0;;) {
      for (std::size_t a = from; a < n; ++a) sums[a + 1] = next(sums[a], a, ks[a]);
      action(sums[n].offset, sums[n].place, sums[n].weight);
      std::size_t a = n;
      while (a > 0 && ++ks[a - 1] == reached_[a - 1].run.count) ks[--a] = 0;
      if (a == 0) return;
      from = a - 1;
    }
  }

  /// How many there are.
  std::uint64_t size() const { return all().count; }
  /// The offsets of rows [begin, begin + count), which are written to `room`.
  std::span<const std::uint64_t> offsets(std::uint64_t begin, std::uint64_t count,
                                         std::span<std::uint64_t> room) const;

 private:
  static constexpr std::size_t axes_max = 8;
  // Along one axis.
  struct Reached {
    std::uint64_t place;
    TapRun run;
  };
  // Along all axes in front of one.
  struct Rows {
    std::uint64_t first = 0;  // offset
    std::uint64_t count = 1;
    bool are_none = false;  // 64 bits may not hold the count
    double divisor = 1;
  };
  struct Sums {
    std::uint64_t offset;
    std::uint64_t place;
    double weight;
  };

  Sums next(const Sums& before, std::size_t a, std::uint64_t k) const {
    const auto& [place, run] = reached_[a];
    const std::uint64_t index = run.first + k * run.step;
    return {before.offset + index * axes_[a].input_stride,
            before.place + index * packed_strides_[a],
            before.weight * taps_[a].weight(place, run, k)};
  }

  const Rows& all() const { return rows_.back(); }

  const std::vector<WindowAxis>& axes_;
  std::vector<Taps> taps_;
  std::vector<Reached> reached_;
  std::vector<Rows> rows_;
  std::vector<std::uint64_t> packed_strides_;
  std::uint64_t row_ = ~std::uint64_t{0} - 1;  // none
};

}  // namespace dmlop::cpu
