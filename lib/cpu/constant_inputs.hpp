// The inputs of a kernel that hold the same in all of its runs. What the kernel made of them in the
// first run, the next runs use: a product keeps its panels, because packing the weights of a small
// convolution takes as long as multiplying them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/buffer.hpp"

namespace dmlop::cpu {

/// Memory of the process that is counted, and given back when nothing uses it any more.
class KeptBytes {
 public:
  /// Null if the process would keep more than a gibibyte, or if it has no memory.
  static std::unique_ptr<KeptBytes> make(std::uint64_t bytes);
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes&) = delete;
  ~KeptBytes();

  /// The bytes, at the beginning of a cache line.
  std::byte* data() const { return data_; }

 private:
  KeptBytes() = default;

  std::atomic<std::uint64_t>* counted_in_ = nullptr;  // of the process that made it
  std::uint64_t counted_ = 0;
  Buffer buffer_;
  std::byte* data_ = nullptr;
};

/// Several threads may use it.
class ConstantInputs {
 public:
  /// Says of each input of the kernel whether it holds the same in each run.
  explicit ConstantInputs(std::vector<bool> are_constant)
      : are_constant_(std::move(are_constant)), made_(are_constant_.size()) {}

  bool is_constant(std::size_t input) const { return are_constant_[input]; }
  /// What was made of an input; null if nothing was.
  std::shared_ptr<const void> find(std::size_t input) const {
    const std::scoped_lock lock(mutex_);
    return made_[input];
  }
  void keep(std::size_t input, std::shared_ptr<const void> made) {
    const std::scoped_lock lock(mutex_);
    made_[input] = std::move(made);
  }

 private:
  std::vector<bool> are_constant_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const void>> made_;  // of each input
};

}  // namespace dmlop::cpu
