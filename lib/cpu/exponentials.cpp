#include "cpu/exponentials.hpp"

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/exponentials.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/elementary-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

void Exponentials(float* numbers, std::size_t count, float largest) {
  for (std::size_t i = 0; i < count; ++i) numbers[i] = exp_of(numbers[i] - largest);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

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
