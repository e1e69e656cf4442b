#include "cpu/halves.hpp"

#include "cpu/simd_small.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/halves.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/numbers-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

void FloatsOfHalves(const std::byte* from, std::size_t count, float* to) {
  load_halves(from, count, to);
}

// What NaN carries would otherwise depend on the instruction set.
void HalvesOfDoubles(const double* from, std::size_t count, std::byte* to) {
  std::array<double, stretch> numbers;
  for (std::size_t begin = 0; begin < count; begin += stretch) {
    const std::size_t part = std::min(stretch, count - begin);
    for (std::size_t i = 0; i < part; ++i) {
      const double number = from[begin + i];
      const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), number);
      numbers[i] = number == number ? number : nan;
    }
    store_halves(numbers.data(), part, to + begin * sizeof(Half));
  }
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
