// Products of matrices of FLOAT16 by cooperative matrices: shaders/product_matrices.comp.
#include <algorithm>
#include <string>

#include "gpu/resident/product.hpp"

namespace dmlop::gpu::resident {
namespace {

constexpr std::uint64_t threads_of_group = 256;  // as launches count them

bool is_float(DataType type) {
  return type == DataType::Float32 || type == DataType::Float16;
}

// Along which axis the elements of a matrix are neighbours.
bool is_left_read_by_row(const ProductKernel& kernel) {
  return kernel.left_depth_stride != 1;
}
bool is_right_read_by_depth(const ProductKernel& kernel) {
  return kernel.right.column_stride != 1;
}

// Products of matrices so small that their tiles are mostly empty are left to other kernels.
bool suits_matrices(const ProductKernel& kernel) {
  constexpr std::uint64_t least = 32;
  const ProductInput &left = kernel.left, &right = kernel.right;
  const bool is_plain = !kernel.left_zero && !kernel.right_zero && !kernel.left_scale &&
                        !kernel.right_scale && !kernel.quantization && kernel.windows.empty();
  const bool has_types = left.data_type == DataType::Float16 &&
                         right.data_type == DataType::Float16 && is_float(kernel.output_type) &&
                         (!kernel.added || is_float(kernel.added->data_type));
  const bool has_neighbours = (kernel.left_depth_stride == 1 || left.row_stride == 1) &&
                              (kernel.right_depth_stride == 1 || right.column_stride == 1);
  return is_plain && has_types && has_neighbours && kernel.rows >= least &&
         kernel.columns >= least && kernel.depth >= least;
}

// Whether eights of elements begin at multiples of 16 bytes on every line of a matrix.
bool is_aligned(const ProductInput& matrix, std::uint64_t line_stride) {
  const auto is_whole = [](std::uint64_t elements) { return elements % 8 == 0; };
  return is_whole(matrix.offset) && is_whole(line_stride) &&
         std::all_of(matrix.batch_strides.begin(), matrix.batch_strides.end(), is_whole);
}

// More than the loops of a thread for a slice: for their pace.
constexpr std::uint64_t work_of_slice = 64;

// Parts that fill a device where there are few tiles, and no longer than one thread may take.
void divide_sums(const ProductKernel& kernel, ProductDivision& division) {
  constexpr std::uint64_t shortest = 256, tiles_wanted = 256, scratch_wanted = 1 << 24;
  const std::uint64_t longest = (thread_work_limit - 2000) / work_of_slice * division.depth;
  std::uint64_t parts = std::min({tiles_wanted / division.tiles, kernel.depth / shortest,
                                  scratch_wanted / kernel.output_elements()});
  parts = std::max({parts, divided_up(kernel.depth, longest), std::uint64_t{1}});
  division.part_length =
      divided_up(divided_up(kernel.depth, parts), division.depth) * division.depth;
  division.parts = divided_up(kernel.depth, division.part_length);
}

ProductDivision division_into(const ProductKernel& kernel, std::uint64_t side,
                              std::uint64_t depth) {
  ProductDivision division{.side = side, .depth = depth};
  set_tiles(kernel, division);
  divide_sums(kernel, division);
  return division;
}

// Large tiles, if there are enough to fill a device. Depths are those of shaders/kernels.cmake.
ProductDivision division_of(const ProductKernel& kernel) {
  constexpr std::uint64_t large_side = 128, small_side = 64, few_tiles = 96;
  const ProductDivision large = division_into(kernel, large_side, 16);
  const bool fills_them = kernel.rows > small_side && kernel.columns > small_side;
  return fills_them && large.tiles >= few_tiles ? large : division_into(kernel, small_side, 32);
}

std::uint64_t elements_per_thread(const ProductKernel& kernel) {
  return bytes_per_thread / size_of(kernel.output_type);
}

// Whether a tile's threads store outputs: 16 bytes of a row at a time.
bool is_direct(const ProductKernel& kernel, const ProductDivision& division) {
  return division.parts == 1 && kernel.columns % elements_per_thread(kernel) == 0;
}

std::vector<uint> specialization_of(const ProductKernel& kernel, bool direct) {
  const bool by_row = is_left_read_by_row(kernel), by_depth = is_right_read_by_depth(kernel);
  const ProductInput &left = kernel.left, &right = kernel.right;
  return {by_row ? 1U : 0U,
          by_depth ? 1U : 0U,
          is_aligned(left, by_row ? kernel.left_depth_stride : left.row_stride) ? 1U : 0U,
          is_aligned(right, by_depth ? right.column_stride : kernel.right_depth_stride) ? 1U : 0U,
          direct ? 1U : 0U,
          static_cast<uint>(kernel.output_type),
          kernel.added ? static_cast<uint>(kernel.added->data_type) : 0U,
          kernel.is_added_scaled ? 1U : 0U};
}

}  // namespace

std::optional<ResidentDispatch> matrices_dispatch_of(const ProductKernel& kernel) {
  if (!suits_matrices(kernel)) return std::nullopt;
  const ProductDivision division = division_of(kernel);
  const bool direct = is_direct(kernel, division);
  ResidentDispatch dispatch{.kernel = "product_matrices_" + std::to_string(division.side),
                            .specialization = specialization_of(kernel, direct)};
  set_parameters(dispatch, parameters_of(kernel, division));
  for (std::size_t i = 0; i < input_count(kernel); ++i) dispatch.inputs.push_back(i);
  dispatch.stages.emplace_back(0, division.parts * division.tiles * threads_of_group,
                               division.slices() * work_of_slice + 1000);
  if (direct) return dispatch;
  const std::uint64_t elements = kernel.output_elements();
  dispatch.scratch_bytes = division.parts * divided_up(elements, 4) * 16;
  const std::uint64_t per_thread = elements_per_thread(kernel);
  Stage& finish =
      dispatch.stages.emplace_back(0, divided_up(elements, per_thread),
                                   per_thread * (kernel.batches.size() + 2) + division.parts + 8);
  finish.step = 1;
  return dispatch;
}

}  // namespace dmlop::gpu::resident
