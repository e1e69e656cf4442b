#include "cpu/tap_sums.hpp"

#include <algorithm>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/tap_sums.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The sums of outputs that all taps reach: full vectors from x on, none of which begins behind
/// `last`; there they overlap.
template <std::size_t vectors, class D>
HWY_INLINE void sum_vectors(D d, std::span<const TapRow> taps, std::int64_t x, std::int64_t last,
                            float* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[vectors];
  std::int64_t at[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    sums[v] = hn::Zero(d);
    at[v] = std::min(static_cast<std::int64_t>(v) * lanes, last - x);
  }
  for (const TapRow& tap : taps) {
    const auto weight = hn::Set(d, tap.weight);
    const float* from = tap.from + (x - tap.begin);
    for (std::size_t v = 0; v < vectors; ++v)
      sums[v] = hn::MulAdd(weight, hn::LoadU(d, from + at[v]), sums[v]);
  }
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(sums[v], d, to + at[v]);
}

/// Outputs [begin, end), one by one, because some taps do not reach some of them.
HWY_INLINE void sum_edge(std::span<const TapRow> taps, std::int64_t begin, std::int64_t end,
                         float* to) {
  const hn::CappedTag<float, 1> d;
  for (std::int64_t x = begin; x < end; ++x) {
    auto sum = hn::Zero(d);
    for (const TapRow& tap : taps) {
      if (x < tap.begin || x >= tap.end) continue;
      sum = hn::MulAdd(hn::Set(d, tap.weight), hn::Set(d, tap.from[x - tap.begin]), sum);
    }
    to[x - begin] = hn::GetLane(sum);
  }
}

void SumTaps(std::span<const TapRow> taps, std::int64_t x, std::int64_t count, float* sums) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t begin = x, end = x + count;
  for (const TapRow& tap : taps) {
    begin = std::max(begin, tap.begin);
    end = std::min(end, tap.end);
  }
  const std::int64_t last = end - lanes;
  if (last < begin) return sum_edge(taps, x, x + count, sums);
  sum_edge(taps, x, begin, sums);
  std::int64_t at = begin;
  for (; end - at > 2 * lanes; at += 4 * lanes) sum_vectors<4>(d, taps, at, last, sums + (at - x));
  if (at < end) sum_vectors<2>(d, taps, at, last, sums + (at - x));
  sum_edge(taps, end, x + count, sums + (end - x));
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void sum_taps(std::span<const TapRow> taps, std::int64_t x, std::int64_t count, float* sums) {
  DMLOP_BEST_SIMD(SumTaps)(taps, x, count, sums);
}

}  // namespace dmlop::cpu
#endif
