// Elements picked by index: GatherKernel (lib/ops/kernels/gather.hpp). A thread picks the elements of 16 bytes of
// output, or a few elements of 16 bytes: rows are such where all of them begin at multiples of 16 bytes. Inputs: the
// elements, the indices.
#include "parameters/walk.hlsli"
#include "parameters/gather.hlsli"
#define PARAMETERS GatherParameters
#define LOADS_VECTORS
#include "elements.hlsli"
#include "runs.hlsli"
#include "indices.hlsli"
#define WALK parameters[0].walk
#include "walk.hlsli"

GATHER_SPECIALIZATION(SPECIALIZED)

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

// Where the elements' indices stand, and how far the elements are from where these lead. Without loops whose ends are
// data: such loops wait for the indices of one vector before they load those of the next.
uint2 known_place_at(uint at) {
  uint2 offsets = uint2(0, 0);
  [unroll]
  for (uint a = RANK_MOST - 1; a > 0; --a) {
    if (a < RANK) {
      const uint next = at / WALK.extents[a];
      offsets += (at - next * WALK.extents[a]) * walk_strides(a).xy;
      at = next;
    }
  }
  return offsets + at * walk_strides(0).xy;
}

// The compiler for Direct3D does not divide by 0, which a test specializes.
#define SIZE max(ELEMENT_SIZE, 1u)
uint elements_in_vector() { return 16 / SIZE; }

// Where a thread's vectors stand in the input. Its indices are under way together if the rank is known.
void find_sources(uint first, uint last, inout uint sources[VECTORS]) {
  if (RANK == 0) {
    [unroll]
    for (uint i = 0; i < VECTORS; ++i) {
      const Place place = place_at(min(first + i * GROUP_SIZE, last));
      sources[i] = place.offsets.x + picked(place.offsets.y);
    }
    return;
  }
  uint2 indices[VECTORS];
  [unroll]
  for (uint k = 0; k < VECTORS; ++k) {
    const uint2 place = known_place_at(min(first + k * GROUP_SIZE, last));
    sources[k] = place.x;
    indices[k] = load_index(2, place.y, INDEX_TYPE);
  }
  const uint extent = parameters[0].extents[0], stride = parameters[0].strides[0];
  [unroll]
  for (uint j = 0; j < VECTORS; ++j)
    sources[j] += min(place_of(indices[j], INDEX_TYPE, LARGE_INDEX, extent), extent - 1) * stride;
}

// Threads that are neighbors move neighbors. A thread's loads are under way together.
void move_vectors(uint thread) {
  const uint first = thread / GROUP_SIZE * GROUP_SIZE * VECTORS + thread % GROUP_SIZE;
  const uint last = parameters[0].elements - 1;
  uint sources[VECTORS] = {0, 0, 0, 0};
  uint4 moved[VECTORS];
  find_sources(first, last, sources);
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
