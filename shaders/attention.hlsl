// Attention: AttentionKernel (lib/ops/kernels/attention.hpp). Queries of all heads are the rows of a matrix of scores, in
// the order of the output: {batch, query, head}. As many rows at a time as scratch has room for, from BASE on, pass
// through four stages:
// 0 a thread computes a score, and adds what is added to it;
// 1 a group makes powers of the scores of a row, and finds their sum;
// 2 a thread adds up a part of the weighted values of an element;
// 3 a thread adds these parts, and makes 16 bytes of output.
#include "attention.hlsli"
#include "attention_groups.hlsli"

uint all_rows() { return parameters[0].batch * parameters[0].queries * parameters[0].heads; }
uint rows_here() { return min(parameters[0].rows_at_once, all_rows() - BASE); }

// Scratch holds the scores, the sums of their powers, and parts of weighted values.
uint sums_at() { return parameters[0].rows_at_once * parameters[0].keys; }
uint values_at() { return sums_at() + parameters[0].rows_at_once; }

void score(uint thread) {
  const uint row = thread / parameters[0].keys;
  const uint key = thread - row * parameters[0].keys;
  const Row at = row_at(BASE + row);
  const uint query_at = offset_at(QUERY, at.batch, at.head, at.query);
  const uint key_at = offset_at(KEY, at.batch, at.head / parameters[0].group, key);
  float sum = 0.0f;
  for (uint i = 0; i < parameters[0].size; ++i)
    sum += load_real(1, query_at + i * parameters[0].element_strides[QUERY], QUERY_TYPE) *
           load_real(2, key_at + i * parameters[0].element_strides[KEY], KEY_TYPE);
  scratch[thread] = asuint(score_of(sum, at, key));
}

// --- powers

void make_powers(uint thread, uint lane) {
  const uint row = thread / GROUP_SIZE;
  const Row at = row_at(BASE + row);
  const uint keys = counted_keys(at.batch, at.query);
  const uint first = row * parameters[0].keys;
  float largest = -infinity();
  for (uint i = lane; i < keys; i += GROUP_SIZE) largest = larger_number(largest, asfloat(scratch[first + i]));
  largest = largest_of_group(lane, largest);
  float sum = 0.0f;
  for (uint j = lane; j < keys; j += GROUP_SIZE) {
    const float power = fast_exp(asfloat(scratch[first + j]) - largest);
    scratch[first + j] = asuint(power);
    sum += power;
  }
  sum = sum_of_group(lane, sum);
  if (lane == 0) scratch[sums_at() + row] = asuint(sum);
}

// --- values

void add_values(uint thread) {
  const uint value_size = parameters[0].value_size;
  const uint part_size = parameters[0].rows_at_once * value_size;
  const uint part = thread / part_size;
  const uint element = thread - part * part_size;
  const uint row = element / value_size;
  if (row >= rows_here()) return;
  const Row at = row_at(BASE + row);
  const uint value_at = offset_at(VALUE, at.batch, at.head / parameters[0].group, 0) +
                        (element - row * value_size) * parameters[0].element_strides[VALUE];
  const uint begin = part * parameters[0].part_keys;
  const uint end = min(begin + parameters[0].part_keys, counted_keys(at.batch, at.query));
  float sum = 0.0f;
  for (uint key = begin; key < end; ++key)
    sum += asfloat(scratch[row * parameters[0].keys + key]) *
           load_real(3, value_at + key * parameters[0].row_strides[VALUE], VALUE_TYPE);
  scratch[values_at() + thread] = asuint(sum);
}

uint output_element(uint element) {
  const uint value_size = parameters[0].value_size;
  const uint part_size = parameters[0].rows_at_once * value_size;
  float sum = 0.0f;
  for (uint part = 0; part < parameters[0].parts; ++part)
    sum += asfloat(scratch[values_at() + part * part_size + element]);
  return bits_of_real(sum / asfloat(scratch[sums_at() + element / value_size]), OUTPUT_TYPE);
}

void finish(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint per_word = 4 / size;
  uint at = thread * 4 * per_word;
  const uint last = rows_here() * parameters[0].value_size - 1;
  uint4 result = uint4(0, 0, 0, 0);
  for (uint w = 0; w < 4; ++w) {
    uint word = 0;
    for (uint part = 0; part < per_word; ++part) word |= placed(output_element(min(at++, last)), part, size);
    result = with_word(result, w, word);
  }
  // The rows before fill whole threads.
  output0[BASE * parameters[0].value_size * size / 16 + thread] = result;
}

void run(uint thread, uint lane) {
  if (STEP == 1) {
    make_powers(thread, lane);
  } else if (thread < END_OF_THREADS) {
    if (STEP == 0) score(thread);
    if (STEP == 2) add_values(thread);
    if (STEP == 3) finish(thread);
  }
}
