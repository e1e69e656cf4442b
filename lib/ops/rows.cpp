#include "ops/rows.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

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

bool finds_index(ReduceFunction function) {
  return function == ReduceFunction::index_of_minimum ||
         function == ReduceFunction::index_of_maximum;
}

std::vector<std::size_t> slots_of(const std::vector<RowValue>& operands) {
  std::vector<std::size_t> slots;
  for (const RowValue& value : operands) {
    if (value.constant) throw std::logic_error("a reduction: its operands are tensors");
    slots.push_back(value.slot);
  }
  return slots;
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

std::array<Parameter, 4> parameters(const std::vector<double>& values) {
  std::array<Parameter, 4> result;
  for (std::size_t i = 0; i < values.size(); ++i) result.at(i).real = static_cast<float>(values[i]);
  return result;
}

ReduceKernel reduce_kernel(const RowShape& shape, const Reduction& reduction,
                           const std::vector<RowValue>& operands, DataType type) {
  ReduceKernel kernel{.function = reduction.function,
                      .term = reduction.term,
                      .finish = reduction.finish,
                      .takes_last = reduction.takes_last,
                      .output_type = type};
  std::vector<Strides> strides;
  for (const RowValue& value : operands) strides.push_back(value.strides);
  StridedAxes axes, row;
  for (std::size_t i = 0; const StridedAxis& axis : strided_axes(shape.sizes, strides))
    (shape.is_reduced[i++] ? row : axes).push_back(axis);
  // Memory is read in order, unless the order of elements counts.
  if (!finds_index(reduction.function)) {
    std::stable_sort(row.begin(), row.end(), [](const StridedAxis& a, const StridedAxis& b) {
      return a.strides[0] > b.strides[0];
    });
  }
  axes = merged(axes);
  row = merged(row);
  kernel.kept = axes.size();
  axes.insert(axes.end(), row.begin(), row.end());
  kernel.extents = extents_of(axes);
  for (std::size_t k = 0; k < operands.size(); ++k)
    kernel.operands.push_back({operands[k].type, strides_of(axes, k)});
  return kernel;
}

void add_rows(PlanBuilder& plan, RowOperation operation, const RowShape& shape,
              const RowOperands& operands, std::size_t output, DataType output_type,
              std::optional<Activation> activation) {
  // Axes are merged as those of a pass that reads a value of each row, too.
  const Sizes values = shape.value_sizes();
  const RowValue row{.strides = repeating(values, packed_strides(values))};
  const ElementWiseKernel merged =
      element_wise(Expression::normalize, shape.sizes,
                   {operands.x, operands.scale, operands.bias, row}, output_type);
  // Member by member: GCC 12 frees a vector of the braces twice where the next one gets no memory.
  RowsKernel kernel;
  kernel.operation = operation;
  kernel.shape.sizes = merged.extents;
  kernel.input = merged.inputs[0];
  kernel.scale = merged.inputs[1];
  kernel.bias = merged.inputs[2];
  kernel.epsilon = static_cast<float>(operands.epsilon);
  kernel.output_type = output_type;
  kernel.activation = activation;
  for (const std::uint64_t stride : merged.inputs[3].strides)
    kernel.shape.is_reduced.push_back(stride == 0);
  plan.add(std::move(kernel), slots_read({operands.x, operands.scale, operands.bias}), {output});
}

RowValue RowPlan::tensor(std::string_view field) {
  const TensorDesc& desc = description_->tensor(field);
  return {builder_.tensor(field), *desc.data_type, repeating(desc.sizes, input_strides(desc))};
}

RowValue RowPlan::tensor_or(std::string_view field, float otherwise) {
  return builder_.find(field) ? tensor(field) : constant(otherwise);
}

RowValue RowPlan::constant(float value) const {
  return {.strides = Strides(shape_.sizes.size(), 0), .constant = value};
}

RowValue RowPlan::positions() {
  Sizes row = shape_.sizes;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!shape_.is_reduced[i]) row[i] = 1;
  }
  const DataType type = position_type();
  const RowValue result = temporary("the positions in a row", row, type);
  // Each is all of a row that has one element.
  ReduceKernel kernel{.function = ReduceFunction::minimum,
                      .output_type = type,
                      .extents = {product(row), 1},
                      .operands = {{type, {1, 0}, true}}};
  builder_.add(std::move(kernel), {}, {result.slot});
  return result;
}

DataType RowPlan::position_type() const {
  return shape_.length() <= 0xFFFFFFFF ? DataType::UInt32 : DataType::UInt64;
}

RowValue RowPlan::temporary(std::string what, const Sizes& sizes, DataType type) {
  return {builder_.temporary(std::move(what), product(sizes), size_of(type)), type,
          repeating(sizes, packed_strides(sizes))};
}

RowValue RowPlan::reduced(std::string what, const Reduction& reduction,
                          const std::vector<RowValue>& operands, DataType type) {
  const RowValue result = temporary(std::move(what), shape_.value_sizes(), type);
  builder_.add(reduce_kernel(shape_, reduction, operands, type), slots_of(operands), {result.slot});
  return result;
}

void RowPlan::reduce(std::string_view output, const Reduction& reduction,
                     const std::vector<RowValue>& operands) {
  const DataType type = *description_->tensor(output).data_type;
  builder_.add(reduce_kernel(shape_, reduction, operands, type), slots_of(operands),
               {builder_.tensor(output)});
}

void RowPlan::normalize(std::string_view output, RowOperation operation,
                        const RowOperands& operands) {
  add_rows(builder_, operation, shape_, operands, builder_.tensor(output),
           *description_->tensor(output).data_type, element_wise_activation(*description_));
}

RowValue RowPlan::mapped(std::string what, Expression expression,
                         const std::vector<RowValue>& operands, const std::vector<double>& values) {
  const RowValue result = temporary(std::move(what), shape_.sizes, DataType::Float32);
  add_element_wise(builder_, expression, shape_.sizes, operands, result.slot, result.type,
                   parameters(values));
  return result;
}

void RowPlan::map(std::string_view output, Expression expression,
                  const std::vector<RowValue>& operands, const std::vector<double>& values) {
  const auto make = [&](DataType written) -> Kernel {
    return element_wise(expression, shape_.sizes, operands, written, parameters(values));
  };
  add_with_activation(builder_, *description_, output, make, slots_read(operands));
}

RowValue RowPlan::mapped_rows(std::string what, Expression expression,
                              const std::vector<RowValue>& operands, DataType type,
                              const std::vector<double>& values) {
  const RowValue result = temporary(std::move(what), shape_.value_sizes(), type);
  add_element_wise(builder_, expression, shape_.value_sizes(), operands, result.slot, type,
                   parameters(values));
  return result;
}

void RowPlan::map_rows(std::string_view output, Expression expression,
                       const std::vector<RowValue>& operands, const std::vector<double>& values) {
  add_element_wise(builder_, expression, shape_.value_sizes(), operands, builder_.tensor(output),
                   *description_->tensor(output).data_type, parameters(values));
}

}  // namespace dmlop
