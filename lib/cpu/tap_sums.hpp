// Windows over few channels, such as those of a depthwise convolution: the sums of a row of
// outputs straight from the input, because packing would cost more than they do.
#pragma once

#include <cstdint>
#include <span>

namespace dmlop::cpu {

/// What a tap contributes: weight * from[x - begin] to each output x in [begin, end).
struct TapRow {
  const float* from;
  float weight;
  std::int64_t begin, end;
};

/// The sums of all taps, in their order, for outputs [x, x + count).
void sum_taps(std::span<const TapRow> taps, std::int64_t x, std::int64_t count, float* sums);

}  // namespace dmlop::cpu
