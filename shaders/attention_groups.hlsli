// The largest number of a group and the sum of its numbers, for attention.hlsl and attention_parts.hlsl.
groupshared float shared_numbers[GROUP_SIZE];

// The largest number of all threads; NaN is none.
float largest_of_group(uint lane, float number) {
  shared_numbers[lane] = number;
  GroupMemoryBarrierWithGroupSync();
  for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2) {
    if (lane < half_size) shared_numbers[lane] = larger_number(shared_numbers[lane], shared_numbers[lane + half_size]);
    GroupMemoryBarrierWithGroupSync();
  }
  const float largest = shared_numbers[0];
  GroupMemoryBarrierWithGroupSync();
  return largest;
}

float sum_of_group(uint lane, float number) {
  shared_numbers[lane] = number;
  GroupMemoryBarrierWithGroupSync();
  for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2) {
    if (lane < half_size) shared_numbers[lane] += shared_numbers[lane + half_size];
    GroupMemoryBarrierWithGroupSync();
  }
  const float sum = shared_numbers[0];
  GroupMemoryBarrierWithGroupSync();
  return sum;
}
