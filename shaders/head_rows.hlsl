// Rows of all heads as they are used: HeadRowsKernel (lib/ops/kernels/attention.hpp). A thread computes the elements of
// 16 bytes of output. Inputs: the rows, the bias, the earlier rows, and their lengths.
#include "parameters/head_rows.hlsli"
#define CONSTANTS HeadRowsConstants
#define LOADS_VECTORS
#include "elements.hlsli"
#include "runs.hlsli"

HEAD_ROWS_SPECIALIZATION(SPECIALIZED)

// x element, y row, z head, w batch.
uint4 place_at(uint at) {
  uint4 place;
  uint next = at / constants.size;
  place.x = at - next * constants.size;
  at = next;
  next = at / constants.rows;
  place.y = at - next * constants.rows;
  at = next;
  place.w = at / constants.heads;
  place.z = at - place.w * constants.heads;
  return place;
}

uint distance(uint4 place, uint4 strides) {
  return place.x * strides.x + place.y * strides.y + place.z * strides.z + place.w * strides.w;
}
uint input_at(uint4 place) { return constants.offset + distance(place, constants.strides); }
uint bias_at(uint4 place) { return constants.bias_offset + distance(place, constants.bias_strides); }
uint past_at(uint4 place) { return constants.past_offset + distance(place, constants.past_strides); }

// How many earlier rows a sequence has.
uint past_rows_of(uint batch) {
  if (HAS_LENGTHS == 0) return constants.past_rows;
  const int length = int(load_word(4, batch * constants.length_stride));
  return length <= 0 ? 0 : min(uint(length), constants.past_rows);
}

float value_at(uint4 place) {
  const uint past_rows = past_rows_of(place.w);
  const bool is_past = PAST_TYPE != 0 && place.y < past_rows;
  if (is_past) return load_real(3, is_past ? past_at(place) : 0, PAST_TYPE);
  place.y -= past_rows;
  const bool is_behind = HAS_LENGTHS != 0 && place.y >= constants.new_rows;
  if (is_behind) return 0.0f;
  float value = load_real(1, is_past || is_behind ? 0 : input_at(place), INPUT_TYPE);
  if (BIAS_TYPE != 0) {
    place.y = 0;
    value += load_real(2, bias_at(place), BIAS_TYPE);
  }
  return value;
}

// Elements that lie together in rows of whole vectors, and have no bias.
uint4 moved(uint4 place, uint count) {
  const uint past_rows = past_rows_of(place.w);
  const bool is_past = PAST_TYPE != 0 && place.y < past_rows;
  if (is_past) return load_vector(3, is_past ? past_at(place) / count : 0);
  place.y -= past_rows;
  const bool is_behind = HAS_LENGTHS != 0 && place.y >= constants.new_rows;
  if (is_behind) return uint4(0, 0, 0, 0);
  return load_vector(1, is_past || is_behind ? 0 : input_at(place) / count);
}

void run(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint count = 16 / size;
  uint at = thread * count;
  uint4 place = place_at(at);
  if (IS_MOVED != 0) {
    output0[thread] = moved(place, count);
    return;
  }
  uint4 result = uint4(0, 0, 0, 0);
  for (uint i = 0; i < count; ++i) {
    put(result, i, bits_of_real(value_at(place), OUTPUT_TYPE), size);
    ++at;
    ++place.x;
    if (place.x == constants.size) place = place_at(at < constants.elements ? at : 0);
  }
  output0[thread] = result;
}
