// What element-wise computation and casts share.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "gpu/device.hpp"
#include "ops/kernels/element_wise.hpp"

namespace dmlop::gpu::kernels {

/// The most dimensions of a kernel.
inline constexpr std::size_t axes_most = 8;

/// Where an activation stands in its group of shaders/expressions.def; nothing for other
/// expressions.
std::optional<std::size_t> activation_number(Expression expression);

/// The dispatch of a kernel whose expression is `cast` or `pow_of_integers`.
Dispatch cast_dispatch(const ElementWiseKernel& kernel);
Dispatch integer_power_dispatch(const ElementWiseKernel& kernel);

}  // namespace dmlop::gpu::kernels
