#include "gpu/index_map_dispatch.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/transpose_dispatch.hpp"
#include "gpu/words.hpp"

namespace dmlop::gpu {
namespace {

constexpr std::uint64_t bytes_of_vector = 16, bytes_of_word = 4;

constexpr std::size_t table_axes = 8;

// Axes that fit the constants beside the strides of lengths; more go to a table
// (shaders/index_map.hlsl).
std::size_t constant_axes(const IndexMapKernel& kernel) {
  return kernel.reversal ? 4 : 5;
}

std::uint64_t output_elements(const IndexMapKernel& kernel) {
  return kernel.output_elements();
}

Dispatch dispatch_with_output(const IndexMapKernel& kernel) {
  Dispatch dispatch;
  dispatch.constants[0] = word(output_elements(kernel));
  dispatch.output_bytes = output_elements(kernel) * kernel.element_size;
  return dispatch;
}

Word words_of_length(const Reversal& reversal) {
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

Dispatch columns_dispatch(const IndexMapKernel& kernel) {
  Dispatch dispatch = dispatch_with_output(kernel);
  const std::size_t rank = kernel.axes.size(), outer_axes = rank - 2;
  const auto size = static_cast<std::int64_t>(kernel.element_size);
  const auto in_words = [&](std::int64_t elements) {
    return word(elements * size / static_cast<std::int64_t>(bytes_of_word));
  };
  const IndexMapAxis &rows = kernel.axes[rank - 2], &inner = kernel.axes[rank - 1];
  std::uint64_t outer = 1;
  for (std::size_t a = 0; a < outer_axes; ++a) outer *= kernel.axes[a].extent;
  const Columns columns(inner.extent * kernel.element_size / bytes_of_word, rows.extent, outer);

  constexpr std::uint64_t staged_most = 16;  // rows, as in the kernel
  const bool is_staged = columns.parts == 1 && columns.rows <= staged_most;
  dispatch.kernel = is_staged ? "reverse_columns_staged" : "reverse_columns";
  dispatch.specialization = {word(std::uint64_t{kernel.element_size}),
                             is_staged ? word(columns.rows) : 0};
  dispatch.constants[1] = words_of_length(*kernel.reversal);
  dispatch.constants[2] = word(input_slack_bytes / bytes_of_word) + in_words(kernel.offset);
  dispatch.constants[3] = word(columns.words);
  dispatch.constants[4] = word(rows.extent);
  dispatch.constants[5] = word(columns.rows);
  dispatch.constants[6] = word(columns.parts);
  dispatch.constants[7] = in_words(rows.stride);
  dispatch.constants[8] = word(columns.width);
  dispatch.constants[9] = word(columns.blocks);
  dispatch.constants[10] = word(inner.lengths_stride);
  for (std::size_t i = 0; i < 2; ++i) {
    const bool is_there = i + outer_axes >= 2;
    const IndexMapAxis axis = is_there ? kernel.axes[i + outer_axes - 2] : IndexMapAxis{};
    dispatch.constants[12 + i * 4] = word(axis.extent);
    dispatch.constants[13 + i * 4] = in_words(axis.stride);
    dispatch.constants[14 + i * 4] = word(axis.lengths_stride);
  }
  dispatch.stages.emplace_back(0, outer * columns.blocks * columns.parts * columns.width,
                               is_staged ? columns.rows * 3 : divided_up(columns.rows, 4) + 2);
  return dispatch;
}

// --- index_map.hlsl

// How threads gather 16 bytes. As in the kernel.
enum class Way : Word { elements, runs, every_second };

// The kernel's one boundary for all axes: an axis without one is an unpadded axis of any.
Boundary boundary_of(const IndexMapKernel& kernel) {
  for (const IndexMapAxis& axis : kernel.axes) {
    if (axis.boundary != Boundary::none) return axis.boundary;
  }
  return Boundary::none;
}

std::array<Word, 4> axis_row(const IndexMapAxis& axis) {
  const bool bounded = axis.boundary != Boundary::none;
  return {word(axis.extent), word(axis.stride), bounded ? word(axis.start_padding) : 0,
          word(bounded ? axis.input_extent : axis.extent)};
}

// 1 along the innermost axis, 2 along another one.
Word reversal_of(const IndexMapKernel& kernel) {
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
void add_vectors_stage(Dispatch& dispatch, std::uint64_t vectors_of_thread, std::uint64_t elements,
                       std::size_t rank) {
  const std::uint64_t vectors = divided_up(dispatch.output_bytes, bytes_of_vector);
  const std::uint64_t group_vectors = vectors_of_thread * group_threads;
  const std::uint64_t threads =
      vectors / group_vectors * group_threads + std::min(vectors % group_vectors, group_threads);
  constexpr std::uint64_t loops_over_vectors = 16;
  const std::uint64_t work =
      loops_over_vectors + vectors_of_thread * (3 + rank + elements * 2 * (2 + rank));
  dispatch.stages.emplace_back(0, threads, work);
}

Dispatch vectors_dispatch(const IndexMapKernel& kernel) {
  Dispatch dispatch = dispatch_with_output(kernel);
  const std::size_t rank = kernel.axes.size(), size = kernel.element_size;
  const bool in_table = rank > constant_axes(kernel);
  const std::uint64_t vectors = vectors_of_thread(kernel);
  add_vectors_stage(dispatch, vectors, bytes_of_vector / size, rank);
  dispatch.kernel =
      "index_map_" + std::to_string(size) + "_" + std::to_string(static_cast<Word>(way_of(kernel)));
  dispatch.specialization = {static_cast<Word>(boundary_of(kernel)),
                             word(std::uint64_t{in_table ? table_axes : rank}), reversal_of(kernel),
                             word(vectors)};
  dispatch.constants[2] = word(kernel.offset + static_cast<std::int64_t>(input_slack_bytes / size));
  if (kernel.reversal) {
    dispatch.constants[3] = words_of_length(*kernel.reversal);
    dispatch.constants[5] = word(std::uint64_t{kernel.reversal->axis});
  }
  dispatch.constants[4] = word(std::uint64_t{rank});
  std::memcpy(&dispatch.constants[6], kernel.fill.data(), 8);
  if (in_table) dispatch.table.resize(table_axes * 2 * 4);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto row = axis_row(kernel.axes[i]);
    std::copy(row.begin(), row.end(),
              in_table ? &dispatch.table[i * 4] : &dispatch.constants[8 + i * 4]);
    if (!kernel.reversal) continue;
    const Word lengths_stride = word(kernel.axes[i].lengths_stride);
    (in_table ? dispatch.table[(table_axes + i) * 4] : dispatch.constants[24 + i]) = lengths_stride;
  }
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

}  // namespace

Dispatch index_map_dispatch(const IndexMapKernel& given) {
  if (has_word_columns(given)) return columns_dispatch(given);
  const IndexMapKernel kernel = without_repeats(given);
  if (auto dispatch = transpose_dispatch(kernel)) return *dispatch;
  return vectors_dispatch(kernel);
}

}  // namespace dmlop::gpu
