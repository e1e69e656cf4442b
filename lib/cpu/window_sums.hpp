// Convolutions of few output channels by few elements, such as depthwise ones: the input under a
// tile of outputs is copied with its padding, and every tap adds a row of it to a row of sums.
// Padding is zeros, which are multiplied like other elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/padded_input.hpp"
#include "cpu/scratch.hpp"
#include "cpu/tap_sums.hpp"
#include "ops/kernels/product.hpp"

namespace dmlop::cpu {

/// Whether a kernel's sums are computed this way.
bool sums_windows(const ProductKernel& kernel);

class WindowSums {
 public:
  /// Outputs side by side of a row of the product: from column `column` on.
  struct Run {
    std::uint64_t row, column;
    const float* sums;
    std::size_t count;
  };

  explicit WindowSums(const ProductKernel& kernel);

  /// The sums of columns [begin, begin + count) for all rows of weights: those of a row are as many
  /// as the elements of a sum. `input` is the first element of the batch. Errors: as
  /// check_for_stop().
  void run(const std::byte* input, const std::vector<float>& weights, std::uint64_t begin,
           std::uint64_t count, const std::function<void(const Run&)>& take);

 private:
  void run_tile(const std::byte* input, const std::vector<float>& weights, const WindowTile& tile,
                const std::function<void(const Run&)>& take);
  void set_taps(const float* weights);

  const ProductKernel& kernel_;
  std::array<ProductWindow, 3> axes_;  // depth, height, width
  PaddedInput input_;
  std::vector<TapRow> taps_;
  GrowingScratch sum_memory_;
  Steps steps_;
};

}  // namespace dmlop::cpu
