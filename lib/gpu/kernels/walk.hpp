// Ways through tensors for kernels that follow them with shaders/walk.hlsli.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {

#include "../../../shaders/parameters/walk.hlsli"

/// The same axis of up to three tensors.
struct WalkAxis {
  std::uint64_t extent;
  std::array<std::uint64_t, 3> strides;  // elements
  bool operator==(const WalkAxis&) const = default;
};

/// Axes of the same elements in the same order, as few as possible and at least one. Those along
/// which all tensors go on as along the next one are one.
std::vector<WalkAxis> merged(const std::vector<WalkAxis>& axes);

/// Why no kernel follows them, in words that follow "because"; "" where one can.
std::string walk_refusal(const std::vector<WalkAxis>& axes);

/// What a kernel gets for them. Errors: std::logic_error where there is a refusal.
WalkParameters walk_parameters(const std::vector<WalkAxis>& axes);

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
