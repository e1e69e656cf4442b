// Attention: shaders/attention.hlsl, attention_parts.hlsl, attention_tiles.hlsl and
// attention_matrices.comp.
#include <algorithm>
#include <array>

#include "base/threshold.hpp"
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/attention.hlsli"

DMLOP_SPECIALIZATION(AttentionSpecialization, ATTENTION_SPECIALIZATION)

void set_input(AttentionParameters& parameters, std::size_t at, const AttentionInput& input) {
  parameters.offsets[at] = word(input.offset);
  parameters.batch_strides[at] = word(input.batch_stride);
  parameters.head_strides[at] = word(input.head_stride);
  parameters.row_strides[at] = word(input.row_stride);
  parameters.element_strides[at] = word(input.element_stride);
}

uint type_of(const std::optional<AttentionInput>& input) {
  return input ? known_type(input->data_type) : 0;
}

/// How attention is divided: queries of heads whose scores are in scratch at a time, and parts of
/// the sums of their values.
struct Slices {
  std::uint64_t all_rows, rows_at_once, part_keys, parts;

  std::uint64_t words_of_row(const AttentionKernel& kernel) const {
    return kernel.keys + 1 + kernel.value_size * parts;
  }
};

Slices slices_of(const AttentionKernel& kernel) {
  // So many scores stay in a device's cache from stage to stage.
  constexpr Threshold scratch_words{1 << 22, 200}, keys_at_once{1 << 14, 5};
  constexpr std::uint64_t whole_threads = 16;  // rows that fill threads, whatever their size
  Slices slices{};
  slices.all_rows = kernel.batch * kernel.queries * kernel.heads;
  slices.part_keys = std::min<std::uint64_t>(kernel.keys, keys_at_once);
  slices.parts = divided_up(kernel.keys, slices.part_keys);
  const std::uint64_t rows =
      scratch_words / slices.words_of_row(kernel) / whole_threads * whole_threads;
  slices.rows_at_once = std::min(slices.all_rows, std::max(rows, whole_threads));
  return slices;
}

/// The work of a thread of each stage.
using StageWork = std::array<std::uint64_t, 4>;

StageWork work_of(const AttentionKernel& kernel, const Slices& slices) {
  const std::uint64_t elements = bytes_per_thread / size_of(kernel.output_type);
  constexpr std::uint64_t reductions = 32;
  return {kernel.size + 8, 2 * divided_up(kernel.keys, group_threads) + reductions,
          slices.part_keys + 8, elements * (slices.parts + 2) + 8};
}

AttentionParameters parameters_of(const AttentionKernel& kernel, const Slices& slices) {
  AttentionParameters parameters{};
  parameters.batch = word(kernel.batch);
  parameters.heads = word(kernel.heads);
  parameters.group = word(kernel.group);
  parameters.queries = word(kernel.queries);
  parameters.keys = word(kernel.keys);
  parameters.size = word(kernel.size);
  parameters.value_size = word(kernel.value_size);
  parameters.rows_at_once = word(slices.rows_at_once);
  parameters.part_keys = word(slices.part_keys);
  parameters.parts = word(slices.parts);
  set_input(parameters, 0, kernel.query);
  set_input(parameters, 1, kernel.key);
  set_input(parameters, 2, kernel.value);
  if (kernel.position_bias) set_input(parameters, 3, *kernel.position_bias);
  std::transform(kernel.mask_strides.begin(), kernel.mask_strides.end(), parameters.mask_strides,
                 word);
  parameters.scale = static_cast<float>(kernel.scale);
  parameters.filter_value = static_cast<float>(kernel.filter);
  if (kernel.past_lengths) {
    parameters.past_rows = word(kernel.past_lengths->rows);
    parameters.length_stride = word(kernel.past_lengths->stride);
  }
  return parameters;
}

// The stages of rows [first, first + rows).
void add_stages(const AttentionKernel& kernel, const Slices& slices, const StageWork& work,
                std::uint64_t first, std::uint64_t rows, std::vector<Stage>& stages) {
  const std::uint64_t elements = bytes_per_thread / size_of(kernel.output_type);
  const std::array<std::uint64_t, 4> threads{rows * kernel.keys, rows * group_threads,
                                             slices.parts * slices.rows_at_once * kernel.value_size,
                                             divided_up(rows * kernel.value_size, elements)};
  for (std::size_t step = 0; step < threads.size(); ++step) {
    Stage& stage = stages.emplace_back(0, threads[step], work[step]);
    stage.step = static_cast<std::uint32_t>(step);
    stage.base = word(first);
  }
}

// Whether so many elements lie together, and every row and its length are multiples of them.
bool begin_at(const AttentionInput& input, std::uint64_t size, std::uint64_t together) {
  const auto is_whole = [&](std::uint64_t elements) { return elements % together == 0; };
  return input.element_stride == 1 && is_whole(size) && is_whole(input.offset) &&
         is_whole(input.batch_stride) && is_whole(input.head_stride) && is_whole(input.row_stride);
}

// As in attention_tiles.hlsl: a group's queries, its keys and elements of values at a time, and
// elements or keys of a slice.
constexpr std::uint64_t queries_of_tile = 128, columns_of_tile = 64, slice = 16;

// Whether fours of FLOAT32 begin at multiples of 16 bytes in every row.
bool has_fours(const AttentionInput& input, std::uint64_t size) {
  return input.data_type == DataType::Float32 && begin_at(input, size, 4);
}

bool has_vectors(const AttentionKernel& kernel) {
  return has_fours(kernel.query, kernel.size) && has_fours(kernel.key, kernel.size) &&
         has_fours(kernel.value, kernel.value_size);
}

std::uint64_t work_of_tiles(const AttentionKernel& kernel) {
  // Of a slice of queries and keys, of one of values, and of the scores of a tile.
  const std::uint64_t load = has_vectors(kernel) ? 0 : 4;
  const std::uint64_t factors = slice + 8 * load + 1, values = slice + 2 * load + 1;
  const bool has_more =
      kernel.mask != AttentionMask::none || kernel.position_bias || kernel.past_lengths;
  const std::uint64_t scores = (has_more ? 16 * (4 + 1) : 0) + 2 * 8;
  const std::uint64_t tile =
      divided_up(kernel.size, slice) * factors + columns_of_tile / slice * values + scores;
  return divided_up(kernel.keys, columns_of_tile) * tile + 1000;
}

// Whether queries fill tiles, and a thread can go over all keys. Each tile of values needs the
// scores again, so that long ones are better computed by rows.
bool runs_in_tiles(const AttentionKernel& kernel) {
  constexpr Threshold least_queries{8, 1};
  constexpr std::uint64_t most_values = 4 * columns_of_tile;
  return kernel.queries >= least_queries && kernel.value_size <= most_values &&
         kernel.value_size * size_of(kernel.output_type) % bytes_per_thread == 0 &&
         work_of_tiles(kernel) <= thread_work_limit;
}

void run_in_tiles(const AttentionKernel& kernel, Dispatch& dispatch) {
  dispatch.kernel = "attention_tiles";
  const std::uint64_t groups = kernel.batch * kernel.heads *
                               divided_up(kernel.queries, queries_of_tile) *
                               divided_up(kernel.value_size, columns_of_tile);
  dispatch.stages.emplace_back(0, groups * group_threads, work_of_tiles(kernel));
}

void run_by_rows(const AttentionKernel& kernel, const Slices& slices, const StageWork& work,
                 Dispatch& dispatch) {
  dispatch.kernel = "attention";
  dispatch.scratch_bytes = slices.rows_at_once * slices.words_of_row(kernel) * sizeof(uint);
  for (std::uint64_t row = 0; row < slices.all_rows; row += slices.rows_at_once)
    add_stages(kernel, slices, work, row, std::min(slices.rows_at_once, slices.all_rows - row),
               dispatch.stages);
}

// As in attention_parts.hlsl.
constexpr std::uint64_t part_size_most = 512;

// Whether vectors of 16 bytes of floats begin in every row.
bool has_wide_vectors(const AttentionInput& input, std::uint64_t size) {
  return (input.data_type == DataType::Float16 || input.data_type == DataType::Float32) &&
         begin_at(input, size, bytes_per_thread / size_of(input.data_type));
}

/// How rows are divided into parts of keys: as many as fill a device, and no more than threads of a
/// group.
Slices parts_of(const AttentionKernel& kernel) {
  constexpr Threshold scratch_words{1 << 22, 2000};
  constexpr std::uint64_t groups_at_least = 1024, fewest_keys = 64;
  Slices slices{};
  slices.all_rows = kernel.batch * kernel.queries * kernel.heads;
  slices.part_keys = std::clamp(kernel.keys * slices.all_rows / groups_at_least / 64 * 64,
                                fewest_keys, group_threads);
  slices.parts = divided_up(kernel.keys, slices.part_keys);
  const std::uint64_t rows = scratch_words / ((kernel.value_size + 2) * slices.parts);
  slices.rows_at_once = std::clamp<std::uint64_t>(rows, 1, slices.all_rows);
  return slices;
}

std::array<std::uint64_t, 2> work_of_parts(const AttentionKernel& kernel, const Slices& slices) {
  constexpr std::uint64_t reductions = 64;
  const std::uint64_t loads = kernel.size + slices.part_keys + slices.parts;
  return {loads + reductions, 4 * slices.parts + reductions};
}

// Whether a group has room for a query and a row of values, and the rows of the output are vectors.
bool suits_parts(const AttentionKernel& kernel) {
  const std::uint64_t together = has_wide_vectors(kernel.value, kernel.value_size)
                                     ? bytes_per_thread / size_of(kernel.value.data_type)
                                     : 1;
  const Slices slices = parts_of(kernel);
  return kernel.size <= part_size_most && kernel.value_size / together <= group_threads &&
         kernel.value_size * size_of(kernel.output_type) % bytes_per_thread == 0 &&
         kernel.value_size * size_of(kernel.output_type) / bytes_per_thread <= group_threads &&
         work_of_parts(kernel, slices)[1] <= thread_work_limit;
}

void run_in_parts(const AttentionKernel& kernel, const Slices& slices, Dispatch& dispatch) {
  dispatch.kernel = "attention_parts";
  dispatch.scratch_bytes =
      slices.rows_at_once * slices.parts * (kernel.value_size + 2) * sizeof(uint);
  const std::array<std::uint64_t, 2> work = work_of_parts(kernel, slices);
  for (std::uint64_t row = 0; row < slices.all_rows; row += slices.rows_at_once) {
    const std::uint64_t rows = std::min(slices.rows_at_once, slices.all_rows - row);
    const std::array threads{rows * slices.parts * group_threads, rows * group_threads};
    for (std::size_t step = 0; step < threads.size(); ++step) {
      Stage& stage = dispatch.stages.emplace_back(0, threads[step], work[step]);
      stage.step = static_cast<std::uint32_t>(step);
      stage.base = word(row);
    }
  }
}

// As in attention_matrices.comp and kernels.cmake.
constexpr std::uint64_t queries_of_matrices = 128, keys_of_matrices = 32;
constexpr std::uint64_t short_vector = 64, longest_vector = 128;

std::uint64_t longer_vector(const AttentionKernel& kernel) {
  return std::max(kernel.size, kernel.value_size);
}

// Whether eights of FLOAT16 begin at multiples of 16 bytes in every row.
bool has_eights(const AttentionInput& input, std::uint64_t size) {
  return input.data_type == DataType::Float16 && begin_at(input, size, 8);
}

std::uint64_t work_of_matrices(const AttentionKernel& kernel) {
  constexpr std::uint64_t tile_work = 128;  // more than the loops of a thread: for their pace
  return (divided_up(kernel.keys, keys_of_matrices) + 1) * tile_work + 1000;
}

// Whether heads are FLOAT16 that stand together, and queries fill at least a quarter of a group.
bool suits_matrices(const AttentionKernel& kernel) {
  const std::uint64_t size = kernel.size, value_size = kernel.value_size;
  return kernel.output_type == DataType::Float16 && has_eights(kernel.query, size) &&
         has_eights(kernel.key, size) && has_eights(kernel.value, value_size) &&
         longer_vector(kernel) <= longest_vector && kernel.queries >= queries_of_matrices / 4 &&
         work_of_matrices(kernel) <= thread_work_limit;
}

// The same by cooperative matrices, for devices that have them.
Dispatch by_matrices(const AttentionKernel& kernel, Dispatch dispatch) {
  dispatch.kernel =
      longer_vector(kernel) <= short_vector ? "attention_matrices_64" : "attention_matrices_128";
  const std::uint64_t groups =
      kernel.batch * kernel.heads * divided_up(kernel.queries, queries_of_matrices);
  dispatch.stages.emplace_back(0, groups * group_threads, work_of_matrices(kernel));
  return dispatch;
}

bool has_64_bits(const AttentionInput& input) {
  return size_of(input.data_type) > 4;
}
bool has_64_bits(const std::optional<AttentionInput>& input) {
  return input && has_64_bits(*input);
}

// Whether threads can go along vectors and sums, and a slice's scores have room.
bool can_run_by_rows(const AttentionKernel& kernel, const Slices& slices, const StageWork& work) {
  constexpr std::uint64_t scratch_words_most = std::uint64_t{1} << 29;
  return *std::max_element(work.begin(), work.end()) <= thread_work_limit &&
         slices.rows_at_once * slices.words_of_row(kernel) <= scratch_words_most;
}

}  // namespace

Dispatches dispatches_of(const AttentionKernel& kernel) {
  if (has_64_bits(kernel.query) || has_64_bits(kernel.key) || has_64_bits(kernel.value) ||
      has_64_bits(kernel.position_bias))
    return refused("GPU kernels compute with at most 32 bits");
  const bool in_tiles = runs_in_tiles(kernel);
  const bool in_parts = !in_tiles && suits_parts(kernel);
  const Slices slices = in_parts ? parts_of(kernel) : slices_of(kernel);
  const StageWork work = work_of(kernel, slices);
  if (!in_tiles && !in_parts && !can_run_by_rows(kernel, slices, work))
    return refused("its vectors or sums are longer than a GPU kernel takes");
  const bool has_mask = kernel.mask != AttentionMask::none;
  std::size_t inputs = 3 + (has_mask ? 1 : 0) + (kernel.position_bias ? 1 : 0);
  Dispatch dispatch;
  set_specialization(dispatch,
                     AttentionSpecialization{
                         .OUTPUT_TYPE = known_type(kernel.output_type),
                         .QUERY_TYPE = known_type(kernel.query.data_type),
                         .KEY_TYPE = known_type(kernel.key.data_type),
                         .VALUE_TYPE = known_type(kernel.value.data_type),
                         .BIAS_TYPE = type_of(kernel.position_bias),
                         .BIAS_BUFFER = has_mask ? 5U : 4U,
                         .MASK = kernel.mask,
                         .IS_BIAS_SCALED = kernel.is_bias_scaled,
                         .IS_VECTORS = has_vectors(kernel),
                         .LENGTHS_BUFFER = kernel.past_lengths ? word(inputs + 1) : 0U,
                         .IS_KEY_VECTORS = has_wide_vectors(kernel.key, kernel.size),
                         .IS_VALUE_VECTORS = has_wide_vectors(kernel.value, kernel.value_size)});
  set_parameters(dispatch, parameters_of(kernel, slices));
  if (kernel.past_lengths) ++inputs;
  for (std::size_t i = 0; i < inputs; ++i) dispatch.inputs.push_back(i);
  if (suits_matrices(kernel)) dispatch.with_matrices.push_back(by_matrices(kernel, dispatch));
  if (in_tiles) {
    run_in_tiles(kernel, dispatch);
  } else if (in_parts) {
    run_in_parts(kernel, slices, dispatch);
  } else {
    run_by_rows(kernel, slices, work, dispatch);
  }
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
