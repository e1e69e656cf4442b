// Rows of elements that are normalized by what they add up to: softmax, its logarithm, and
// divisions by deviations or norms. A backend reads a row once if its kernel takes the layout,
// and computes other rows in passes (ops/expand.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/kernels/element_wise.hpp"
#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

/// A tensor's sizes, and the axes along which its rows lie.
struct RowShape {
  Sizes sizes;
  std::vector<bool> is_reduced;

  /// Rows along some axes.
  static RowShape along(const Sizes& sizes, const std::vector<std::int64_t>& axes);
  /// Rows along the axes where a tensor of one value per row has size 1.
  static RowShape around(const Sizes& sizes, const Sizes& values);

  /// Those of a tensor with one value for each row.
  Sizes value_sizes() const;
  /// Elements of a row.
  std::uint64_t length() const;
};

/// What becomes of an element x of a row. Its number is a constant of shaders/rows.hlsl.
enum class RowOperation : std::uint8_t {
  softmax,            // e^x / sum of e^x
  log_softmax,        // its logarithm
  center,             // (x - mean) * scale + bias
  normalize,          // (x - mean) * scale / sqrt(variance + epsilon) + bias
  normalize_about_0,  // x * scale / sqrt(mean of squares + epsilon) + bias
  by_norm_1,          // x / sqrt(norm^2 + epsilon^2), with the sum of magnitudes
  by_norm_2,          // the same with the root of the sum of squares
};

struct RowsKernel {
  RowOperation operation = RowOperation::softmax;
  RowShape shape;               // of the output; its axes are merged
  ElementWiseInput input = {};  // a tensor
  ElementWiseInput scale{.constant = 1.0F}, bias{.constant = 0.0F};
  float epsilon = 0;
  DataType output_type = DataType::Float32;
  std::optional<Activation> activation = {};  // of the results

  std::uint64_t output_elements() const { return element_count(shape.sizes).value_or(0); }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(output_type)}; }
};

/// Rows of a packed tensor: `length` elements that are `stride` apart.
struct PackedRows {
  std::uint64_t length = 1;
  std::uint64_t stride = 1;
};

/// Nothing where the input is not packed, or a row's elements are not evenly apart.
std::optional<PackedRows> packed_rows(const RowsKernel& kernel);

}  // namespace dmlop
