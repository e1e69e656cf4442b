// A way through up to three tensors at once: the same indices, each with strides of its own. A kernel that includes this
// file defines WALK as the WalkParameters that it follows.

struct Place {
  uint inner;     // index along the innermost axis
  uint3 offsets;  // in each tensor, elements
};

uint3 walk_strides(uint axis) {
  return uint3(WALK.strides[3 * axis], WALK.strides[3 * axis + 1], WALK.strides[3 * axis + 2]);
}

// The place of element `at`, in row-major order, which must be one of those that there are.
Place place_at(uint at) {
  Place place;
  place.offsets = uint3(0, 0, 0);
  place.inner = at;
  const uint last = WALK.rank - 1;
  for (uint a = last; a > 0; --a) {
    const uint next = at / WALK.extents[a];
    const uint index = at - next * WALK.extents[a];
    if (a == last) place.inner = index;
    place.offsets += index * walk_strides(a);
    at = next;
  }
  place.offsets += at * walk_strides(0);
  return place;
}

// Elements that follow in the same row, this one included.
uint left_in_row(Place place) { return WALK.extents[WALK.rank - 1] - place.inner; }

// From element `at` - 1 to element `at`; behind the last one to any.
void advance(inout Place place, uint at, uint elements) {
  if (left_in_row(place) > 1) {
    ++place.inner;
    place.offsets += walk_strides(WALK.rank - 1);
  } else {
    place = place_at(at < elements ? at : 0);
  }
}
