// For product.hlsl: sums of FEW_ROWS rows at a time, where a tile would be mostly empty. A group reads its part of the
// right matrix once, by vectors of four elements. Neighboring threads read neighboring vectors: 16 vectors of columns, with
// 16 slices of the sum, or, where IS_RIGHT_READ_BY_DEPTH, 32 vectors of the sum, with 8 columns. All rows of both matrices
// begin and end with a vector, those of the left one along the sum.

groupshared float4 partial_sums[FEW_ROWS * GROUP_SIZE];

float4 four_numbers(uint buffer, uint at, uint type) {
  if (size_of(type) == 4) return asfloat(load_vector(buffer, at / 4));
  const uint4 eight = load_vector(buffer, at / 8);
  uint2 words = eight.xy;
  if ((at & 4) != 0) words = eight.zw;
  return float4(real_of(words.x & 0xFFFF, type), real_of(words.x >> 16, type), real_of(words.y & 0xFFFF, type),
                real_of(words.y >> 16, type));
}

#define IS_ALONG (IS_RIGHT_READ_BY_DEPTH != 0)
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3)
#define DECLARE(r) \
  float4 sums##r = float4(0.0f, 0.0f, 0.0f, 0.0f); \
  const uint left##r = left + min(row + r, parameters[0].rows - 1) * parameters[0].row_strides[LEFT];
#define MULTIPLY_ALONG(r) sums##r += four_numbers(BUFFER_LEFT, left##r + k, TYPE_LEFT) * first;
#define MULTIPLY_ACROSS(r) { \
  const float4 a = four_numbers(BUFFER_LEFT, left##r + k, TYPE_LEFT); \
  sums##r += a.x * first + a.y * second + a.z * third + a.w * fourth; \
}
#define SHARE(r) partial_sums[r * GROUP_SIZE + lane] = sums##r;

void add_up(uint thread, uint lane) {
  const uint group = thread / GROUP_SIZE;
  const uint column_groups = group / parameters[0].row_tiles;
  const uint batch_groups = column_groups / parameters[0].column_tiles;
  const uint part = batch_groups / parameters[0].batches;
  const uint batch = batch_groups - part * parameters[0].batches;
  const uint row = (group - column_groups * parameters[0].row_tiles) * FEW_ROWS;
  // Of the group: places for columns, or for vectors of four, and threads that add up each.
  uint places = 16, per_place = 4, place = lane % 16, slice = lane / 16;
  if (IS_ALONG) {
    places = 8;
    per_place = 1;
    place = lane / 32;
    slice = lane % 32;
  }
  const uint slices = GROUP_SIZE / places;
  const uint first_column = (column_groups - batch_groups * parameters[0].column_tiles) * places * per_place;
  const uint column = min(first_column + place * per_place, parameters[0].columns - per_place);
  const uint right = batch_offset(RIGHT, batch) + column * parameters[0].column_strides[RIGHT];
  const uint left = batch_offset(LEFT, batch);
  const uint end = min((part + 1) * parameters[0].part_length, parameters[0].sum_length);
  const uint stride = parameters[0].right_depth_stride;
  EACH_ROW(DECLARE)
  for (uint k = part * parameters[0].part_length + 4 * slice; k < end; k += 4 * slices) {
    const float4 first = four_numbers(BUFFER_RIGHT, right + k * stride, TYPE_RIGHT);
    if (IS_ALONG) {
      EACH_ROW(MULTIPLY_ALONG)
    } else {
      const float4 second = four_numbers(BUFFER_RIGHT, right + (k + 1) * stride, TYPE_RIGHT);
      const float4 third = four_numbers(BUFFER_RIGHT, right + (k + 2) * stride, TYPE_RIGHT);
      const float4 fourth = four_numbers(BUFFER_RIGHT, right + (k + 3) * stride, TYPE_RIGHT);
      EACH_ROW(MULTIPLY_ACROSS)
    }
  }
  EACH_ROW(SHARE)
  GroupMemoryBarrierWithGroupSync();
  // A thread adds up what the group has of a place in a row.
  const uint its_row = lane / places, its_place = lane % places;
  const uint its_column = first_column + its_place * per_place;
  if (its_row >= FEW_ROWS || row + its_row >= parameters[0].rows || its_column >= parameters[0].columns) return;
  uint from = its_row * GROUP_SIZE + its_place, step = places;
  if (IS_ALONG) {
    from = its_row * GROUP_SIZE + its_place * slices;
    step = 1;
  }
  float4 total = float4(0.0f, 0.0f, 0.0f, 0.0f);
  [loop]
  for (uint i = 0; i < slices; ++i) total += partial_sums[from + i * step];
  const uint at = part * output_elements() +
                  (batch * parameters[0].rows + row + its_row) * parameters[0].columns + its_column;
  if (IS_ALONG) {
    scratch[at] = WORD_OF((total.x + total.y) + (total.z + total.w));
    return;
  }
  scratch[at] = WORD_OF(total.x);
  scratch[at + 1] = WORD_OF(total.y);
  scratch[at + 2] = WORD_OF(total.z);
  scratch[at + 3] = WORD_OF(total.w);
}
