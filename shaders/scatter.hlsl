// A copy of a tensor in which elements are replaced by index: ScatterKernel (lib/ops/kernels/scatter.hpp). Inputs: the
// elements, the indices, the updates.
//
// A key is a group of elements that have their index in common. The scratch holds, for each key, the number of the last
// update that hits it, from 1 on, or 0. The first stage clears it, the second finds the numbers; in the third, a thread
// takes the elements of 16 bytes of output from the input or from the updates. Where a key has one update only, the
// third finds on its own whether it hits.
#include "parameters/walk.hlsli"
#include "parameters/scatter.hlsli"
#define PARAMETERS ScatterParameters
#include "elements.hlsli"
#include "runs.hlsli"
#include "indices.hlsli"
#define WALK parameters[0].walks[STEP == FINDS ? 1 : 0]
#include "walk.hlsli"

SCATTER_SPECIALIZATION(SPECIALIZED)

// The compiler for Direct3D does not divide by 0, which a test specializes.
#define SIZE max(ELEMENT_SIZE, 1u)
uint elements_in_vector() { return 16 / SIZE; }

// The place of the coordinates that the indices lead to, or NO_PLACE.
uint indexed_place(uint at) {
  uint place = 0;
  bool is_inside = true;
  for (uint c = 0; c < parameters[0].coordinates; ++c) {
    const uint extent = parameters[0].extents[c];
    const uint next = load_place(2, at + parameters[0].offsets[c], INDEX_TYPE, LARGE_INDEX, extent);
    is_inside = is_inside && next != NO_PLACE;
    place = place * extent + next;
  }
  return is_inside ? place : NO_PLACE;
}

void find(uint update) {
  const Place place = place_at(update);
  const uint target = indexed_place(place.offsets.x);
  if (target == NO_PLACE) return;
  InterlockedMax(scratch[place.offsets.y + target * parameters[0].place_keys], place.offsets.z + 1);
}

// Which update, from 1 on, the element has; 0: none.
uint update_of(uint at, Place place) {
  const uint key = at / parameters[0].key_elements;
  if (HAS_ONE == 0) return scratch[key];
  const uint own_place = (key / parameters[0].place_keys) % parameters[0].places;
  return indexed_place(place.offsets.y) == own_place ? 1 : 0;
}

// Where the update's element stands.
uint offset_of(uint update, Place place) {
  uint offset = place.offsets.z + parameters[0].updates_offset;
  uint number = max(update, 1) - 1;
  for (uint step = parameters[0].update_rank; step > 0; --step) {
    const uint a = step - 1;
    const uint next = number / parameters[0].update_extents[a];
    offset += (number - next * parameters[0].update_extents[a]) * parameters[0].update_strides[a];
    number = next;
  }
  return offset;
}

uint moved_bits(uint at, Place place) {
  const uint update = update_of(at, place);
  if (update == 0) return load_bits(1, place.offsets.x, SIZE);
  return load_bits(3, offset_of(update, place), SIZE);
}

void move(uint thread) {
  const uint count = elements_in_vector();
  uint at = thread * count;
  Place place = place_at(at);
  if (HAS_RUNS != 0) {
    if (left_in_row(place) >= count) {
      const uint update = update_of(at, place);
      if (update == 0) {
        output0[thread] = load_run(1, place.offsets.x, SIZE);
      } else {
        output0[thread] = load_run(3, offset_of(update, place), SIZE);
      }
      return;
    }
  }
  uint4 result = uint4(0, 0, 0, 0);
  for (uint i = 0; i < count; ++i) {
    put(result, i, moved_bits(at, place), SIZE);
    ++at;
    advance(place, at, parameters[0].elements);
    if (at >= parameters[0].elements) at = 0;
  }
  output0[thread] = result;
}

void run(uint thread) {
  if (STEP == CLEARS) {
    scratch[thread] = 0;
  } else if (STEP == FINDS) {
    find(thread);
  } else {
    move(thread);
  }
}
