// Data movement (lib/ops/kernel.hpp, IndexMapKernel): every axis maps its indices independently, and elements are
// moved whole. One thread gathers the elements of 16 output bytes.
//
// Variants: ELEMENT_SIZE 1, 2, 4, 8; BOUNDARY as enum Boundary; RANK 1 to 4 with the axes in the
// constants, or 8 with the axes in input2 (then constants[1].x is the real rank); REVERSAL 0 none,
// 1 along the innermost axis, 2 along another.
//
// constants[0]: x elements, z source offset, w the lengths' words per element
// constants[1]: x rank (RANK 8) or reversal axis, z and w the fill
// constants[2 + a]: axis a: x extent, y stride, z start padding, w input extent
// constants[6]: strides of the lengths, one per axis
#include "common.hlsli"

#define PER_THREAD (16 / ELEMENT_SIZE)

#define BOUNDARY_NONE 0
#define BOUNDARY_CONSTANT 1
#define BOUNDARY_EDGE 2
#define BOUNDARY_REFLECTION 3
#define BOUNDARY_SYMMETRIC 4
#define BOUNDARY_WRAP 5

#if RANK <= 4
#define AXIS_COUNT RANK
uint4 axis(uint a) { return constants[2 + a]; }
uint lengths_stride(uint a) { return a == 0 ? constants[6].x : a == 1 ? constants[6].y : a == 2 ? constants[6].z : constants[6].w; }
#else
#define AXIS_COUNT constants[1].x
uint4 axis(uint a) { return input2[a]; }
uint lengths_stride(uint a) { return input2[8 + a].x; }
#endif

#if REVERSAL
#define REVERSAL_AXIS constants[1].y
#endif

struct Source {
  int index;
  bool outside;
};

#if BOUNDARY >= BOUNDARY_REFLECTION
// The number of indices after which a mirrored or wrapped axis repeats.
int period_of(int n) {
#if BOUNDARY == BOUNDARY_REFLECTION
  return n == 1 ? 1 : 2 * (n - 1);
#elif BOUNDARY == BOUNDARY_SYMMETRIC
  return 2 * n;
#else
  return n;
#endif
}

// t modulo the period, in [0, period). It uses unsigned remainders only, because compilers disagree
// about those of negative numbers.
int phase_of(int t, int period) {
  // Most paddings are shorter than the input, and a remainder costs as much as everything else
  // together.
  if (t >= -period && t < period) return t < 0 ? t + period : t;
  const uint behind = uint(-t) % uint(period);
  return t >= 0 ? int(uint(t) % uint(period)) : behind == 0 ? 0 : period - int(behind);
}

// The source index of a phase: forward below n, then backward.
int mirrored(int phase, int n, int period) {
#if BOUNDARY == BOUNDARY_REFLECTION
  return phase < n ? phase : period - phase;
#elif BOUNDARY == BOUNDARY_SYMMETRIC
  return phase < n ? phase : period - 1 - phase;
#else
  return phase;
#endif
}
#endif

// The source index of output index o along an axis. Boundaries are handled as in piece_at
// (index_map.cpp).
Source source_index(uint o, uint4 axis_row) {
  Source source;
  source.index = int(o);
  source.outside = false;
#if BOUNDARY != BOUNDARY_NONE
  const int n = int(axis_row.w);
  const int t = int(o) - int(axis_row.z);
  source.index = t;
  if (t < 0 || t >= n) {
#if BOUNDARY == BOUNDARY_CONSTANT
    source.index = 0;
    source.outside = true;
#elif BOUNDARY == BOUNDARY_EDGE
    source.index = t < 0 ? 0 : n - 1;
#else
    const int period = period_of(n);
    source.index = mirrored(phase_of(t, period), n, period);
#endif
  }
#endif
  return source;
}

// The position along all axes but the innermost, for one row of output.
struct Row {
  int offset;    // source elements
  bool outside;  // a constant boundary fills the whole row
  uint lengths;  // offset into the lengths
  uint reversed;  // index along the reversed axis
};

Row row_at(uint row) {
  Row result;
  result.offset = int(constants[0].z);
  result.outside = false;
  result.lengths = 0;
  result.reversed = 0;
#if RANK > 1
#if RANK <= 4
  [unroll]
#endif
  for (int a = int(AXIS_COUNT) - 2; a >= 0; --a) {
    const uint4 axis_row = axis(uint(a));
    const uint next = a == 0 ? 0 : row / axis_row.x;
    const uint o = row - next * axis_row.x;
    row = next;
#if REVERSAL
    result.lengths += o * lengths_stride(uint(a));
#endif
#if REVERSAL == 2
    if (uint(a) == REVERSAL_AXIS) {
      result.reversed = o;
      continue;
    }
#endif
    const Source source = source_index(o, axis_row);
    result.offset += source.index * int(axis_row.y);
    result.outside = result.outside || source.outside;
  }
#endif
  return result;
}

#if ELEMENT_SIZE == 8
#define Element uint2
#else
#define Element uint
#endif

Element load_element(int at) {
#if ELEMENT_SIZE == 8
  return uint2(input0[2 * uint(at)], input0[2 * uint(at) + 1]);
#elif ELEMENT_SIZE == 4
  return input0[uint(at)];
#elif ELEMENT_SIZE == 2
  return (input0[uint(at) >> 1] >> ((uint(at) & 1) * 16)) & 0xFFFF;
#else
  return (input0[uint(at) >> 2] >> ((uint(at) & 3) * 8)) & 0xFF;
#endif
}

// Loads 16 bytes from element `at` on, which may have any alignment.
uint4 load_run(int at) {
#if ELEMENT_SIZE == 8
  const uint word = 2 * uint(at);
  return uint4(input0[word], input0[word + 1], input0[word + 2], input0[word + 3]);
#elif ELEMENT_SIZE == 4
  const uint word = uint(at);
  return uint4(input0[word], input0[word + 1], input0[word + 2], input0[word + 3]);
#else
  const uint first_byte = uint(at) * ELEMENT_SIZE;
  const uint word = first_byte >> 2;
  const uint shift = (first_byte & 3) * 8;
  const uint4 low = uint4(input0[word], input0[word + 1], input0[word + 2], input0[word + 3]);
  if (shift == 0) return low;
  const uint4 high = uint4(low.y, low.z, low.w, input0[word + 4]);
  return (low >> shift) | (high << (32 - shift));
#endif
}

// The same 16 bytes with the elements in opposite order.
uint4 opposite(uint4 run) {
#if ELEMENT_SIZE == 8
  return run.zwxy;
#elif ELEMENT_SIZE == 4
  return run.wzyx;
#elif ELEMENT_SIZE == 2
  const uint4 words = run.wzyx;
  return (words >> 16) | (words << 16);
#else
  const uint4 words = run.wzyx;
  return (words >> 24) | ((words >> 8) & 0xFF00) | ((words << 8) & 0xFF0000) | (words << 24);
#endif
}

#if REVERSAL
// The number of elements to reverse; 64-bit lengths are clamped by their high word.
uint length_at(uint offset, uint extent) {
  const uint words = constants[0].w;
  const uint low = input1[offset * words];
  const uint high = input1[offset * words + words - 1];
  return words == 2 && high != 0 ? extent : min(low, extent);
}
#endif

// The source of element o of a row. It is for rows that no run covers.
Element element_at(Row row, uint o, uint4 inner) {
#if ELEMENT_SIZE == 8
  const Element fill = constants[1].zw;
#else
  const Element fill = constants[1].z;
#endif
  int at = row.offset;
#if REVERSAL == 1
  const uint length = length_at(row.lengths, inner.x);
  at += int(o < length ? length - 1 - o : o) * int(inner.y);
#elif REVERSAL == 2
  const uint4 reversed = axis(REVERSAL_AXIS);
  const uint length = length_at(row.lengths + o * lengths_stride(AXIS_COUNT - 1), reversed.x);
  at += int(row.reversed < length ? length - 1 - row.reversed : row.reversed) * int(reversed.y) + int(o) * int(inner.y);
#else
  const Source source = source_index(o, inner);
  at += source.index * int(inner.y);  // inside of the input also where the result is not
  if (row.outside || source.outside) return fill;
#endif
  return load_element(at);
}

// The row after `row_index`, or the same row if it is the last. Values after the end of the output
// are never used, but reading them must stay inside the input.
uint next_row(uint row_index, uint4 inner) { return min(row_index + 1, constants[0].x / inner.x - 1); }

// Gathers elements one by one, and continues in the next row at the end of a row.
uint4 gather(uint row_index, Row row, uint o, uint4 inner) {
  uint4 result;
  [unroll]
  for (uint w = 0; w < 4; ++w) {
    uint word = 0;
#if ELEMENT_SIZE == 8
    if (w % 2 == 1) continue;
    const uint2 element = element_at(row, o, inner);
    if (w == 0) result.xy = element; else result.zw = element;
    ++o;
    if (o == inner.x) {
      o = 0;
      row_index = next_row(row_index, inner);
      row = row_at(row_index);
    }
#else
    for (uint part = 0; part < 4 / ELEMENT_SIZE; ++part) {
      word |= element_at(row, o, inner) << (part * ELEMENT_SIZE * 8);
      ++o;
      if (o == inner.x) {
        o = 0;
          row_index = next_row(row_index, inner);
        row = row_at(row_index);
      }
    }
    if (w == 0) result.x = word; else if (w == 1) result.y = word; else if (w == 2) result.z = word; else result.w = word;
#endif
  }
  return result;
}

#if REVERSAL != 2
// A stretch of the innermost axis from output index o on (as piece_at, index_map.cpp): `count`
// elements that begin at source index `index` and advance by +1, -1 or 0.
struct Piece {
  int index;
  int step;
  uint count;
  bool outside;
};

Piece piece_at(Row row, uint o, uint4 inner) {
  Piece piece;
  piece.index = int(o);
  piece.step = 1;
  piece.count = inner.x - o;
  piece.outside = row.outside;
#if REVERSAL == 1
  const uint length = length_at(row.lengths, inner.x);
  if (o < length) {
    piece.index = int(length - 1 - o);
    piece.step = -1;
    piece.count = length - o;
  }
#elif BOUNDARY != BOUNDARY_NONE
  if (row.outside) {
    piece.index = 0;  // not used, but inside of the input
    return piece;
  }
  const int n = int(inner.w);
  const int t = int(o) - int(inner.z);
  piece.index = t;
  const uint left = piece.count;
  if (t >= 0 && t < n) {
    piece.count = min(left, uint(n - t));
    return piece;
  }
#if BOUNDARY == BOUNDARY_CONSTANT
  piece.index = 0;
  piece.outside = true;
  if (t < 0) piece.count = min(left, uint(-t));
#elif BOUNDARY == BOUNDARY_EDGE
  piece.index = t < 0 ? 0 : n - 1;
  piece.step = 0;
  if (t < 0) piece.count = min(left, uint(-t));
#else
  const int period = period_of(n);
  const int phase = phase_of(t, period);
  piece.index = mirrored(phase, n, period);
  piece.step = phase < n ? 1 : -1;
  // In either direction, the stretch lasts until the source index turns.
  piece.count = min(left, uint((phase < n ? n : period) - phase));
#endif
#endif
  return piece;
}

// A mask with ones in the bytes of elements [k, PER_THREAD).
uint4 mask_from(uint k) {
  const int4 bytes = clamp(int4(k, k, k, k) * ELEMENT_SIZE - int4(0, 4, 8, 12), 0, 4);
  const uint4 ones = uint4(bytes < 4 ? int4(-1, -1, -1, -1) : int4(0, 0, 0, 0));
  return ones << (uint4(bytes & 3) * 8);
}

uint4 fill_vector() {
#if ELEMENT_SIZE == 8
  return constants[1].zwzw;
#elif ELEMENT_SIZE == 4
  return constants[1].zzzz;
#elif ELEMENT_SIZE == 2
  return constants[1].zzzz * 0x10001;
#else
  return constants[1].zzzz * 0x1010101;
#endif
}

uint4 broadcast(int at) {
  const Element element = load_element(at);
#if ELEMENT_SIZE == 8
  return element.xyxy;
#elif ELEMENT_SIZE == 4
  return uint4(element, element, element, element);
#elif ELEMENT_SIZE == 2
  return uint4(element, element, element, element) * 0x10001;
#else
  return uint4(element, element, element, element) * 0x1010101;
#endif
}

// Assembles 16 bytes from a few stretches. Each is loaded whole, shifted so that its elements are
// where they belong, and covers what the one before it left. (Buffers have slack at both ends for
// this.)
uint4 assemble(uint row_index, Row row, uint o, uint4 inner) {
  uint4 result = uint4(0, 0, 0, 0);
  uint k = 0;
  do {
    const Piece piece = piece_at(row, o, inner);
    const int step = piece.step * int(inner.y);
    const int at = row.offset + piece.index * int(inner.y);
    uint4 run;
    if (piece.outside) {
      run = fill_vector();
    } else if (step == 1) {
      run = load_run(at - int(k));
    } else if (step == -1) {
      run = opposite(load_run(at + int(k) - (PER_THREAD - 1)));
    } else {
      run = broadcast(at);
    }
    const uint4 mask = mask_from(k);
    result = (result & ~mask) | (run & mask);
    k += piece.count;
    o += piece.count;
    if (o == inner.x) {
      o = 0;
      row_index = next_row(row_index, inner);
      row = row_at(row_index);
    }
  } while (k < PER_THREAD);
  return result;
}

#if BOUNDARY == BOUNDARY_NONE && REVERSAL == 0
// Loads every second element of 32 bytes.
uint4 load_every_second(int at) {
  const uint4 low = load_run(at);
  const uint4 high = load_run(at + PER_THREAD);
#if ELEMENT_SIZE == 8
  return uint4(low.xy, high.xy);
#elif ELEMENT_SIZE == 4
  return uint4(low.xz, high.xz);
#elif ELEMENT_SIZE == 2
  return (uint4(low.xz, high.xz) & 0xFFFF) | (uint4(low.yw, high.yw) << 16);
#else
  const uint4 even_low = (low & 0xFF) | ((low >> 8) & 0xFF00);
  const uint4 even_high = (high & 0xFF) | ((high >> 8) & 0xFF00);
  return uint4(even_low.xz, even_high.xz) | (uint4(even_low.yw, even_high.yw) << 16);
#endif
}
#endif
#endif

// Chooses how to assemble the 16 bytes. All threads choose the same, except at the ends of rows.
uint4 output_vector(uint row_index, uint o, uint4 inner) {
  const Row row = row_at(row_index);
#if REVERSAL != 2
  const int stride = int(inner.y);
  if (stride >= -1 && stride <= 1) return assemble(row_index, row, o, inner);
#if BOUNDARY == BOUNDARY_NONE && REVERSAL == 0
  if (stride == 2 && o + PER_THREAD <= inner.x) return load_every_second(row.offset + 2 * int(o));
#endif
#endif
  return gather(row_index, row, o, inner);
}

void run(uint thread) {
  const uint first = thread * PER_THREAD;
  const uint4 inner = axis(AXIS_COUNT - 1);
#if RANK == 1
  const uint row_index = 0;
#else
  const uint row_index = first / inner.x;
#endif
  const uint o = first - row_index * inner.x;
  output0[thread] = output_vector(row_index, o, inner);
}
