// Reductions: shaders/reduce.hlsl.
#include <algorithm>
#include <bit>
#include <span>

#include "base/threshold.hpp"
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/reduce.hlsli"

DMLOP_SPECIALIZATION(ReduceSpecialization, REDUCE_SPECIALIZATION)

constexpr std::size_t axes_most = 8, operands_most = 3;
constexpr std::uint64_t cell_bytes = 16;

/// Enough threads for a large device to be busy, and elements that a thread takes at least.
constexpr std::uint64_t busy_threads = std::uint64_t{1} << 18;
constexpr Threshold least_elements{16, 1};

/// How rows are given to threads.
struct Cut {
  std::uint64_t lanes = 1;  // of a row or a part of it; a power of two
  std::uint64_t parts = 1;
  std::uint64_t part_length = 1;
};

std::uint64_t row_length(const ReduceKernel& kernel) {
  std::uint64_t length = 1;
  for (std::size_t i = kernel.kept; i < kernel.extents.size(); ++i) length *= kernel.extents[i];
  return length;
}

std::size_t outer_axes(const ReduceKernel& kernel) {
  return kernel.extents.size() - kernel.kept - 1;
}

// Joining the cells of a group's lanes, and packing 16 bytes of results.
constexpr std::uint64_t joining_work = 9 + 4 * 4 + 8;

// So many lanes of a group that its results fill vectors of 16 bytes.
std::uint64_t lanes_most(const ReduceKernel& kernel) {
  return group_threads * size_of(kernel.output_type) / bytes_per_thread;
}

// Whether rows that stand beside each other are read together: neighboring threads then read
// neighboring elements.
bool is_columns(const ReduceKernel& kernel) {
  constexpr Threshold columns_least{16, 2};
  const std::vector<std::uint64_t>& strides = kernel.operands.front().strides;
  return kernel.extents[kernel.kept - 1] >= columns_least &&
         strides[kernel.kept - 1] < strides.back();
}

std::uint64_t per_vector(const ReduceKernel& kernel) {
  return bytes_per_thread / size_of(kernel.operands.front().data_type);
}

// Whether rows, or what stands side by side, consist of vectors of floats.
bool has_vectors(const ReduceKernel& kernel, std::size_t axis) {
  const ReduceOperand& operand = kernel.operands.front();
  if (kernel.function == ReduceFunction::product || kernel.operands.size() != 1 ||
      !is_known_float(operand.data_type) || operand.is_position || operand.strides[axis] != 1 ||
      kernel.extents[axis] % per_vector(kernel) != 0)
    return false;
  for (std::size_t a = 0; a < operand.strides.size(); ++a) {
    if (a != axis && operand.strides[a] % per_vector(kernel) != 0) return false;
  }
  return true;
}

enum class Vectors : uint { none, along_rows = ALONG_ROWS, along_columns = ALONG_COLUMNS };
Vectors vectors_of(const ReduceKernel& kernel) {
  if (outer_axes(kernel) == 0 && has_vectors(kernel, kernel.kept)) return Vectors::along_rows;
  const bool fills_outputs =
      per_vector(kernel) * size_of(kernel.output_type) % bytes_per_thread == 0;
  // As measured: neighboring threads read FLOAT32 of neighboring columns as fast alone.
  const bool has_halves = kernel.operands.front().data_type == DataType::Float16;
  return has_halves && is_columns(kernel) && fills_outputs && has_vectors(kernel, kernel.kept - 1)
             ? Vectors::along_columns
             : Vectors::none;
}

// Iterations of a thread's loops while it gathers a part. A sum whose terms leave the range of
// floats is taken twice.
std::uint64_t gathering_work(const ReduceKernel& kernel, const Cut& cut) {
  const std::uint64_t elements = divided_up(cut.part_length, cut.lanes);
  const std::uint64_t axes = outer_axes(kernel);
  const std::uint64_t place = axes > 1 ? axes + 1 : 0;  // where an element stands
  const std::uint64_t levels = 4 * 3;
  // At worst no loop is unrolled: of four elements or eight, each is loaded and then added; so are
  // vectors of columns, for each of these.
  const std::uint64_t columns = vectors_of(kernel) == Vectors::along_columns ? 8 : 1;
  const std::uint64_t per_column = columns > 1 ? 1 + 2 * 4 : 4;
  const std::uint64_t loops = divided_up(elements, 4) * (1 + 4 + columns * per_column) + 8;
  return 2 * (loops + (elements + 2) * place) + axes_most + levels + columns * joining_work;
}

// Columns of vectors: as few lanes for each as keep a device busy, so that much is read at a
// stretch, and parts only of what these do not suffice for.
Cut column_cut(const ReduceKernel& kernel) {
  constexpr std::uint64_t lanes_most = 16;
  const std::uint64_t length = row_length(kernel);
  const std::uint64_t vectors = kernel.output_elements() / per_vector(kernel);
  Cut cut;
  const auto can_double = [&] {
    return vectors * cut.lanes * cut.parts < busy_threads &&
           2 * cut.parts * cut.lanes * least_elements <= length;
  };
  while (cut.lanes < lanes_most && can_double()) cut.lanes *= 2;
  while (can_double()) cut.parts *= 2;
  for (;; cut.parts *= 2) {
    cut.part_length = divided_up(length, cut.parts);
    if (gathering_work(kernel, cut) <= thread_work_limit) break;
  }
  cut.parts = divided_up(length, cut.part_length);
  return cut;
}

Cut cut_of(const ReduceKernel& kernel) {
  if (vectors_of(kernel) == Vectors::along_columns) return column_cut(kernel);
  const std::uint64_t length = row_length(kernel), outputs = kernel.output_elements();
  Cut cut;
  if (!is_columns(kernel)) {
    const bool are_few = outputs * lanes_most(kernel) < busy_threads;
    const std::uint64_t most = are_few ? group_threads : lanes_most(kernel);
    // Joining lanes costs time, which many rows do not have to take.
    const std::uint64_t least_each = are_few ? 8 : 64;
    while (cut.lanes < most && least_each * cut.lanes <= length) cut.lanes *= 2;
  }
  const std::uint64_t least_length = cut.lanes * least_elements;
  while (outputs * cut.lanes * cut.parts < busy_threads && 2 * cut.parts * least_length <= length)
    cut.parts *= 2;
  for (;; cut.parts *= 2) {
    cut.part_length = divided_up(length, cut.parts);
    if (vectors_of(kernel) == Vectors::along_rows)
      cut.part_length = divided_up(cut.part_length, per_vector(kernel)) * per_vector(kernel);
    if (gathering_work(kernel, cut) <= thread_work_limit) break;
  }
  cut.parts = divided_up(length, cut.part_length);
  return cut;
}

void set_axes(ReduceParameters& parameters, const ReduceKernel& kernel) {
  const std::size_t kept = kernel.kept, outer = outer_axes(kernel);
  parameters.kept = word(kept);
  parameters.outer = word(outer);
  const auto extents = kernel.extents.begin();
  const auto first_outer = extents + static_cast<std::ptrdiff_t>(kept);
  std::transform(extents, first_outer, parameters.kept_extents, word);
  std::transform(first_outer, kernel.extents.end() - 1, parameters.outer_extents, word);
  parameters.inner_extent = word(kernel.extents.back());
  for (std::size_t k = 0; k < kernel.operands.size(); ++k) {
    const std::span strides(kernel.operands[k].strides);
    const auto kept_strides = strides.first(kept), outer_strides = strides.subspan(kept, outer);
    std::transform(kept_strides.begin(), kept_strides.end(),
                   parameters.kept_strides + k * axes_most, word);
    std::transform(outer_strides.begin(), outer_strides.end(),
                   parameters.outer_strides + k * axes_most, word);
    parameters.inner_strides[k] = word(strides.back());
  }
}

bool is_same_in_row(const ReduceKernel& kernel, const ReduceOperand& operand) {
  const auto row = operand.strides.begin() + static_cast<std::ptrdiff_t>(kernel.kept);
  return std::all_of(row, operand.strides.end(), [](std::uint64_t stride) { return stride == 0; });
}

uint type_word(const ReduceKernel& kernel, std::size_t k) {
  if (k >= kernel.operands.size()) return 0;
  const ReduceOperand& operand = kernel.operands[k];
  uint type = known_type(operand.data_type);
  if (operand.is_position) type |= IS_POSITION;
  if (k > 0 && is_same_in_row(kernel, operand)) type |= IS_FIXED;
  return type;
}

void add_stage(Dispatch& dispatch, std::uint64_t tasks, std::uint64_t lanes, std::uint64_t work,
               uint step) {
  Stage& stage = dispatch.stages.emplace_back(0, tasks * lanes, work);
  stage.step = step;
  stage.base = static_cast<uint>(std::countr_zero(lanes));
}

// The stages: whole rows at once, or their parts and what these give together.
void add_stages(Dispatch& dispatch, const ReduceKernel& kernel, const Cut& cut) {
  const std::uint64_t outputs = kernel.output_elements();
  const std::uint64_t work = gathering_work(kernel, cut);
  const bool are_columns = vectors_of(kernel) == Vectors::along_columns;
  const std::uint64_t tasks = are_columns ? outputs / per_vector(kernel) : outputs;
  if (cut.parts == 1 && (are_columns || cut.lanes <= lanes_most(kernel)))
    return add_stage(dispatch, tasks, cut.lanes, work, WRITES_OUTPUTS);
  dispatch.scratch_bytes = outputs * cut.parts * cell_bytes;
  add_stage(dispatch, tasks * cut.parts, cut.lanes, work, 0);
  std::uint64_t lanes = 1;
  while (lanes < lanes_most(kernel) && 8 * lanes <= cut.parts) lanes *= 2;
  const std::uint64_t levels = 1 + 4;
  add_stage(dispatch, outputs, lanes, divided_up(cut.parts, lanes) * levels + joining_work,
            READS_CELLS | WRITES_OUTPUTS);
}

ReduceParameters parameters_of(const ReduceKernel& kernel, const Cut& cut) {
  const std::uint64_t length = row_length(kernel), inner = kernel.extents.back();
  ReduceParameters parameters{};
  parameters.outputs = word(kernel.output_elements());
  parameters.length = word(length);
  parameters.parts = word(cut.parts);
  parameters.part_length = word(cut.part_length);
  set_axes(parameters, kernel);
  const bool is_flat = outer_axes(kernel) == 0;
  parameters.step_outer = is_flat ? 0 : word(cut.lanes / inner);
  parameters.step_inner = word(is_flat ? cut.lanes : cut.lanes % inner);
  parameters.length_high = static_cast<float>(length);
  parameters.length_low = static_cast<float>(static_cast<double>(length) - parameters.length_high);
  return parameters;
}

}  // namespace

Dispatches dispatches_of(const ReduceKernel& kernel) {
  const auto is_double = [](const ReduceOperand& operand) {
    return operand.data_type == DataType::Float64;
  };
  if (std::any_of(kernel.operands.begin(), kernel.operands.end(), is_double))
    return refused("GPU kernels compute with at most 32 bits");
  if (kernel.kept > axes_most || outer_axes(kernel) > axes_most)
    return refused("it has more than 8 dimensions");
  const Cut cut = cut_of(kernel);
  constexpr std::uint64_t threads_most = std::uint64_t{0xFFFFFFFF} - group_threads;
  if (kernel.output_elements() * cut.parts * cut.lanes > threads_most)
    return refused("it has too many outputs");
  Dispatch dispatch;
  dispatch.kernel = "reduce";
  set_specialization(
      dispatch, ReduceSpecialization{.REDUCTION = kernel.function,
                                     .TERM = kernel.term,
                                     .FINISH = kernel.finish,
                                     .TAKES_LAST = kernel.takes_last,
                                     .OUTPUT_TYPE = known_type(kernel.output_type),
                                     .OPERANDS = kernel.operands.size(),
                                     .OUTER_AXES = std::min<std::size_t>(outer_axes(kernel), 2),
                                     .TYPE_0 = type_word(kernel, 0),
                                     .TYPE_1 = type_word(kernel, 1),
                                     .TYPE_2 = type_word(kernel, 2),
                                     .BY_VECTORS = vectors_of(kernel)});
  for (std::size_t k = 0; k < operands_most; ++k) {
    if (k < kernel.operands.size() && !kernel.operands[k].is_position)
      dispatch.inputs.push_back(dispatch.inputs.size());
  }
  set_parameters(dispatch, parameters_of(kernel, cut));
  add_stages(dispatch, kernel, cut);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
