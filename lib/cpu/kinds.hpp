// What the CPU asks a kind of kernel: one overload per kind of each question (ops/kernel.hpp).
#pragma once

#include <optional>

#include "cpu/execute.hpp"

namespace dmlop::cpu {

/// Parts of a kernel that are blocks instead of stretches (cpu/parts.hpp).
struct Blocks {
  std::uint64_t ranges;  // of a block: indices along the axis that all outputs of a block share
  std::uint64_t inner;   // elements of one index of that axis
  std::uint64_t length;  // elements of a range, at most `inner`
};
std::optional<Blocks> blocks_of(const IndexMapKernel& kernel, std::uint64_t bytes);
std::optional<Blocks> blocks_of(const LpPoolingKernel& kernel, std::uint64_t bytes);

/// Computes a part: range i of output k into outputs[k].to + i * outputs[k].pitch.
void run_part(const IndexMapKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs);
void run_part(const LpPoolingKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs);

}  // namespace dmlop::cpu
