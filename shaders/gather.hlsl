// Elements picked by index: GatherKernel (lib/ops/kernels/gather.hpp). A thread picks the elements of 16 bytes of
// output, or a few elements of 16 bytes: rows are such where all of them begin at multiples of 16 bytes. Inputs: the
// elements, the indices.
#include "parameters/walk.hlsli"
#include "parameters/gather.hlsli"
#define PARAMETERS GatherParameters
#define LOADS_VECTORS
#include "resident.hlsli"
#include "runs.hlsli"
#include "indices.hlsli"
#define WALK parameters[0].walk
#include "walk.hlsli"

SPECIALIZED(0, ELEMENT_SIZE)        // bytes: 1, 2, 4 or 16
SPECIALIZED(1, INDEX_TYPE)
SPECIALIZED(2, LARGE_INDEX)
SPECIALIZED(3, HAS_RUNS)    // elements of a row have one index and stand side by side in the input

// How far the indices of an element lead.
uint picked(uint at) {
  uint sum = 0;
  for (uint c = 0; c < parameters[0].coordinates; ++c) {
    const uint extent = parameters[0].extents[c];
    const uint place = load_place(2, at + parameters[0].offsets[c], INDEX_TYPE, LARGE_INDEX, extent);
    sum += min(place, extent - 1) * parameters[0].strides[c];
  }
  return sum;
}

// The compiler for Direct3D does not divide by 0, which a test specializes.
#define SIZE max(ELEMENT_SIZE, 1u)
uint elements_in_vector() { return 16 / SIZE; }

#define VECTORS 4

// Threads that are neighbours move neighbours. A thread's loads are under way together.
void move_vectors(uint thread) {
  const uint first = thread / GROUP_SIZE * GROUP_SIZE * VECTORS + thread % GROUP_SIZE;
  const uint last = parameters[0].elements - 1;
  uint sources[VECTORS];
  uint4 moved[VECTORS];
  [unroll]
  for (uint i = 0; i < VECTORS; ++i) {
    const Place place = place_at(min(first + i * GROUP_SIZE, last));
    sources[i] = place.offsets.x + picked(place.offsets.y);
  }
  [unroll]
  for (uint k = 0; k < VECTORS; ++k) moved[k] = load_vector(1, sources[k]);
  [unroll]
  for (uint j = 0; j < VECTORS; ++j) {
    if (first + j * GROUP_SIZE <= last) output0[first + j * GROUP_SIZE] = moved[j];
  }
}

void run(uint thread) {
  if (SIZE == 16) {
    move_vectors(thread);
    return;
  }
  const uint count = elements_in_vector();
  uint at = thread * count;
  Place place = place_at(at);
  if (HAS_RUNS != 0) {
    if (left_in_row(place) >= count) {
      output0[thread] = load_run(1, place.offsets.x + picked(place.offsets.y), SIZE);
      return;
    }
  }
  uint4 result = uint4(0, 0, 0, 0);
  for (uint i = 0; i < count; ++i) {
    put(result, i, load_bits(1, place.offsets.x + picked(place.offsets.y), SIZE), SIZE);
    ++at;
    advance(place, at, parameters[0].elements);
  }
  output0[thread] = result;
}
