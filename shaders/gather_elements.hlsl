// Elements of rows picked by an index each: GatherKernel (lib/ops/kernels/gather.hpp) where a row's indices point into
// the row, as in GATHER_ELEMENTS along the last axis. A group brings whole rows into its memory, so that no element
// waits for its index before it is loaded and memory is read side by side. Rows and those of the indices are packed and
// consist of vectors of 16 bytes. Inputs: the elements, the indices.
#include "parameters/walk.hlsli"
#include "parameters/gather.hlsli"
#define PARAMETERS GatherParameters
#define WHOLE_GROUPS
#define LOADS_VECTORS
#include "elements.hlsli"
#include "indices.hlsli"

GATHER_ELEMENTS_SPECIALIZATION(SPECIALIZED)
#define ROWS BASE        // of a group

#define SHARED_VECTORS (GROUP_SIZE * VECTORS_MOST)

// The first words of all vectors, then the second ones and so on: threads that are neighbors write neighbors.
groupshared uint shared_words[4 * SHARED_VECTORS];

// The compiler for Direct3D does not divide by 0, which a test specializes.
#define SIZE max(ELEMENT_SIZE, 2u)
#define INDEX_VECTORS (size_of(INDEX_TYPE) / SIZE)  // with the indices of a vector of output
#define INDEX_VECTORS_MOST 4

#define EACH(i, count, most) [unroll] for (uint i = 0; i < most; ++i) if (i < count)

void share_vectors(uint first, uint end, uint lane) {
  uint4 vectors[VECTORS_MOST];
  EACH(i, LOADS, VECTORS_MOST) vectors[i] = load_vector(1, min(first + i * GROUP_SIZE + lane, end - 1));
  EACH(k, LOADS, VECTORS_MOST) {
    const uint at = k * GROUP_SIZE + lane;
    shared_words[at] = vectors[k].x;
    shared_words[SHARED_VECTORS + at] = vectors[k].y;
    shared_words[2 * SHARED_VECTORS + at] = vectors[k].z;
    shared_words[3 * SHARED_VECTORS + at] = vectors[k].w;
  }
}

uint shared_element(uint at) {
  const uint word = SIZE == 4 ? at : at >> 1;
  return element_of_word(shared_words[(word & 3) * SHARED_VECTORS + (word >> 2)], at, SIZE);
}

// The element of a row, which begins at `row`, that an index points to.
uint picked(uint row, uint2 index) {
  const uint extent = parameters[0].extents[0];
  return shared_element(row + min(place_of(index, INDEX_TYPE, LARGE_INDEX, extent), extent - 1));
}

// Adds the elements that vector `v` of the indices points to.
uint4 with_picked(uint4 result, uint row, uint v, uint4 index) {
  if (size_of(INDEX_TYPE) == 8) {
    result = with_element(result, 2 * v, picked(row, index.xy), SIZE);
    return with_element(result, 2 * v + 1, picked(row, index.zw), SIZE);
  }
  result = with_element(result, 4 * v, picked(row, uint2(index.x, 0)), SIZE);
  result = with_element(result, 4 * v + 1, picked(row, uint2(index.y, 0)), SIZE);
  result = with_element(result, 4 * v + 2, picked(row, uint2(index.z, 0)), SIZE);
  return with_element(result, 4 * v + 3, picked(row, uint2(index.w, 0)), SIZE);
}

void run(uint thread, uint lane) {
  const uint per_vector = 16 / SIZE;
  const uint row_vectors = parameters[0].extents[0] / per_vector;
  const uint result_vectors = parameters[0].walk.extents[1] / per_vector;
  const uint rows = parameters[0].walk.extents[0];
  const uint first_row = min((thread - lane) / GROUP_SIZE * ROWS, rows - 1);
  const uint first = first_row * result_vectors;
  const uint end = thread < END_OF_THREADS ? min(first_row + ROWS, rows) * result_vectors : 0;
  // Indices first: they are under way while the rows come.
  uint4 indices[VECTORS_MOST * INDEX_VECTORS_MOST];
  EACH(i, OUTPUTS, VECTORS_MOST) {
    const uint at = min(first + i * GROUP_SIZE + lane, rows * result_vectors - 1);
    EACH(v, INDEX_VECTORS, INDEX_VECTORS_MOST)
      indices[i * INDEX_VECTORS_MOST + v] = load_vector(2, at * INDEX_VECTORS + v);
  }
  share_vectors(first_row * row_vectors, rows * row_vectors, lane);
  GroupMemoryBarrierWithGroupSync();
  EACH(k, OUTPUTS, VECTORS_MOST) {
    const uint at = k * GROUP_SIZE + lane;
    const uint row = min(at / result_vectors, ROWS - 1) * parameters[0].extents[0];
    uint4 result = uint4(0, 0, 0, 0);
    EACH(w, INDEX_VECTORS, INDEX_VECTORS_MOST) result = with_picked(result, row, w, indices[k * INDEX_VECTORS_MOST + w]);
    if (first + at < end) output0[first + at] = result;
  }
}
