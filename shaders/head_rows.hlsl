// Rows of all heads as they are used: HeadRowsKernel (lib/ops/kernels/attention.hpp). A thread computes the elements of
// 16 bytes of output. Inputs: the rows, the bias, the earlier rows, and their lengths.
#include "parameters/head_rows.hlsli"
#define PARAMETERS HeadRowsParameters
#include "elements.hlsli"
#include "runs.hlsli"

HEAD_ROWS_SPECIALIZATION(SPECIALIZED)

// x element, y row, z head, w batch.
uint4 place_at(uint at) {
  uint4 place;
  uint next = at / parameters[0].size;
  place.x = at - next * parameters[0].size;
  at = next;
  next = at / parameters[0].rows;
  place.y = at - next * parameters[0].rows;
  at = next;
  place.w = at / parameters[0].heads;
  place.z = at - place.w * parameters[0].heads;
  return place;
}

uint offset_in(uint input, uint4 place) {
  return parameters[0].offsets[input] + place.w * parameters[0].strides[4 * input] +
         place.z * parameters[0].strides[4 * input + 1] + place.y * parameters[0].strides[4 * input + 2] +
         place.x * parameters[0].strides[4 * input + 3];
}

// How many earlier rows a sequence has.
uint past_rows_of(uint batch) {
  if (HAS_LENGTHS == 0) return parameters[0].past_rows;
  const int length = int(load_word(4, batch * parameters[0].length_stride));
  return length <= 0 ? 0 : min(uint(length), parameters[0].past_rows);
}

float value_at(uint4 place) {
  const uint past_rows = past_rows_of(place.w);
  const bool is_past = PAST_TYPE != 0 && place.y < past_rows;
  if (is_past) return load_real(3, is_past ? offset_in(2, place) : 0, PAST_TYPE);
  place.y -= past_rows;
  const bool is_behind = HAS_LENGTHS != 0 && place.y >= parameters[0].new_rows;
  if (is_behind) return 0.0f;
  float value = load_real(1, is_past || is_behind ? 0 : offset_in(0, place), INPUT_TYPE);
  if (BIAS_TYPE != 0) {
    place.y = 0;
    value += load_real(2, offset_in(1, place), BIAS_TYPE);
  }
  return value;
}

void run(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint count = 16 / size;
  uint at = thread * count;
  uint4 place = place_at(at);
  uint4 result = uint4(0, 0, 0, 0);
  for (uint i = 0; i < count; ++i) {
    put(result, i, bits_of_real(value_at(place), OUTPUT_TYPE), size);
    ++at;
    ++place.x;
    if (place.x == parameters[0].size) place = place_at(at < parameters[0].elements ? at : 0);
  }
  output0[thread] = result;
}
