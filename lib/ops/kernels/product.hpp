// Products of matrices, and convolutions as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/kernels/strided_axes.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// An input that has an element for each batch, row and column; a stride of 0 repeats one.
struct ProductInput {
  DataType data_type;
  std::vector<std::uint64_t> batch_strides;  // one for each batch axis
  std::uint64_t row_stride = 0;
  std::uint64_t column_stride = 0;
  std::uint64_t offset = 0;  // of the first element
};

/// A spatial axis of a convolution. Tap t of the window at output index o lies at source index
///   (o * step + t * tap_step + offset) / divisor
/// where that is a whole number within [0, input_extent), and at padding otherwise. Outputs from
/// `computed` on are 0.
struct ProductWindow {
  std::uint64_t output_extent = 1;
  std::uint64_t computed = 1;
  std::uint64_t taps = 1;
  std::uint64_t left_stride = 0;  // of the left matrix, from tap to tap
  std::uint64_t input_extent = 1;
  std::uint64_t input_stride = 0;
  std::int64_t step = 1;
  std::int64_t tap_step = 1;
  std::int64_t offset = 0;
  std::int64_t divisor = 1;
};

/// How the result becomes an 8-bit integer: round(x / scale) + zero_point, saturated.
struct ProductQuantization {
  ProductInput scale;
  std::optional<ProductInput> zero_point;
};

/// For every batch, row and column
///   sum over k of (left[row, k] - left_zero) * (right[k, column] - right_zero)
/// times factor, left_scale and right_scale, plus added_factor * added, which the scales multiply
/// too if `is_added_scaled`. With windows the columns are the output positions of all windows in
/// row-major order, and the sum goes over `depth` channels and then over the taps. Padding is 0,
/// from which no zero point is subtracted. It is multiplied like other elements, so that its
/// product with infinity is NaN.
///
/// Inputs are left, right and those of the others that are there, in the order of the fields. There
/// are at most inputs_most, because GPUs take no more; both scales may be one input.
struct ProductKernel {
  static constexpr std::size_t inputs_most = 8;

  DataType output_type = DataType::Float32;
  std::vector<std::uint64_t> batches;  // extents, outermost first
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;  // without windows
  std::vector<ProductWindow> windows;

  ProductInput left, right;
  std::uint64_t depth = 1;
  std::uint64_t left_depth_stride = 0;
  std::uint64_t right_depth_stride = 0;

  std::optional<ProductInput> left_zero, right_zero, left_scale, right_scale, added;
  std::optional<ProductQuantization> quantization;
  double factor = 1;
  double added_factor = 1;
  bool is_added_scaled = false;
  bool has_joined_scales = false;  // right_scale stands in the tensor of left_scale, at its offset

  std::uint64_t column_count() const;
  std::uint64_t sum_length() const;
  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {size_of(output_type)}; }
};

}  // namespace dmlop
