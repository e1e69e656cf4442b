// A walk through axes in row-major order that keeps the offsets of several operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/kernels/reduce.hpp"

namespace dmlop::cpu {

class AxisWalk {
 public:
  static constexpr std::size_t operands_max = 8;
  static constexpr std::size_t axes_max = 9;

  /// Of axes [first, last) of a kernel, at their first place. `extents` and the operands' strides
  /// are those of all axes.
  AxisWalk(std::span<const std::uint64_t> extents, std::span<const ReduceOperand> operands,
           std::size_t first, std::size_t last)
      : axes_(last - first), operands_(operands.size()) {
    for (std::size_t i = 0; i < axes_; ++i) {
      extents_[i] = extents[first + i];
      for (std::size_t k = 0; k < operands_; ++k) strides_[i][k] = operands[k].strides[first + i];
    }
  }

  void seek(std::uint64_t place) {
    offsets_ = {};
    for (std::size_t i = axes_; i-- > 0; place /= extents_[i]) {
      places_[i] = place % extents_[i];
      for (std::size_t k = 0; k < operands_; ++k) offsets_[k] += places_[i] * strides_[i][k];
    }
  }

  /// After the last place comes the first.
  void next() {
    for (std::size_t i = axes_; i-- > 0;) {
      const bool wraps = ++places_[i] == extents_[i];
      for (std::size_t k = 0; k < operands_; ++k) {
        if (wraps)
          offsets_[k] -= (extents_[i] - 1) * strides_[i][k];
        else
          offsets_[k] += strides_[i][k];
      }
      if (!wraps) return;
      places_[i] = 0;
    }
  }

  std::uint64_t places() const {
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < axes_; ++i) count *= extents_[i];
    return count;
  }
  std::uint64_t offset(std::size_t operand) const { return offsets_[operand]; }

 private:
  std::size_t axes_, operands_;
  std::array<std::uint64_t, axes_max> extents_{}, places_{};
  std::array<std::array<std::uint64_t, operands_max>, axes_max> strides_{};
  std::array<std::uint64_t, operands_max> offsets_{};
};

}  // namespace dmlop::cpu
