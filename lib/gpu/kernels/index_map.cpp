// Data movement: shaders/index_map.hlsl, reverse_columns.hlsl and, for what changes places,
// transpose.hlsl and interleave.hlsl.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/transpose.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/index_map.hlsli"
#include "../../../shaders/parameters/reverse_columns.hlsli"

DMLOP_SPECIALIZATION(ReverseColumnsSpecialization, REVERSE_COLUMNS_SPECIALIZATION)
DMLOP_SPECIALIZATION(IndexMapSpecialization, INDEX_MAP_SPECIALIZATION)

constexpr std::uint64_t bytes_of_word = 4;

constexpr std::size_t table_axes = TABLE_AXES;

// Axes that fit the constants beside the strides of lengths; more go to a table
// (shaders/index_map.hlsl).
std::size_t constant_axes(const IndexMapKernel& kernel) {
  return kernel.reversal ? 4 : 5;
}

Dispatch dispatch_over(const IndexMapKernel& kernel) {
  Dispatch dispatch{.inputs = {0}, .loads_around = true};
  if (kernel.reversal) dispatch.inputs.push_back(1);
  return dispatch;
}

uint words_of_length(const Reversal& reversal) {
  return reversal.lengths_type == DataType::UInt64 ? 2 : 1;
}

// --- reverse_columns.hlsl

// The axis before the innermost one is reversed, and words of 32 bits of the source stand where
// those of the output do.
bool has_word_columns(const IndexMapKernel& kernel) {
  const std::size_t rank = kernel.axes.size();
  if (!kernel.reversal || rank < 2 || rank > constant_axes(kernel) ||
      kernel.reversal->axis + 2 != rank)
    return false;
  const IndexMapAxis& inner = kernel.axes.back();
  const auto is_whole_words = [&](std::int64_t elements) {
    return elements * static_cast<std::int64_t>(kernel.element_size) %
               static_cast<std::int64_t>(bytes_of_word) ==
           0;
  };
  return inner.stride == 1 && is_whole_words(static_cast<std::int64_t>(inner.extent)) &&
         is_whole_words(kernel.offset) &&
         std::all_of(kernel.axes.begin(), kernel.axes.end() - 1,
                     [&](const IndexMapAxis& axis) { return is_whole_words(axis.stride); });
}

// How threads share columns of words.
struct Columns {
  // More rows read a length less often; fewer keep a device busy with a small tensor.
  static constexpr std::uint64_t rows_most = 64, rows_least = 8, threads_wanted = 1 << 18;

  std::uint64_t words;   // columns of a row
  std::uint64_t rows;    // of a thread
  std::uint64_t parts;   // of a column
  std::uint64_t width;   // of a block of columns
  std::uint64_t blocks;  // of a row

  Columns(std::uint64_t row_words, std::uint64_t all_rows, std::uint64_t outer) : words(row_words) {
    rows = rows_most;
    while (rows > rows_least && words * outer * divided_up(all_rows, rows) < threads_wanted)
      rows /= 2;
    rows = std::min(rows, all_rows);
    parts = divided_up(all_rows, rows);
    blocks = divided_up(words, group_threads);
    width = divided_up(words, blocks);
  }
};

uint4 outer_axis(const IndexMapKernel& kernel, std::size_t axis) {
  const auto size = static_cast<std::int64_t>(kernel.element_size);
  return {word(kernel.axes[axis].extent),
          wrapped(kernel.axes[axis].stride * size / static_cast<std::int64_t>(bytes_of_word)),
          low_word(kernel.axes[axis].lengths_stride), 0};
}

Dispatch columns_dispatch(const IndexMapKernel& kernel) {
  Dispatch dispatch = dispatch_over(kernel);
  const std::size_t rank = kernel.axes.size(), outer_axes = rank - 2;
  const auto in_words = [&](std::int64_t elements) {
    return static_cast<std::int32_t>(elements * static_cast<std::int64_t>(kernel.element_size) /
                                     static_cast<std::int64_t>(bytes_of_word));
  };
  const IndexMapAxis &rows = kernel.axes[rank - 2], &inner = kernel.axes[rank - 1];
  std::uint64_t outer = 1;
  for (std::size_t a = 0; a < outer_axes; ++a) outer *= kernel.axes[a].extent;
  const Columns columns(inner.extent * kernel.element_size / bytes_of_word, rows.extent, outer);

  const bool is_staged = columns.parts == 1 && columns.rows <= STAGED_MOST;
  dispatch.kernel = is_staged ? "reverse_columns_staged" : "reverse_columns";
  set_specialization(
      dispatch, ReverseColumnsSpecialization{.ELEMENT_SIZE = kernel.element_size,
                                             .STAGED_ROWS = is_staged ? word(columns.rows) : 0});
  ReverseColumnsConstants constants{.length_words = words_of_length(*kernel.reversal)};
  constants.offset = static_cast<int>(slack_bytes / bytes_of_word) + in_words(kernel.offset);
  constants.columns = word(columns.words);
  constants.rows = word(rows.extent);
  constants.thread_rows = word(columns.rows);
  constants.parts = word(columns.parts);
  constants.row_stride = in_words(rows.stride);
  constants.block_columns = word(columns.width);
  constants.blocks = word(columns.blocks);
  constants.length_stride = low_word(inner.lengths_stride);
  constants.outermost = outer_axes >= 2 ? outer_axis(kernel, outer_axes - 2) : uint4{1, 0, 0, 0};
  constants.outer = outer_axes >= 1 ? outer_axis(kernel, outer_axes - 1) : uint4{1, 0, 0, 0};
  set_constants(dispatch, constants);
  dispatch.stages.emplace_back(0, outer * columns.blocks * columns.parts * columns.width,
                               is_staged ? columns.rows * 3 : divided_up(columns.rows, 4) + 2);
  return dispatch;
}

// --- index_map.hlsl

// How threads gather 16 bytes.
enum class Way : uint { elements = WAY_ELEMENTS, runs = WAY_RUNS, every_second = WAY_EVERY_SECOND };

static_assert(static_cast<uint>(Boundary::none) == BOUNDARY_NONE &&
              static_cast<uint>(Boundary::constant) == BOUNDARY_CONSTANT &&
              static_cast<uint>(Boundary::edge) == BOUNDARY_EDGE &&
              static_cast<uint>(Boundary::reflection) == BOUNDARY_REFLECTION &&
              static_cast<uint>(Boundary::symmetric) == BOUNDARY_SYMMETRIC &&
              static_cast<uint>(Boundary::wrap) == BOUNDARY_WRAP);

// The kernel's one boundary for all axes: an axis without one is an unpadded axis of any.
Boundary boundary_of(const IndexMapKernel& kernel) {
  for (const IndexMapAxis& axis : kernel.axes) {
    if (axis.boundary != Boundary::none) return axis.boundary;
  }
  return Boundary::none;
}

uint4 axis_row(const IndexMapAxis& axis) {
  const bool bounded = axis.boundary != Boundary::none;
  return {word(axis.extent), wrapped(axis.stride), bounded ? wrapped(axis.start_padding) : 0,
          word(bounded ? axis.input_extent : axis.extent)};
}

// 1 along the innermost axis, 2 along another one.
uint reversal_of(const IndexMapKernel& kernel) {
  if (!kernel.reversal) return 0;
  return kernel.reversal->axis + 1 == kernel.axes.size() ? 1 : 2;
}

Way way_of(const IndexMapKernel& kernel) {
  const std::int64_t stride = kernel.axes.back().stride;
  if (reversal_of(kernel) == 2) return Way::elements;
  if (stride >= -1 && stride <= 1) return Way::runs;
  const bool is_plain = boundary_of(kernel) == Boundary::none && !kernel.reversal;
  return is_plain && stride == 2 ? Way::every_second : Way::elements;
}

// As measured: several vectors for a thread that first waits for a length, or that has more to do
// than to load and to store.
std::uint64_t vectors_of_thread(const IndexMapKernel& kernel) {
  if (way_of(kernel) != Way::runs) return 1;
  const bool is_copied = !kernel.reversal && boundary_of(kernel) == Boundary::none;
  return is_copied && kernel.element_size >= 4 ? 1 : 4;
}

// A group takes its threads' first vectors, then their second ones, and so on. At worst each
// element of a vector stands in a row of its own, which has a loop over the axes; and all vectors
// of a group are such.
void add_vectors_stage(Dispatch& dispatch, const IndexMapKernel& kernel,
                       std::uint64_t vectors_of_thread) {
  const std::uint64_t rank = kernel.axes.size(), elements = bytes_per_thread / kernel.element_size;
  const std::uint64_t vectors =
      divided_up(kernel.output_elements() * kernel.element_size, bytes_per_thread);
  const std::uint64_t group_vectors = vectors_of_thread * group_threads;
  const std::uint64_t threads =
      vectors / group_vectors * group_threads + std::min(vectors % group_vectors, group_threads);
  constexpr std::uint64_t loops_over_vectors = 16;
  const std::uint64_t work =
      loops_over_vectors + vectors_of_thread * (3 + rank + elements * 2 * (2 + rank));
  dispatch.stages.emplace_back(0, threads, work);
}

void set_axes(Dispatch& dispatch, const IndexMapKernel& kernel, IndexMapConstants constants) {
  std::array<uint4*, 5> rows{&constants.axis0, &constants.axis1, &constants.axis2, &constants.axis3,
                             &constants.axis4};
  std::array<uint*, 4> strides{&constants.axis4.x, &constants.axis4.y, &constants.axis4.z,
                               &constants.axis4.w};
  const bool in_table = kernel.axes.size() > constant_axes(kernel);
  IndexMapAxes table{};
  for (std::size_t i = 0; i < kernel.axes.size(); ++i) {
    (in_table ? table.axes[i] : *rows.at(i)) = axis_row(kernel.axes[i]);
    if (kernel.reversal)
      (in_table ? table.lengths_strides[i] : *strides.at(i)) =
          low_word(kernel.axes[i].lengths_stride);
  }
  set_constants(dispatch, constants);
  if (in_table) set_parameters(dispatch, table);
}

Dispatch vectors_dispatch(const IndexMapKernel& kernel) {
  Dispatch dispatch = dispatch_over(kernel);
  const std::size_t rank = kernel.axes.size(), size = kernel.element_size;
  const std::uint64_t vectors = vectors_of_thread(kernel);
  add_vectors_stage(dispatch, kernel, vectors);
  dispatch.kernel =
      "index_map_" + std::to_string(size) + "_" + std::to_string(static_cast<uint>(way_of(kernel)));
  set_specialization(
      dispatch, IndexMapSpecialization{.GIVEN_BOUNDARY = boundary_of(kernel),
                                       .RANK = rank > constant_axes(kernel) ? table_axes : rank,
                                       .GIVEN_REVERSAL = reversal_of(kernel),
                                       .VECTORS = vectors});
  IndexMapConstants constants{.elements = word(kernel.output_elements())};
  constants.offset =
      static_cast<int>(kernel.offset + static_cast<std::int64_t>(slack_bytes / size));
  constants.rank = word(rank);
  std::memcpy(&constants.fill_low, kernel.fill.data(), 4);
  std::memcpy(&constants.fill_high, kernel.fill.data() + 4, 4);
  if (kernel.reversal) {
    constants.length_words = words_of_length(*kernel.reversal);
    constants.reversed_axis = word(kernel.reversal->axis);
  }
  set_axes(dispatch, kernel, constants);
  return dispatch;
}

// The same with plain axes in place of those that repeat all of their input, as many as fit the
// constants: one counts the copies, and the other goes through one of them.
IndexMapKernel without_repeats(IndexMapKernel kernel) {
  for (std::size_t a = kernel.axes.size(); a-- > 0 && kernel.axes.size() < constant_axes(kernel);) {
    IndexMapAxis& axis = kernel.axes[a];
    const bool repeats = axis.boundary == Boundary::wrap && axis.start_padding == 0 &&
                         axis.extent % axis.input_extent == 0 && !kernel.reversal;
    if (!repeats) continue;
    const IndexMapAxis copies{.extent = axis.extent / axis.input_extent};
    axis = {.extent = axis.input_extent, .stride = axis.stride};
    kernel.axes.insert(kernel.axes.begin() + static_cast<std::ptrdiff_t>(a), copies);
  }
  return kernel;
}

constexpr std::uint64_t elements_most = std::uint64_t{1} << 30;  // mirrors count twice

bool fits_32_bits(const IndexMapKernel& kernel) {
  std::uint64_t reach = 0, lengths = 0;
  for (const IndexMapAxis& axis : kernel.axes) {
    const std::uint64_t indices = axis.boundary == Boundary::none ? axis.extent : axis.input_extent;
    if (indices > elements_most) return false;
    reach += (indices - 1) * static_cast<std::uint64_t>(std::abs(axis.stride));
    lengths += (axis.extent - 1) * axis.lengths_stride;
  }
  return reach < elements_most && lengths < elements_most &&
         kernel.output_elements() <= elements_most && kernel.axes.size() <= table_axes &&
         std::abs(kernel.offset) <= static_cast<std::int64_t>(elements_most);
}

}  // namespace

Dispatches dispatches_of(const IndexMapKernel& given) {
  if (!fits_32_bits(given))
    return refused("its tensors have more elements than the 32 bits of a GPU kernel count");
  if (has_word_columns(given)) return columns_dispatch(given);
  const IndexMapKernel kernel = without_repeats(given);
  if (auto dispatch = transpose_dispatch(kernel)) return std::move(*dispatch);
  return vectors_dispatch(kernel);
}

}  // namespace dmlop::gpu::kernels
