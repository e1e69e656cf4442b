// What a GPU asks a kind of kernel: one overload per kind of each question (ops/kernel.hpp).
#pragma once

#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "ops/kernel.hpp"

namespace dmlop::gpu::kernels {

/// The questions:
/// - why no GPU runs a kernel, in words that follow "because"; "" where one can;
/// - the dispatches of one that a GPU can run.
#define DMLOP_KERNEL(Kind)                    \
  std::string refusal_of(const Kind& kernel); \
  std::vector<Dispatch> dispatches_of(const Kind& kernel);
#include "ops/kernels.def"
#undef DMLOP_KERNEL

}  // namespace dmlop::gpu::kernels
