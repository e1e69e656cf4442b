// The CPU backend: executes a part of a kernel on the calling thread, or all of it on several.
// Writing files is the job's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/threshold.hpp"
#include "cpu/output.hpp"
#include "cpu/parts.hpp"
#include "ops/kernel.hpp"

namespace dmlop::cpu {

/// Input buffers in the order of the kernel's inputs, in native byte order; any alignment.
using Inputs = std::span<const std::span<const std::byte>>;

/// Computes output elements [begin, end) of a kernel with one output, in row-major order, into
/// `output`, which holds just these. The inputs must hold all that the kernel reads.
void execute(const Kernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
             std::byte* output);

/// Where an output goes: range i of a part to `to` + i * `pitch` bytes.
struct Destination {
  std::byte* to;
  std::uint64_t pitch;
};
using Destinations = std::span<const Destination>;

/// What the parts of a kernel share (cpu/preparation.hpp), computed by all threads before the first
/// part; null where they share nothing. Errors: as parallel_for().
class Preparation;
using Prepared = std::shared_ptr<const Preparation>;
/// Of constant inputs, what the next runs need is kept; null: none are known.
class ConstantInputs;
Prepared prepare(const Kernel& kernel, Inputs inputs, unsigned threads,
                 ConstantInputs* constants = nullptr);

/// Computes a part of the outputs (cpu/parts.hpp), each to its destination. Streaming is for
/// outputs that no cache can hold and that nothing reads soon.
void execute_part(const Kernel& kernel, Inputs inputs, const Preparation* prepared,
                  const Part& part, Stores stores, Destinations outputs);
/// Whether a kernel with one output computes each element of it from the same element of an input,
/// and from nothing else of that input, which may stand where the output does. Then the parts of
/// any kernel are parts of it.
bool computes_in_place(const Kernel& kernel, std::size_t input);
/// The same for a part that stands alone: the calling thread prepares it.
void execute_part(const Kernel& kernel, Inputs inputs, const Part& part, Stores stores,
                  Destinations outputs);

/// A thread takes so much output at a time: enough for the taking not to matter.
inline constexpr Threshold part_bytes{std::uint64_t{1} << 20, 48};

/// Computes the whole of each output into memory, spread over `threads`. Errors: interrupted.
void execute_all(const Kernel& kernel, Inputs inputs, const Preparation* prepared, unsigned threads,
                 std::span<std::byte* const> outputs);
/// The same with what it prepares.
void execute_all(const Kernel& kernel, Inputs inputs, unsigned threads,
                 std::span<std::byte* const> outputs);
/// The same for a kernel with one output.
void execute_all(const Kernel& kernel, Inputs inputs, unsigned threads, std::byte* output);

/// An index map that is executed in several pieces.
class IndexMapMover {
 public:
  virtual ~IndexMapMover() = default;
  /// Output elements [begin, end), in row-major order.
  virtual void run(std::uint64_t begin, std::uint64_t end, Output& output) const = 0;
};
/// The arguments must outlive it.
std::unique_ptr<IndexMapMover> make_mover(const IndexMapKernel& kernel, Inputs inputs);

void execute_index_map(const IndexMapKernel& kernel, Inputs inputs, std::uint64_t begin,
                       std::uint64_t end, Output& output);

}  // namespace dmlop::cpu
