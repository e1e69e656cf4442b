// DML_OPERATOR_LP_POOLING: Y = (sum over the window of |x|^P)^(1/P); padding contributes 0.
// LP_POOLING1 has a step between the elements of a window. Along axes with such steps, or where
// all windows are the same one, the windows are first laid side by side, without gaps.
#include <algorithm>
#include <limits>

#include "ops/element_wise.hpp"
#include "ops/index_map.hpp"
#include "ops/operator.hpp"
#include "ops/pooling.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

constexpr std::size_t first_spatial = 2;

/// One axis of the input and, where it is laid out, what becomes of it.
struct PooledAxis {
  std::uint64_t extent;
  std::uint64_t count;  // windows
  Windows windows;

  bool is_laid_out() const { return windows.dilation > 1 || windows.stride == 0; }
  bool is_padded() const {
    return is_laid_out() && (windows.start_padding > 0 || reached() > extent);
  }
  /// From the first element of the first window to the last of the last.
  std::uint64_t reached() const {
    return (count - 1) * windows.stride + (windows.size - 1) * windows.dilation + 1;
  }
};

std::uint64_t elements_of_sizes(const Sizes& sizes) {
  return element_count(sizes).value_or(0);
}

/// The input with zeros around it along the axes that are laid out.
IndexMapKernel padded_input(const std::vector<PooledAxis>& axes, const Strides& strides,
                            std::size_t size) {
  IndexMapKernel kernel{.element_size = size};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    IndexMapAxis axis{.extent = axes[i].extent, .stride = static_cast<std::int64_t>(strides[i])};
    if (axes[i].is_padded()) {
      axis.extent = axes[i].reached();
      axis.boundary = Boundary::constant;
      axis.start_padding = static_cast<std::int64_t>(axes[i].windows.start_padding);
      axis.input_extent = axes[i].extent;
    }
    kernel.axes.push_back(axis);
  }
  return kernel;
}

/// The windows side by side.
IndexMapKernel laid_out(const std::vector<PooledAxis>& axes, const Strides& strides,
                        std::size_t size) {
  IndexMapKernel kernel{.element_size = size};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto stride = static_cast<std::int64_t>(strides[i]);
    const Windows& windows = axes[i].windows;
    if (!axes[i].is_laid_out()) {
      kernel.axes.push_back({.extent = axes[i].extent, .stride = stride});
      continue;
    }
    kernel.axes.push_back(
        {.extent = axes[i].count, .stride = stride * static_cast<std::int64_t>(windows.stride)});
    kernel.axes.push_back(
        {.extent = windows.size, .stride = stride * static_cast<std::int64_t>(windows.dilation)});
  }
  return kernel;
}

/// The norms of the windows of tensors with such sizes and strides.
LpPoolingKernel norms(const std::vector<PooledAxis>& axes, const Sizes& sizes,
                      const Strides& strides, DataType type, std::uint64_t p) {
  LpPoolingKernel kernel{.data_type = type,
                         .batch_extents = {sizes[0], sizes[1]},
                         .batch_strides = {strides[0], strides[1]},
                         .p = p};
  for (std::size_t i = first_spatial; i < axes.size(); ++i) {
    const Windows& windows = axes[i].windows;
    const bool is_laid_out = axes[i].is_laid_out();
    kernel.axes[i + kernel.axes.size() - axes.size()] = {
        .input_extent = sizes[i],
        .output_extent = axes[i].count,
        .input_stride = strides[i],
        .window = windows.size,
        .window_stride = is_laid_out ? windows.size : windows.stride,
        .start_padding = is_laid_out ? 0 : static_cast<std::int64_t>(windows.start_padding)};
  }
  return kernel;
}

/// With a P of 0: every power is 1, and the norm is the number of elements to the power of 1 / 0.
Plan counts_to_infinity(PlanBuilder plan, const TensorDesc& input, const TensorDesc& output,
                        std::vector<WindowAxis> axes) {
  const DataType type = *input.data_type;
  plan.tensor("InputTensor");
  const std::size_t one = plan.temporary("the number 1", 1, size_of(type));
  plan.add(SequenceKernel{.data_type = type, .start = element_from(type, 1), .elements = 1}, {},
           {one});
  for (WindowAxis& axis : axes) axis.input_stride = 0;
  const std::size_t counts =
      plan.temporary("the numbers of elements", elements_of_sizes(output.sizes), size_of(type));
  plan.add(WindowKernel{.data_type = type, .axes = std::move(axes)}, {one}, {counts});
  add_element_wise(plan, Expression::constant_pow, output.sizes,
                   {{counts, type, packed_strides(output.sizes)}}, plan.tensor("OutputTensor"),
                   type, {{{.real = std::numeric_limits<double>::infinity()}}});
  return plan.take();
}

}  // namespace

Plan plan_lp_pooling(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const DataType type = *input.data_type;
  const auto p = static_cast<std::uint64_t>(description.integer("P"));
  std::vector<WindowAxis> windows = pooling_axes(description, input, output);
  if (p == 0) return counts_to_infinity(std::move(plan), input, output, std::move(windows));
  std::vector<PooledAxis> axes;
  for (const WindowAxis& axis : windows)
    axes.push_back({axis.input_extent, axis.output_extent, std::get<Windows>(axis.reach)});

  std::size_t slot = plan.tensor("InputTensor");
  Sizes sizes = input.sizes;
  Strides strides = input_strides(input);
  const auto move = [&](IndexMapKernel kernel, const Sizes& to, const char* what) {
    const std::size_t moved = plan.temporary(what, elements_of_sizes(to), size_of(type));
    plan.add(simplified(std::move(kernel)), {slot}, {moved});
    slot = moved;
    sizes = to;
    strides = packed_strides(to);
  };
  const auto any = [&](bool (PooledAxis::*is_so)() const) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](const PooledAxis& axis) { return (axis.*is_so)(); });
  };
  if (any(&PooledAxis::is_padded)) {
    Sizes to = sizes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].is_padded()) to[i] = axes[i].reached();
    }
    move(padded_input(axes, strides, size_of(type)), to, "the padded input");
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i].extent = to[i];
  }
  if (any(&PooledAxis::is_laid_out)) {
    Sizes to = sizes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].is_laid_out()) to[i] = axes[i].count * axes[i].windows.size;
    }
    move(laid_out(axes, strides, size_of(type)), to, "the windows");
  }
  plan.add(norms(axes, sizes, strides, type, p), {slot}, {plan.tensor("OutputTensor")});
  return plan.take();
}

}  // namespace dmlop
