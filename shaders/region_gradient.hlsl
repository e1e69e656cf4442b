// The gradient of samples of regions with respect to the images: RegionGradientKernel (lib/ops/kernels/regions.hpp). In
// stages 1 a thread adds up what an element gets of some boxes, from box `base` on, in a word of scratch; in stage 2 it
// writes the elements of 16 bytes. Behind those words, stage 0 leaves the largest sample of each output, as two words,
// where only that one passes its gradient on. Input 1 is the incoming gradients, input 2 the boxes, input 3 the batch of
// each box, input 4 the images.
#define BOXES 2
#define BATCHES 3
#define IMAGES 4
#include "regions.hlsli"

#define NOWHERE 0xFFFFFFFFu

uint largest_at(uint output) { return parameters[0].elements + 2 * output; }

void find_largest(uint at) {
  const GridPlace place = grid_place(at);
  const SampleAxis y = sample_axis(place.box, 0), x = sample_axis(place.box, 1);
  const uint offset = image_offset(batch_of(place.box), place.channel);
  const Largest largest = largest_sample(y, x, offset, place.row, place.column);
  scratch[largest_at(at)] = largest.is_found ? largest.y : NOWHERE;
  scratch[largest_at(at) + 1] = largest.is_found ? largest.x : NOWHERE;
}

// How much of a sample element `here` is.
float share_of(Between found, uint here) {
  if (!found.is_inside) return 0.0f;
  return (found.low == here ? found.low_share : 0.0f) + (found.high == here ? found.high_share : 0.0f);
}

// The samples that element `here` may be part of.
Range samples_near(SampleAxis axis, uint here, uint most) {
  return range_within(axis, float(here) - 1.0f, float(here) + 1.0f, 0, axis.outputs * axis.count, most);
}
uint most_near(uint i) { return max(20, parameters[0].outputs[i] * uint(parameters[0].samples_min)); }

float gradient_of_box(uint box, uint channel, uint row, uint column) {
  const SampleAxis y = sample_axis(box, 0), x = sample_axis(box, 1);
  const Range rows = samples_near(y, row, most_near(0)), columns = samples_near(x, column, most_near(1));
  float sum = 0.0f;
  for (uint j = rows.begin; j < rows.end; ++j) {
    const float share_y = share_of(between(y, j), row);
    if (share_y != 0.0f) {
      const uint output_row = j / max(y.count, 1);
      float row_sum = 0.0f;
      for (uint i = columns.begin; i < columns.end; ++i) {
        const float share_x = share_of(between(x, i), column);
        if (share_x != 0.0f) {
          const uint output_column = i / max(x.count, 1);
          bool counts = true;
          if (TAKES_MAXIMUM != 0) {
            const uint output =
                ((box * parameters[0].input_extents[1] + channel) * y.outputs + output_row) * x.outputs + output_column;
            counts = scratch[largest_at(output)] == j && scratch[largest_at(output) + 1] == i;
          }
          if (counts) row_sum += share_x * gradient_at(box, channel, output_row, output_column);
        }
      }
      sum += share_y * row_sum;
    }
  }
  return TAKES_MAXIMUM != 0 ? sum : sum / (y.number * x.number);
}

void add_boxes(uint at) {
  const uint width = parameters[0].input_extents[3], height = parameters[0].input_extents[2];
  const uint column = at % width, row = at / width % height;
  const uint channel = at / width / height % parameters[0].input_extents[1];
  const uint batch = at / width / height / parameters[0].input_extents[1];
  float sum = BASE == 0 ? 0.0f : asfloat(scratch[at]);
  const uint end = min(BASE + parameters[0].step, parameters[0].count);
  for (uint box = BASE; box < end; ++box) {
    if (batch_of(box) == batch) sum += gradient_of_box(box, channel, row, column);
  }
  scratch[at] = asuint(sum);
}

void run(uint thread) {
  if (STEP == 0) {
    find_largest(thread);
    return;
  }
  if (STEP == 1) {
    add_boxes(thread);
    return;
  }
  const uint size = size_of(TYPE), per_thread = 16 / size;
  uint4 result = uint4(0, 0, 0, 0);
  [loop]
  for (uint i = 0; i < per_thread; ++i) {
    const float sum = asfloat(scratch[min(thread * per_thread + i, parameters[0].elements - 1)]);
    result = with_element(result, i, bits_of_real(sum, TYPE), size);
  }
  output0[thread] = result;
}
