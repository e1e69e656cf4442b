// Attention of few queries over many keys, such as the next token of a language model: AttentionKernel
// (lib/ops/kernels/attention.hpp). Keys are cut into parts, so that there are enough groups. Rows are the queries of all
// heads, in the order of the output: {batch, query, head}. As many at a time as scratch has room for, from BASE on:
// 0 a group makes the powers of the scores of a row and a part, relative to the largest one, and adds up weighted values;
// 1 a group joins the parts of a row.
#define LOADS_VECTORS
#include "attention.hlsli"
#include "attention_groups.hlsli"

// The most elements of a query, and of a row of values.
#define SIZE_MOST 512

// Scratch holds the largest score of each row and part, the sum of its powers, and the sum of its weighted values.
uint sums_at() { return parameters[0].rows_at_once * parameters[0].parts; }
uint values_at() { return 2 * sums_at(); }

groupshared float shared_query[SIZE_MOST];
groupshared float4 shared_low[GROUP_SIZE];
groupshared float4 shared_high[GROUP_SIZE];

// Up to eight numbers.
struct Numbers {
  float4 low, high;
};

Numbers zeros() {
  Numbers numbers;
  numbers.low = numbers.high = float4(0.0f, 0.0f, 0.0f, 0.0f);
  return numbers;
}

void add_scaled(inout Numbers sum, float factor, Numbers numbers) {
  sum.low += factor * numbers.low;
  sum.high += factor * numbers.high;
}

// The sum over threads lane, lane + columns, ... up to the end of the group; for the first `columns` threads.
Numbers sum_of_columns(uint lane, uint columns, Numbers numbers) {
  shared_low[lane] = numbers.low;
  shared_high[lane] = numbers.high;
  GroupMemoryBarrierWithGroupSync();
  Numbers sum = zeros();
  if (lane < columns) {
    for (uint i = lane; i < GROUP_SIZE; i += columns) {  // behind the last whole row of columns are zeros
      sum.low += shared_low[i];
      sum.high += shared_high[i];
    }
  }
  return sum;
}

// The elements of a vector of 16 bytes.
Numbers numbers_of(uint4 vector_, uint type) {
  Numbers numbers = zeros();
  if (type == FLOAT16) {
    numbers.low = float4(f16tof32(vector_.x), f16tof32(vector_.x >> 16), f16tof32(vector_.y), f16tof32(vector_.y >> 16));
    numbers.high = float4(f16tof32(vector_.z), f16tof32(vector_.z >> 16), f16tof32(vector_.w), f16tof32(vector_.w >> 16));
  } else {
    numbers.low = asfloat(vector_);
  }
  return numbers;
}

float product_with_query(uint key_at) {
  float sum = 0.0f;
  if (IS_KEY_VECTORS != 0) {
    const uint together = 16 / size_of(KEY_TYPE);
    for (uint i = 0; i < parameters[0].size; i += together) {
      const Numbers key = numbers_of(load_vector(2, (key_at + i) / together), KEY_TYPE);
      sum += key.low.x * shared_query[i] + key.low.y * shared_query[i + 1] + key.low.z * shared_query[i + 2] +
             key.low.w * shared_query[i + 3];
      if (together == 8)
        sum += key.high.x * shared_query[i + 4] + key.high.y * shared_query[i + 5] + key.high.z * shared_query[i + 6] +
               key.high.w * shared_query[i + 7];
    }
  } else {
    for (uint i = 0; i < parameters[0].size; ++i)
      sum += load_real(2, key_at + i * parameters[0].element_strides[KEY], KEY_TYPE) * shared_query[i];
  }
  return sum;
}

// Elements of a row of values: a vector, or one.
Numbers values_at_column(uint row_at, uint column) {
  if (IS_VALUE_VECTORS != 0) return numbers_of(load_vector(3, row_at / (16 / size_of(VALUE_TYPE)) + column), VALUE_TYPE);
  Numbers numbers = zeros();
  numbers.low.x = load_real(3, row_at + column * parameters[0].element_strides[VALUE], VALUE_TYPE);
  return numbers;
}

void attend(uint group, uint lane) {
  const uint row = group / parameters[0].parts;
  const Row at = row_at(BASE + row);
  const uint kv_head = at.head / parameters[0].group;
  const uint begin = (group - row * parameters[0].parts) * parameters[0].part_keys;
  const uint end = min(begin + parameters[0].part_keys, counted_keys(at.batch, at.query));

  const uint query_at = offset_at(QUERY, at.batch, at.head, at.query);
  for (uint i = lane; i < parameters[0].size; i += GROUP_SIZE)
    shared_query[i] = load_real(1, query_at + i * parameters[0].element_strides[QUERY], QUERY_TYPE);
  GroupMemoryBarrierWithGroupSync();

  const uint key = begin + lane;
  float score = -infinity();
  if (key < end) score = score_of(product_with_query(offset_at(KEY, at.batch, kv_head, key)), at, key);
  const float largest = largest_of_group(lane, score);
  const float power = key < end ? exp(score - (largest == -infinity() ? 0.0f : largest)) : 0.0f;
  const float sum = sum_of_group(lane, power);
  shared_numbers[lane] = power;
  GroupMemoryBarrierWithGroupSync();

  const uint together = IS_VALUE_VECTORS != 0 ? 16 / size_of(VALUE_TYPE) : 1;
  const uint columns = parameters[0].value_size / together;
  const uint column = lane % columns, key_lane = lane / columns, key_lanes = GROUP_SIZE / columns;
  Numbers values = zeros();
  for (uint k = begin + key_lane; k < end && key_lane < key_lanes; k += key_lanes)
    add_scaled(values, shared_numbers[k - begin], values_at_column(offset_at(VALUE, at.batch, kv_head, k), column));
  values = sum_of_columns(lane, columns, values);
  if (lane < columns) {
    const uint first = values_at() + group * parameters[0].value_size + lane * together;
    scratch[first] = asuint(values.low.x);
    for (uint part = 1; part < together; ++part) {
      values.low = float4(values.low.yzw, values.high.x);
      values.high = float4(values.high.yzw, 0.0f);
      scratch[first + part] = asuint(values.low.x);
    }
  }
  if (lane == 0) {
    scratch[group] = asuint(largest);
    scratch[sums_at() + group] = asuint(sum);
  }
}

// Elements of the output, as many as 16 bytes have, of the weighted values of a part.
Numbers values_of_part(uint first) {
  Numbers numbers = zeros();
  numbers.low = float4(asfloat(scratch[first]), asfloat(scratch[first + 1]), asfloat(scratch[first + 2]), asfloat(scratch[first + 3]));
  if (size_of(OUTPUT_TYPE) == 2)
    numbers.high = float4(asfloat(scratch[first + 4]), asfloat(scratch[first + 5]), asfloat(scratch[first + 6]), asfloat(scratch[first + 7]));
  return numbers;
}

void join_parts(uint row, uint lane) {
  const uint first = row * parameters[0].parts, parts = parameters[0].parts;
  float largest = -infinity();
  for (uint i = lane; i < parts; i += GROUP_SIZE) largest = larger_number(largest, asfloat(scratch[first + i]));
  largest = largest_of_group(lane, largest);
  const float shift = largest == -infinity() ? 0.0f : largest;
  float sum = 0.0f;
  for (uint j = lane; j < parts; j += GROUP_SIZE)
    sum += asfloat(scratch[sums_at() + first + j]) * exp(asfloat(scratch[first + j]) - shift);
  sum = sum_of_group(lane, sum);

  const uint together = 16 / size_of(OUTPUT_TYPE);
  const uint columns = parameters[0].value_size / together;
  const uint column = lane % columns, part_lane = lane / columns, part_lanes = GROUP_SIZE / columns;
  Numbers values = zeros();
  for (uint part = part_lane; part < parts && part_lane < part_lanes; part += part_lanes)
    add_scaled(values, exp(asfloat(scratch[first + part]) - shift),
               values_of_part(values_at() + (first + part) * parameters[0].value_size + column * together));
  values = sum_of_columns(lane, columns, values);
  if (lane >= columns) return;
  values.low /= sum;
  values.high /= sum;
  uint4 result = asuint(values.low);
  if (OUTPUT_TYPE == FLOAT16)
    result = uint4(half_bits(values.low.x) | half_bits(values.low.y) << 16, half_bits(values.low.z) | half_bits(values.low.w) << 16,
                   half_bits(values.high.x) | half_bits(values.high.y) << 16,
                   half_bits(values.high.z) | half_bits(values.high.w) << 16);
  output0[(BASE + row) * columns + lane] = result;
}

void run(uint thread, uint lane) {
  if (STEP == 0) attend(thread / GROUP_SIZE, lane);
  if (STEP == 1) join_parts(thread / GROUP_SIZE, lane);
}
