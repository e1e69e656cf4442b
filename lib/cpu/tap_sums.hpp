// Windows over few channels, such as those of a depthwise convolution: sums straight from padded
// rows, because packing would cost more than they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dmlop::cpu {

/// What a tap contributes to output i: weight * from[i].
struct TapRow {
  const float* from;
  float weight;
};

/// What sums are read and written behind the last one.
inline constexpr std::size_t tap_slack = 64;

/// The sums of all taps, in their order, for `count` outputs. There is room for tap_slack more
/// numbers behind those of each tap and behind the sums.
void sum_taps(std::span<const TapRow> taps, std::size_t count, float* sums);

/// Rounds sum * factor + added to floats, at any address.
void finish_sums(const float* sums, double factor, double added, std::size_t count, std::byte* to);

}  // namespace dmlop::cpu
