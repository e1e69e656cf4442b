// A way through several tensors at once: the same indices, each with strides of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dmlop::cpu {

template <std::size_t tensors>
struct WalkAxis {
  std::uint64_t extent;
  std::array<std::uint64_t, tensors> strides;  // elements
};

template <std::size_t tensors>
class Walk {
 public:
  using Offsets = std::array<std::uint64_t, tensors>;  // elements

  Walk() : Walk(std::vector<WalkAxis<tensors>>{}) {}
  /// Axes, outermost first, at most 8. Those along which all tensors go on as along the next one
  /// are one.
  explicit Walk(const std::vector<WalkAxis<tensors>>& axes) {
    for (const WalkAxis<tensors>& axis : axes) {
      if (axis.extent == 1) continue;
      if (!axes_.empty() && continues(axes_.back(), axis)) {
        axes_.back() = {axes_.back().extent * axis.extent, axis.strides};
      } else {
        axes_.push_back(axis);
      }
    }
    if (axes_.empty()) axes_.push_back({1, {}});
    if (axes_.size() > axes_max) throw std::logic_error("a walk of more than 8 axes");
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
    for (std::size_t i = axes_.size(), rest = begin; i-- > 0; rest /= axes_[i].extent) {
      index[i] = rest % axes_[i].extent;
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
  static constexpr std::size_t axes_max = 8;

  static bool continues(const WalkAxis<tensors>& outer, const WalkAxis<tensors>& inner) {
    for (std::size_t k = 0; k < tensors; ++k) {
      if (outer.strides[k] != inner.extent * inner.strides[k]) return false;
    }
    return true;
  }

  std::vector<WalkAxis<tensors>> axes_;  // at least one
};

}  // namespace dmlop::cpu
