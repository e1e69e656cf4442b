// Unsigned integers of 64 bits as pairs of words, the low one first.

uint2 wide_product(uint a, uint b) {
  const uint a0 = a & 0xFFFF, a1 = a >> 16, b0 = b & 0xFFFF, b1 = b >> 16;
  const uint low = a0 * b0;
  const uint middle = a1 * b0 + (low >> 16);
  const uint rest = a0 * b1 + (middle & 0xFFFF);
  return uint2((rest << 16) | (low & 0xFFFF), a1 * b1 + (middle >> 16) + (rest >> 16));
}

uint2 wide_sum(uint2 a, uint2 b) {
  const uint low = a.x + b.x;
  return uint2(low, a.y + b.y + (low < a.x ? 1 : 0));
}

uint2 wide_difference(uint2 a, uint2 b) { return uint2(a.x - b.x, a.y - b.y - (a.x < b.x ? 1 : 0)); }

bool wide_less(uint2 a, uint2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

// By 0 to 63 bits.
uint2 wide_shift_left(uint2 a, uint count) {
  if (count == 0) return a;
  if (count >= 32) return uint2(0, a.x << (count & 31));
  return uint2(a.x << count, (a.y << count) | (a.x >> ((32 - count) & 31)));
}

// By any count; the lowest bit of the result is set if a bit that left was.
uint2 wide_shift_right_sticky(uint2 a, uint count) {
  if (count == 0) return a;
  if (count >= 64) return uint2(a.x != 0 || a.y != 0 ? 1 : 0, 0);
  if (count >= 32) {
    const uint part = count & 31;
    const bool is_inexact = a.x != 0 || (a.y & ((1u << part) - 1)) != 0;
    return uint2((a.y >> part) | (is_inexact ? 1 : 0), 0);
  }
  const bool is_inexact = (a.x & ((1u << count) - 1)) != 0;
  return uint2((a.x >> count) | (a.y << ((32 - count) & 31)) | (is_inexact ? 1 : 0), a.y >> count);
}

// The place of the highest bit that is set, of which there must be one.
uint highest_bit(uint a) {
  uint at = 0;
  if (a >= 0x10000u) { a >>= 16; at += 16; }
  if (a >= 0x100u) { a >>= 8; at += 8; }
  if (a >= 0x10u) { a >>= 4; at += 4; }
  if (a >= 0x4u) { a >>= 2; at += 2; }
  return at + (a >= 0x2u ? 1 : 0);
}
uint wide_highest_bit(uint2 a) { return a.y != 0 ? 32 + highest_bit(a.y) : highest_bit(a.x); }
