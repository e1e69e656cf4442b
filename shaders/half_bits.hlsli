// The bits of the FLOAT16 nearest to a number, ties to even. By the rules of Direct3D f32tof16 rounds toward zero. Vulkan
// leaves its rounding to the driver: AMD's rounds toward zero. So it is done with integers, in the language that HLSL and
// C++ share (elementary.hlsli), and tests/base/half_test.cpp tries it. Drivers that are known to round to the nearest do
// it themselves (lib/gpu/vulkan/float_modes.hpp).

#ifdef DMLOP_VULKAN
[[vk::constant_id(64)]] const uint device_rounds_halves = 0;
#endif

uint half_bits(float x) {
#ifdef DMLOP_VULKAN
  if (device_rounds_halves != 0) return f32tof16(x);
#endif
  const uint sign = (asuint(x) >> 16) & 0x8000u;
  const uint magnitude = asuint(x) & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;
  // Below 2^-14 all numbers are multiples of 2^-24, which are the last places of 0.5.
  precise const float shifted = asfloat(magnitude) + 0.5f;
  if (magnitude < 0x38800000u) return sign | (asuint(shifted) - 0x3F000000u);
  const uint nearest = (magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  return sign | (nearest < 0x7C00u ? nearest : 0x7C00u);
}
