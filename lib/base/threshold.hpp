// Sizes at which code takes another way to the same result, but for rounding: how many columns are
// summed at once, how many bytes are worth a part of their own, which rows are long. Tests make all
// of them small, so that small tensors go the ways of large ones.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace dmlop {

class Threshold {
 public:
  /// The usual size, and one that the tensors of tests reach.
  constexpr Threshold(std::uint64_t usual, std::uint64_t small) : usual_(usual), small_(small) {}

  operator std::uint64_t() const {
    return are_small_.load(std::memory_order_relaxed) ? small_ : usual_;
  }
  /// Room that suffices for either size.
  constexpr std::uint64_t most() const { return std::max(usual_, small_); }

  /// From now on all thresholds are small. For tests, before anything runs.
  static void make_small() { are_small_ = true; }

 private:
  inline static std::atomic<bool> are_small_ = false;

  std::uint64_t usual_;
  std::uint64_t small_;
};

}  // namespace dmlop
