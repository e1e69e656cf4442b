// Products of matrices and convolutions: shaders/product.hlsl.
#include "gpu/kernels/product.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/threshold.hpp"
#include "gpu/kernels/kinds.hpp"

namespace dmlop::gpu::kernels {
namespace {

DMLOP_SPECIALIZATION(ProductSpecialization, PRODUCT_SPECIALIZATION)

constexpr std::size_t axes_most = 8;
constexpr std::uint64_t scratch_bytes_most = std::uint64_t{1} << 31;
static_assert(ProductKernel::inputs_most <= inputs_most);

/// What sums are computed with: 32 bits where these are exact or all that is asked for.
enum class Number { float32, int32, wide };

// Whether the sums become outputs as they are.
bool is_integer(const ProductKernel& kernel) {
  return kernel.output_type == DataType::Int32 && kernel.factor == 1 && !kernel.left_scale &&
         !kernel.right_scale && !kernel.added && !kernel.quantization;
}

Number number_of(const ProductKernel& kernel) {
  if (is_floating(kernel.left.data_type) || is_floating(kernel.right.data_type))
    return Number::float32;
  constexpr std::uint64_t largest = 255 * 255;
  const bool is_exact = size_of(kernel.left.data_type) == 1 &&
                        size_of(kernel.right.data_type) == 1 &&
                        kernel.sum_length() <= std::numeric_limits<std::int32_t>::max() / largest;
  return is_integer(kernel) || is_exact ? Number::int32 : Number::wide;
}

// Iterations of a thread for a slice: at worst no loop is unrolled.
std::uint64_t work_of_slice(const ProductDivision& division) {
  constexpr std::uint64_t loads = 6;
  return 1 + 2 * (loads + 1) + division.depth + 1;
}

// Parts that fill the device where there are few tiles, and no longer than one thread may take.
void divide_sums(const ProductKernel& kernel, ProductDivision& division) {
  constexpr Threshold shortest{256, 8};
  constexpr std::uint64_t most_parts = 512, scratch_wanted = 1 << 24;
  const std::uint64_t tiles_wanted = division.has_few_rows ? 1024
                                     : division.rows == 1  ? 1 << 16
                                                           : 256;
  const std::uint64_t length = kernel.sum_length();
  const std::uint64_t longest =
      (thread_work_limit - 2000) / work_of_slice(division) * division.depth;
  std::uint64_t parts = std::min(tiles_wanted / division.tiles, length / shortest);
  parts = std::min({parts, most_parts, scratch_wanted / kernel.output_elements()});
  parts = std::max({parts, divided_up(length, longest), std::uint64_t{1}});
  division.part_length = divided_up(divided_up(length, parts), division.depth) * division.depth;
  division.parts = divided_up(length, division.part_length);
}

// Whether most of each tile would be empty.
bool is_small(const ProductKernel& kernel) {
  constexpr std::uint64_t few_rows = 4;
  constexpr Threshold few_elements{256, 8};
  const std::uint64_t matrix = kernel.rows * kernel.column_count();
  return matrix <= few_elements || (!kernel.windows.empty() && kernel.rows <= few_rows);
}

// Whether the elements of a matrix can be read by fours: along `extent` they are neighbors.
bool has_fours(const ProductInput& matrix, std::uint64_t line_stride, std::uint64_t extent) {
  const auto is_whole = [](std::uint64_t elements) { return elements % 4 == 0; };
  return is_floating(matrix.data_type) && is_whole(matrix.offset) && is_whole(line_stride) &&
         is_whole(extent) &&
         std::all_of(matrix.batch_strides.begin(), matrix.batch_strides.end(), is_whole);
}

// The same as vectors of 16 bytes.
bool has_vectors(const ProductInput& matrix, std::uint64_t line_stride, std::uint64_t extent) {
  return matrix.data_type == DataType::Float32 && has_fours(matrix, line_stride, extent);
}

// Which neighbors of a matrix neighboring threads read.
bool is_left_read_by_row(const ProductKernel& kernel) {
  return kernel.left.row_stride < kernel.left_depth_stride;
}
bool is_right_read_by_depth(const ProductKernel& kernel) {
  return kernel.windows.empty() && kernel.right_depth_stride < kernel.right.column_stride;
}

// Whether both matrices can be read by fours: the left one along the sum or its rows, the right one
// along its columns or through its windows.
bool reads_vectors(const ProductKernel& kernel) {
  if (kernel.left_zero || kernel.right_zero) return false;
  const ProductInput &left = kernel.left, &right = kernel.right;
  if (!kernel.windows.empty()) {
    return is_sum_in_line(kernel) && !is_left_read_by_row(kernel) &&
           has_vectors(left, left.row_stride, kernel.sum_length()) &&
           right.data_type == DataType::Float32;
  }
  const bool has_left =
      is_left_read_by_row(kernel)
          ? left.row_stride == 1 && has_vectors(left, kernel.left_depth_stride, kernel.rows)
          : kernel.left_depth_stride == 1 &&
                has_vectors(left, left.row_stride, kernel.sum_length());
  return has_left && !is_right_read_by_depth(kernel) && right.column_stride == 1 &&
         has_vectors(right, kernel.right_depth_stride, kernel.column_count());
}

// Whether there are so few rows that tiles would be mostly empty, and both matrices can be read by
// fours: the left one along the sum, the right one along the sum or its columns.
bool has_few_rows(const ProductKernel& kernel) {
  const std::uint64_t rows_most = is_right_read_by_depth(kernel) ? 12 : 16;
  constexpr Threshold shortest_sum{64, 4};
  if (kernel.rows > rows_most || kernel.sum_length() < shortest_sum || !kernel.windows.empty() ||
      kernel.left_zero || kernel.right_zero || number_of(kernel) != Number::float32)
    return false;
  const ProductInput &left = kernel.left, &right = kernel.right;
  if (kernel.left_depth_stride != 1 || !has_fours(left, left.row_stride, kernel.sum_length()))
    return false;
  return is_right_read_by_depth(kernel)
             ? kernel.right_depth_stride == 1 &&
                   has_fours(right, right.column_stride, kernel.sum_length())
             : right.column_stride == 1 &&
                   has_fours(right, kernel.right_depth_stride, kernel.column_count());
}

// Columns as tiles count them.
std::uint64_t columns_of_tiles(const ProductKernel& kernel) {
  return reads_vectors(kernel) ? padded_columns(kernel, 4) : kernel.column_count();
}

ProductDivision division_into(const ProductKernel& kernel, std::uint64_t side,
                              std::uint64_t depth) {
  ProductDivision division{.rows = side, .columns = side, .depth = depth};
  set_tiles(kernel, columns_of_tiles(kernel), division);
  divide_sums(kernel, division);
  return division;
}

// As in shaders/product_few_rows.hlsli.
ProductDivision division_of_few_rows(const ProductKernel& kernel) {
  const bool is_along = is_right_read_by_depth(kernel);
  ProductDivision division{
      .rows = 4, .columns = is_along ? 8U : 64U, .depth = is_along ? 128U : 64U};
  division.has_few_rows = true;
  set_tiles(kernel, kernel.column_count(), division);
  divide_sums(kernel, division);
  return division;
}

// Large tiles, if there are enough to fill a device.
ProductDivision division_of(const ProductKernel& kernel) {
  if (number_of(kernel) == Number::wide || is_small(kernel)) return division_into(kernel, 1, 1);
  if (has_few_rows(kernel)) return division_of_few_rows(kernel);
  constexpr std::uint64_t large_side = 128, small_side = 64;
  constexpr Threshold few_tiles{96, 1};
  const ProductDivision large = division_into(kernel, large_side, 8);
  const bool fills_them = kernel.rows > small_side && kernel.column_count() > small_side;
  return fills_them && large.tiles >= few_tiles ? large : division_into(kernel, small_side, 16);
}

std::string kernel_name(const ProductKernel& kernel, const ProductDivision& division) {
  if (division.has_few_rows) return "product_few_rows";
  constexpr std::array names{"float", "int", "wide"};
  const bool has_vectors = division.rows > 1 && reads_vectors(kernel);
  const char* name = has_vectors ? "vectors" : names[static_cast<std::size_t>(number_of(kernel))];
  return std::string("product_") + name + "_" + std::to_string(division.rows);
}

bool has_left_out(const ProductKernel& kernel) {
  return std::any_of(kernel.windows.begin(), kernel.windows.end(), [](const ProductWindow& window) {
    return window.computed != window.output_extent;
  });
}

// Columns that a thread's vectors do not cross.
std::uint64_t run_of_columns(const ProductKernel& kernel) {
  return !kernel.windows.empty() && reads_vectors(kernel) ? kernel.windows.back().output_extent
                                                          : kernel.column_count();
}

// Whether a tile's threads store outputs: four of a row at a time.
bool is_direct(const ProductKernel& kernel, const ProductDivision& division) {
  const bool follows_more = kernel.left_scale || kernel.right_scale || kernel.quantization;
  return division.rows > 1 && !division.has_few_rows && division.parts == 1 &&
         size_of(kernel.output_type) == 4 && run_of_columns(kernel) % 4 == 0 && !follows_more &&
         !has_left_out(kernel);
}

std::uint64_t words_of_number(const ProductKernel& kernel) {
  return number_of(kernel) == Number::wide ? 3 : 1;
}

std::uint64_t scratch_bytes(const ProductKernel& kernel, const ProductDivision& division) {
  if (is_direct(kernel, division)) return 0;
  return division.parts * kernel.output_elements() * words_of_number(kernel) * 4;
}

// Iterations of a thread that makes outputs: the parts of each, and its place in other inputs.
std::uint64_t work_of_finish(const ProductKernel& kernel, const ProductDivision& division) {
  const std::uint64_t elements = bytes_per_thread / size_of(kernel.output_type);
  const std::uint64_t places = input_count(kernel) + (kernel.has_joined_scales ? 1 : 0);
  return elements * (division.parts + places * (kernel.batches.size() + 1) + 2) + 8;
}

bool fits_31_bits(const ProductWindow& window) {
  constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::max());
  const auto far = [](std::uint64_t count, std::int64_t step) {
    const auto last = static_cast<double>(count) * std::abs(static_cast<double>(step));
    return last;
  };
  return far(window.output_extent, window.step) + far(window.taps, window.tap_step) +
                 std::abs(static_cast<double>(window.offset)) <
             static_cast<double>(most) &&
         window.divisor <= most;
}

void set_windows(const ProductKernel& kernel, ProductParameters& parameters) {
  const std::size_t missing = 3 - kernel.windows.size();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const ProductWindow window = axis < missing ? ProductWindow{} : kernel.windows[axis - missing];
    parameters.output_extents[axis] = word(window.output_extent);
    parameters.computed[axis] = word(window.computed);
    parameters.taps[axis] = word(window.taps);
    parameters.left_strides[axis] = word(window.left_stride);
    parameters.input_extents[axis] = word(window.input_extent);
    parameters.input_strides[axis] = word(window.input_stride);
    parameters.steps[axis] = static_cast<std::int32_t>(window.step);
    parameters.tap_steps[axis] = static_cast<std::int32_t>(window.tap_step);
    parameters.window_offsets[axis] = static_cast<std::int32_t>(window.offset);
    parameters.divisors[axis] = static_cast<std::int32_t>(window.divisor);
  }
}

/// The type of an input; 0 if there is none.
uint type_of(const ProductInput* input) {
  return input == nullptr ? 0 : any_type(input->data_type);
}

/// The number of each input's buffer; 0 if there is none. Scales may share one.
std::array<uint, std::tuple_size_v<ProductInputs>> buffers_of(const ProductKernel& kernel) {
  const ProductInputs inputs = inputs_of(kernel);
  std::array<uint, std::tuple_size_v<ProductInputs>> buffers{1, 2};
  uint buffer = 2;
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    const bool is_joined = kernel.has_joined_scales && inputs[i] == &*kernel.right_scale;
    if (inputs[i] != nullptr && !is_joined) ++buffer;
    buffers[i] = inputs[i] == nullptr ? 0 : buffer;
  }
  return buffers;
}

ProductSpecialization specialization_of(const ProductKernel& kernel,
                                        const ProductDivision& division) {
  const bool has_divisors =
      std::any_of(kernel.windows.begin(), kernel.windows.end(),
                  [](const ProductWindow& window) { return window.divisor != 1; });
  const ProductInputs inputs = inputs_of(kernel);
  const auto buffers = buffers_of(kernel);
  return {.HAS_WINDOWS = !kernel.windows.empty(),
          .HAS_DIVISORS = has_divisors,
          .HAS_LEFT_OUT = has_left_out(kernel),
          .IS_ADDED_SCALED = kernel.is_added_scaled,
          .IS_LEFT_READ_BY_ROW = is_left_read_by_row(kernel),
          .IS_RIGHT_READ_BY_DEPTH = is_right_read_by_depth(kernel),
          .IS_DIRECT = is_direct(kernel, division),
          .IS_INTEGER = is_integer(kernel),
          .OUTPUT_TYPE = any_type(kernel.output_type),
          .TYPE_LEFT = type_of(inputs[0]),
          .TYPE_RIGHT = type_of(inputs[1]),
          .TYPE_LEFT_ZERO = type_of(inputs[2]),
          .TYPE_RIGHT_ZERO = type_of(inputs[3]),
          .TYPE_LEFT_SCALE = type_of(inputs[4]),
          .TYPE_RIGHT_SCALE = type_of(inputs[5]),
          .TYPE_ADDED = type_of(inputs[6]),
          .TYPE_OUTPUT_SCALE = type_of(inputs[7]),
          .TYPE_OUTPUT_ZERO = type_of(inputs[8]),
          .BUFFER_LEFT_ZERO = buffers[2],
          .BUFFER_RIGHT_ZERO = buffers[3],
          .BUFFER_LEFT_SCALE = buffers[4],
          .BUFFER_RIGHT_SCALE = buffers[5],
          .BUFFER_ADDED = buffers[6],
          .BUFFER_OUTPUT_SCALE = buffers[7],
          .BUFFER_OUTPUT_ZERO = buffers[8],
          .HAS_REST = kernel.sum_length() % division.part_length != 0};
}

// Why the kernel's numbers are none that a GPU has; "" where they are.
std::string numbers_refusal(const ProductKernel& kernel) {
  const ProductInputs inputs = inputs_of(kernel);
  const bool has_64_bits = std::any_of(inputs.begin(), inputs.end(), [](const auto* input) {
    return input != nullptr && size_of(input->data_type) > 4;
  });
  if (has_64_bits || size_of(kernel.output_type) > 4)
    return "GPU kernels compute with at most 32 bits";
  if (kernel.batches.size() > axes_most) return "it has more than 8 dimensions of matrices";
  return std::all_of(kernel.windows.begin(), kernel.windows.end(), fits_31_bits)
             ? ""
             : "the positions of its windows do not fit 32 bits";
}

}  // namespace

ProductInputs inputs_of(const ProductKernel& kernel) {
  const auto pointer = [](const std::optional<ProductInput>& input) {
    return input ? &*input : nullptr;
  };
  return {&kernel.left,
          &kernel.right,
          pointer(kernel.left_zero),
          pointer(kernel.right_zero),
          pointer(kernel.left_scale),
          pointer(kernel.right_scale),
          pointer(kernel.added),
          kernel.quantization ? &kernel.quantization->scale : nullptr,
          kernel.quantization ? pointer(kernel.quantization->zero_point) : nullptr};
}

std::size_t input_count(const ProductKernel& kernel) {
  const ProductInputs inputs = inputs_of(kernel);
  return inputs.size() - (kernel.has_joined_scales ? 1 : 0) -
         static_cast<std::size_t>(std::count(inputs.begin(), inputs.end(), nullptr));
}

bool is_sum_in_line(const ProductKernel& kernel) {
  std::uint64_t stride = 1;
  for (std::size_t i = kernel.windows.size(); i-- > 0;) {
    const ProductWindow& window = kernel.windows[i];
    if (window.divisor != 1 || (window.taps > 1 && window.left_stride != stride)) return false;
    stride *= window.taps;
  }
  return !kernel.windows.empty() && (kernel.depth == 1 || kernel.left_depth_stride == stride);
}

std::uint64_t padded_columns(const ProductKernel& kernel, std::uint64_t multiple) {
  if (kernel.windows.empty()) return kernel.columns;
  const std::uint64_t width = kernel.windows.back().output_extent;
  return kernel.column_count() / width * divided_up(width, multiple) * multiple;
}

void set_tiles(const ProductKernel& kernel, std::uint64_t columns, ProductDivision& division) {
  division.row_tiles = divided_up(kernel.rows, division.rows);
  division.column_tiles = divided_up(columns, division.columns);
  division.tiles = kernel.output_elements() / (kernel.rows * kernel.column_count()) *
                   division.row_tiles * division.column_tiles;
}

ProductParameters parameters_of(const ProductKernel& kernel, const ProductDivision& division) {
  ProductParameters parameters{};
  parameters.rows = word(kernel.rows);
  parameters.columns = word(kernel.column_count());
  parameters.batches = word(kernel.output_elements() / kernel.rows / kernel.column_count());
  parameters.sum_length = word(kernel.sum_length());
  parameters.part_length = word(division.part_length);
  parameters.parts = word(division.parts);
  parameters.row_tiles = word(division.row_tiles);
  parameters.column_tiles = word(division.column_tiles);
  parameters.batch_rank = word(kernel.batches.size());
  std::transform(kernel.batches.begin(), kernel.batches.end(), parameters.batch_extents, word);
  const ProductInputs inputs = inputs_of(kernel);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    parameters.offsets[i] = word(inputs[i]->offset);
    parameters.row_strides[i] = word(inputs[i]->row_stride);
    parameters.column_strides[i] = word(inputs[i]->column_stride);
    std::transform(inputs[i]->batch_strides.begin(), inputs[i]->batch_strides.end(),
                   parameters.batch_strides + i * axes_most, word);
  }
  parameters.left_depth_stride = word(kernel.left_depth_stride);
  parameters.right_depth_stride = word(kernel.right_depth_stride);
  parameters.factor = static_cast<float>(kernel.factor);
  parameters.added_factor = static_cast<float>(kernel.added_factor);
  set_windows(kernel, parameters);
  return parameters;
}

Dispatches dispatches_of(const ProductKernel& kernel) {
  if (const std::string refusal = numbers_refusal(kernel); !refusal.empty())
    return refused(refusal);
  if (auto walk = walk_dispatch_of(kernel)) return std::move(*walk);
  const ProductDivision division = division_of(kernel);
  const std::uint64_t finish_work = work_of_finish(kernel, division);
  Dispatch dispatch;
  dispatch.scratch_bytes = scratch_bytes(kernel, division);
  if (dispatch.scratch_bytes > scratch_bytes_most)
    return refused("its sums do not fit the memory that a GPU kernel may have for them");
  if (finish_work > thread_work_limit)
    return refused("its sums are longer than a GPU kernel adds up");
  dispatch.kernel = kernel_name(kernel, division);
  set_specialization(dispatch, specialization_of(kernel, division));
  ProductParameters parameters = parameters_of(kernel, division);
  if (!kernel.windows.empty() && division.rows > 1 && reads_vectors(kernel))
    parameters.left_depth_stride = 1;  // of channels and taps
  set_parameters(dispatch, parameters);
  for (std::size_t i = 0; i < input_count(kernel); ++i) dispatch.inputs.push_back(i);

  const bool is_tiled = division.rows > 1;
  const std::uint64_t group = is_tiled ? group_threads : 1;
  Stage& sums =
      dispatch.stages.emplace_back(0, division.parts * division.tiles * group,
                                   (division.slices() + 1) * work_of_slice(division) + 1000);
  sums.base = word(division.slices());
  if (auto other = division.has_few_rows ? std::nullopt : matrices_dispatch_of(kernel))
    dispatch.with_matrices.push_back(std::move(*other));
  if (is_direct(kernel, division)) return dispatch;
  const std::uint64_t elements = bytes_per_thread / size_of(kernel.output_type);
  Stage& finish =
      dispatch.stages.emplace_back(0, divided_up(kernel.output_elements(), elements), finish_work);
  finish.step = 1;
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
