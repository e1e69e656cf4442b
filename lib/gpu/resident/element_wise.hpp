// What element-wise computation and casts share.
#pragma once

#include <vector>

#include "gpu/device.hpp"
#include "ops/kernels/element_wise.hpp"

namespace dmlop::gpu::resident {

/// The most dimensions of a kernel.
inline constexpr std::size_t axes_most = 8;

/// Whether an input stands as the packed output does.
bool is_packed(const ElementWiseKernel& kernel, const ElementWiseInput& input);

/// The dispatch of a kernel whose expression is `cast`.
ResidentDispatch cast_dispatch(const ElementWiseKernel& kernel);

}  // namespace dmlop::gpu::resident
