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
  explicit Taps(const WindowAxis& axis);

  const WindowAxis& axis() const { return axis_; }
  TapRun of(std::uint64_t output) const {
    // Of most windows, which have no padding. Those in front of the input begin at large numbers.
    const std::uint64_t begin = output * windows_.stride - windows_.start_padding;
    if (begin < whole_begins_) return {begin, windows_.size, windows_.dilation};
    return find(output);
  }
  /// Whether all weights are 1.
  bool are_uniform() const {
    return std::holds_alternative<Windows>(axis_.reach) && !axis_.is_transposed;
  }
  /// The weight of tap k of an output.
  double weight(std::uint64_t output, const TapRun& run, std::uint64_t k) const;
  /// What the sum of an output is divided by.
  double divisor(std::uint64_t output) const {
    return windows_.divisor == Divisor::none ? 1 : find_divisor(output);
  }

 private:
  TapRun find(std::uint64_t output) const;
  double find_divisor(std::uint64_t output) const;

  const WindowAxis& axis_;
  Windows windows_{};               // of the axis, unless they are transposed
  std::uint64_t whole_begins_ = 0;  // those that begin at an element below this have no padding
};

}  // namespace dmlop
