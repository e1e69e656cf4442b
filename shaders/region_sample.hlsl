// Samples of regions of images: RegionSampleKernel (lib/ops/kernels/regions.hpp). In stages 0 a thread adds up the
// samples of some rows of an output, from row `base` on, or finds the largest, in a word of scratch; in stage 1 it
// writes the outputs of 16 bytes. Input 1 is the images, input 2 the boxes, input 3 the batch of each box.
#define IMAGES 1
#define BOXES 2
#define BATCHES 3
#include "regions.hlsli"

void sample(uint at) {
  const GridPlace place = grid_place(at);
  const SampleAxis y = sample_axis(place.box, 0), x = sample_axis(place.box, 1);
  const Range rows = samples_of(y, place.row, most_samples(0)), columns = samples_of(x, place.column, most_samples(1));
  const uint offset = image_offset(batch_of(place.box), place.channel);
  float found = TAKES_MAXIMUM != 0 ? -infinity() : 0.0f;
  if (BASE != 0) found = asfloat(scratch[at]);
  const uint first = rows.begin + min(BASE, rows.end - rows.begin);
  const uint end = first + min(parameters[0].step, rows.end - first);
  for (uint j = first; j < end; ++j) {
    const Between at_y = between(y, j);
    if (at_y.is_inside) {
      float sum = 0.0f;
      for (uint i = columns.begin; i < columns.end; ++i) {
        const Between at_x = between(x, i);
        if (at_x.is_inside) {
          const float value = sample_at(offset, at_y, at_x);
          if (TAKES_MAXIMUM != 0) {
            found = value > found ? value : found;
          } else {
            sum += value;
          }
        }
      }
      if (TAKES_MAXIMUM == 0) found += sum;
    }
  }
  scratch[at] = asuint(found);
}

float count_inside(SampleAxis axis, uint output, uint most) {
  const Range range = samples_of(axis, output, most);
  float count = 0.0f;
  for (uint i = range.begin; i < range.end; ++i) count += between(axis, i).is_inside ? 1.0f : 0.0f;
  return count;
}

uint bits_at(uint at) {
  const GridPlace place = grid_place(at);
  const SampleAxis y = sample_axis(place.box, 0), x = sample_axis(place.box, 1);
  float found = asfloat(scratch[at]);
  const float inside = count_inside(y, place.row, most_samples(0)) * count_inside(x, place.column, most_samples(1));
  const float all = y.number * x.number;
  const float outside_value = parameters[0].outside_value;
  if (TAKES_MAXIMUM != 0) return bits_of_real(inside < all && outside_value > found ? outside_value : found, TYPE);
  if (inside < all) found += (all - inside) * outside_value;
  return bits_of_real(found / all, TYPE);
}

void run(uint thread) {
  if (STEP == 0) {
    sample(thread);
    return;
  }
  const uint size = size_of(TYPE), per_thread = 16 / size;
  uint4 result = uint4(0, 0, 0, 0);
  [loop]
  for (uint i = 0; i < per_thread; ++i) {
    result = with_element(result, i, bits_at(min(thread * per_thread + i, parameters[0].elements - 1)), size);
  }
  output0[thread] = result;
}
