// DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION: x / (Bias + Alpha / LocalSize * sum)^Beta, where the
// sum is of the squares in a window; and its gradient. A window is a row of a padded copy in which
// an axis stands twice.
#include <algorithm>

#include "ops/index_map.hpp"
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

class LocalResponse {
 public:
  explicit LocalResponse(const Description& description)
      : description_(description),
        sizes_(description.tensor("InputTensor").sizes),
        plan_(description, RowShape::along(sizes_, {})),
        size_(static_cast<std::uint64_t>(description.integer("LocalSize"))) {}

  RowPlan& plan() { return plan_; }

  /// The formula's numbers: bias, factor of the sum, beta.
  std::vector<double> numbers() const {
    return {description_.number("Bias", 0),
            description_.number("Alpha", 0) / static_cast<double>(size_),
            description_.number("Beta", 0)};
  }

  /// For each element the sum over its window: along the channels, or along height and width.
  /// An even window reaches one further up or, `is_mirrored`, one further down.
  RowValue sums(RowValue x, ReduceTerm term, bool is_mirrored) {
    constexpr std::size_t channel = 1, height = 2, width = 3;
    if (description_.integer("CrossChannel") != 0) return sums_along(channel, x, term, is_mirrored);
    return sums_along(width, sums_along(height, x, term, is_mirrored), ReduceTerm::value,
                      is_mirrored);
  }

 private:
  RowValue sums_along(std::size_t axis, const RowValue& x, ReduceTerm term, bool is_mirrored) {
    // What is beyond the whole axis is padding for every element.
    const std::uint64_t far = sizes_[axis] - 1;
    std::uint64_t before = std::min(size_ - 1 - size_ / 2, far), after = std::min(size_ / 2, far);
    if (is_mirrored) std::swap(before, after);
    RowShape windows{sizes_, std::vector<bool>(sizes_.size())};
    windows.sizes.push_back(before + 1 + after);
    windows.is_reduced.push_back(true);
    RowValue padded = padded_along(axis, x, before, after);
    padded.strides.push_back(padded.strides[axis]);
    const RowValue sums = plan_.temporary("the sums of windows", sizes_, DataType::Float32);
    plan_.builder().add(reduce_kernel(windows, {.term = term}, {padded}, DataType::Float32),
                        {padded.slot}, {sums.slot});
    return sums;
  }

  RowValue padded_along(std::size_t axis, const RowValue& x, std::uint64_t before,
                        std::uint64_t after) {
    IndexMapKernel kernel{.element_size = size_of(x.type)};
    Sizes padded = sizes_;
    padded[axis] += before + after;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      kernel.axes.push_back(
          {.extent = padded[i], .stride = static_cast<std::int64_t>(x.strides[i])});
      if (i != axis) continue;
      kernel.axes.back().boundary = Boundary::constant;
      kernel.axes.back().start_padding = static_cast<std::int64_t>(before);
      kernel.axes.back().input_extent = sizes_[i];
    }
    const RowValue result = plan_.temporary("a padded copy", padded, x.type);
    plan_.builder().add(simplified(std::move(kernel)), {x.slot}, {result.slot});
    return result;
  }

  const Description& description_;
  Sizes sizes_;
  RowPlan plan_;
  std::uint64_t size_;
};

}  // namespace

Plan plan_local_response_normalization(const Description& description) {
  LocalResponse response(description);
  RowPlan& plan = response.plan();
  const RowValue x = plan.tensor("InputTensor");
  const RowValue squares = response.sums(x, ReduceTerm::square, false);
  plan.map("OutputTensor", Expression::local_response, {x, squares}, response.numbers());
  return plan.take();
}

// An element is in the windows of those around it: the mirrored window of their gradients.
Plan plan_local_response_normalization_grad(const Description& description) {
  LocalResponse response(description);
  RowPlan& plan = response.plan();
  const RowValue x = plan.tensor("InputTensor"), gradient = plan.tensor("InputGradientTensor");
  const RowValue squares = response.sums(x, ReduceTerm::square, false);
  const RowValue products = plan.mapped("the gradients of sums", Expression::local_response_term,
                                        {x, gradient, squares}, response.numbers());
  const RowValue gradients = response.sums(products, ReduceTerm::value, true);
  plan.map("OutputGradientTensor", Expression::local_response_grad,
           {x, gradient, squares, gradients}, response.numbers());
  return plan.take();
}

}  // namespace dmlop
