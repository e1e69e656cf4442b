#include "cpu/exponentials.hpp"

#include <limits>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/exponentials.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/elementary-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

float LargestOf(const float* numbers, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto none = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto larger = [](auto a, auto b) { return hn::IfThenElse(hn::Gt(a, b), a, b); };
  auto first = none, second = none;  // so that comparisons do not wait for one another
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    first = larger(hn::LoadU(d, numbers + i), first);
    second = larger(hn::LoadU(d, numbers + i + lanes), second);
  }
  float largest = hn::GetLane(hn::MaxOfLanes(d, larger(first, second)));
  for (; i < count; ++i) largest = numbers[i] > largest ? numbers[i] : largest;
  return largest;
}

void Exponentials(float* numbers, std::size_t count, float largest) {
  for (std::size_t i = 0; i < count; ++i) numbers[i] = exp_of(numbers[i] - largest);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

float largest_of(std::span<const float> numbers) {
  return DMLOP_BEST_SIMD(LargestOf)(numbers.data(), numbers.size());
}

double exponentials(std::span<float> numbers, float largest) {
  DMLOP_BEST_SIMD(Exponentials)(numbers.data(), numbers.size(), largest);
  // Several sums, so that additions do not wait for one another.
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= numbers.size(); i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += numbers[i + j];
  }
  for (; i < numbers.size(); ++i) sums[0] += numbers[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace dmlop::cpu
#endif
