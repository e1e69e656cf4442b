// Rows that are normalized by what they add up to: shaders/rows.hlsl.

#include <algorithm>
#include <bit>
#include <cmath>

#include "gpu/kernels/element_wise.hpp"
#include "gpu/kernels/fused_passes.hpp"
#include "gpu/kernels/parameters.hpp"
#include "ops/row_passes.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/rows.hlsli"

DMLOP_SPECIALIZATION(RowsSpecialization, ROWS_SPECIALIZATION)

enum Step : uint { whole_rows = WHOLE_ROWS, in_parts = PARTS, join = JOIN, outputs = OUTPUTS };
enum class OperandLayout : uint {  // of a scale or bias
  constant = IS_CONSTANT,
  repeated = IS_REPEATED,
  vector = IS_VECTOR,
  strided = IS_STRIDED
};
constexpr std::uint64_t part_words = 8, result_words = 2;

// --- which passes

/// Passes over rows, with the activation that follows.
struct Match : RowPasses {
  const ElementWiseKernel* activation = nullptr;
};

// Adds the activation that follows.
void add_activation(const Plan& plan, std::size_t first, Match& match) {
  const std::size_t next = first + match.passes;
  if (next == plan.passes.size()) return;
  const auto* activation = std::get_if<ElementWiseKernel>(&plan.passes[next].kernel);
  if (activation == nullptr || activation->inputs.size() != 1 ||
      activation->inputs.front().constant || activation->compute != ComputeType::float32)
    return;
  const std::size_t values = plan.passes[next - 1].writes.front();
  if (plan.passes[next].reads != std::vector{values} || !is_forgotten(plan, values, next) ||
      !is_packed(*activation, activation->inputs.front()) ||
      match.map->output_type != DataType::Float32 || !activation_number(activation->expression))
    return;
  match.activation = activation;
  ++match.passes;
}

// --- how rows are given to threads

/// How rows lie, and their vectors, as in the kernel's parameters.
struct Shape {
  bool is_columns = false;
  std::uint64_t length = 1;  // elements
  std::uint64_t count = 1;
  std::uint64_t stride = 1;
  std::uint64_t tasks = 1;  // rows, or vectors of columns
};

struct Cut {
  std::uint64_t lanes = 1;    // of a row or a part
  std::uint64_t vectors = 1;  // of a lane
  std::uint64_t parts = 1;
  std::uint64_t part_count = 1;
};

std::uint64_t per_vector(DataType type) {
  return bytes_per_thread / size_of(type);
}

std::optional<Shape> shape_of(const Match& match) {
  const ReduceKernel& kernel = *match.reduction;
  const ElementWiseKernel& map = *match.map;
  const DataType type = kernel.operands.front().data_type;
  const std::uint64_t elements = map.output_elements(), per = per_vector(type);
  Shape shape{.length = kernel.extents.back()};
  const std::uint64_t stride = kernel.operands.front().strides.back();
  if (kernel.extents.size() != kernel.kept + 1 || shape.length < 2 || elements > 0xFFFFFFFF ||
      kernel.output_elements() * shape.length != elements || !is_packed(map, map.inputs.front()))
    return {};
  if (stride == 1) {
    if (shape.length % per != 0) return {};
    shape.count = shape.length / per;
    shape.tasks = elements / shape.length;
    return shape;
  }
  if (stride % per != 0 || stride == 0) return {};
  shape.is_columns = true;
  shape.count = shape.length;
  shape.stride = stride / per;
  shape.tasks = elements / shape.length / per;
  return shape;
}

// A row that lies at a stretch: neighboring lanes take neighboring vectors, and each at best 32
// numbers.
Cut row_cut(const Shape& shape, std::uint64_t per) {
  constexpr std::uint64_t numbers = 32, numbers_most = 64, warp = 32;
  Cut cut;
  while (cut.lanes < group_threads &&
         (cut.lanes < std::min(shape.count, warp) || cut.lanes * numbers / per < shape.count))
    cut.lanes *= 2;
  cut.vectors = std::bit_ceil(divided_up(shape.count, cut.lanes));
  cut.part_count = shape.count;
  if (cut.vectors * per <= numbers_most) return cut;
  cut.vectors = numbers / per;
  cut.part_count = cut.lanes * cut.vectors;
  cut.parts = divided_up(shape.count, cut.part_count);
  return cut;
}

// Columns: a lane takes up to 16 elements of each, and 4 lanes at least stand beside each other.
std::optional<Cut> column_cut(const Shape& shape) {
  constexpr std::uint64_t most = 16, wanted = 8, lanes_most = 64;
  Cut cut{.part_count = shape.count};
  if (shape.count > most) {
    while (cut.lanes < lanes_most && cut.lanes * wanted < shape.count) cut.lanes *= 2;
  }
  cut.vectors = std::bit_ceil(divided_up(shape.count, cut.lanes));
  if (cut.vectors > most) return {};
  return cut;
}

// --- the dispatch

std::optional<OperandLayout> layout_of(const ElementWiseKernel& map, std::size_t k, DataType type) {
  const ElementWiseInput& input = map.inputs[k];
  if (input.constant) return OperandLayout::constant;
  const std::uint64_t per = per_vector(type);
  if (input.type != type || map.extents.back() % per != 0 || map.extents.size() > axes_most)
    return {};
  if (input.strides.back() == 0) return OperandLayout::repeated;
  bool are_whole = input.strides.back() == 1;
  for (std::size_t a = 0; a + 1 < map.extents.size(); ++a)
    are_whole = are_whole && (map.extents[a] == 1 || input.strides[a] % per == 0);
  return are_whole ? OperandLayout::vector : OperandLayout::strided;
}

bool is_normalization(const Match& match) {
  return match.map->expression == Expression::normalize;
}

void set_operands(RowsParameters& parameters, const ElementWiseKernel& map) {
  parameters.scale = map.inputs[3].constant.value_or(1);
  parameters.bias = map.inputs[4].constant.value_or(0);
  parameters.rank = word(map.extents.size());
  std::transform(map.extents.begin(), map.extents.end(), parameters.extents, word);
  for (std::size_t k = 0; k < 2; ++k) {
    const ElementWiseInput& input = map.inputs[3 + k];
    if (input.constant) continue;
    std::transform(input.strides.begin(), input.strides.end(), parameters.strides + k * axes_most,
                   word);
  }
}

RowsParameters parameters_of(const Match& match, const Shape& shape, const Cut& cut) {
  RowsParameters parameters{};
  const std::uint64_t per = shape.is_columns ? 1 : shape.length / shape.count;
  parameters.rows = word(shape.tasks);
  parameters.count = word(shape.count);
  parameters.stride = word(shape.stride);
  parameters.parts = word(cut.parts);
  parameters.part_count = word(cut.part_count);
  parameters.part_length = static_cast<float>(cut.part_count * per);
  parameters.last_length =
      static_cast<float>(shape.length - (cut.parts - 1) * cut.part_count * per);
  // Sums of FLOAT16 do not leave the range of FLOAT32.
  const bool may_overflow = match.reduction->operands.front().data_type != DataType::Float16;
  const auto power = may_overflow ? static_cast<int>(std::bit_width(shape.length - 1)) : 0;
  parameters.down = std::ldexp(1.0F, -power);
  parameters.up = std::ldexp(1.0F, power);
  const auto length = static_cast<double>(shape.length);
  const auto high = static_cast<float>(length);
  parameters.scaled_length_high = high * parameters.down;
  parameters.scaled_length_low = static_cast<float>(length - high) * parameters.down;
  parameters.epsilon = static_cast<float>(match.map->parameters[0].real);
  if (is_normalization(match)) set_operands(parameters, *match.map);
  parameters.input_scale = 1;
  if (match.activation == nullptr) return parameters;
  for (std::size_t i = 0; i < match.activation->parameters.size(); ++i)
    parameters.reals[i] = static_cast<float>(match.activation->parameters[i].real);
  if (match.activation->input_scale) {
    parameters.input_scale = match.activation->input_scale->scale;
    parameters.input_bias = match.activation->input_scale->bias;
  }
  return parameters;
}

void add_stage(Dispatch& dispatch, Step step, std::uint64_t tasks, std::uint64_t lanes,
               std::uint64_t work) {
  Stage& stage = dispatch.stages.emplace_back(0, tasks * lanes, work);
  stage.step = step;
  stage.base = static_cast<uint>(std::countr_zero(lanes));
}

void add_stages(Dispatch& dispatch, const Shape& shape, const Cut& cut) {
  // Loops over the fours of a lane, each with a scale, a bias and an activation; joining lanes.
  constexpr std::uint64_t fours_most = 32, joining_work = 2 * (9 * 3 + 8);
  constexpr std::uint64_t work = fours_most * (4 + 2 * (axes_most + 1) + 5) + joining_work + 8;
  if (cut.parts == 1) return add_stage(dispatch, whole_rows, shape.tasks, cut.lanes, work);
  dispatch.scratch_bytes = 4 * shape.tasks * (part_words * cut.parts + result_words);
  const std::uint64_t parts = shape.tasks * cut.parts;
  const std::uint64_t joining_lanes = std::min(std::bit_ceil(cut.parts), group_threads);
  add_stage(dispatch, in_parts, parts, cut.lanes, work);
  add_stage(dispatch, join, shape.tasks, joining_lanes,
            2 * (divided_up(cut.parts, joining_lanes) + 1) + 4 * joining_work);
  add_stage(dispatch, outputs, parts, cut.lanes, work);
}

std::optional<FusedPasses> fused(const Plan& plan, std::size_t first, const Match& match) {
  const DataType type = match.reduction->operands.front().data_type;
  const ElementWiseKernel& last = match.activation != nullptr ? *match.activation : *match.map;
  if (last.output_type != type || match.map->inputs.front().type != type) return {};
  const std::optional<Shape> shape = shape_of(match);
  if (!shape) return {};
  const std::optional<Cut> cut =
      shape->is_columns ? column_cut(*shape) : row_cut(*shape, per_vector(type));
  if (!cut) return {};
  std::array layouts{OperandLayout::constant, OperandLayout::constant};
  FusedPasses rows{.passes = match.passes,
                   .reads = {plan.passes[first].reads.front()},
                   .write = plan.passes[first + match.passes - 1].writes.front(),
                   .dispatch = {}};
  rows.dispatch.inputs = {0};
  if (is_normalization(match)) {
    const std::size_t map_pass = first + match.passes - (match.activation != nullptr ? 2 : 1);
    const std::vector<std::size_t>& slots = plan.passes[map_pass].reads;
    std::size_t read = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      const bool is_slot = !match.map->inputs[k].constant;
      if (k >= 3) {
        const std::optional<OperandLayout> layout = layout_of(*match.map, k, type);
        if (!layout) return {};
        layouts.at(k - 3) = *layout;
        rows.dispatch.inputs.push_back(is_slot ? rows.reads.size() : 0);
        if (is_slot) rows.reads.push_back(slots[read]);
      }
      if (is_slot) ++read;
    }
  }
  const std::optional<std::size_t> activation =
      match.activation != nullptr ? activation_number(last.expression) : std::nullopt;
  rows.dispatch.kernel = shape->is_columns ? "rows_columns" : "rows";
  set_specialization(rows.dispatch,
                     RowsSpecialization{.OPERATION = match.operation,
                                        .TYPE = known_type(type),
                                        .VECTORS = cut->vectors,
                                        .SCALE = layouts[0],
                                        .BIAS = layouts[1],
                                        .ACTIVATION = activation ? word(*activation + 1) : 0,
                                        .IN_PARTS = cut->parts > 1});
  set_parameters(rows.dispatch, parameters_of(match, *shape, *cut));
  add_stages(rows.dispatch, *shape, *cut);
  return rows;
}

}  // namespace

std::optional<FusedPasses> fused_rows(const Plan& plan, std::size_t first) {
  const std::optional<RowPasses> found = row_passes(plan, first);
  if (!found) return {};
  Match match{*found};
  add_activation(plan, first, match);
  return fused(plan, first, match);
}

}  // namespace dmlop::gpu::kernels
