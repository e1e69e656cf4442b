// Shared by the kernels of NonzeroCountKernel and NonzeroKernel (lib/ops/kernels/nonzero.hpp).

NONZERO_SPECIALIZATION(SPECIALIZED)

uint sign_bit() { return IS_REAL == 0 ? 0 : SIZE == 2 ? 0x8000u : 0x80000000u; }

bool is_nonzero(uint at) {
  if (SIZE == 8) {
    const uint2 bits = load_bits64(1, at);
    return bits.x != 0 || (IS_REAL != 0 ? bits.y & 0x7FFFFFFFu : bits.y) != 0;
  }
  const uint bits = load_bits(1, at, min(SIZE, 4u));
  return (bits & ~sign_bit()) != 0;
}

uint offset_at(uint at) {
  if (IS_PACKED != 0) return at;
  return place_at(at).offsets.x;
}
