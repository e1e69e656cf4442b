// Runs the tiles of a kernel (ops/tiling.hpp) one by one on the CPU, as a GPU is given them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ops/plan.hpp"
#include "ops/tiling.hpp"

namespace dmlop::test {

/// The output that all tiles together write. Checks that each buffer keeps the limits, that nothing
/// behind a buffer is read, and that each element is written once.
std::vector<std::byte> run_in_tiles(const Kernel& kernel,
                                    std::span<const std::span<const std::byte>> inputs,
                                    const TileGrid& grid, const TileLimits& limits);

/// Limits that cut a kernel into a few tiles, if it can be cut.
TileLimits cutting_limits(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs);

}  // namespace dmlop::test
