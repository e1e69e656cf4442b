// The panels of a product that several of its parts, or its next runs, read, packed once for all of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/constant_inputs.hpp"
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
  /// if `line` does not begin a panel.
  const T* at(std::uint64_t batch, std::uint64_t line, std::uint64_t k, std::size_t count) const {
    return line % width_ != 0 ? nullptr : place(batch, line, k, count);
  }

  /// How many batches read the same panel.
  std::uint64_t batches_of_panel() const { return panels_of_.size() / batches_.size(); }
  /// Makes room for as long as a kernel runs. False if the panels are large.
  bool make_room();
  /// Makes room for all runs. False if the process keeps too much already.
  bool make_kept_room();
  /// Of the batches that have the same elements, the first one.
  const std::vector<std::uint64_t>& batches() const { return batches_; }
  /// The same place, to be filled.
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
  std::unique_ptr<KeptBytes> kept_;
};

template <typename T>
class SharedPanels : public Preparation {
 public:
  /// Packs what parts of such a shape share, on so many threads. Constant inputs keep what is
  /// worthwhile to keep for the next run; null: none are known. Errors: as parallel_for().
  SharedPanels(const ProductKernel& kernel, Inputs inputs, const Blocks& parts, unsigned threads,
               ConstantInputs* constants = nullptr);

  /// Null where each part packs its own.
  const SidePanels<T>* left() const { return left_.get(); }
  const SidePanels<T>* right() const { return right_.get(); }

 private:
  std::shared_ptr<const SidePanels<T>> left_, right_;
};

}  // namespace dmlop::cpu
