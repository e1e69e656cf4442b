#include "ops/rows.hpp"

#include <algorithm>
#include <numeric>

#include "ops/activation.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

std::uint64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
}

// The strides of a tensor whose sizes of 1 repeat.
Strides repeating(const Sizes& sizes, Strides strides) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) strides[i] = 0;
  }
  return strides;
}

/// Axes with the strides of several operands along them.
class Axes {
 public:
  explicit Axes(const std::vector<RowValue>& operands) : operands_(operands) {}

  // Where each operand goes on as it does inside, the axis merges with the one before.
  void add(std::size_t axis, std::uint64_t extent) {
    if (extent == 1) return;
    std::vector<std::uint64_t> strides;
    for (const RowValue& value : operands_) strides.push_back(value.operand.strides[axis]);
    if (!axes_.empty() && nest(axes_.back().strides, extent, strides)) {
      axes_.back() = {axes_.back().extent * extent, std::move(strides)};
    } else {
      axes_.push_back({extent, std::move(strides)});
    }
  }

  // The axes in the end of the kernel's; at least one.
  void append_to(std::vector<std::uint64_t>& extents, std::vector<Operand>& operands) const {
    for (const Axis& axis : axes_) append(axis, extents, operands);
    if (axes_.empty()) append({1, Strides(operands.size(), 0)}, extents, operands);
  }

 private:
  struct Axis {
    std::uint64_t extent;
    Strides strides;  // of each operand
  };

  static bool nest(const Strides& outer, std::uint64_t extent, const Strides& inner) {
    for (std::size_t k = 0; k < inner.size(); ++k) {
      if (outer[k] != extent * inner[k]) return false;
    }
    return true;
  }

  static void append(const Axis& axis, std::vector<std::uint64_t>& extents,
                     std::vector<Operand>& operands) {
    extents.push_back(axis.extent);
    for (std::size_t k = 0; k < operands.size(); ++k)
      operands[k].strides.push_back(axis.strides[k]);
  }

  const std::vector<RowValue>& operands_;
  std::vector<Axis> axes_;
};

std::vector<Operand> without_strides(const std::vector<RowValue>& values) {
  std::vector<Operand> operands;
  for (const RowValue& value : values) {
    operands.push_back(value.operand);
    operands.back().strides.clear();
  }
  return operands;
}

bool finds_index(ReduceFunction function) {
  return function == ReduceFunction::index_of_minimum ||
         function == ReduceFunction::index_of_maximum;
}

}  // namespace

RowShape RowShape::along(const Sizes& sizes, const std::vector<std::int64_t>& axes) {
  RowShape shape{sizes, std::vector<bool>(sizes.size())};
  for (const std::int64_t axis : axes) shape.is_reduced[static_cast<std::size_t>(axis)] = true;
  return shape;
}

RowShape RowShape::around(const Sizes& sizes, const Sizes& values) {
  RowShape shape{sizes, {}};
  for (const std::uint64_t size : values) shape.is_reduced.push_back(size == 1);
  return shape;
}

Sizes RowShape::value_sizes() const {
  Sizes values = sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (is_reduced[i]) values[i] = 1;
  }
  return values;
}

std::uint64_t RowShape::length() const {
  return product(sizes) / product(value_sizes());
}

ReduceKernel reduce_kernel(const RowShape& shape, const Reduction& reduction,
                           const std::vector<RowValue>& operands, DataType type) {
  ReduceKernel kernel{.function = reduction.function,
                      .term = reduction.term,
                      .finish = reduction.finish,
                      .takes_last = reduction.takes_last,
                      .output_type = type,
                      .operands = without_strides(operands)};
  Axes kept(operands), reduced(operands);
  std::vector<std::size_t> row;
  for (std::size_t i = 0; i < shape.sizes.size(); ++i) {
    if (shape.is_reduced[i])
      row.push_back(i);
    else
      kept.add(i, shape.sizes[i]);
  }
  // Memory is read in order, unless the order counts.
  const Strides& strides = operands.front().operand.strides;
  if (!finds_index(reduction.function)) {
    std::stable_sort(row.begin(), row.end(),
                     [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  }
  for (const std::size_t axis : row) reduced.add(axis, shape.sizes[axis]);
  kept.append_to(kernel.extents, kernel.operands);
  kernel.kept = kernel.extents.size();
  reduced.append_to(kernel.extents, kernel.operands);
  return kernel;
}

std::vector<std::size_t> slots_of(const std::vector<RowValue>& operands) {
  std::vector<std::size_t> slots;
  for (const RowValue& value : operands) {
    if (value.slot) slots.push_back(*value.slot);
  }
  return slots;
}

RowValue RowPlan::tensor(std::string_view field) {
  const TensorDesc& desc = description_.tensor(field);
  return {{.data_type = *desc.data_type, .strides = repeating(desc.sizes, input_strides(desc))},
          builder_.tensor(field)};
}

RowValue RowPlan::tensor_or(std::string_view field, float otherwise) {
  return builder_.find(field) ? tensor(field) : constant(otherwise);
}

RowValue RowPlan::constant(float value) const {
  return {{.source = OperandSource::constants,
           .strides = Strides(shape_.sizes.size(), 0),
           .constants = {value}}};
}

RowValue RowPlan::constants(std::size_t axis, std::vector<float> values) const {
  RowValue result = constant(0);
  result.operand.strides[axis] = 1;
  result.operand.constants = std::move(values);
  return result;
}

RowValue RowPlan::position() const {
  Sizes row = shape_.sizes;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!shape_.is_reduced[i]) row[i] = 1;
  }
  return {{.source = OperandSource::position, .strides = repeating(row, packed_strides(row))}};
}

RowValue RowPlan::temporary(std::string what, const Sizes& sizes, DataType type) {
  return {{.data_type = type, .strides = repeating(sizes, packed_strides(sizes))},
          builder_.temporary(std::move(what), product(sizes), size_of(type))};
}

RowValue RowPlan::reduced(std::string what, const Reduction& reduction,
                          const std::vector<RowValue>& operands, DataType type) {
  const RowValue result = temporary(std::move(what), shape_.value_sizes(), type);
  builder_.add(reduce_kernel(shape_, reduction, operands, type), slots_of(operands),
               {*result.slot});
  return result;
}

void RowPlan::reduce(std::string_view output, const Reduction& reduction,
                     const std::vector<RowValue>& operands) {
  const DataType type = *description_.tensor(output).data_type;
  builder_.add(reduce_kernel(shape_, reduction, operands, type), slots_of(operands),
               {builder_.tensor(output)});
}

RowMapKernel RowPlan::map_kernel(RowFunction function, const std::vector<RowValue>& operands,
                                 const std::array<float, 3>& parameters, bool is_per_row) const {
  RowMapKernel kernel{
      .function = function, .parameters = parameters, .operands = without_strides(operands)};
  const Sizes sizes = is_per_row ? shape_.value_sizes() : shape_.sizes;
  Axes axes(operands);
  for (std::size_t i = 0; i < sizes.size(); ++i) axes.add(i, sizes[i]);
  axes.append_to(kernel.extents, kernel.operands);
  return kernel;
}

RowValue RowPlan::mapped(std::string what, RowFunction function,
                         const std::vector<RowValue>& operands,
                         const std::array<float, 3>& parameters, bool is_per_row) {
  const Sizes sizes = is_per_row ? shape_.value_sizes() : shape_.sizes;
  const RowValue result = temporary(std::move(what), sizes, DataType::Float32);
  builder_.add(map_kernel(function, operands, parameters, is_per_row), slots_of(operands),
               {*result.slot});
  return result;
}

void RowPlan::map(std::string_view output, RowFunction function,
                  const std::vector<RowValue>& operands, const std::array<float, 3>& parameters,
                  bool is_per_row) {
  const auto make = [&](DataType written) -> Kernel {
    RowMapKernel kernel = map_kernel(function, operands, parameters, is_per_row);
    kernel.output_types = {written};
    return kernel;
  };
  if (is_per_row) {
    const DataType type = *description_.tensor(output).data_type;
    return builder_.add(make(type), slots_of(operands), {builder_.tensor(output)});
  }
  add_with_activation(builder_, description_, output, make, slots_of(operands));
}

void RowPlan::map(const std::vector<std::string_view>& outputs, RowFunction function,
                  const std::vector<RowValue>& operands, const std::array<float, 3>& parameters) {
  RowMapKernel kernel = map_kernel(function, operands, parameters, false);
  kernel.output_types.clear();
  std::vector<std::size_t> slots;
  for (const std::string_view output : outputs) {
    kernel.output_types.push_back(*description_.tensor(output).data_type);
    slots.push_back(builder_.tensor(output));
  }
  builder_.add(std::move(kernel), slots_of(operands), slots);
}

}  // namespace dmlop
