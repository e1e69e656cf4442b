// Norms of windows on the CPU (WindowFunction::norm): vectors of their own, for every instruction
// set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/output.hpp"
#include "ops/kernels/window.hpp"

namespace dmlop::cpu {

/// Output elements [begin, end), in row-major order.
void execute_norms(const WindowKernel& kernel, std::span<const std::byte> input,
                   std::uint64_t begin, std::uint64_t end, Output& output);

}  // namespace dmlop::cpu
