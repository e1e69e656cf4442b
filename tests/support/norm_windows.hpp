// Kernels of norms for tests of kernels, which need no operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "ops/kernels/window.hpp"

namespace dmlop::test {

/// The axes of norm_windows().
enum NormAxis : std::size_t { along_batch, along_channel, along_depth, along_height, along_width };

/// Norms of windows of one element over an input of one element; tests set the axes that they need.
inline WindowKernel norm_windows(DataType type = DataType::Float32, std::uint64_t p = 2) {
  return {.data_type = type,
          .function = WindowFunction::norm,
          .axes = std::vector<WindowAxis>(along_width + 1),
          .p = p};
}

inline Windows& windows_along(WindowAxis& axis) {
  return std::get<Windows>(axis.reach);
}

}  // namespace dmlop::test
