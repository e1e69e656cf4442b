// The instruction sets that kernels are compiled for; every call uses the best that the machine
// has. Comes before any header of Highway.
#pragma once

// Its own checks need its library, of which only the headers are used.
#define HWY_IS_DEBUG_BUILD 0
// Left out: what adds nothing over SSE4, and what no machine at hand can test.
#ifndef DMLOP_WITHOUT_SSE4
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#else
// The largest kernels, for machines of before 2013 (without AVX2): these run what any x86-64 runs,
// and the program stays a megabyte smaller.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

// Whether the instruction set that is compiled has conversions of FLOAT16. Highway's own take
// infinity for 65536 where it has none, whatever the least set of its version is called.
#define DMLOP_CPU_HAS_HALF (HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON)
