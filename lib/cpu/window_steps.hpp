// What kernels with windows count as steps (base/parallel.hpp).
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace dmlop::cpu {

/// Steps of an output; more rows than these are counted as they are read.
inline constexpr std::uint64_t window_output_steps = 16;
/// Elements so far apart lie in pages of their own, and each counts these steps.
inline constexpr std::uint64_t window_far_bytes = 4096;
inline constexpr std::uint64_t window_far_steps = far_steps / 32;

}  // namespace dmlop::cpu
