#include "gpu/kernels/window_axes.hpp"

#include <algorithm>

#include "ops/taps.hpp"

namespace dmlop::gpu::kernels {

bool is_copied(const WindowAxis& axis) {
  const auto* windows = std::get_if<Windows>(&axis.reach);
  return windows != nullptr && windows->size == 1 && windows->stride == 1 &&
         windows->start_padding == 0 && axis.output_extent <= axis.input_extent;
}

bool is_plain(const WindowAxis& axis) {
  return std::holds_alternative<Windows>(axis.reach) && !axis.is_transposed;
}

WindowAxes::WindowAxes(const std::vector<WindowAxis>& axes) {
  std::uint64_t output_stride = 1, place_stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (is_copied(*axis)) {
      copied.push_back({axis->output_extent, {output_stride, axis->input_stride, place_stride}});
    } else {
      windowed.push_back({*axis, output_stride, place_stride});
    }
    output_stride *= axis->output_extent;
    place_stride *= axis->input_extent;
  }
  std::reverse(windowed.begin(), windowed.end());
  std::reverse(copied.begin(), copied.end());
  copied = merged(copied);
  if (elements_of(copied) == 1) copied.clear();
}

std::size_t WindowAxes::outer() const {
  return windowed.size() - std::min(windowed.size(), nested_most);
}

std::uint64_t few_taps(const WindowAxis& axis) {
  const Taps taps(axis);
  std::uint64_t most = 0;
  for (std::uint64_t o = 0; o < axis.output_extent; ++o) {
    const TapRun run = taps.of(o);
    if (run.count == 0 || run.count > 2) return 0;
    most = std::max(most, run.count);
  }
  return most;
}

std::vector<FewTaps> list_few_taps(const WindowAxis& axis) {
  const Taps taps(axis);
  std::vector<FewTaps> list(axis.output_extent);
  for (std::uint64_t o = 0; o < axis.output_extent; ++o) {
    const TapRun run = taps.of(o);
    list[o].first = run.first;
    for (std::uint64_t k = 0; k < run.count; ++k) list[o].weights[k] = taps.weight(o, run, k);
  }
  return list;
}

}  // namespace dmlop::gpu::kernels
