// Rows that are normalized by what they add up to: shaders/rows.hlsl.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "gpu/kernels/element_wise.hpp"
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

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

std::optional<Shape> shape_of(const RowsKernel& kernel) {
  const std::optional<PackedRows> rows = packed_rows(kernel);
  const std::uint64_t elements = kernel.output_elements(), per = per_vector(kernel.input.type);
  if (!rows || rows->length < 2 || elements > 0xFFFFFFFF) return {};
  Shape shape{.length = rows->length};
  if (rows->stride == 1) {
    if (shape.length % per != 0) return {};
    shape.count = shape.length / per;
    shape.tasks = elements / shape.length;
    return shape;
  }
  if (rows->stride % per != 0) return {};
  shape.is_columns = true;
  shape.count = shape.length;
  shape.stride = rows->stride / per;
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

std::optional<OperandLayout> layout_of(const RowsKernel& kernel, const ElementWiseInput& operand) {
  if (operand.constant) return OperandLayout::constant;
  const Sizes& extents = kernel.shape.sizes;
  const std::uint64_t per = per_vector(kernel.input.type);
  if (operand.type != kernel.input.type || extents.back() % per != 0 || extents.size() > axes_most)
    return {};
  if (operand.strides.back() == 0) return OperandLayout::repeated;
  bool are_whole = operand.strides.back() == 1;
  for (std::size_t a = 0; a + 1 < extents.size(); ++a)
    are_whole = are_whole && (extents[a] == 1 || operand.strides[a] % per == 0);
  return are_whole ? OperandLayout::vector : OperandLayout::strided;
}

bool is_normalization(RowOperation operation) {
  return operation == RowOperation::center || operation == RowOperation::normalize ||
         operation == RowOperation::normalize_about_0;
}

void set_operands(RowsParameters& parameters, const RowsKernel& kernel) {
  const Sizes& extents = kernel.shape.sizes;
  parameters.scale = kernel.scale.constant.value_or(1);
  parameters.bias = kernel.bias.constant.value_or(0);
  parameters.rank = word(extents.size());
  std::transform(extents.begin(), extents.end(), parameters.extents, word);
  const auto set_strides = [](const ElementWiseInput& operand, uint* strides) {
    if (!operand.constant)
      std::transform(operand.strides.begin(), operand.strides.end(), strides, word);
  };
  set_strides(kernel.scale, parameters.strides);
  set_strides(kernel.bias, parameters.strides + axes_most);
}

void set_activation(RowsParameters& parameters, const Activation& activation) {
  const auto& reals = activation.function.parameters;
  for (std::size_t i = 0; i < reals.size(); ++i)
    parameters.reals[i] = static_cast<float>(reals[i].real);
  if (!activation.input_scale) return;
  parameters.input_scale = activation.input_scale->scale;
  parameters.input_bias = activation.input_scale->bias;
}

RowsParameters parameters_of(const RowsKernel& kernel, const Shape& shape, const Cut& cut) {
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
  const bool may_overflow = kernel.input.type != DataType::Float16;
  const auto power = may_overflow ? static_cast<int>(std::bit_width(shape.length - 1)) : 0;
  parameters.down = std::ldexp(1.0F, -power);
  parameters.up = std::ldexp(1.0F, power);
  const auto length = static_cast<double>(shape.length);
  const auto high = static_cast<float>(length);
  parameters.scaled_length_high = high * parameters.down;
  parameters.scaled_length_low = static_cast<float>(length - high) * parameters.down;
  parameters.epsilon = kernel.epsilon;
  if (is_normalization(kernel.operation)) set_operands(parameters, kernel);
  parameters.input_scale = 1;
  if (kernel.activation) set_activation(parameters, *kernel.activation);
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

}  // namespace

Dispatches dispatches_of(const RowsKernel& kernel) {
  const DataType type = kernel.input.type;
  if (kernel.output_type != type) return refused("its output has another type");
  const auto activation =
      kernel.activation ? activation_number(kernel.activation->function.expression) : std::nullopt;
  if (kernel.activation && !activation) return refused("its activation is not computed with rows");
  const std::optional<Shape> shape = shape_of(kernel);
  const std::optional<Cut> cut = !shape              ? std::nullopt
                                 : shape->is_columns ? column_cut(*shape)
                                                     : row_cut(*shape, per_vector(type));
  const auto scale = layout_of(kernel, kernel.scale), bias = layout_of(kernel, kernel.bias);
  if (!cut || !scale || !bias) return refused("its rows are not vectors of 16 bytes");
  Dispatch dispatch;
  dispatch.kernel = shape->is_columns ? "rows_columns" : "rows";
  set_specialization(dispatch,
                     RowsSpecialization{.OPERATION = kernel.operation,
                                        .TYPE = known_type(type),
                                        .VECTORS = cut->vectors,
                                        .SCALE = *scale,
                                        .BIAS = *bias,
                                        .ACTIVATION = activation ? word(*activation + 1) : 0,
                                        .IN_PARTS = cut->parts > 1});
  dispatch.inputs = {0};
  if (is_normalization(kernel.operation)) {
    const std::size_t scales = kernel.scale.constant ? 0 : 1;
    dispatch.inputs.push_back(scales);
    dispatch.inputs.push_back(kernel.bias.constant ? 0 : scales + 1);
  }
  set_parameters(dispatch, parameters_of(kernel, *shape, *cut));
  add_stages(dispatch, *shape, *cut);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
