#include "gpu/kernels/transpose.hpp"

#include <algorithm>
#include <cstdlib>

#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/transpose.hlsli"

DMLOP_SPECIALIZATION(InterleaveSpecialization, INTERLEAVE_SPECIALIZATION)
DMLOP_SPECIALIZATION(TransposeSpecialization, TRANSPOSE_SPECIALIZATION)

constexpr std::uint64_t bytes_of_word = 4;

// Iterations of a thread's loops, should a driver unroll none.
constexpr std::uint64_t unrolled_work = 256;

// Axes beside the two that change places; more do not fit the constants.
constexpr std::size_t other_axes_most = 4;

bool is_plain(const IndexMapKernel& kernel) {
  return !kernel.reversal &&
         std::all_of(kernel.axes.begin(), kernel.axes.end(),
                     [](const IndexMapAxis& axis) { return axis.boundary == Boundary::none; });
}

// The axis along which elements stand side by side in the source, and the one along which they do
// in the output.
struct Turn {
  std::size_t source;
  std::size_t output;
};

std::optional<Turn> turn_of(const IndexMapKernel& kernel) {
  const std::size_t last = kernel.axes.size() - 1;
  if (!is_plain(kernel) || kernel.axes.size() > 2 + other_axes_most) return std::nullopt;
  if (kernel.axes[last].extent == 1 || std::abs(kernel.axes[last].stride) <= 1) return std::nullopt;
  for (std::size_t a = 0; a < last; ++a) {
    if (kernel.axes[a].stride == 1 && kernel.axes[a].extent > 1) return Turn{a, last};
  }
  return std::nullopt;
}

// Whether all that an index is multiplied by, along axes but `unmoved`, keeps to units of so many
// bytes.
bool keeps_to(const IndexMapKernel& kernel, std::size_t unmoved, std::uint64_t unit) {
  const auto is_whole = [&](std::int64_t elements) {
    return elements * static_cast<std::int64_t>(kernel.element_size) %
               static_cast<std::int64_t>(unit) ==
           0;
  };
  for (std::size_t a = 0; a < kernel.axes.size(); ++a) {
    if (a != unmoved && !is_whole(kernel.axes[a].stride)) return false;
  }
  return is_whole(kernel.offset);
}

// Elements of the output from one index to the next along an axis.
std::uint64_t output_stride(const IndexMapKernel& kernel, std::size_t axis) {
  std::uint64_t stride = 1;
  for (std::size_t a = axis + 1; a < kernel.axes.size(); ++a) stride *= kernel.axes[a].extent;
  return stride;
}

// What both kernels are told alike: the source's first element, and the other axes.
template <typename Constants>
Constants started_constants(const IndexMapKernel& kernel, const Turn& turn) {
  Constants constants{};
  constants.offset = static_cast<int>(kernel.offset +
                                      static_cast<std::int64_t>(slack_bytes / kernel.element_size));
  uint4* rows[] = {&constants.axis0, &constants.axis1, &constants.axis2, &constants.axis3};
  for (std::size_t a = 0, at = 0; a < kernel.axes.size(); ++a) {
    if (a == turn.source || a == turn.output) continue;
    *rows[at++] = {word(kernel.axes[a].extent), wrapped(kernel.axes[a].stride),
                   word(output_stride(kernel, a)), 0};
  }
  return constants;
}

std::uint64_t other_elements(const IndexMapKernel& kernel, const Turn& turn) {
  return kernel.output_elements() / kernel.axes[turn.source].extent /
         kernel.axes[turn.output].extent;
}

// --- interleave.hlsl

// A few rows become one whose elements come from each in turn, or the other way round.
constexpr std::uint64_t interleaved_most = 4;

std::optional<Dispatch> interleave_dispatch(const IndexMapKernel& kernel, const Turn& turn) {
  const IndexMapAxis &source = kernel.axes[turn.source], &output = kernel.axes[turn.output];
  const bool is_taken_apart = source.extent <= interleaved_most &&
                              output.stride == static_cast<std::int64_t>(source.extent);
  const bool is_put_together = output.extent <= interleaved_most && turn.source + 1 == turn.output;
  if (!is_taken_apart && !is_put_together) return std::nullopt;
  const std::size_t size = kernel.element_size;
  const std::uint64_t rows = is_taken_apart ? source.extent : output.extent;
  const std::uint64_t length = is_taken_apart ? output.extent : source.extent;  // of a row
  // What a thread does at once, in bytes of a row; as in the kernel.
  const bool is_vector = is_taken_apart || rows == 3;
  const std::uint64_t unit =
      is_vector ? bytes_per_thread : std::max<std::uint64_t>(bytes_per_thread / rows, size);
  const std::uint64_t units = is_vector ? 1 : 4;
  IndexMapKernel others = kernel;
  if (is_taken_apart) others.axes[turn.output].stride = 0;
  if (length * size % unit != 0 || !keeps_to(others, turn.source, unit)) return std::nullopt;

  Dispatch dispatch{.kernel = "interleave", .inputs = {0}, .loads_around = true};
  set_specialization(dispatch, InterleaveSpecialization{.ELEMENT_SIZE = size,
                                                        .FEW = rows,
                                                        .IS_APART = is_taken_apart,
                                                        .OTHER_AXES = kernel.axes.size() - 2});
  const std::uint64_t row_units = length * size / unit;
  const std::uint64_t all_units = other_elements(kernel, turn) * row_units;
  auto constants = started_constants<InterleaveConstants>(kernel, turn);
  constants.units = word(all_units);
  constants.row_units = word(row_units);
  constants.source_stride = wrapped(output.stride);
  constants.output_stride = word(output_stride(kernel, turn.source));
  set_constants(dispatch, constants);
  dispatch.stages.emplace_back(0, divided_up(all_units, units * group_threads) * group_threads,
                               unrolled_work);
  return dispatch;
}

// --- transpose.hlsl

std::optional<Dispatch> tiles_dispatch(const IndexMapKernel& kernel, const Turn& turn) {
  const IndexMapAxis &source = kernel.axes[turn.source], &output = kernel.axes[turn.output];
  const std::size_t size = kernel.element_size;
  // A tile, in elements; most of it should be used.
  const std::uint64_t columns = size == 8 ? 32 : 128 / size, rows = size == 8 ? 64 : 128;
  const std::uint64_t per_vector = bytes_per_thread / size;
  if (output.extent % per_vector != 0 || source.extent < columns / 4 || output.extent < rows / 4)
    return std::nullopt;
  Dispatch dispatch{.kernel = "transpose", .inputs = {0}, .loads_around = true};
  const std::uint64_t tiles_of_rows = divided_up(output.extent, rows);
  set_specialization(
      dispatch, TransposeSpecialization{.ELEMENT_SIZE = size,
                                        .IS_ALIGNED = keeps_to(kernel, turn.source, bytes_of_word),
                                        .OTHER_AXES = kernel.axes.size() - 2});
  auto constants = started_constants<TransposeConstants>(kernel, turn);
  constants.columns = word(source.extent);
  constants.column_stride = word(output_stride(kernel, turn.source));
  constants.column_tiles = word(divided_up(source.extent, columns));
  constants.rows = word(output.extent);
  constants.row_stride = wrapped(output.stride);
  constants.row_tiles = word(tiles_of_rows);
  set_constants(dispatch, constants);
  const std::uint64_t tiles =
      other_elements(kernel, turn) * tiles_of_rows * divided_up(source.extent, columns);
  dispatch.stages.emplace_back(0, tiles * group_threads, unrolled_work);
  return dispatch;
}

}  // namespace

std::optional<Dispatch> transpose_dispatch(const IndexMapKernel& kernel) {
  const std::optional<Turn> turn = turn_of(kernel);
  if (!turn) return std::nullopt;
  if (auto dispatch = interleave_dispatch(kernel, *turn)) return dispatch;
  return tiles_dispatch(kernel, *turn);
}

}  // namespace dmlop::gpu::kernels
