// Packs the rows and the columns of a product into panels (cpu/panels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/block_product.hpp"
#include "cpu/product_operands.hpp"
#include "cpu/window_packing.hpp"

namespace dmlop::cpu {

/// Rows or columns [begin, begin + count).
struct Lines {
  std::uint64_t begin;
  std::size_t count;
};

/// Where the elements of a row of the left matrix are, from its first one on.
class LeftDepth {
 public:
  explicit LeftDepth(const ProductKernel& kernel) : kernel_(kernel) {}
  /// The offsets of elements [k, k + count) of the sum: channels, and taps within them.
  std::span<const std::uint64_t> of(std::uint64_t k, std::size_t count);

 private:
  const ProductKernel& kernel_;
  std::vector<std::uint64_t> offsets_;
};

/// T is float or double.
template <typename T>
class ProductPacking {
 public:
  explicit ProductPacking(const ProductKernel& kernel)
      : kernel_(kernel), width_(panel_columns<T>()), left_depth_(kernel) {}

  /// Packs elements [k, k + count) of rows into panels of panel_rows().
  void pack_left(const ProductOperands& operands, const Lines& rows, std::uint64_t k,
                 std::size_t count, T* to);
  /// Packs elements [k, k + count) of columns into panels of panel_columns().
  void pack_right(const ProductOperands& operands, const Lines& columns, std::uint64_t k,
                  std::size_t count, T* to);
  /// What packs these columns of a convolution.
  WindowPacking<T>& windows(const ProductOperands& operands, const Lines& columns);

 private:
  const ProductKernel& kernel_;
  std::size_t width_;
  LeftDepth left_depth_;
  std::optional<WindowPacking<T>> windows_;
  std::vector<std::uint64_t> depth_;
  std::vector<T> line_, zeros_;
};

}  // namespace dmlop::cpu
