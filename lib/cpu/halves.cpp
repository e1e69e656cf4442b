#include "cpu/halves.hpp"

#include "cpu/simd_small.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/halves.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/numbers-inl.hpp"
#include "cpu/powers-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

void FloatsOfHalves(const std::byte* from, std::size_t count, float* to) {
  load_halves(from, count, to);
}

void HalvesOfDoubles(const double* from, std::size_t count, std::byte* to) {
  const auto store_with = [&](auto d, std::size_t i) HWY_ATTR {
    const hn::Rebind<std::uint16_t, decltype(d)> halves;
    store(half_from_doubles(d, hn::LoadU(d, from + i)), halves, to + i * sizeof(Half));
  };
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) store_with(d, i);
  for (; i < count; ++i) store_with(one, i);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void floats_of_halves(const std::byte* from, std::span<float> to) {
  DMLOP_BEST_SIMD(FloatsOfHalves)(from, to.size(), to.data());
}

void halves_of_doubles(std::span<const double> from, std::byte* to) {
  DMLOP_BEST_SIMD(HalvesOfDoubles)(from.data(), from.size(), to);
}

}  // namespace dmlop::cpu
#endif
