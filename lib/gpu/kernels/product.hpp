// What the files on products of matrices share: the numbers of a kernel and how its work is
// divided.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gpu/kernels/parameters.hpp"
#include "ops/kernels/product.hpp"

namespace dmlop::gpu::kernels {

#include "../../../shaders/parameters/product.hlsli"

/// The inputs in the kernel's order; null for those that are not there.
using ProductInputs = std::array<const ProductInput*, 9>;

ProductInputs inputs_of(const ProductKernel& kernel);
std::size_t input_count(const ProductKernel& kernel);

/// How the work is divided among groups.
struct ProductDivision {
  std::uint64_t rows = 1, columns = 1;  // of a tile
  std::uint64_t depth = 1;              // elements of a slice
  std::uint64_t tiles = 0;              // of all batches
  std::uint64_t row_tiles = 0, column_tiles = 0;
  std::uint64_t parts = 1, part_length = 0;  // of a sum; of whole slices
  bool has_few_rows = false;                 // shaders/product_few_rows.hlsli

  std::uint64_t slices() const { return part_length / depth; }
};

/// Whether the channels and taps of windows are neighbors in the left matrix, and the taps of the
/// right one lie at whole steps.
bool is_sum_in_line(const ProductKernel& kernel);

/// Columns where rows of windows are rounded up to a multiple of so many.
std::uint64_t padded_columns(const ProductKernel& kernel, std::uint64_t multiple);

/// Counts the tiles of a division that cover all rows and so many columns.
void set_tiles(const ProductKernel& kernel, std::uint64_t columns, ProductDivision& division);

ProductParameters parameters_of(const ProductKernel& kernel, const ProductDivision& division);

/// The dispatch that walks down images; nothing for kernels other than convolutions of single
/// channels with small filters.
std::optional<Dispatch> walk_dispatch_of(const ProductKernel& kernel);

/// The dispatch for devices with cooperative matrices; nothing for kernels that these do not suit.
std::optional<Dispatch> matrices_dispatch_of(const ProductKernel& kernel);

}  // namespace dmlop::gpu::kernels
