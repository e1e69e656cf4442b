#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>

#include <algorithm>
#include <initializer_list>
#endif

#include "cpu/simd.hpp"
// After it:
#include "base/per_process.hpp"
#include "cpu/simd_dispatch.hpp"
#include "hwy/highway.h"

namespace dmlop::cpu {
namespace {

/// What a processor and its system can do, of what the targets need.
struct Features {
  bool sse4 = false;
  bool avx2 = false;
  bool avx512 = false;
};

#if HWY_ARCH_X86 && defined(_MSC_VER) && !defined(__clang__)
// This compiler has no more than the instructions: bits of CPUID, and which registers the system
// keeps.
Features find_features() {
  const auto has = [](int word, std::initializer_list<int> bits) {
    return std::all_of(bits.begin(), bits.end(),
                       [word](int bit) { return (word >> bit & 1) != 0; });
  };
  int leaf1[4], leaf7[4];
  __cpuid(leaf1, 1);
  __cpuidex(leaf7, 7, 0);
  const std::uint64_t kept = has(leaf1[2], {27}) ? _xgetbv(0) : 0;
  Features found;
  found.sse4 = has(leaf1[2], {1, 20, 25});  // PCLMUL, SSE4.2, AES
  // FMA; BMI, AVX2, BMI2
  found.avx2 = (kept & 0x06) == 0x06 && has(leaf1[2], {12}) && has(leaf7[1], {3, 5, 8});
  // F, DQ, CD, BW, VL
  found.avx512 = (kept & 0xE6) == 0xE6 && has(leaf7[1], {16, 17, 28, 30, 31});
  return found;
}
#elif HWY_ARCH_X86
Features find_features() {
  __builtin_cpu_init();
  Features found;
  found.sse4 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
               __builtin_cpu_supports("pclmul");
  found.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  found.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512vl");
  return found;
}
#endif

std::int64_t find_targets() {
  // Every machine has what the compiler was told to use: by Highway's version SCALAR, EMU128 or
  // SSE2.
  std::int64_t targets = HWY_STATIC_TARGET;
#if HWY_ARCH_X86
  const Features found = find_features();
  if (!found.sse4) return targets;
  targets |= HWY_SSE4;
  // Every processor with these has LZCNT and F16C, too, which compilers cannot all ask for.
  if (!found.avx2) return targets;
  targets |= HWY_AVX2;
  if (found.avx512) targets |= HWY_AVX3;
#endif
  return targets;
}

}  // namespace

std::int64_t simd_targets() {
  return made_once([] { return find_targets() & HWY_TARGETS; });
}

void limit_simd_targets(std::int64_t targets) {
  usable_simd_targets = targets == 0 ? 0 : simd_targets() & targets;
}

std::int64_t find_usable_simd_targets() {
  return usable_simd_targets = simd_targets();
}

}  // namespace dmlop::cpu
