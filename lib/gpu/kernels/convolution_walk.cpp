// Convolutions of single channels with small filters: shaders/convolution_walk.hlsl.
#include <algorithm>
#include <limits>

#include "gpu/kernels/product.hpp"
#include "gpu/kernels/window_walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

// Whether taps are neighbors, in either order, and all outputs are computed.
bool is_dense(const ProductWindow& window) {
  return (window.tap_step == 1 || window.tap_step == -1 || window.taps == 1) &&
         window.divisor == 1 && window.step > 0 && window.computed == window.output_extent;
}

bool suits_walk(const ProductKernel& kernel) {
  const bool is_plain = !kernel.left_zero && !kernel.right_zero && !kernel.left_scale &&
                        !kernel.right_scale && !kernel.quantization;
  const bool has_types = is_known_float(kernel.left.data_type) &&
                         is_known_float(kernel.right.data_type) &&
                         kernel.output_type == kernel.right.data_type;
  const bool has_added = !kernel.added || (is_known_float(kernel.added->data_type) &&
                                           kernel.added->column_stride == 0);
  return is_plain && has_types && has_added && !kernel.is_added_scaled && kernel.depth == 1 &&
         kernel.windows.size() == 2 &&
         std::all_of(kernel.windows.begin(), kernel.windows.end(), is_dense);
}

// The window that taps stand in by ascending places.
ProductWindow ascending(ProductWindow window) {
  if (window.tap_step < 0) window.offset -= static_cast<std::int64_t>(window.taps - 1);
  return window;
}

WalkedAxis walked(const ProductWindow& window) {
  return {.input_extent = window.input_extent,
          .output_extent = window.output_extent,
          .input_stride = window.input_stride,
          .window = window.taps,
          .window_stride = static_cast<std::uint64_t>(window.step),
          .start_padding = -ascending(window).offset};
}

// The last element of the input that a window may reach.
std::uint64_t last_element(const ProductKernel& kernel) {
  std::uint64_t last = kernel.right.offset;
  for (std::size_t a = 0; a < kernel.batches.size(); ++a)
    last += (kernel.batches[a] - 1) * kernel.right.batch_strides[a];
  for (const ProductWindow& window : kernel.windows)
    last += (window.input_extent - 1) * window.input_stride;
  return last;
}

std::optional<WindowWalk> walk_of(const ProductKernel& kernel) {
  constexpr std::uint64_t types_end = 16;  // of the filter's type beside that of what is added
  if (!suits_walk(kernel) || last_element(kernel) > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  const ProductWindow &height = kernel.windows[0], &width = kernel.windows[1];
  const std::uint64_t added = kernel.added ? any_type(kernel.added->data_type) : 0;
  WalkedWindows windows{
      .data_type = kernel.right.data_type,
      .operation = any_type(kernel.left.data_type) + word(types_end * added),
      .height = walked(height),
      .width = walked(width),
      .planes = kernel.output_elements() / (height.output_extent * width.output_extent),
      .strides = {height.input_stride, kernel.right.offset},
      .is_weighted = true,
      .plane_work = 3 * (kernel.batches.size() + 1) + 2 * (height.taps + 1) * (width.taps + 1),
      .element_work = height.taps * width.taps};
  windows.strides.insert(windows.strides.end(), kernel.right.batch_strides.begin(),
                         kernel.right.batch_strides.end());
  // Measured for windows that share rows.
  if (windows.height.window_stride >= windows.height.window) return std::nullopt;
  return window_walk(windows);
}

// The taps in ascending order of their places; a stride below 0 wraps around, as the kernel's sums.
void set_ascending(const ProductKernel& kernel, ProductParameters& parameters) {
  for (std::size_t i = 0; i < kernel.windows.size(); ++i) {
    const ProductWindow& window = kernel.windows[i];
    const std::size_t axis = i + 1;
    parameters.window_offsets[axis] = static_cast<std::int32_t>(ascending(window).offset);
    if (window.tap_step > 0) continue;
    parameters.offsets[0] += word((window.taps - 1) * window.left_stride);
    parameters.left_strides[axis] = 0U - word(window.left_stride);
  }
}

}  // namespace

std::optional<Dispatch> walk_dispatch_of(const ProductKernel& kernel) {
  const auto walk = walk_of(kernel);
  if (!walk) return std::nullopt;
  ProductDivision division{.part_length = walk->block_rows};
  division.row_tiles = walk->row_blocks;
  division.column_tiles = walk->column_blocks;
  ProductParameters parameters = parameters_of(kernel, division);
  parameters.last_word = word(last_element(kernel) * size_of(kernel.right.data_type) / 4);
  set_ascending(kernel, parameters);
  Dispatch dispatch{.kernel = "convolution_walk" + walk->variant,
                    .specialization = walk->specialization};
  set_parameters(dispatch, parameters);
  for (std::size_t i = 0; i < input_count(kernel); ++i) dispatch.inputs.push_back(i);
  dispatch.stages.emplace_back(0, walk->threads, walk->work);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
