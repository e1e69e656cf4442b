// Reversal along an outer axis, a block of sequences at a time: where these stand side by side in
// memory they are columns of it (cpu/columns.hpp), and else of a copy.
#pragma once

#include "cpu/execute.hpp"
#include "cpu/parts.hpp"

namespace dmlop::cpu {

/// The ranges of a part of the kernel, which reverses along an outer axis; one for each index of
/// it. Range i goes to output + i * pitch.
void execute_sequences(const IndexMapKernel& kernel, Inputs inputs, const Part& part, Stores stores,
                       std::byte* output, std::uint64_t pitch);

}  // namespace dmlop::cpu
