// The bits of the FLOAT16 nearest to a number, ties to even. Vulkan's drivers convert so. By the rules of Direct3D
// f32tof16 rounds toward zero, and drivers differ, so there it is done with integers, in the language that HLSL and
// C++ share (elementary.hlsli): tests/base/half_test.cpp tries it.

#ifdef DMLOP_VULKAN
uint half_bits(float x) { return f32tof16(x); }
#else
uint half_bits(float x) {
  const uint sign = (asuint(x) >> 16) & 0x8000u;
  const uint magnitude = asuint(x) & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;
  // Below 2^-14 all numbers are multiples of 2^-24, which are the last places of 0.5.
  precise const float shifted = asfloat(magnitude) + 0.5f;
  if (magnitude < 0x38800000u) return sign | (asuint(shifted) - 0x3F000000u);
  const uint nearest = (magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  return sign | (nearest < 0x7C00u ? nearest : 0x7C00u);
}
#endif
