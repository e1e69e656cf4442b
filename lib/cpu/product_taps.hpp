// The elements of a sum of a convolution: channels, and the taps of each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dmlop::cpu {

/// Along depth, height and width.
using Tap = std::array<std::uint64_t, 3>;

/// Calls action(k, channel, tap) for elements first + k of a sum, k < count, whose channels have so
/// many taps.
template <typename Action>
void for_each_tap(const Tap& taps, std::uint64_t first, std::size_t count, Action&& action) {
  std::uint64_t channel = first;
  Tap tap;
  for (std::size_t i = 3; i-- > 0; channel /= taps[i]) tap[i] = channel % taps[i];
  for (std::size_t k = 0; k < count; ++k) {
    action(k, channel, tap);
    std::size_t i = 3;
    while (i > 0 && ++tap[i - 1] == taps[i - 1]) tap[--i] = 0;
    if (i == 0) ++channel;
  }
}

}  // namespace dmlop::cpu
