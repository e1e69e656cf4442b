// Ways through tensors for kernels that follow them with shaders/walk.hlsli.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/kernels/parameters.hpp"
#include "ops/kernels/strided_axes.hpp"

namespace dmlop::gpu::kernels {

#include "../../../shaders/parameters/walk.hlsli"

/// Why no kernel follows these axes, in words that follow "because"; "" where one can.
std::string walk_refusal(const StridedAxes& axes);

/// What a kernel gets for the first three operands of axes. Errors: std::logic_error where there is
/// a refusal.
WalkParameters walk_parameters(const StridedAxes& axes);

/// The axes of sequences: how they lie, and which place each has.
template <typename Parameters>
void set_sequences(Parameters& parameters, const SequenceAxes& sequences) {
  parameters.length = word(sequences.along.extent);
  parameters.stride = word(sequences.along.stride());
  parameters.inner = word(elements_of(sequences.inner));
  StridedAxes others = sequences.outer;
  others.insert(others.end(), sequences.inner.begin(), sequences.inner.end());
  for (const StridedAxis& axis : merged(others)) {
    parameters.extents[parameters.axes] = word(axis.extent);
    parameters.strides[parameters.axes++] = word(axis.stride());
  }
}

/// Kernels move elements of 1, 2 or 4 bytes: one of 8 bytes is two of 4.
inline std::uint64_t moved_size(std::uint64_t element_size) {
  return element_size == 8 ? 4 : element_size;
}
inline std::uint64_t moved_per_element(std::uint64_t element_size) {
  return element_size == 8 ? 2 : 1;
}

/// The iterations of a thread that at worst begins a row with each of the elements that it moves.
inline std::uint64_t walk_work(std::uint64_t size, std::uint64_t rank) {
  return bytes_per_thread / size * (2 + rank) + rank + 16;
}

/// Threads that write so many bytes.
inline std::uint64_t threads_for(std::uint64_t bytes) {
  return divided_up(bytes, bytes_per_thread);
}

}  // namespace dmlop::gpu::kernels
