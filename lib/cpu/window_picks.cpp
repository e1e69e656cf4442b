#include "cpu/window_picks.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/element_bits.hpp"
#include "cpu/reached_rows.hpp"
#include "cpu/window_blocks.hpp"
#include "cpu/window_steps.hpp"
#include "cpu/window_vectors.hpp"

namespace dmlop::cpu {
namespace {

/// Copies the elements that the outputs of a block reach from a row of the input.
template <typename Bits>
void pick_block(const OutputBlock& block, const std::byte* row, std::uint64_t stride,
                std::byte* to) {
  const auto pick_each = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::byte* from = row + block.runs[i].first * stride * sizeof(Bits);
      std::memcpy(to + i * sizeof(Bits), from, sizeof(Bits));
    }
  };
  if (stride != 1 || block.pairs.count == 0) return pick_each(0, block.runs.size());
  copy_twice(sizeof(Bits), row + block.runs[block.pairs.begin].first * sizeof(Bits),
             block.pairs.count / 2, to + block.pairs.begin * sizeof(Bits));
  pick_each(0, block.pairs.begin);
  pick_each(block.pairs.end(), block.runs.size());
}

template <typename Bits>
void pick(const WindowKernel& kernel, std::span<const std::byte> input, std::uint64_t begin,
          std::uint64_t end, Output& output) {
  const WindowAxis& axis = kernel.axes.back();
  ReachedRows rows(kernel.axes);
  OutputBlocks blocks(axis, output.room(window_output_steps));
  const std::uint64_t width = axis.output_extent;
  const bool is_far = axis.input_stride * sizeof(Bits) >= window_far_bytes;
  Steps steps;
  while (begin < end) {
    const std::uint64_t o = begin % width;
    rows.set(begin / width);
    const OutputBlock& block = blocks.at(o, std::min(width, o + (end - begin)));
    std::byte* to = output.take(block.runs.size(), window_output_steps);
    if (is_far) steps.add(block.runs.size() * window_far_steps);
    rows.for_each([&](std::uint64_t offset, std::uint64_t, double) {
      pick_block<Bits>(block, &input[offset * sizeof(Bits)], axis.input_stride, to);
    });
    begin += block.runs.size();
  }
}

}  // namespace

bool picks_elements(const WindowKernel& kernel) {
  const auto picks_along = [](const WindowAxis& axis) {
    if (axis.is_transposed) return false;
    if (const auto* interpolation = std::get_if<Interpolation>(&axis.reach))
      return interpolation->sampling != Sampling::linear;
    const auto& windows = std::get<Windows>(axis.reach);
    return windows.size == 1 && windows.start_padding == 0 && axis.output_extent > 0 &&
           (axis.output_extent - 1) * windows.stride < axis.input_extent;
  };
  return !kernel.requantization && std::all_of(kernel.axes.begin(), kernel.axes.end(), picks_along);
}

void pick_elements(const WindowKernel& kernel, std::span<const std::byte> input,
                   std::uint64_t begin, std::uint64_t end, Output& output) {
  with_bits(size_of(kernel.data_type),
            [&](auto bits) { pick<decltype(bits)>(kernel, input, begin, end, output); });
}

}  // namespace dmlop::cpu
