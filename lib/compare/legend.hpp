// The legend below a picture of differences: which color means what.
#pragma once

#include <cstdint>
#include <string>

#include "compare/pixels.hpp"

namespace dmlop {

/// What is added below a picture, and the least width that it needs.
inline constexpr std::uint64_t legend_height = 64, legend_width = 256;

/// The picture with a legend below it: all colors in a row, from 0 to `largest`, which is a text
/// such as "12 ULP", and what magenta means. It stays at the upper left, and narrow ones get a
/// margin.
Pixels with_legend(const Pixels& picture, const std::string& largest);

}  // namespace dmlop
