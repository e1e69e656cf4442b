// Windows whose outputs are one element of the input each, as nearest neighbors are.
#pragma once

#include <cstdint>

#include "cpu/kinds.hpp"

namespace dmlop::cpu {

/// Whether every output is one element of the input.
bool picks_elements(const WindowKernel& kernel);

/// Moves the elements of outputs [begin, end) as they are: NaN and -0, too.
void pick_elements(const WindowKernel& kernel, std::span<const std::byte> input,
                   std::uint64_t begin, std::uint64_t end, Output& output);

}  // namespace dmlop::cpu
