#include "ops/pooling.hpp"

#include <algorithm>

#include "base/divide.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

/// The same windows, so that kernels meet none without elements and none that reach far behind what
/// they are laid over: the input or, for gradients, the output.
Windows tamed(Windows windows, std::uint64_t input_extent, std::uint64_t outputs) {
  // All windows but the first then lie behind it.
  const std::uint64_t end = windows.start_padding + std::max(input_extent, outputs);
  windows.stride = std::min(windows.stride, end);
  if (windows.divisor != Divisor::elements_and_padding)
    windows.size = std::min(windows.size, divided_up(end, windows.dilation));
  if (windows.size == 1) windows.dilation = 1;  // between its elements, of which it has one
  if (windows.size > 0) return windows;
  // Elements in padding alone are none; of averages that are divided by none the result is NaN.
  windows.size = windows.dilation = 1;
  windows.start_padding = (outputs - 1) * windows.stride + 1;
  if (windows.divisor != Divisor::none) windows.divisor = Divisor::elements_inside;
  return windows;
}

}  // namespace

std::vector<WindowAxis> pooling_axes(const Description& description, const TensorDesc& input,
                                     const TensorDesc& output, Divisor divisor) {
  const Strides strides = input_strides(input);
  const auto value = [&](const char* field, std::size_t i) {
    return static_cast<std::uint64_t>(description.integers(field)[i]);
  };
  const bool is_dilated = description.find("Dilations") != nullptr;
  constexpr std::size_t first_spatial = 2;
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < input.sizes.size(); ++i) {
    WindowAxis axis{input.sizes[i], output.sizes[i], strides[i]};
    if (i >= first_spatial) {
      const std::size_t at = i - first_spatial;
      axis.reach = tamed({.size = value("WindowSize", at),
                          .stride = value("Strides", at),
                          .dilation = is_dilated ? value("Dilations", at) : 1,
                          .start_padding = value("StartPadding", at),
                          .divisor = divisor},
                         input.sizes[i], output.sizes[i]);
    }
    axes.push_back(axis);
  }
  return axes;
}

Divisor divisor_of(const Description& description) {
  return description.integer("IncludePadding") != 0 ? Divisor::elements_and_padding
                                                    : Divisor::elements_inside;
}

}  // namespace dmlop
