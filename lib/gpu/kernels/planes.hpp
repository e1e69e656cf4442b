// Searches of images, whose last two axes alone have windows or taps: threads walk down the planes
// that these make (shaders/planes.hlsli). Pure.
#pragma once

#include <array>
#include <cstdint>

#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/window_axes.hpp"
#include "gpu/kernels/window_search.hpp"

namespace dmlop::gpu::kernels {

/// Whether a search of floats has such planes.
bool has_planes(const WindowSearch& search, const WindowAxes& axes);

std::uint64_t planes_of(const WindowSearch& search, const WindowAxes& axes);

/// The last vector of 16 bytes that has an element of the input.
std::uint64_t last_vector(const WindowSearch& search);

/// Gives constants of shaders/planes.hlsli the axes outside of planes.
template <typename Constants>
void set_planes(Constants& constants, const WindowAxes& axes) {
  const std::array pairs{&constants.axes01, &constants.axes23, &constants.axes45};
  for (auto axis = axes.copied.rbegin(); axis != axes.copied.rend(); ++axis) {
    uint4& pair = *pairs.at(constants.plane_axes / 2);
    const bool is_first = constants.plane_axes % 2 == 0;
    (is_first ? pair.x : pair.z) = word(axis->extent);
    (is_first ? pair.y : pair.w) = word(axis->strides[1]);
    ++constants.plane_axes;
  }
}

}  // namespace dmlop::gpu::kernels
