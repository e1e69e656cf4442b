// The gradient of samples of regions with respect to the boxes: RegionBoxGradientKernel (lib/ops/kernels/regions.hpp).
// In stage 0 a thread adds up what a row of outputs of one channel gives a box, as four words of scratch; in stage 1 it
// adds these up and writes the boxes of 16 bytes. Input 1 is the incoming gradients, input 2 the boxes, input 3 the batch
// of each box, input 4 the images.
#define BOXES 2
#define BATCHES 3
#define IMAGES 4
#include "regions.hlsli"

// How much slopes along an axis count: `whole` for both ends of a box, of it `each` for the end for every output
// before, and for the start what is left.
struct EndWeights {
  float whole;
  float each;
};

EndWeights end_weights(SampleAxis axis) {
  const float extent = float(axis.extent), samples = float(axis.outputs) * axis.number;
  EndWeights weights;
  weights.whole = REACHES_CORNERS != 0 ? extent - 1.0f : extent;
  weights.each = weights.whole / (REACHES_CORNERS != 0 ? max(samples - 1.0f, 1.0f) : samples);
  return weights;
}

// What a sample gives x1, y1, x2, y2.
float4 given_by(Between y, Between x, uint offset, float2 start_weights, float2 end_weights) {
  const float low_low = pixel(offset, y.low, x.low), low_high = pixel(offset, y.low, x.high);
  const float high_low = pixel(offset, y.high, x.low), high_high = pixel(offset, y.high, x.high);
  const float slope_y = x.low_share * (high_low - low_low) + x.high_share * (high_high - low_high);
  const float slope_x = y.low_share * (low_high - low_low) + y.high_share * (high_high - high_low);
  return float4(slope_x * start_weights.x, slope_y * start_weights.y, slope_x * end_weights.x, slope_y * end_weights.y);
}

void add_row(uint thread) {
  const uint row = thread % parameters[0].outputs[0];
  const uint channel = thread / parameters[0].outputs[0] % parameters[0].input_extents[1];
  const uint box = thread / parameters[0].outputs[0] / parameters[0].input_extents[1];
  const SampleAxis y = sample_axis(box, 0), x = sample_axis(box, 1);
  const EndWeights along_y = end_weights(y), along_x = end_weights(x);
  const uint offset = image_offset(batch_of(box), channel);
  float4 sums = float4(0, 0, 0, 0);
  for (uint column = 0; column < x.outputs; ++column) {
    const float2 ends = float2(float(column) * along_x.each, float(row) * along_y.each);
    const float2 starts = float2(along_x.whole, along_y.whole) - ends;
    const float gradient = gradient_at(box, channel, row, column);
    if (TAKES_MAXIMUM != 0) {
      const Largest largest = largest_sample(y, x, offset, row, column);
      if (largest.is_found)
        sums += gradient * given_by(between(y, largest.y), between(x, largest.x), offset, starts, ends);
    } else {
      const Range rows = samples_of(y, row, most_samples(0)), columns = samples_of(x, column, most_samples(1));
      const float share = gradient / (y.number * x.number);
      float4 of_output = float4(0, 0, 0, 0);
      for (uint j = rows.begin; j < rows.end; ++j) {
        const Between at_y = between(y, j);
        if (at_y.is_inside) {
          for (uint i = columns.begin; i < columns.end; ++i) {
            const Between at_x = between(x, i);
            // Not the share of a sum: an infinite gradient times 0 is NaN.
            if (at_x.is_inside) of_output += share * given_by(at_y, at_x, offset, starts, ends);
          }
        }
      }
      sums += of_output;
    }
  }
  scratch[4 * thread] = asuint(sums.x);
  scratch[4 * thread + 1] = asuint(sums.y);
  scratch[4 * thread + 2] = asuint(sums.z);
  scratch[4 * thread + 3] = asuint(sums.w);
}

float4 gradient_of(uint box) {
  const uint rows = parameters[0].input_extents[1] * parameters[0].outputs[0];
  float4 sums = float4(0, 0, 0, 0);
  for (uint row = 0; row < rows; ++row) {
    const uint at = 4 * (box * rows + row);
    sums += float4(asfloat(scratch[at]), asfloat(scratch[at + 1]), asfloat(scratch[at + 2]), asfloat(scratch[at + 3]));
  }
  return sums;
}

void run(uint thread) {
  if (STEP == 0) {
    add_row(thread);
    return;
  }
  if (TYPE == FLOAT32) {
    output0[thread] = asuint(gradient_of(thread));
  } else {
    const float4 first = gradient_of(2 * thread);
    const float4 second = gradient_of(min(2 * thread + 1, parameters[0].count - 1));
    output0[thread] = uint4(half_bits(first.x) | half_bits(first.y) << 16, half_bits(first.z) | half_bits(first.w) << 16,
                            half_bits(second.x) | half_bits(second.y) << 16,
                            half_bits(second.z) | half_bits(second.w) << 16);
  }
}
