#include "gpu/kernels/planes.hpp"

namespace dmlop::gpu::kernels {

bool has_planes(const WindowSearch& search, const WindowAxes& axes) {
  if (!search.is_of_floats_alone() || axes.windowed.size() != 2) return false;
  const PlacedAxis& height = axes.windowed[0];
  const PlacedAxis& width = axes.windowed[1];
  return width.output_stride == 1 && height.output_stride == width.axis.output_extent;
}

std::uint64_t planes_of(const WindowSearch& search, const WindowAxes& axes) {
  return search.outputs() /
         (axes.windowed[0].axis.output_extent * axes.windowed[1].axis.output_extent);
}

std::uint64_t last_vector(const WindowSearch& search) {
  std::uint64_t last = 0;
  for (const WindowAxis& axis : search.axes) last += (axis.input_extent - 1) * axis.input_stride;
  return last * dmlop::size_of(search.data_type) / bytes_per_thread;
}

}  // namespace dmlop::gpu::kernels
