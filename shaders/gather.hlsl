// Elements picked by index: GatherKernel (lib/ops/kernels/gather.hpp). A thread picks the elements of 16 bytes of
// output. Inputs: the elements, the indices.
#include "parameters/walk.hlsli"
#include "parameters/gather.hlsli"
#define PARAMETERS GatherParameters
#include "resident.hlsli"
#include "runs.hlsli"
#include "indices.hlsli"
#define WALK parameters[0].walk
#include "walk.hlsli"

SPECIALIZED(0, SIZE)        // bytes of an element: 1, 2 or 4
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

uint elements_in_vector() { return 16 / SIZE; }

void run(uint thread) {
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
