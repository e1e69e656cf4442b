#include "cpu/tap_sums.hpp"

#include <cstring>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/tap_sums.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/simd-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

template <std::size_t vectors>
HWY_INLINE void sum_vectors(std::span<const TapRow> taps, std::size_t at, float* to) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  static_assert(hn::MaxLanes(hn::ScalableTag<float>()) <= tap_slack, "there is room behind");
  hn::Vec<decltype(d)> sums[vectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (const TapRow& tap : taps) {
    const auto weight = hn::Set(d, tap.weight);
    for (std::size_t v = 0; v < vectors; ++v)
      sums[v] = hn::MulAdd(weight, hn::LoadU(d, tap.from + at + v * lanes), sums[v]);
  }
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(sums[v], d, to + at + v * lanes);
}

void SumTaps(std::span<const TapRow> taps, std::size_t count, float* sums) {
  constexpr std::size_t at_once = 4;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  std::size_t at = 0;
  for (; at + at_once * lanes <= count; at += at_once * lanes) sum_vectors<at_once>(taps, at, sums);
  for (; at < count; at += lanes) sum_vectors<1>(taps, at, sums);
}

void FinishSums(const float* sums, double factor, double added, std::size_t count, std::byte* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto scaled = hn::Mul(hn::Set(d, factor), hn::PromoteTo(d, hn::LoadU(floats, sums + i)));
    store(float_from_double(d, hn::Add(scaled, hn::Set(d, added))), floats, to + i * sizeof(float));
  }
  for (; i < count; ++i) {
    const auto number = static_cast<float>(sums[i] * factor + added);
    std::memcpy(to + i * sizeof number, &number, sizeof number);
  }
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void sum_taps(std::span<const TapRow> taps, std::size_t count, float* sums) {
  DMLOP_BEST_SIMD(SumTaps)(taps, count, sums);
}

void finish_sums(const float* sums, double factor, double added, std::size_t count, std::byte* to) {
  DMLOP_BEST_SIMD(FinishSums)(sums, factor, added, count, to);
}

}  // namespace dmlop::cpu
#endif
