// The taps of outputs along one axis: which elements of the input they reach, with which weights
// (ops/kernels/window_axis.hpp).
#pragma once

#include <cstdint>

#include "ops/kernels/window_axis.hpp"

namespace dmlop {

/// Elements first, first + step, ..., `count` of them.
struct TapRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t step = 1;

  /// Behind the last one.
  std::uint64_t end() const { return count == 0 ? first : first + (count - 1) * step + 1; }
};

class Taps {
 public:
  /// The axis must outlive it.
  explicit Taps(const WindowAxis& axis) : axis_(axis) {}

  const WindowAxis& axis() const { return axis_; }
  TapRun of(std::uint64_t output) const;
  /// Whether all weights are 1.
  bool are_uniform() const {
    return std::holds_alternative<Windows>(axis_.reach) && !axis_.is_transposed;
  }
  /// The weight of tap k of an output.
  double weight(std::uint64_t output, const TapRun& run, std::uint64_t k) const;
  /// What the sum of an output is divided by.
  double divisor(std::uint64_t output) const;

 private:
  const WindowAxis& axis_;
};

}  // namespace dmlop
