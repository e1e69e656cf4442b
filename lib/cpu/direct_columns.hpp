// The columns of a convolution without packing: the product reads them in a copy of the input with
// its padding, where the elements under a tap of windows side by side are side by side, too. What
// lies between rows of windows is computed as well, and left out later. This pays for few rows of
// weights and wide images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/block_product.hpp"
#include "cpu/padded_input.hpp"

namespace dmlop::cpu {

/// Whether a kernel is computed faster this way.
bool reads_columns_directly(const ProductKernel& kernel);

/// The most columns of a block: whole rows of windows.
std::uint64_t direct_columns_at_once(const ProductKernel& kernel);

class DirectColumns {
 public:
  explicit DirectColumns(const ProductKernel& kernel);

  /// Goes to columns [begin, begin + count) of a batch, whose first element is at `input`. False
  /// if these are no whole rows of windows in one plane.
  bool set_columns(const std::byte* input, std::uint64_t begin, std::uint64_t count);

  /// Columns of the product: the windows, and what lies between their rows.
  std::size_t columns() const { return (tile_.rows - 1) * pitch_ + tile_.width; }
  /// Elements [k, k + depth) of the sums. Errors: as check_for_stop().
  RightBlock<float> read(std::uint64_t k, std::size_t depth);
  /// Copies the windows of one row of the product.
  void copy_windows(const float* from, std::byte* to) const;

 private:
  const ProductKernel& kernel_;
  std::array<ProductWindow, 3> axes_;  // depth, height, width
  std::uint64_t taps_;                 // of a channel
  PaddedInput padded_;
  const std::byte* input_ = nullptr;
  WindowTile tile_{};
  std::size_t pitch_ = 0;  // from a row of windows to the next
  std::vector<std::uint32_t> places_;
};

}  // namespace dmlop::cpu
