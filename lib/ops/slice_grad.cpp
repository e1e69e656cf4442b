// DML_OPERATOR_SLICE_GRAD: Out[start + stride * o] = In[o] in each dimension, and 0 elsewhere.
//
// Steps of more than 1 take a pass each. It makes rows of `step` elements, of which one is filled,
// and the next pass leaves out what its last row has too much.
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

/// Where the gradients of one dimension go.
struct Spread {
  std::uint64_t extent;  // of the output
  std::uint64_t count;   // gradients
  std::uint64_t first;   // the lowest place of one
  std::uint64_t step;    // between two
  bool is_reversed;

  std::uint64_t rows() const { return (extent + step - 1) / step; }
};

std::vector<Spread> spreads_of(const Description& description) {
  const Sizes& counts = description.tensor("InputGradientTensor").sizes;
  const Sizes& extents = description.tensor("OutputGradientTensor").sizes;
  const auto& offsets = description.integers("InputWindowOffsets");
  const auto& windows = description.integers("InputWindowSizes");
  const auto& strides = description.integers("InputWindowStrides");
  std::vector<Spread> spreads;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool is_reversed = strides[i] < 0;
    const auto step = static_cast<std::uint64_t>(is_reversed ? -strides[i] : strides[i]);
    const std::uint64_t steps = step * (counts[i] - 1);
    const auto first = static_cast<std::uint64_t>(offsets[i] + (is_reversed ? windows[i] - 1 : 0));
    spreads.push_back({extents[i], counts[i], is_reversed ? first - steps : first,
                       counts[i] == 1 ? 1 : step, is_reversed});
  }
  return spreads;
}

IndexMapAxis padded_axis(std::uint64_t extent, std::int64_t stride, std::uint64_t before,
                         std::uint64_t count) {
  return {.extent = extent,
          .stride = stride,
          .boundary = Boundary::constant,
          .start_padding = static_cast<std::int64_t>(before),
          .input_extent = count};
}

// The gradients in the order of the output, with zeros around them where the step is 1.
IndexMapKernel padded_gradients(const TensorDesc& input, const std::vector<Spread>& spreads) {
  IndexMapKernel kernel{.element_size = size_of(*input.data_type)};
  const Strides strides = input_strides(input);
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    const Spread& spread = spreads[i];
    auto stride = static_cast<std::int64_t>(strides[i]);
    if (spread.is_reversed) {
      kernel.offset += static_cast<std::int64_t>(spread.count - 1) * stride;
      stride = -stride;
    }
    kernel.axes.push_back(spread.step == 1
                              ? padded_axis(spread.extent, stride, spread.first, spread.count)
                              : whole_axis(spread.count, static_cast<std::uint64_t>(stride)));
  }
  return kernel;
}

}  // namespace

Plan plan_slice_grad(const Description& description) {
  PlanBuilder plan(description);
  const std::vector<Spread> spreads = spreads_of(description);
  IndexMapKernel kernel = padded_gradients(description.tensor("InputGradientTensor"), spreads);
  std::size_t source = plan.tensor("InputGradientTensor");
  Sizes used, sizes;  // of the kernel's output: what the next pass reads of it, and all
  for (const IndexMapAxis& each : kernel.axes) used.push_back(each.extent);
  sizes = used;
  const auto next_pass = [&] {
    const std::size_t temporary =
        plan.temporary("the gradients so far", kernel.output_elements(), kernel.element_size);
    plan.add(simplified(kernel), {source}, {temporary});
    source = temporary;
    kernel.offset = 0;
    kernel.axes.clear();
    return packed_strides(sizes);
  };
  for (std::size_t i = spreads.size(); i-- > 0;) {
    const Spread& spread = spreads[i];
    if (spread.step == 1) continue;
    const Strides strides = next_pass();
    for (std::size_t j = 0; j < spreads.size(); ++j) {
      if (j != i) {
        kernel.axes.push_back(whole_axis(used[j], strides[j]));
        continue;
      }
      kernel.axes.push_back(padded_axis(spread.rows(), static_cast<std::int64_t>(strides[i]),
                                        spread.first / spread.step, spread.count));
      kernel.axes.push_back(padded_axis(spread.step, 0, spread.first % spread.step, 1));
    }
    used[i] = spread.extent;
    sizes = used;
    sizes[i] = spread.rows() * spread.step;
  }
  if (sizes != used) {
    const Strides strides = next_pass();
    for (std::size_t i = 0; i < used.size(); ++i)
      kernel.axes.push_back(whole_axis(used[i], strides[i]));
  }
  plan.add(simplified(std::move(kernel)), {source}, {plan.tensor("OutputGradientTensor")});
  return plan.take();
}

}  // namespace dmlop
