// Pictures of tensors and of their differences over the last two axes, as PNG.
#pragma once

#include <cstdint>
#include <string>

#include "compare/compare.hpp"
#include "compare/pixels.hpp"

namespace dmlop {

enum class Legend { none, below };

/// The ULP distance at each place of the last two axes, as the largest value over all other axes.
/// Colors go from dark (none) to bright on a logarithmic scale; magenta means that only one side
/// is NaN. The tensors must have the same type and sizes. Large planes are reduced block by block
/// to at most 1024 pixels per side, keeping the largest value. A legend says what the
/// colors mean. Errors: as check_for_stop().
Png error_picture(const Elements& actual, const Elements& expected, bool nan_equals_nan,
                  Legend legend = Legend::none);

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
