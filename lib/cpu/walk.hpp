// A way through several tensors at once: the same indices, each with strides of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ops/kernels/strided_axes.hpp"

namespace dmlop::cpu {

template <std::size_t tensors>
class Walk {
 public:
  using Offsets = std::array<std::uint64_t, tensors>;  // elements

  /// Of the first operands of some axes: at least one, and at most 9. Where these are merged,
  /// stretches are as long as they can be.
  explicit Walk(const StridedAxes& axes) {
    if (axes.empty() || axes.size() > axes_max) throw std::logic_error("a walk of 1 to 9 axes");
    for (const StridedAxis& axis : axes) {
      axes_.push_back({axis.extent, {}});
      std::copy_n(axis.strides.begin(), tensors, axes_.back().strides.begin());
    }
  }

  /// From tensor to tensor, between two elements of a stretch.
  const Offsets& steps() const { return axes_.back().strides; }
  /// The same between the first elements of two stretches, where these follow each other.
  Offsets outer_steps() const {
    return axes_.size() == 1 ? Offsets{} : axes_[axes_.size() - 2].strides;
  }
  /// Elements of the longest stretches.
  std::uint64_t stretch() const { return axes_.back().extent; }
  std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (const auto& axis : axes_) count *= axis.extent;
    return count;
  }

  /// The place of one index in each tensor.
  Offsets offsets(std::uint64_t index) const {
    Offsets offsets{};
    for (std::size_t i = axes_.size(); i-- > 0; index /= axes_[i].extent) {
      for (std::size_t k = 0; k < tensors; ++k)
        offsets[k] += index % axes_[i].extent * axes_[i].strides[k];
    }
    return offsets;
  }

  /// Calls action(offsets, count) for one stretch after the other of indices [begin, end) in
  /// row-major order: its first place in each tensor, and how many follow steps() apart.
  template <typename Action>
  void run(std::uint64_t begin, std::uint64_t end, Action&& action) const {
    if (begin >= end) return;
    std::array<std::uint64_t, axes_max> index;
    const std::size_t last = axes_.size() - 1;
    Offsets offsets{};
    std::uint64_t rest = begin;
    for (std::size_t i = axes_.size(); i-- > 0;) {
      const std::uint64_t next = i == 0 ? 0 : rest / axes_[i].extent;
      index[i] = rest - next * axes_[i].extent;
      rest = next;
      for (std::size_t k = 0; k < tensors; ++k) offsets[k] += index[i] * axes_[i].strides[k];
    }
    for (std::uint64_t left = end - begin;;) {
      const std::uint64_t count = std::min(left, axes_.back().extent - index[last]);
      action(std::as_const(offsets), count);
      left -= count;
      if (left == 0) return;
      // To the end of the row, and from there to the start of the next one.
      for (std::size_t k = 0; k < tensors; ++k) offsets[k] -= index[last] * steps()[k];
      index[last] = 0;
      for (std::size_t i = last; i-- > 0;) {
        for (std::size_t k = 0; k < tensors; ++k) offsets[k] += axes_[i].strides[k];
        if (++index[i] < axes_[i].extent) break;
        for (std::size_t k = 0; k < tensors; ++k)
          offsets[k] -= axes_[i].extent * axes_[i].strides[k];
        index[i] = 0;
      }
    }
  }

 private:
  static constexpr std::size_t axes_max = 9;

  struct Axis {
    std::uint64_t extent;
    Offsets strides;
  };

  std::vector<Axis> axes_;
};

}  // namespace dmlop::cpu
