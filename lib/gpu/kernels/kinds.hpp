// What a GPU asks every kind of kernel (ops/kernel.hpp): one overload per kind.
#pragma once

#include "gpu/dispatch.hpp"
#include "ops/kernel.hpp"

namespace dmlop::gpu::kernels {

/// What a GPU makes of a kernel.
#define DMLOP_KERNEL(Kind) Dispatches dispatches_of(const Kind& kernel);
#include "ops/kernels.def"
#undef DMLOP_KERNEL

}  // namespace dmlop::gpu::kernels
