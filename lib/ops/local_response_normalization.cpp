// DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION: x / (Bias + Alpha / LocalSize * sum)^Beta, where the
// sum is of the squares in a window; and its gradient.
#include <algorithm>

#include "ops/expand.hpp"
#include "ops/index_map.hpp"
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

// Windows lie along the channels, or along height and width.
LocalResponseKernel kernel_of(const Description& description, const RowValue& x) {
  const bool is_across = description.integer("CrossChannel") != 0;
  const std::int64_t window = description.integer("LocalSize");
  return {
      .data_type = x.type,
      .extents = description.tensor("InputTensor").sizes,
      .strides = x.strides,
      .axes = is_across ? std::vector<std::size_t>{1} : std::vector<std::size_t>{2, 3},
      .window = static_cast<std::uint64_t>(window),
      .bias = static_cast<float>(description.number("Bias", 0)),
      .factor = static_cast<float>(description.number("Alpha", 0) / static_cast<double>(window)),
      .beta = static_cast<float>(description.number("Beta", 0))};
}

std::vector<double> numbers_of(const LocalResponseKernel& kernel) {
  return {kernel.bias, kernel.factor, kernel.beta};
}

/// Sums over the window of each element. A window is a row of a padded copy in which an axis stands
/// twice.
class WindowSums {
 public:
  /// Windows as the kernel has them, or mirrored.
  WindowSums(RowPlan& plan, const LocalResponseKernel& kernel, bool is_mirrored)
      : plan_(plan), kernel_(kernel), is_mirrored_(is_mirrored) {}

  RowValue of(RowValue x, ReduceTerm term) {
    for (const std::size_t axis : kernel_.axes) {
      x = sums_along(axis, x, term);
      term = ReduceTerm::value;
    }
    return x;
  }

 private:
  RowValue sums_along(std::size_t axis, const RowValue& x, ReduceTerm term) {
    WindowReach reach = kernel_.reach(axis);
    if (is_mirrored_) std::swap(reach.before, reach.after);
    RowShape windows{kernel_.extents, std::vector<bool>(kernel_.extents.size())};
    windows.sizes.push_back(reach.before + 1 + reach.after);
    windows.is_reduced.push_back(true);
    RowValue padded = padded_along(axis, x, reach);
    padded.strides.push_back(padded.strides[axis]);
    const RowValue sums =
        plan_.temporary("the sums of windows", kernel_.extents, DataType::Float32);
    plan_.builder().add(reduce_kernel(windows, {.term = term}, {padded}, DataType::Float32),
                        {padded.slot}, {sums.slot});
    return sums;
  }

  RowValue padded_along(std::size_t axis, const RowValue& x, const WindowReach& reach) {
    IndexMapKernel map{.element_size = size_of(x.type)};
    Sizes padded = kernel_.extents;
    padded[axis] += reach.before + reach.after;
    for (std::size_t i = 0; i < padded.size(); ++i) {
      map.axes.push_back({.extent = padded[i], .stride = static_cast<std::int64_t>(x.strides[i])});
      if (i != axis) continue;
      map.axes.back().boundary = Boundary::constant;
      map.axes.back().start_padding = static_cast<std::int64_t>(reach.before);
      map.axes.back().input_extent = kernel_.extents[i];
    }
    const RowValue result = plan_.temporary("a padded copy", padded, x.type);
    plan_.builder().add(simplified(std::move(map)), {x.slot}, {result.slot});
    return result;
  }

  RowPlan& plan_;
  const LocalResponseKernel& kernel_;
  bool is_mirrored_;
};

}  // namespace

// What is beyond the whole axis is padding for every element.
WindowReach LocalResponseKernel::reach(std::size_t axis) const {
  const std::uint64_t far = extents[axis] - 1;
  return {std::min(window - 1 - window / 2, far), std::min(window / 2, far)};
}

void add_passes(PlanBuilder& plan, const LocalResponseKernel& kernel, const Pass& pass) {
  const RowValue x{pass.reads.front(), kernel.data_type, kernel.strides};
  RowPlan rows(plan, RowShape::along(kernel.extents, {}));
  const RowValue squares = WindowSums(rows, kernel, false).of(x, ReduceTerm::square);
  add_element_wise(plan, Expression::local_response, kernel.extents, {x, squares},
                   pass.writes.front(), kernel.data_type, parameters(numbers_of(kernel)));
}

Plan plan_local_response_normalization(const Description& description) {
  RowPlan plan(description, RowShape::along(description.tensor("InputTensor").sizes, {}));
  const RowValue x = plan.tensor("InputTensor");
  plan.builder().add(kernel_of(description, x), {x.slot}, {plan.builder().tensor("OutputTensor")});
  return plan.take();
}

// An element is in the windows of those around it: the mirrored window of their gradients.
Plan plan_local_response_normalization_grad(const Description& description) {
  RowPlan plan(description, RowShape::along(description.tensor("InputTensor").sizes, {}));
  const RowValue x = plan.tensor("InputTensor"), gradient = plan.tensor("InputGradientTensor");
  const LocalResponseKernel kernel = kernel_of(description, x);
  const std::vector<double> numbers = numbers_of(kernel);
  const RowValue squares = WindowSums(plan, kernel, false).of(x, ReduceTerm::square);
  const RowValue products = plan.mapped("the gradients of sums", Expression::local_response_term,
                                        {x, gradient, squares}, numbers);
  const RowValue gradients = WindowSums(plan, kernel, true).of(products, ReduceTerm::value);
  plan.map("OutputGradientTensor", Expression::local_response_grad,
           {x, gradient, squares, gradients}, numbers);
  return plan.take();
}

}  // namespace dmlop
