#include "cpu/simd.hpp"
// After it:
#include "cpu/simd_dispatch.hpp"
#include "hwy/highway.h"

namespace dmlop::cpu {
namespace {

std::int64_t find_targets() {
#if HWY_ARCH_X86
  __builtin_cpu_init();
  std::int64_t targets = HWY_SCALAR;
  const bool sse4 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
                    __builtin_cpu_supports("pclmul");
  if (!sse4) return targets;
  targets |= HWY_SSE4;
  // Every processor with these has LZCNT and F16C, too, which compilers cannot all ask for.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (!avx2) return targets;
  targets |= HWY_AVX2;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? targets | HWY_AVX3 : targets;
#else
  return HWY_STATIC_TARGET;  // what the compiler was told that every machine has
#endif
}

}  // namespace

std::int64_t simd_targets() {
  static const std::int64_t targets = find_targets() & HWY_TARGETS;
  return targets;
}

void limit_simd_targets(std::int64_t targets) {
  usable_simd_targets = targets == 0 ? 0 : simd_targets() & targets;
}

std::int64_t find_usable_simd_targets() {
  return usable_simd_targets = simd_targets();
}

}  // namespace dmlop::cpu
