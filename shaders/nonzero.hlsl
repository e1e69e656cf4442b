// The coordinates of elements that are not zero: NonzeroKernel (lib/ops/kernels/nonzero.hpp). Inputs: the elements, the
// running sums of their numbers in blocks, as 64 bits.
//
// The scratch holds, one after the other:
// - for each word of 32 elements, which of them are not zero;
// - for each word, how many are in the words before it, and for each run of RUN_WORDS words, how many are in the runs
//   before it; both in its run or block.
// Three stages find these. In the last one, a thread writes four coordinates: it finds the block of a row, and in it the
// run, the word and the bit.
#include "parameters/walk.hlsli"
#include "parameters/nonzero.hlsli"
#define PARAMETERS NonzeroParameters
#include "elements.hlsli"
#include "runs.hlsli"
#define WALK parameters[0].walk
#include "walk.hlsli"
#include "nonzero.hlsli"

uint words() { return (parameters[0].elements + 31) / 32; }
uint sum_of_word(uint word) { return words() + word; }
uint sum_of_run(uint at) { return 2 * words() + at; }
uint runs() { return (words() + RUN_WORDS - 1) / RUN_WORDS; }
uint runs_of_block() { return parameters[0].block / (32 * RUN_WORDS); }

void mark(uint word) {
  const uint left = min(32, parameters[0].elements - 32 * word);
  uint bits = 0;
  for (uint i = 0; i < left; ++i) bits |= is_nonzero(offset_at(32 * word + i)) ? 1u << i : 0;
  scratch[word] = bits;
}

// Leaves the count of the run in the place of the sum before it.
void sum_words(uint at) {
  const uint end = min((at + 1) * RUN_WORDS, words());
  uint sum = 0;
  for (uint word = at * RUN_WORDS; word < end; ++word) {
    scratch[sum_of_word(word)] = sum;
    sum += countbits(scratch[word]);
  }
  scratch[sum_of_run(at)] = sum;
}

void sum_runs(uint block) {
  const uint end = min((block + 1) * runs_of_block(), runs());
  uint sum = 0;
  for (uint at = block * runs_of_block(); at < end; ++at) {
    const uint found = scratch[sum_of_run(at)];
    scratch[sum_of_run(at)] = sum;
    sum += found;
  }
}

uint running_sum(uint block) { return input2[2 * block]; }

// The last of `count` sums from `first` on that is at most `row`; the first one is.
uint last_at_most(uint first, uint count, uint row) {
  uint low = 0;
  while (count > 1) {
    const uint half_count = count / 2;
    if (scratch[first + low + half_count] <= row) {
      low += half_count;
      count -= half_count;
    } else {
      count = half_count;
    }
  }
  return low;
}

// The place of bit number `row` of those that are set.
uint bit_at(uint bits, uint row) {
  uint place = 0;
  for (uint width = 16; width > 0; width /= 2) {
    const uint below = countbits((bits >> place) & ((1u << width) - 1));
    if (row >= below) {
      row -= below;
      place += width;
    }
  }
  return place;
}

// The element of a row, which must be one of those that there are.
uint element_of(uint row) {
  uint block = 0;
  for (uint count = parameters[0].blocks; count > 0;) {
    const uint half_count = count / 2;
    if (running_sum(block + half_count) <= row) {
      block += half_count + 1;
      count -= half_count + 1;
    } else {
      count = half_count;
    }
  }
  block = min(block, parameters[0].blocks - 1);
  row -= block == 0 ? 0 : running_sum(max(block, 1) - 1);
  const uint first_run = block * runs_of_block();
  const uint run_ = first_run + last_at_most(sum_of_run(first_run), min(runs_of_block(), runs() - first_run), row);
  row -= scratch[sum_of_run(run_)];
  const uint first_word = run_ * RUN_WORDS;
  const uint word = first_word + last_at_most(sum_of_word(first_word), min(RUN_WORDS, words() - first_word), row);
  row -= scratch[sum_of_word(word)];
  return 32 * word + bit_at(scratch[word], row);
}

uint coordinate(uint element, uint at) {
  for (uint step = parameters[0].coordinates - 1; step > at; --step) element /= parameters[0].extents[step];
  return element % parameters[0].extents[at];
}

void write(uint thread) {
  const uint rows = running_sum(parameters[0].blocks - 1);
  uint row = 4 * thread / parameters[0].coordinates;
  uint column = 4 * thread - row * parameters[0].coordinates;
  uint element = 0;
  if (row < rows) element = element_of(row);
  uint4 result = uint4(0, 0, 0, 0);
  for (uint i = 0; i < 4; ++i) {
    if (row < rows) put(result, i, coordinate(element, column), 4);
    ++column;
    if (column == parameters[0].coordinates) {
      column = 0;
      ++row;
      if (row < rows && i < 3) element = element_of(row);
    }
  }
  output0[thread] = result;
}

void run(uint thread) {
  if (STEP == 0) {
    mark(thread);
  } else if (STEP == 1) {
    sum_words(thread);
  } else if (STEP == 2) {
    sum_runs(thread);
  } else {
    write(thread);
  }
}
