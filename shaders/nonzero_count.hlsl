// How many elements of each block of the input are not zero: NonzeroCountKernel (lib/ops/kernels/nonzero.hpp). In the
// first stage, LANES threads count those of a block, each in its turn; in the second, a thread adds up the counts of two
// blocks. An output has 64 bits.
#include "parameters/walk.hlsli"
#include "parameters/nonzero.hlsli"
#define PARAMETERS NonzeroParameters
#include "elements.hlsli"
#define WALK parameters[0].walk
#include "walk.hlsli"
#include "nonzero.hlsli"

void count(uint thread) {
  const uint block = thread / LANES;
  const uint first = block * parameters[0].block;
  const uint left = min(parameters[0].block, parameters[0].elements - first);
  uint found = 0;
  for (uint at = thread % LANES; at < left; at += LANES) found += is_nonzero(offset_at(first + at)) ? 1 : 0;
  scratch[thread] = found;
}

uint count_of_block(uint block) {
  if (block >= parameters[0].blocks) return 0;
  uint sum = 0;
  for (uint lane = 0; lane < LANES; ++lane) sum += scratch[block * LANES + lane];
  return sum;
}

void run(uint thread) {
  if (STEP == 0) {
    count(thread);
  } else {
    output0[thread] = uint4(count_of_block(2 * thread), 0, count_of_block(2 * thread + 1), 0);
  }
}
