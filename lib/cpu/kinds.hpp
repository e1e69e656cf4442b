// What the CPU asks a kind of kernel: one overload per kind of each question (ops/kernel.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "cpu/execute.hpp"

namespace dmlop::cpu {

/// Parts of a kernel that are blocks instead of stretches (cpu/parts.hpp).
struct Blocks {
  std::uint64_t ranges;  // of a block: indices along the axis that all outputs of a block share
  std::uint64_t inner;   // elements of one index of that axis
  std::uint64_t length;  // elements of a range, at most `inner`
  std::uint64_t of = 0;  // indices of that axis, where blocks do not have all of them
};

/// How parts look: blocks, or stretches of a multiple of `granule` elements, which are computed
/// together.
struct PartShape {
  std::uint64_t granule = 1;
  std::optional<Blocks> blocks = {};
};

/// The questions, for every kind:
/// - how its parts of about so many bytes look;
/// - run_part: computes a part, range i of output k into outputs[k].to + i * outputs[k].pitch.
///
/// A kind whose parts may share work (cpu/preparation.hpp) gets what was prepared, too.
#define DMLOP_KERNEL(Kind)                                                          \
  PartShape part_shape(const Kind& kernel, std::uint64_t bytes);                    \
  void run_part(const Kind& kernel, Inputs inputs, const Part& part, Stores stores, \
                Destinations outputs);
#include "ops/kernels.def"
#undef DMLOP_KERNEL

/// Whether the CPU runs these rows, or the passes that compute the same (ops/expand.hpp).
bool runs_rows(const RowsKernel& kernel);

void run_part(const ProductKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores stores, Destinations outputs);
void run_part(const ReduceKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores stores, Destinations outputs);
void run_part(const RecurrentKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores stores, Destinations outputs);
void run_part(const ScanKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores stores, Destinations outputs);
void run_part(const UnpoolKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores stores, Destinations outputs);
void run_part(const TopKKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores stores, Destinations outputs);

/// The shape for kernels that compute whole sequences along an axis: `extent` outputs of each,
/// `inner` sequences side by side, elements of `size` bytes.
PartShape sequences_shape(std::uint64_t extent, std::uint64_t inner, std::uint64_t size,
                          std::uint64_t bytes);

/// Computes a part that is one stretch of a kernel with one output.
template <typename Execute>
void run_stretch(Stores stores, const Part& part, std::size_t element_size,
                 const Destination& destination, Execute&& execute) {
  Output output(destination.to, stores, element_size);
  execute(part.begin, part.begin + part.length, output);
  output.finish();
}

/// Calls action(outer, begin, end, destinations) for the sequences of a part of sequences_shape():
/// `outer` counts along the axes outside of the sequences', [begin, end) along those inside, and
/// element e of sequence s goes to to[s - begin] of its destination plus e * pitch.
template <typename Action>
void for_each_sequences(const Part& part, std::uint64_t extent, std::uint64_t inner,
                        std::span<const std::size_t> sizes, Destinations outputs, Action&& action) {
  const std::uint64_t block = extent * inner;
  if (part.count > 1) {
    const std::uint64_t begin = part.begin % block;
    return action(part.begin / block, begin, begin + part.length, outputs);
  }
  // A stretch of whole blocks or, where sequences have one output, of any outputs.
  for (std::uint64_t at = 0; at < part.length;) {
    const std::uint64_t begin = (part.begin + at) % block;
    const std::uint64_t end = extent == 1 ? std::min(inner, begin + part.length - at) : inner;
    std::array<Destination, 8> destinations;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      destinations[k] = {outputs[k].to + at * sizes[k], inner * sizes[k]};
    action((part.begin + at) / block, begin, end,
           Destinations(destinations.data(), outputs.size()));
    at += extent == 1 ? end - begin : block;
  }
}

}  // namespace dmlop::cpu
