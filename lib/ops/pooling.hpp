// The axes of pooling operators, from the fields that they share.
#pragma once

#include <vector>

#include "ops/kernels/window_axis.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// Batch and channels as they are, and windows along the axes behind them as Strides, WindowSize,
/// StartPadding and, if the operator has them, Dilations say. The outputs are `output`'s: they may
/// be more than EndPadding makes room for, because what lies behind the input is padding.
std::vector<WindowAxis> pooling_axes(const Description& description, const TensorDesc& input,
                                     const TensorDesc& output, Divisor divisor = Divisor::none);

/// What an average is divided by, as IncludePadding says.
Divisor divisor_of(const Description& description);

}  // namespace dmlop
