// Elements that threads load as words where the taps of all of them are alike, as for images that
// become twice as large (shaders/resample_walk.hlsl). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ops/kernels/window_axis.hpp"

namespace dmlop::gpu::kernels {

/// The weights of two elements side by side.
using PairOfWeights = std::array<double, 2>;

/// Threads own columns of a row side by side. Thread t begins at element t * advance - before.
struct SharedTaps {
  std::uint64_t words = 0;  // of a thread; 0 where threads differ
  std::int64_t before = 0;
  std::uint64_t advance = 0;
  std::uint32_t offsets = 0;           // of each column's first element: four bits each
  std::vector<PairOfWeights> weights;  // of every output
};

/// For threads of `columns` outputs, at most 8, and words of `per_word` elements. Each output has
/// one or two taps side by side.
SharedTaps shared_taps(const WindowAxis& axis, std::uint64_t columns, std::uint64_t per_word);

}  // namespace dmlop::gpu::kernels
