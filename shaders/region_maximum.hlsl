// Maxima of the cells of regions: RegionMaximumKernel (lib/ops/kernels/regions.hpp). In stages 0 a thread finds the
// largest element of some rows of a cell, from row `base` on, in a word of scratch; in stage 1 it writes the outputs of
// 16 bytes. Input 1 is the images, input 2 the boxes. Both corners of a box, rounded to whole elements, belong to it;
// one that ends before it begins is one element large.
#define IMAGES 1
#define BOXES 2
#define BATCHES 2
#include "regions.hlsli"

// Elements [begin, end) of an axis.
struct Cell {
  uint begin;
  uint end;
};

// A number of a box, scaled and rounded, halves away from zero.
float corner(uint box, uint i) {
  const float number = load_real(BOXES, box * parameters[0].box_strides[0] + i * parameters[0].box_strides[1], TYPE);
  const Pair scaled = exact_product(number, parameters[0].scales[0]);
  const float magnitude = abs(scaled.high);
  // Far beyond any image.
  if (magnitude > 1e15f) return scaled.high < 0.0f ? -1e15f : 1e15f;
  if (!(magnitude < 8388608.0f)) return scaled.high;
  Pair positive;
  positive.high = magnitude + 0.0f;
  positive.low = scaled.high < 0.0f ? -scaled.low : scaled.low;
  const float whole = floor_of_pair(positive);
  const float rounded = above(positive, whole) >= 0.5f ? whole + 1.0f : whole;
  return scaled.high < 0.0f ? -rounded : rounded;
}

uint cut(float place, uint limit) { return place > 0.0f ? uint(min(place, float(limit))) : 0; }

// A cell along y (0) or x (1), cut to the image.
Cell cell_of(uint box, uint i, uint index) {
  const float start = corner(box, 2 - i), end = corner(box, 4 - i);
  const float wanted = end - start + 1.0f, cells = float(parameters[0].outputs[i]);
  const float size = wanted < 1.0f ? 1.0f : wanted;
  const uint limit = parameters[0].input_extents[2 + i];
  Cell cell;
  cell.begin = cut(start + floor_of_pair(quotient_of(exact_product(float(index), size), cells)), limit);
  cell.end = cut(start + ceiling_of_pair(quotient_of(exact_product(float(index + 1), size), cells)), limit);
  return cell;
}

void find(uint at) {
  const GridPlace place = grid_place(at);
  const float number = load_real(BOXES, place.box * parameters[0].box_strides[0], TYPE);
  const uint last = parameters[0].input_extents[0] - 1;
  const uint batch = number > 0.0f ? uint(min(number, float(last))) : 0;
  const uint offset = image_offset(min(batch, last), place.channel);
  const Cell rows = cell_of(place.box, 0, place.row), columns = cell_of(place.box, 1, place.column);
  // Of a cell without elements 0; NaN is skipped.
  const bool is_empty = rows.begin >= rows.end || columns.begin >= columns.end;
  float most = is_empty ? 0.0f : -infinity();
  if (BASE != 0) most = asfloat(scratch[at]);
  const uint first = rows.begin + BASE;
  const uint end = is_empty ? 0 : min(rows.end, first + parameters[0].step);
  for (uint y = first; y < end; ++y) {
    for (uint x = columns.begin; x < columns.end; ++x) {
      const float value = pixel(offset, y, x);
      most = value > most ? value : most;
    }
  }
  scratch[at] = asuint(most);
}

void run(uint thread) {
  if (STEP == 0) {
    find(thread);
    return;
  }
  const uint size = size_of(TYPE), per_thread = 16 / size;
  uint4 result = uint4(0, 0, 0, 0);
  [loop]
  for (uint i = 0; i < per_thread; ++i) {
    const float most = asfloat(scratch[min(thread * per_thread + i, parameters[0].elements - 1)]);
    result = with_element(result, i, bits_of_real(most, TYPE), size);
  }
  output0[thread] = result;
}
