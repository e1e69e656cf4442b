// Indices that are data, checked against the axis that they point into; for the CPU this stands in lib/cpu/indices.hpp.

// LargeIndex (lib/ops/kernels/indexed_axis.hpp).
#define LOW_BITS 0
#define SIGNED_LOW_BITS 1
#define WHOLE 2

#define NO_PLACE 0xFFFFFFFFu

// Negative numbers count from the end of the axis.
uint signed_place(uint index, uint extent) {
  if (int(index) < 0) return 0 - index <= extent ? extent - (0 - index) : NO_PLACE;
  return index < extent ? index : NO_PLACE;
}

// Of an index with these low and high halves.
uint place_of(uint2 index, uint type, uint large, uint extent) {
  const uint unsigned_place = index.x < extent ? index.x : NO_PLACE;
  if (type == UINT32) return unsigned_place;
  if (type == INT32) return signed_place(index.x, extent);
  if (index.y == 0 && index.x < extent) return index.x;
  if (type == UINT64) {
    if (large == WHOLE) return NO_PLACE;
    return large == SIGNED_LOW_BITS ? signed_place(index.x, extent) : unsigned_place;
  }
  const uint from_end = 0 - index.x;
  if (index.y == 0xFFFFFFFFu && index.x != 0 && from_end <= extent) return extent - from_end;
  return signed_place(index.x, extent);
}

// Element `at` of an input of indices, as its low and high halves.
uint2 load_index(uint input, uint at, uint type) {
  if (type == UINT64 || type == INT64) return load_bits64(input, at);
  return uint2(load_word(input, at), 0);
}

// The place to which element `at` of an input of indices points, or NO_PLACE.
uint load_place(uint input, uint at, uint type, uint large, uint extent) {
  return place_of(load_index(input, at, type), type, large, extent);
}
