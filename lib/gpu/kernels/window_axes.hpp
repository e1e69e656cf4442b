// The axes of kinds with windows: which are copied and which have windows, and where each stands in
// the output. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/kernels/shared_taps.hpp"
#include "ops/kernels/strided_axes.hpp"
#include "ops/kernels/window_axis.hpp"

namespace dmlop::gpu::kernels {

/// Whether output o is element o.
bool is_copied(const WindowAxis& axis);

/// Whether outputs reach windows: no kernel needs a table of their taps.
bool is_plain(const WindowAxis& axis);

/// An axis and what stands around it.
struct PlacedAxis {
  WindowAxis axis;
  std::uint64_t output_stride = 1;  // of the packed output
  std::uint64_t place_stride = 1;   // of the packed input
};

/// The axes that are copied and those with windows.
struct WindowAxes {
  static constexpr std::size_t nested_most = 3;  // the loops of shaders/window.hlsl

  explicit WindowAxes(const std::vector<WindowAxis>& axes);

  StridedAxes copied;  // operands: the packed output, the input, the packed input; none if they are
                       // of one index
  std::vector<PlacedAxis> windowed;

  /// The windowed axes in front of those that loops are nested over.
  std::size_t outer() const;
};

/// The most elements that an output reaches, if each reaches one or two side by side; otherwise 0.
std::uint64_t few_taps(const WindowAxis& axis);

/// Such taps of an output: the first element, its weight, and that of the next one, which may be 0.
struct FewTaps {
  std::uint64_t first = 0;
  PairOfWeights weights{};
};
std::vector<FewTaps> list_few_taps(const WindowAxis& axis);

}  // namespace dmlop::gpu::kernels
