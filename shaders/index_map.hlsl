// Data movement (lib/ops/kernels/index_map.hpp): every axis maps its indices independently, and elements are
// moved whole. A thread gathers one or a few vectors of 16 bytes. Most vectors are one run of the source, or of the
// fill. The others, such as those at the ends of rows, go to a list, and the threads of a group assemble them together
// afterwards: in place, each would stop all threads beside it.
//
// ELEMENT_SIZE is 1, 2, 4 or 8. WAY says how vectors are gathered; a module has one way only, because drivers take
// their time for code that specialization constants rule out.
//
// Input 1 is the source, with what is around it, and input 2 the lengths of a reversal. More axes than fit the constants
// stand in the parameters.
#include "parameters/index_map.hlsli"
#define CONSTANTS IndexMapConstants
#define PARAMETERS IndexMapAxes
#define WHOLE_GROUPS
#define LOADS_VECTORS
#include "bindings.hlsli"

INDEX_MAP_SPECIALIZATION(SPECIALIZED)

// Ways to gather a vector: any elements, runs of neighbors in either direction, every second element of axes that are
// plain.

#if WAY == WAY_EVERY_SECOND
static const uint BOUNDARY = 0, REVERSAL = 0;
#else
#define BOUNDARY GIVEN_BOUNDARY
#define REVERSAL GIVEN_REVERSAL
#endif

#define PER_THREAD (16 / ELEMENT_SIZE)

#define IN_CONSTANTS (RANK < TABLE_AXES)
#define ROWS (constants.elements / inner.x)

uint4 inner_axis() {
  if (IN_CONSTANTS)
    return RANK == 1   ? constants.axis0
           : RANK == 2 ? constants.axis1
           : RANK == 3 ? constants.axis2
           : RANK == 4 ? constants.axis3
                       : constants.axis4;
  return parameters[0].axes[constants.rank - 1];
}

uint inner_lengths_stride() {
  if (!IN_CONSTANTS) return parameters[0].lengths_strides[constants.rank - 1];
  const uint4 strides = constants.axis4;
  return RANK == 1 ? strides.x : RANK == 2 ? strides.y : RANK == 3 ? strides.z : strides.w;
}

struct Source {
  int index;
  bool outside;
};

// The number of indices after which a mirrored or wrapped axis repeats.
int period_of(int n) {
  if (BOUNDARY == BOUNDARY_REFLECTION) return n == 1 ? 1 : 2 * (n - 1);
  return BOUNDARY == BOUNDARY_SYMMETRIC ? 2 * n : n;
}

// t modulo the period, in [0, period). It uses unsigned remainders only, because compilers disagree
// about those of negative numbers.
int phase_of(int t, int period) {
  // Most paddings are shorter than the input, and a remainder costs as much as everything else
  // together.
  int phase = t < 0 ? t + period : t;
  [branch]
  if (t < -period || t >= period) {
    const uint behind = uint(-t) % uint(period);
    phase = t >= 0 ? int(uint(t) % uint(period)) : behind == 0 ? 0 : period - int(behind);
  }
  return phase;
}

// The source index of a phase: forward below n, then backward.
int mirrored(int phase, int n, int period) {
  if (BOUNDARY == BOUNDARY_WRAP || phase < n) return phase;
  return BOUNDARY == BOUNDARY_REFLECTION ? period - phase : period - 1 - phase;
}

// The source index of output index o along an axis. Boundaries are handled as in piece_at
// (index_map.cpp).
Source source_index(uint o, uint4 axis_row) {
  Source source;
  source.index = int(o);
  source.outside = false;
  if (BOUNDARY != BOUNDARY_NONE) {
    const int n = int(axis_row.w);
    const int t = int(o) - int(axis_row.z);
    source.index = t;
    if (t < 0 || t >= n) {
      if (BOUNDARY == BOUNDARY_CONSTANT) {
        source.index = 0;
        source.outside = true;
      } else if (BOUNDARY == BOUNDARY_EDGE) {
        source.index = t < 0 ? 0 : n - 1;
      } else {
        const int period = period_of(n);
        source.index = mirrored(phase_of(t, period), n, period);
      }
    }
  }
  return source;
}

// The position along all axes but the innermost, for one row of output.
struct Row {
  int offset;    // source elements
  bool outside;  // a constant boundary fills the whole row
  uint lengths;  // offset into the lengths
  uint reversed;  // index along the reversed axis
};

// Takes the index along axis a off a row's index.
void place_along(inout Row row, inout uint index, uint a, uint4 axis_row, uint lengths_stride) {
  const uint next = a == 0 ? 0 : index / axis_row.x;
  const uint o = index - next * axis_row.x;
  index = next;
  if (REVERSAL != 0) row.lengths += o * lengths_stride;
  if (REVERSAL == 2 && a == constants.reversed_axis) {
    row.reversed = o;
  } else {
    const Source source = source_index(o, axis_row);
    row.offset += source.index * int(axis_row.y);
    row.outside = row.outside || source.outside;
  }
}

Row row_at(uint index) {
  Row row;
  row.offset = constants.offset;
  row.outside = false;
  row.lengths = 0;
  row.reversed = 0;
  if (IN_CONSTANTS) {
    if (RANK > 4) place_along(row, index, 3, constants.axis3, 0);
    if (RANK > 3) place_along(row, index, 2, constants.axis2, constants.axis4.z);
    if (RANK > 2) place_along(row, index, 1, constants.axis1, constants.axis4.y);
    if (RANK > 1) place_along(row, index, 0, constants.axis0, constants.axis4.x);
  } else {
    [loop]
    for (uint a = constants.rank - 1; a > 0; --a)
      place_along(row, index, a - 1, parameters[0].axes[a - 1], parameters[0].lengths_strides[a - 1]);
  }
  return row;
}

#if ELEMENT_SIZE == 8
#define Element uint2
#else
#define Element uint
#endif

Element load_element(int at) {
#if ELEMENT_SIZE == 8
  return uint2(input1[2 * uint(at)], input1[2 * uint(at) + 1]);
#elif ELEMENT_SIZE == 4
  return input1[uint(at)];
#elif ELEMENT_SIZE == 2
  return (input1[uint(at) >> 1] >> ((uint(at) & 1) * 16)) & 0xFFFF;
#else
  return (input1[uint(at) >> 2] >> ((uint(at) & 3) * 8)) & 0xFF;
#endif
}

// 16 bytes from element `at` on, which may have any alignment, and what follows them in their last word.
struct Words {
  uint4 words;
  uint more;
  uint shift;
};

// Words `word` to `word` + 4. Two wide loads and selections take less time than five narrow loads.
Words five_words(uint word) {
  Words loaded;
#ifdef DMLOP_VULKAN
  const uint4 a = input1_vectors[word >> 2], b = input1_vectors[(word >> 2) + 1];
  const bool by_two = (word & 2) != 0, by_one = (word & 1) != 0;
  const uint4 low = by_two ? uint4(a.zw, b.xy) : a;
  const uint2 next = by_two ? b.zw : b.xy;
  loaded.words = by_one ? uint4(low.yzw, next.x) : low;
  loaded.more = by_one ? next.y : next.x;
#else
  loaded.words = uint4(input1[word], input1[word + 1], input1[word + 2], input1[word + 3]);
  loaded.more = input1[word + 4];
#endif
  loaded.shift = 0;
  return loaded;
}

Words load_words(int at) {
#if ELEMENT_SIZE == 8
  return five_words(2 * uint(at));
#elif ELEMENT_SIZE == 4
  return five_words(uint(at));
#else
  Words loaded = five_words(uint(at) * ELEMENT_SIZE >> 2);
  loaded.shift = (uint(at) * ELEMENT_SIZE & 3) * 8;
  return loaded;
#endif
}

uint4 run_of(Words loaded) {
#if ELEMENT_SIZE >= 4
  return loaded.words;
#else
  // In two steps, because no shift is by 32.
  const uint4 high = uint4(loaded.words.yzw, loaded.more) << 1;
  return (loaded.words >> loaded.shift) | (high << (31 - loaded.shift));
#endif
}

uint4 load_run(int at) { return run_of(load_words(at)); }

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

// The number of elements to reverse; 64-bit lengths are clamped by their high word.
uint length_at(uint offset, uint extent) {
  const uint words = constants.length_words;
  const uint low = input2[offset * words];
  const uint high = input2[offset * words + words - 1];
  return words == 2 && high != 0 ? extent : min(low, extent);
}

// The row after `row_index`, or the same row if it is the last. Values after the end of the output
// are never used, but reading them must stay inside the input.
uint next_row(uint row_index, uint4 inner) { return min(row_index + 1, ROWS - 1); }

#if WAY != WAY_RUNS
uint4 reversed_axis() {
  if (!IN_CONSTANTS) return parameters[0].axes[constants.reversed_axis];
  return constants.reversed_axis == 0   ? constants.axis0
         : constants.reversed_axis == 1 ? constants.axis1
                                        : constants.axis2;
}

// The source of element o of a row. It is for rows that no run covers.
Element element_at(Row row, uint o, uint4 inner) {
#if ELEMENT_SIZE == 8
  const Element fill = uint2(constants.fill_low, constants.fill_high);
#else
  const Element fill = constants.fill_low;
#endif
  int at = row.offset;
  bool is_outside = false;
  if (REVERSAL == 1) {
    const uint length = length_at(row.lengths, inner.x);
    at += int(o < length ? length - 1 - o : o) * int(inner.y);
  } else if (REVERSAL == 2) {
    const uint4 reversed = reversed_axis();
    const uint length = length_at(row.lengths + o * inner_lengths_stride(), reversed.x);
    at += int(row.reversed < length ? length - 1 - row.reversed : row.reversed) * int(reversed.y) + int(o) * int(inner.y);
  } else {
    const Source source = source_index(o, inner);
    at += source.index * int(inner.y);  // inside of the input also where the result is not
    is_outside = row.outside || source.outside;
  }
  if (is_outside) return fill;
  return load_element(at);
}

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
    [loop]
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
#endif

#if WAY == WAY_RUNS
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
  if (REVERSAL == 1) {
    const uint length = length_at(row.lengths, inner.x);
    if (o < length) {
      piece.index = int(length - 1 - o);
      piece.step = -1;
      piece.count = length - o;
    }
  } else if (BOUNDARY != BOUNDARY_NONE) {
    const int n = int(inner.w);
    const int t = int(o) - int(inner.z);
    const uint left = piece.count;
    if (row.outside) {
      piece.index = 0;  // not used, but inside of the input
    } else if (t >= 0 && t < n) {
      piece.index = t;
      piece.count = min(left, uint(n - t));
    } else if (BOUNDARY == BOUNDARY_CONSTANT) {
      piece.index = 0;
      piece.outside = true;
      if (t < 0) piece.count = min(left, uint(-t));
    } else if (BOUNDARY == BOUNDARY_EDGE) {
      piece.index = t < 0 ? 0 : n - 1;
      piece.step = 0;
      if (t < 0) piece.count = min(left, uint(-t));
    } else {
      const int period = period_of(n);
      const int phase = phase_of(t, period);
      piece.index = mirrored(phase, n, period);
      piece.step = phase < n ? 1 : -1;
      // In either direction, the stretch lasts until the source index turns.
      piece.count = min(left, uint((phase < n ? n : period) - phase));
    }
  }
  return piece;
}

// A mask with ones in the bytes of elements [k, PER_THREAD).
uint4 mask_from(uint k) {
  const int4 bytes = clamp(int4(k, k, k, k) * ELEMENT_SIZE - int4(0, 4, 8, 12), 0, 4);
  const uint4 ones = uint4(bytes < 4 ? int4(-1, -1, -1, -1) : int4(0, 0, 0, 0));
  return ones << (uint4(bytes & 3) * 8);
}

uint4 fill_vector() {
  const uint fill = constants.fill_low;
#if ELEMENT_SIZE == 8
  return uint4(fill, constants.fill_high, fill, constants.fill_high);
#elif ELEMENT_SIZE == 4
  return uint4(fill, fill, fill, fill);
#elif ELEMENT_SIZE == 2
  return uint4(fill, fill, fill, fill) * 0x10001;
#else
  return uint4(fill, fill, fill, fill) * 0x1010101;
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
  [loop]
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

// A vector that is one run.
struct Run {
  bool is_one;  // or else a vector to assemble
  bool is_fill;
  bool is_opposite;
  int at;  // of the element that stands first in the input; inside of it in any case
};

// The run of the vector that begins at element o of a row.
Run run_at(Row row, uint o, uint4 inner) {
  Run run;
  run.is_one = o <= inner.x && inner.x - o >= PER_THREAD;
  run.is_fill = false;
  run.at = row.offset;
  int step = int(inner.y);
  int index = int(o);
  if (REVERSAL == 1) {
    const uint length = length_at(row.lengths, inner.x);
    run.is_one = run.is_one && (o >= length || length - o >= PER_THREAD);
    if (o < length) {
      index = int(length - 1 - o);
      step = -step;
    }
  } else if (BOUNDARY != BOUNDARY_NONE) {
    const int n = int(inner.w);
    index -= int(inner.z);
    const bool is_inside = index >= 0 && index <= n - PER_THREAD;
    if (BOUNDARY == BOUNDARY_CONSTANT) {
      run.is_fill = row.outside || index <= -PER_THREAD || index >= n;
      run.is_one = run.is_one && (is_inside || run.is_fill);
    } else {
      run.is_one = run.is_one && is_inside;
    }
  }
  run.is_one = run.is_one && step != 0;
  run.is_opposite = step < 0;
  if (run.is_one && !run.is_fill) run.at += index * int(inner.y) - (step < 0 ? PER_THREAD - 1 : 0);
  return run;
}
#endif

#if WAY == WAY_EVERY_SECOND
// 48 bytes, and the words from word `at` on: nine that the caller can use.
struct Nine {
  uint4 low;
  uint4 high;
  uint last;
};

Nine load_nine(uint at) {
  const uint4 a = load_vector(1, at >> 2), b = load_vector(1, (at >> 2) + 1), c = load_vector(1, (at >> 2) + 2);
  const bool by_two = (at & 2) != 0, by_one = (at & 1) != 0;
  const uint4 low = by_two ? uint4(a.zw, b.xy) : a;
  const uint4 high = by_two ? uint4(b.zw, c.xy) : b;
  const uint2 last = by_two ? c.zw : c.xy;
  Nine nine;
  nine.low = by_one ? uint4(low.yzw, high.x) : low;
  nine.high = by_one ? uint4(high.yzw, last.x) : high;
  nine.last = by_one ? last.y : last.x;
  return nine;
}

// Loads every second element of 32 bytes, in few wide loads.
uint4 load_every_second(int at) {
#if ELEMENT_SIZE == 8
  const Nine nine = load_nine(2 * uint(at));
  return uint4(nine.low.xy, nine.high.xy);
#elif ELEMENT_SIZE == 4
  const Nine nine = load_nine(uint(at));
  return uint4(nine.low.xz, nine.high.xz);
#elif ELEMENT_SIZE == 2
  const Nine nine = load_nine(uint(at) >> 1);
  const uint4 even = uint4(nine.low.xz, nine.high.xz), odd = uint4(nine.low.yw, nine.high.yw);
  return (uint(at) & 1) != 0 ? (even >> 16) | (odd & 0xFFFF0000) : (even & 0xFFFF) | (odd << 16);
#else
  const Nine nine = load_nine(uint(at) >> 2);
  const uint shift = (uint(at) & 3) * 8;
  const uint4 low = (nine.low >> shift) | ((uint4(nine.low.yzw, nine.high.x) << 1) << (31 - shift));
  const uint4 high = (nine.high >> shift) | ((uint4(nine.high.yzw, nine.last) << 1) << (31 - shift));
  const uint4 even_low = (low & 0xFF) | ((low >> 8) & 0xFF00);
  const uint4 even_high = (high & 0xFF) | ((high >> 8) & 0xFF00);
  return uint4(even_low.xz, even_high.xz) | (uint4(even_low.yw, even_high.yw) << 16);
#endif
}
#endif

#define VECTORS_MOST 4

// Whether a thread assembles its one vector itself. Large elements have little work with it, and a group need not wait
// for its last thread.
#define IS_IN_PLACE (WAY == WAY_RUNS && ELEMENT_SIZE >= 4 && VECTORS == 1)

// Vectors of a group that are to be assembled.
groupshared uint listed[VECTORS_MOST * GROUP_SIZE];
groupshared uint listed_count;

void list_vector(uint vector_index) {
  uint place;
  InterlockedAdd(listed_count, 1, place);
  listed[place] = vector_index;
}

// A vector's place among the rows.
struct Place {
  uint row_index;
  uint o;
};

Place place_of(uint vector_index, uint4 inner) {
  Place place;
  const uint first = vector_index * PER_THREAD;
  place.row_index = RANK == 1 ? 0 : first / inner.x;
  place.o = first - place.row_index * inner.x;
  return place;
}

// A vector that is not one run.
uint4 listed_vector(uint vector_index, uint4 inner) {
  const Place place = place_of(vector_index, inner);
  const Row row = row_at(place.row_index);
#if WAY == WAY_RUNS
  return assemble(place.row_index, row, place.o, inner);
#else
  return gather(place.row_index, row, place.o, inner);
#endif
}

#if WAY == WAY_RUNS
// Loads of all vectors are under way together. Returns whether the first one is left to be assembled in place.
bool store_quick_vectors(uint first, uint vectors, uint4 inner) {
  Run runs[VECTORS_MOST];
  Words loaded[VECTORS_MOST];
  [unroll]
  for (uint i = 0; i < VECTORS_MOST; ++i) {
    if (i < VECTORS) {
      const Place place = place_of(min(first + i * GROUP_SIZE, vectors - 1), inner);
      runs[i] = run_at(row_at(place.row_index), place.o, inner);
    }
  }
  [unroll]
  for (uint j = 0; j < VECTORS_MOST; ++j) {
    if (j < VECTORS) loaded[j] = load_words(runs[j].at);
  }
  [unroll]
  for (uint k = 0; k < VECTORS_MOST; ++k) {
    const uint at = first + k * GROUP_SIZE;
    if (k < VECTORS && at < vectors) {
      if (runs[k].is_one) {
        uint4 result = run_of(loaded[k]);
        if (runs[k].is_opposite) result = opposite(result);
        if (runs[k].is_fill) result = fill_vector();
        output0[at] = result;
      } else if (!IS_IN_PLACE) {
        list_vector(at);
      }
    }
  }
  return IS_IN_PLACE && first < vectors && !runs[0].is_one;
}

#elif WAY == WAY_EVERY_SECOND
bool store_quick_vectors(uint first, uint vectors, uint4 inner) {
  if (first >= vectors) return false;
  const Place place = place_of(first, inner);
  const Row row = row_at(place.row_index);
  if (inner.x - place.o >= PER_THREAD)
    output0[first] = load_every_second(row.offset + 2 * int(place.o));
  else
    list_vector(first);
  return false;
}
#endif

void run(uint thread, uint lane) {
  const uint4 inner = inner_axis();
  const uint vectors = (constants.elements - 1) / PER_THREAD + 1;
  const uint first = (thread - lane) * VECTORS + lane;
#if WAY == WAY_ELEMENTS
  // In place: there would be nothing else to do.
  if (first < vectors) output0[first] = listed_vector(first, inner);
#else
  if (!IS_IN_PLACE) {
    if (lane == 0) listed_count = 0;
    GroupMemoryBarrierWithGroupSync();
  }
  const bool is_left = store_quick_vectors(first, vectors, inner);
  uint i = 0;
  uint count = is_left ? 1 : 0;
  if (!IS_IN_PLACE) {
    GroupMemoryBarrierWithGroupSync();
    i = lane;
    count = listed_count;
  }
  [loop]
  for (; i < count; i += GROUP_SIZE) {
    const uint at = IS_IN_PLACE ? first : listed[i];
    output0[at] = listed_vector(at, inner);
  }
#endif
}
