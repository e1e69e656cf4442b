// Where the samples of regions lie (lib/ops/kernels/regions.hpp), for region_*.hlsl, which define BOXES, BATCHES and
// IMAGES, the inputs that these are.
#include "parameters/regions.hlsli"
#define PARAMETERS RegionsParameters
#include "elements.hlsli"
#include "exact_pairs.hlsli"

REGIONS_SPECIALIZATION(SPECIALIZED)

// The samples of one region along an axis.
struct SampleAxis {
  uint outputs;
  uint extent;   // of the image
  uint count;    // samples of each output
  float number;  // the same
  Pair start;
  Pair length;
  float divisor;
  float output_offset;
};

SampleAxis sample_axis(uint box, uint i) {
  const uint at = box * parameters[0].box_strides[0], stride = parameters[0].box_strides[1];
  const Pair scale = pair_of(parameters[0].scales[i]);
  SampleAxis axis;
  axis.outputs = parameters[0].outputs[i];
  axis.extent = parameters[0].input_extents[2 + i];
  axis.start = product_of(pair_of(load_real(BOXES, at + (1 - i) * stride, TYPE)), scale);
  const Pair end = product_of(pair_of(load_real(BOXES, at + (3 - i) * stride, TYPE)), scale);
  axis.length = difference_of(end, axis.start);
  const float size = float(axis.outputs);
  const float wanted = ceiling_of_pair(quotient_of(axis.length, size));
  const float least = parameters[0].samples_min, most = parameters[0].samples_max;
  // Not a number of samples: the fewest.
  axis.number = wanted > least ? min(wanted, most) : least;
  axis.count = uint(min(axis.number, 4294967040.0f));
  axis.divisor = REACHES_CORNERS != 0 ? max(size * axis.number - 1.0f, 1.0f) : size * axis.number;
  const bool is_between_corners = REACHES_CORNERS != 0 && size * axis.number == 1.0f;
  axis.output_offset = is_between_corners ? -0.5f : parameters[0].output_offset;
  return axis;
}

// Sample `at` of all those of the axis.
Pair position(SampleAxis axis, uint at) {
  const Pair number = exact_sum(float(at), -axis.output_offset);
  const Pair way = quotient_of(product_of(number, axis.length), axis.divisor);
  return difference_of(sum_of(axis.start, way), pair_of(parameters[0].input_offset));
}

// A position between two elements, and how much of each it is. Less than an element beyond the image it is the outermost
// element.
struct Between {
  uint low;
  uint high;
  float low_share;
  float high_share;
  bool is_inside;  // of the image
};

Between between(SampleAxis axis, uint at) {
  const Pair place = position(axis, at);
  const float end = float(axis.extent);
  Between found;
  found.is_inside = REACHES_CORNERS != 0 ? above(place, 0.0f) >= 0.0f && above(place, end - 1.0f) <= 0.0f
                                         : above(place, -1.0f) > 0.0f && above(place, end) < 0.0f;
  found.low = found.high = 0;
  found.low_share = 1.0f;
  found.high_share = 0.0f;
  if (found.is_inside && above(place, 0.0f) >= 0.0f) {
    const bool is_beyond = above(place, end - 1.0f) >= 0.0f;
    const float low = is_beyond ? end - 1.0f : floor_of_pair(place);
    const float share = is_beyond ? 0.0f : above(place, low);
    found.low = min(uint(low), axis.extent - 1);
    if (IS_NEAREST != 0) {
      found.low = found.high = min(found.low + (share >= 0.5f ? 1 : 0), axis.extent - 1);
    } else {
      found.high = min(found.low + 1, axis.extent - 1);
      found.low_share = is_beyond ? 1.0f : -above(place, low + 1.0f);
      found.high_share = share;
    }
  }
  return found;
}

// Samples [begin, end) of an axis.
struct Range {
  uint begin;
  uint end;
};

// Which sample lies at a place, about.
float sample_number(SampleAxis axis, float place) {
  const Pair way = difference_of(sum_of(pair_of(place), pair_of(parameters[0].input_offset)), axis.start);
  return product_of(way, pair_of(axis.divisor)).high / axis.length.high + axis.output_offset;
}

// Those of samples [begin, end) that may lie within (low, high), at most `most` of them. No other one does.
Range range_within(SampleAxis axis, float low, float high, uint begin, uint end, uint most) {
  const float a = sample_number(axis, low), b = sample_number(axis, high);
  Range range;
  range.begin = begin;
  range.end = end;
  // Where the step is 0, or nearly, all of them.
  const float first = min(a, b), last = max(a, b);
  if (abs(first) < 1e9f && abs(last) < 1e9f) {
    const float from = floor(first - 2.0f - abs(first) * 2e-7f), to = ceil(last + 3.0f + abs(last) * 2e-7f);
    range.begin = clamp(uint(max(from, 0.0f)), begin, end);
    range.end = clamp(uint(max(to, 0.0f)), range.begin, end);
  }
  range.end = min(range.end, range.begin + min(most, range.end - range.begin));
  return range;
}

// The samples of an output that may lie inside of the image.
Range samples_of(SampleAxis axis, uint output, uint most) {
  return range_within(axis, -1.0f, float(axis.extent), output * axis.count, (output + 1) * axis.count, most);
}

// The most samples of an output that a thread looks at along an axis.
uint most_samples(uint i) {
  const float inside = max(parameters[0].samples_min, float(parameters[0].input_extents[2 + i]) + 10.0f);
  return uint(min(parameters[0].samples_max, inside));
}

uint batch_of(uint box) {
  const uint at = box * parameters[0].batch_stride;
  const uint last = parameters[0].input_extents[0] - 1;
  if (size_of(BATCH_TYPE) == 8) {
    const uint2 batch = load_bits64(BATCHES, at);
    return batch.y != 0 ? last : min(batch.x, last);
  }
  return min(load_bits(BATCHES, at, size_of(BATCH_TYPE)), last);
}

uint image_offset(uint batch, uint channel) {
  return batch * parameters[0].input_strides[0] + channel * parameters[0].input_strides[1];
}

// The elements that a sample lies between, of an image that begins at `offset`.
float pixel(uint offset, uint y, uint x) {
  return load_real(IMAGES, offset + y * parameters[0].input_strides[2] + x * parameters[0].input_strides[3], TYPE);
}

// The mix of the elements of a sample. Those with weight 0 do not count, and equal ones have no other mix.
float mixed(float low, float high, Between place) {
  if (place.high_share == 0.0f || low == high) return low;
  return place.low_share * low + place.high_share * high;
}
float sample_at(uint offset, Between y, Between x) {
  return mixed(mixed(pixel(offset, y.low, x.low), pixel(offset, y.low, x.high), x),
               mixed(pixel(offset, y.high, x.low), pixel(offset, y.high, x.high), x), y);
}

// An output of a grid: box, channel, row, column.
struct GridPlace {
  uint box;
  uint channel;
  uint row;
  uint column;
};

GridPlace grid_place(uint at) {
  GridPlace place;
  const uint width = parameters[0].outputs[1], height = parameters[0].outputs[0];
  place.column = at % width;
  place.row = at / width % height;
  place.channel = at / width / height % parameters[0].input_extents[1];
  place.box = at / width / height / parameters[0].input_extents[1];
  return place;
}

float gradient_at(uint box, uint channel, uint row, uint column) {
  return load_real(1, box * parameters[0].gradient_strides[0] + channel * parameters[0].gradient_strides[1] +
                          row * parameters[0].gradient_strides[2] + column * parameters[0].gradient_strides[3],
                   TYPE);
}

// The largest sample of an output: the first of them, and none where that is outside of the image, which counts 0.
struct Largest {
  uint y;  // of all samples of the axis
  uint x;
  bool is_found;
};

Largest largest_sample(SampleAxis y, SampleAxis x, uint offset, uint row, uint column) {
  const Range rows = samples_of(y, row, most_samples(0)), columns = samples_of(x, column, most_samples(1));
  float most = -infinity();
  Largest largest;
  largest.is_found = false;
  largest.y = largest.x = 0;
  uint rows_inside = 0, columns_inside = 0, row_end = 0, column_end = 0;
  bool is_first_inside = false;
  for (uint j = rows.begin; j < rows.end; ++j) {
    const Between at_y = between(y, j);
    if (at_y.is_inside) {
      ++rows_inside;
      row_end = j + 1;
      columns_inside = 0;
      for (uint i = columns.begin; i < columns.end; ++i) {
        const Between at_x = between(x, i);
        if (at_x.is_inside) {
          ++columns_inside;
          column_end = i + 1;
          if (j == row * y.count && i == column * x.count) is_first_inside = true;
          const float value = sample_at(offset, at_y, at_x);
          if (value > most) {
            most = value;
            largest.is_found = true;
            largest.y = j;
            largest.x = i;
          }
        }
      }
    }
  }
  const bool has_outside = rows_inside < y.count || columns_inside < x.count;
  if (!has_outside || most > 0.0f) return largest;
  if (most == 0.0f && is_first_inside) {
    // The first sample outside of the image is the one behind the first row, or the one below.
    const bool is_first_row = largest.y == row * y.count;
    if (columns_inside < x.count ? is_first_row && largest.x < column_end : largest.y < row_end) return largest;
  }
  largest.is_found = false;
  return largest;
}
