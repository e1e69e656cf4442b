// Tensors one after the other: JoinKernel (lib/ops/kernels/join.hpp), for up to 8 parts that stand side by side in each
// row of the output. A thread puts together 16 bytes of output; what belongs to other parts it leaves as it is.
#include "parameters/join.hlsli"
#define PARAMETERS JoinParameters
#include "elements.hlsli"
#include "runs.hlsli"

JOIN_SPECIALIZATION(SPECIALIZED)

// The compiler for Direct3D does not divide by 0, which a test specializes.
#define SIZE max(ELEMENT_SIZE, 1u)
uint elements_in_vector() { return 16 / SIZE; }

// A place in the output.
struct Place {
  uint outer;
  uint column;  // in the row
  uint part;    // PARTS in columns of other parts
};

uint part_at(uint column) {
  uint part = 0;
  [unroll]
  for (uint p = 1; p <= 8; ++p) part += p <= PARTS && column >= parameters[0].starts[p] ? 1 : 0;
  return column < parameters[0].starts[0] ? PARTS : part;
}

// Elements of the same part from this place on; 0 in other parts.
uint left_in_part(Place place) {
  return place.part < PARTS ? parameters[0].starts[place.part + 1] - place.column : 0;
}

// The place in the input of a part, and how many elements follow it there, this one included.
uint2 source_at(Place place) {
  const uint part = min(place.part, 7);
  const uint start = parameters[0].starts[part];
  uint at = place.outer * (parameters[0].starts[part + 1] - start) + place.column - start;
  uint offset = parameters[0].offsets[part];
  if (IS_PACKED != 0) return uint2(offset + at, 0xFFFFFFFFu);
  const uint last = parameters[0].ranks[part] - 1;
  uint left = 1;
  for (uint a = last; a > 0; --a) {
    const uint extent = parameters[0].extents[9 * part + a], stride = parameters[0].strides[9 * part + a];
    const uint next = at / extent;
    const uint index = at - next * extent;
    if (a == last && stride == 1) left = extent - index;
    offset += index * stride;
    at = next;
  }
  return uint2(offset + at * parameters[0].strides[9 * part], left);
}

uint loaded(uint part, uint at) {
  uint bits = 0;
#define FROM(p) if (p < PARTS && part == p) bits = load_bits(p + 1, part == p ? at : 0, SIZE);
  FROM(0) FROM(1) FROM(2) FROM(3) FROM(4) FROM(5) FROM(6) FROM(7)
#undef FROM
  return bits;
}

uint4 loaded_run(uint part, uint at) {
  uint4 run = uint4(0, 0, 0, 0);
#define FROM(p) if (p < PARTS && part == p) run = load_run(p + 1, part == p ? at : 0, SIZE);
  FROM(0) FROM(1) FROM(2) FROM(3) FROM(4) FROM(5) FROM(6) FROM(7)
#undef FROM
  return run;
}

// Element by element.
void run_slowly(uint thread, Place place) {
  const uint count = elements_in_vector();
  uint4 result = uint4(0, 0, 0, 0), mask = uint4(0, 0, 0, 0);
  for (uint i = 0; i < count; ++i) {
    if (place.part < PARTS && thread * count + i < parameters[0].elements) {
      put(result, i, loaded(place.part, source_at(place).x), SIZE);
      put(mask, i, 0xFFFFFFFFu, SIZE);
    }
    ++place.column;
    if (place.column == parameters[0].row) {
      place.column = 0;
      ++place.outer;
    }
    place.part = part_at(place.column);
  }
  if (IS_ALL != 0) {
    output0[thread] = result;
  } else if (any(mask != uint4(0, 0, 0, 0))) {
    output0[thread] = (output0[thread] & ~mask) | result;
  }
}

void run(uint thread) {
  const uint count = elements_in_vector();
  const uint at = thread * count;
  Place place;
  place.outer = at / parameters[0].row;
  place.column = at - place.outer * parameters[0].row;
  place.part = part_at(place.column);
  const uint behind = parameters[0].starts[PARTS];
  if (IS_ALL == 0) {
    // Nothing of these parts.
    if (place.part == PARTS && parameters[0].row - place.column >= count &&
        (place.column >= behind || place.column + count <= parameters[0].starts[0]))
      return;
  }
  if (left_in_part(place) >= count) {
    const uint2 source = source_at(place);
    if (source.y >= count) {
      output0[thread] = loaded_run(place.part, source.x);
      return;
    }
  }
  run_slowly(thread, place);
}
