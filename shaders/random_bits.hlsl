// Random bits that follow from a state: RandomBitsKernel (lib/ops/kernels/random_bits.hpp). A thread makes up the four
// elements of one block, or four words of the next state.
#include "parameters/random_bits.hlsli"
#define PARAMETERS RandomBitsParameters
#include "elements.hlsli"
#include "wide.hlsli"

RANDOM_BITS_SPECIALIZATION(SPECIALIZED)

uint state(uint at) { return input1[at * parameters[0].state_stride]; }

// The counter of the block so many further on.
uint4 advanced_counter(uint blocks) {
  uint4 counter = uint4(state(0), state(1), state(2), state(3));
  counter.x += blocks;
  if (counter.x < blocks) {
    ++counter.y;
    if (counter.y == 0) ++counter.z;
    if (counter.y == 0 && counter.z == 0) ++counter.w;
  }
  return counter;
}

// Philox 4x32 with 10 rounds.
uint4 philox(uint4 words, uint2 key) {
  for (uint step = 0; step < 10; ++step) {
    const uint2 a = wide_product(0xD2511F53u, words.x), b = wide_product(0xCD9E8D57u, words.z);
    words = uint4(b.y ^ words.y ^ key.x, b.x, a.y ^ words.w ^ key.y, a.x);
    key += uint2(0x9E3779B9u, 0xBB67AE85u);
  }
  return words;
}

void run(uint thread) {
  if (IS_NEXT_STATE == 0) {
    output0[thread] = philox(advanced_counter(thread), uint2(state(4), state(5)));
  } else if (thread == 0) {
    output0[thread] = advanced_counter(parameters[0].blocks);
  } else {
    output0[thread] = uint4(state(4), state(5), 0, 0);
  }
}
