#include "ops/pooling.hpp"

#include "ops/operator.hpp"

namespace dmlop {

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
      axis.reach = Windows{.size = value("WindowSize", at),
                           .stride = value("Strides", at),
                           .dilation = is_dilated ? value("Dilations", at) : 1,
                           .start_padding = value("StartPadding", at),
                           .end_padding = value("EndPadding", at),
                           .divisor = divisor};
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
