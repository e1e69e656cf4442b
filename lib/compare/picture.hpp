// Pictures of tensors and of their differences over the last two axes, as PNG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compare/compare.hpp"

namespace dmlop {

/// The bytes of a PNG file.
using Png = std::vector<std::byte>;

/// The ULP distance at each place of the last two axes, as the largest value over all other axes.
/// Colors go from dark (none) to bright on a logarithmic scale; magenta means that only one side
/// is NaN. The tensors must have the same type and sizes. Large planes are reduced block by block
/// to at most 1024 pixels per side, keeping the largest value. Errors: as check_for_stop().
Png error_picture(const Elements& actual, const Elements& expected, bool nan_equals_nan);

/// One plane of both tensors side by side.
struct PlanePictures {
  std::string plane;  // "[0, 2, :, :]"
  Png actual, expected, difference;
  std::string low, high;       // the values of the darkest and the brightest color
  std::string max_difference;  // "12 ULP"
};

/// Pictures of the plane that contains element `index`. Errors: as check_for_stop().
PlanePictures plane_pictures(const Elements& actual, const Elements& expected, std::uint64_t index,
                             bool nan_equals_nan);

}  // namespace dmlop
