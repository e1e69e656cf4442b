// Which of the instruction sets that kernels are compiled for is used. Highway has a dispatcher of
// its own, but in its shared library, whose loading takes longer than most runs of the program.
//
// Comes after hwy/highway.h, where HWY_ONCE holds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace dmlop::cpu {

/// The instruction sets of this machine, as bits HWY_AVX2 and so on.
std::int64_t simd_targets();

/// For tests: from now on kernels use the best of these only; 0 removes the limit.
void limit_simd_targets(std::int64_t targets);

/// What simd_targets() and the limit leave; 0: not found out yet.
inline std::atomic<std::int64_t> usable_simd_targets{0};
std::int64_t find_usable_simd_targets();

template <typename Function>
struct SimdVariant {
  std::int64_t target;
  Function* function;  // null: not compiled for it
};

/// The first of the variants that can be used; the last one can.
template <typename Function, std::size_t count>
Function* best_simd_variant(const SimdVariant<Function> (&variants)[count]) {
  std::int64_t usable = usable_simd_targets.load(std::memory_order_relaxed);
  if (usable == 0) usable = find_usable_simd_targets();
  for (const auto& variant : variants) {
    if (variant.function != nullptr && (variant.target & usable) != 0) return variant.function;
  }
  return variants[count - 1].function;
}

}  // namespace dmlop::cpu

/// The function NAME of HWY_NAMESPACE for the best instruction set.
#define DMLOP_BEST_SIMD(NAME)                                                                    \
  (::dmlop::cpu::best_simd_variant<std::remove_pointer_t<decltype(&HWY_STATIC_DISPATCH(NAME))>>( \
      {{HWY_AVX3, HWY_CHOOSE_AVX3(NAME)},                                                        \
       {HWY_AVX2, HWY_CHOOSE_AVX2(NAME)},                                                        \
       {HWY_SSE4, HWY_CHOOSE_SSE4(NAME)},                                                        \
       {HWY_NEON, HWY_CHOOSE_NEON(NAME)},                                                        \
       {0, HWY_CHOOSE_FALLBACK(NAME)}}))
