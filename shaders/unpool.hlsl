// Elements that go to places among zeros: UnpoolKernel (lib/ops/kernels/unpool.hpp). Numbers of values count from 1 on,
// so that 0 is none.
//
// Where the last value of a place stays: stage 0 clears scratch, which has a word for each place; stage 1 leaves the
// number of the place's last value there; stage 2 writes the outputs.
// Where they are added: stage 1 makes a list of the values of each place, the last one's number at the place and behind
// all places the number of the value before each. Stage 3 adds up the values of a list, so many at a time, and stage 2
// writes the sums. These are exact but for the last rounding, so that the order of a list does not matter.
#include "parameters/unpool.hlsli"
#define PARAMETERS UnpoolParameters
#include "elements.hlsli"

UNPOOL_SPECIALIZATION(SPECIALIZED)

uint elements() { return parameters[0].elements; }
uint next_at(uint value) { return elements() + value; }
uint sum_at(uint place) { return elements() + parameters[0].values + 2 * place; }

// Where a value stands.
uint offset_of(uint value, bool is_index) {
  uint offset = 0;
  const uint rank = parameters[0].rank;
  for (uint step = 0; step < rank; ++step) {
    const uint a = rank - 1 - step;
    const uint rest = value / parameters[0].extents[a];
    const uint index = value - rest * parameters[0].extents[a];
    value = rest;
    offset += index * (is_index ? parameters[0].index_strides[a] : parameters[0].value_strides[a]);
  }
  return offset;
}

void clear(uint thread) {
  [loop]
  for (uint i = 0; i < CLEARED_PER_THREAD; ++i) {
    const uint place = thread * CLEARED_PER_THREAD + i;
    if (place < elements()) {
      scratch[place] = 0;
      if (ADDS != 0) {
        scratch[sum_at(place)] = 0;
        scratch[sum_at(place) + 1] = 0;
      }
    }
  }
}

void list(uint value) {
  const uint at = offset_of(value, true);
  const uint2 place = size_of(INDEX_TYPE) == 8 ? load_bits64(2, at) : uint2(load_bits(2, at, size_of(INDEX_TYPE)), 0);
  const uint first = value / parameters[0].per_image * parameters[0].image_extent;
  if (place.y != 0 || place.x - first >= parameters[0].image_extent) return;
  if (ADDS != 0) {
    uint before = 0;
    InterlockedExchange(scratch[place.x], value + 1, before);
    scratch[next_at(value)] = before;
  } else {
    InterlockedMax(scratch[place.x], value + 1);
  }
}

void add_up(uint place) {
  uint number = scratch[place];
  if (number == 0) return;
  float sum = asfloat(scratch[sum_at(place)]), lost = asfloat(scratch[sum_at(place) + 1]);
  const uint most = parameters[0].walk;
  for (uint i = 0; i < most && number != 0; ++i) {
    const float x = load_real(1, offset_of(number - 1, false), TYPE);
    precise const float total = sum + x;
    precise const float added = total - sum;
    precise const float error = (sum - (total - added)) + (x - added);
    sum = total;
    if ((asuint(error) & 0x7F800000u) != 0x7F800000u) lost += error;
    number = scratch[next_at(number - 1)];
  }
  scratch[place] = number;
  scratch[sum_at(place)] = asuint(sum);
  scratch[sum_at(place) + 1] = asuint(lost);
}

// Low word, high word.
uint2 bits_at(uint place) {
  if (ADDS != 0) {
    const float sum = asfloat(scratch[sum_at(place)]), lost = asfloat(scratch[sum_at(place) + 1]);
    return uint2(bits_of_real(lost == 0.0f ? sum : sum + lost, TYPE), 0);
  }
  const uint number = scratch[place];
  if (number == 0) return uint2(0, 0);
  const uint at = offset_of(number - 1, false);
  if (size_of(TYPE) == 8) return load_bits64(1, at);
  return uint2(load_bits(1, at, size_of(TYPE)), 0);
}

void write(uint thread) {
  const uint size = size_of(TYPE), per_thread = 16 / size;
  uint4 result = uint4(0, 0, 0, 0);
  [loop]
  for (uint i = 0; i < per_thread; ++i) {
    const uint2 bits = bits_at(min(thread * per_thread + i, elements() - 1));
    if (size == 8) {
      result = i == 0 ? uint4(bits, 0, 0) : uint4(result.xy, bits);
    } else {
      const uint w = i * size >> 2;
      const uint word = placed(bits.x, i - w * (4 / size), size);
      result |= uint4(w == 0 ? word : 0, w == 1 ? word : 0, w == 2 ? word : 0, w == 3 ? word : 0);
    }
  }
  output0[thread] = result;
}

void run(uint thread) {
  if (STEP == CLEARS) {
    clear(thread);
  } else if (STEP == LISTS) {
    list(thread);
  } else if (STEP == ADDS_UP) {
    add_up(thread);
  } else {
    write(thread);
  }
}
