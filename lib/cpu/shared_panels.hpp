// The panels of a product that several of its parts read, packed once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/kinds.hpp"
#include "cpu/preparation.hpp"
#include "cpu/product_packing.hpp"
#include "cpu/scratch.hpp"

namespace dmlop::cpu {

/// The panels of all lines of one side, at each batch that has elements of its own.
template <typename T>
class SidePanels {
 public:
  SidePanels(const ProductKernel& kernel, const ProductInput& side, std::uint64_t lines,
             std::size_t width);

  /// Elements [k, k + count) of the lines from `line` on, where `k` begins a block of the sum; null
  /// where nothing is shared, or `line` does not begin a panel.
  const T* at(std::uint64_t batch, std::uint64_t line, std::uint64_t k, std::size_t count) const {
    return data_ == nullptr || line % width_ != 0 ? nullptr : place(batch, line, k, count);
  }
  bool are_shared() const { return data_ != nullptr; }

  /// Makes room for them if more than one part would pack them, and if they are not too large.
  /// `uses` parts of a batch read each panel.
  void share_if_worthwhile(std::uint64_t uses);
  /// Of the batches that have the same elements, the first one.
  const std::vector<std::uint64_t>& batches() const { return batches_; }
  /// The same place, to be filled. The panels have to be shared.
  T* place(std::uint64_t batch, std::uint64_t line, std::uint64_t k, std::size_t count) const {
    return data_ + panels_of_[batch] * pitch_ + lines_ * k + line * count;
  }

 private:
  std::size_t width_;
  std::uint64_t lines_;  // of whole panels
  std::uint64_t pitch_;  // from batch to batch
  std::vector<std::uint64_t> batches_;
  std::vector<std::uint64_t> panels_of_;  // of each batch
  T* data_ = nullptr;
  GrowingScratch memory_;
};

template <typename T>
class SharedPanels : public Preparation {
 public:
  /// Packs what parts of such a shape share, on so many threads. Errors: as parallel_for().
  SharedPanels(const ProductKernel& kernel, Inputs inputs, const Blocks& parts, unsigned threads);

  const SidePanels<T>& left() const { return left_; }
  const SidePanels<T>& right() const { return right_; }

 private:
  SidePanels<T> left_, right_;
};

}  // namespace dmlop::cpu
