// The first elements of sorted sequences: TopKKernel (lib/ops/kernels/top_k.hpp). An element becomes an entry: a key
// that sorts as the elements are to stand, and its index, so that no two are equal. A group sorts 1024 entries by a
// bitonic network and keeps the first ones for the next level, until a sequence has no more than a block. Where as many
// as a block are wanted, all are kept, and stages over the scratch sort them together. Where few are wanted, threads
// look for the first one of 16 elements each; only elements that do not come after all the foremost of these are sorted.
#include "parameters/top_k.hlsli"
#define PARAMETERS TopKParameters
#define WHOLE_GROUPS
#include "elements.hlsli"
#include "functions.hlsli"
#include "pairs.hlsli"

TOP_K_SPECIALIZATION(SPECIALIZED)

// What the low bits of STEP say of a stage.
#define KIND (STEP & 7)
#define LOGARITHM (STEP >> 3)


// x and y are the key, the low word first; z is the index.
bool comes_before(uint3 a, uint3 b) {
  return is_equal(a.xy, b.xy) ? a.z < b.z : is_less(a.xy, b.xy);
}

uint sequence_offset(uint sequence) {
  uint offset = 0;
  for (uint step = parameters[0].axes; step > 0; --step) {
    const uint rest = sequence / parameters[0].extents[step - 1];
    offset += (sequence - rest * parameters[0].extents[step - 1]) * parameters[0].strides[step - 1];
    sequence = rest;
  }
  return offset;
}

uint2 element_bits(uint offset) {
  if (size_of(TYPE) == 8) return load_bits64(1, offset);
  return uint2(load_bits(1, offset, size_of(TYPE)), 0);
}

uint key_of_word(uint bits) {
  if (!is_floating(TYPE)) return is_signed(TYPE) ? extended(bits, TYPE) ^ 0x80000000u : bits;
  const float value = real_of(bits, TYPE);
  const bool is_zero = (asuint(value) & 0x7FFFFFFFu) == 0;
  return is_nan(value) ? 0xFFFFFFFFu : key_of_real(is_zero ? 0.0f : value);
}

uint2 key_of(uint2 bits) {
  uint2 key = uint2(key_of_word(bits.x), 0);
  if (size_of(TYPE) == 8) key = uint2(bits.x, is_signed(TYPE) ? bits.y ^ 0x80000000u : bits.y);
  return IS_DESCENDING != 0 ? uint2(~key.x, ~key.y) : key;
}

uint3 stored_entry(uint at) { return uint3(scratch[3 * at], scratch[3 * at + 1], scratch[3 * at + 2]); }
void store_entry(uint at, uint3 entry) {
  scratch[3 * at] = entry.x;
  scratch[3 * at + 1] = entry.y;
  scratch[3 * at + 2] = entry.z;
}

// Entry `place` of a sequence; behind the last one those that come after all others.
uint3 entry_at(uint level, uint sequence, uint place) {
  const uint3 none = uint3(0xFFFFFFFFu, 0xFFFFFFFFu, 0xFFFFFFFFu);
  if (sequence >= parameters[0].sequences || place >= parameters[0].counts[level]) return none;
  if (level > 0) return stored_entry(parameters[0].begins[level] + sequence * parameters[0].counts[level] + place);
  return uint3(key_of(element_bits(sequence_offset(sequence) + place * parameters[0].stride)), place);
}

// Three arrays fit the 16 KiB that every device has.
groupshared uint shared_words[3 * BLOCK];

uint3 shared_entry(uint at) { return uint3(shared_words[at], shared_words[BLOCK + at], shared_words[2 * BLOCK + at]); }
void share_entry(uint at, uint3 entry) {
  shared_words[at] = entry.x;
  shared_words[BLOCK + at] = entry.y;
  shared_words[2 * BLOCK + at] = entry.z;
}

// Pairs of entries `distance` apart, in rows of `length`, every other of which stands the other way round.
void exchange(uint pair, uint distance, uint begin, uint length) {
  const uint first = 2 * pair - (pair & (distance - 1));
  const uint3 a = shared_entry(first), b = shared_entry(first + distance);
  const bool is_ascending = ((begin + first) & length) == 0;
  if (comes_before(b, a) == is_ascending) {
    share_entry(first, b);
    share_entry(first + distance, a);
  }
}

void exchange_all(uint lane, uint distance, uint begin, uint length) {
  exchange(lane, distance, begin, length);
  exchange(lane + GROUP_SIZE, distance, begin, length);
}

void sort_block(uint group, uint lane) {
  const uint level = BASE;
  const uint span = parameters[0].spans[level];
  // In its sequence, where that has more than a block.
  const uint begin = group * BLOCK % span;
  for (uint i = 0; i < 4; ++i) {
    const uint at = lane + i * GROUP_SIZE;
    const uint place = group * BLOCK + at;
    share_entry(at, entry_at(level, place / span, place % span));
  }
  GroupMemoryBarrierWithGroupSync();
  for (uint size = 1; size <= LOGARITHM; ++size) {
    // The last row of a sequence stands upright; others do as the next stage wants them.
    const uint length = 1u << size;
    for (uint half_ = size; half_ > 0; --half_) {
      const bool is_last = size == LOGARITHM && parameters[0].kept < BLOCK;
      exchange_all(lane, 1u << (half_ - 1), begin, is_last ? 0 : length);
      GroupMemoryBarrierWithGroupSync();
    }
  }
  const uint kept = parameters[0].kept;
  const uint blocks = max(span / BLOCK, 1u);
  for (uint k = 0; k < 4; ++k) {
    const uint at = lane + k * GROUP_SIZE;
    const uint place = group * BLOCK + at;
    const uint sequence = place / span;
    const uint in_block = span < BLOCK ? place % span : at;
    const uint block = place % span / BLOCK;
    if (sequence < parameters[0].sequences && in_block < kept)
      store_entry(parameters[0].begins[level + 1] + (sequence * blocks + block) * kept + in_block, shared_entry(at));
  }
}

// --- few entries of a block

#define LISTS (BLOCK / FEW_MOST)  // of a block
#define BLOCKS_OF_GROUP (GROUP_SIZE / LISTS)
#define CANDIDATES_MOST (FEW_MOST * FEW_MOST)  // of a block

// Where the shared words stand. Of each list: its first entry.
#define FIRST_KEYS 0
#define FIRST_PLACES GROUP_SIZE
// Of each block: its candidates, how many there are, and the last that can be one.
#define LIMIT_KEYS (2 * GROUP_SIZE)
#define LIMIT_PLACES (LIMIT_KEYS + BLOCKS_OF_GROUP)
#define COUNTS (LIMIT_PLACES + BLOCKS_OF_GROUP)
#define CANDIDATE_KEYS BLOCK
#define CANDIDATE_PLACES (2 * BLOCK)

bool is_before(uint key, uint place, uint other_key, uint other_place) {
  return key < other_key || (key == other_key && place < other_place);
}

uint size_of_word() { return min(size_of(TYPE), 4); }

// The bits of an input's element of one word, for a sequence that begins there.
uint word_bits(uint begin, uint place) {
  const uint element = begin + place * parameters[0].stride;
  return element_of_word(input1[element / (4 / size_of_word())], element, size_of_word());
}

// The keys of entries of a level, every so many that there are lists; behind the last one they come after all others.
void load_keys(uint level, uint begin, uint first, uint count, inout uint keys[FEW_MOST]) {
  const uint last = max(count, 1u) - 1;
  // Loads first: they are under way together.
  if (level > 0) {
    [unroll]
    for (uint i = 0; i < FEW_MOST; ++i) keys[i] = scratch[3 * (begin + min(first + i * LISTS, last))];
  } else {
    [unroll]
    for (uint i = 0; i < FEW_MOST; ++i) keys[i] = word_bits(begin, min(first + i * LISTS, last));
    [unroll]
    for (uint k = 0; k < FEW_MOST; ++k) keys[k] = key_of(uint2(keys[k], 0)).x;
  }
  [unroll]
  for (uint n = 0; n < FEW_MOST; ++n) keys[n] = first + n * LISTS < count ? keys[n] : 0xFFFFFFFFu;
}

// How many of a block's lists have a first entry before one.
uint rank_among_lists(uint first_list, uint key, uint place) {
  uint rank = 0;
  [loop]
  for (uint i = first_list; i < first_list + LISTS; i += 8) {
    [unroll]
    for (uint k = 0; k < 8; ++k) {
      if (is_before(shared_words[FIRST_KEYS + i + k], shared_words[FIRST_PLACES + i + k], key, place)) ++rank;
    }
  }
  return rank;
}

// How many of so many shared entries come before one.
uint rank_among(uint keys, uint places, uint count, uint key, uint place) {
  uint rank = 0;
  for (uint i = 0; i < count; ++i) {
    if (is_before(shared_words[keys + i], shared_words[places + i], key, place)) ++rank;
  }
  return rank;
}

// Shares the entries up to the block's limit. So many lists as entries are kept have their first one there, and the
// others have none, so that there are enough and at most CANDIDATES_MOST.
void share_candidates(uint block, uint list, uint keys[FEW_MOST]) {
  const uint limit = shared_words[LIMIT_KEYS + block], limit_place = shared_words[LIMIT_PLACES + block];
  [unroll]
  for (uint i = 0; i < FEW_MOST; ++i) {
    const uint place = i * LISTS + list;
    if (!is_before(limit, limit_place, keys[i], place)) {
      uint at = 0;
      InterlockedAdd(shared_words[COUNTS + block], 1, at);
      shared_words[CANDIDATE_KEYS + block * CANDIDATES_MOST + at] = keys[i];
      shared_words[CANDIDATE_PLACES + block * CANDIDATES_MOST + at] = place;
    }
  }
}

// A group takes a few blocks, each of which is divided into lists of a thread. The first entries of the lists tell which
// others can be among those that are kept.
void keep_few(uint group, uint lane) {
  const uint block_of_group = lane / LISTS, list = lane % LISTS;
  const uint level = BASE;
  const uint blocks = max(parameters[0].spans[level] / BLOCK, 1u);  // of a sequence
  const uint block = group * BLOCKS_OF_GROUP + block_of_group;
  const uint sequence = min(block / blocks, parameters[0].sequences - 1);
  const bool is_there = block / blocks == sequence;
  const uint first = (block - sequence * blocks) * BLOCK;  // of the block's entries in its sequence
  const uint count = is_there ? parameters[0].counts[level] : 0;
  const uint stored = parameters[0].begins[level] + sequence * parameters[0].counts[level];
  const uint begin = level > 0 ? stored : sequence_offset(sequence);
  const uint kept = parameters[0].kept;
  uint keys[FEW_MOST] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  load_keys(level, begin, first + list, count, keys);
  uint key = keys[0], place = list;
  [unroll]
  for (uint i = 1; i < FEW_MOST; ++i) {
    place = keys[i] < key ? i * LISTS + list : place;
    key = min(keys[i], key);
  }
  shared_words[FIRST_KEYS + lane] = key;
  shared_words[FIRST_PLACES + lane] = place;
  if (list == 0) shared_words[COUNTS + block_of_group] = 0;
  GroupMemoryBarrierWithGroupSync();
  if (rank_among_lists(block_of_group * LISTS, key, place) == kept - 1) {
    shared_words[LIMIT_KEYS + block_of_group] = key;
    shared_words[LIMIT_PLACES + block_of_group] = place;
  }
  GroupMemoryBarrierWithGroupSync();
  share_candidates(block_of_group, list, keys);
  GroupMemoryBarrierWithGroupSync();
  const uint candidates = shared_words[COUNTS + block_of_group];
  const uint of_block = block_of_group * CANDIDATES_MOST;
  for (uint c = list; c < candidates; c += LISTS) {
    const uint of_candidate = shared_words[CANDIDATE_KEYS + of_block + c];
    const uint in_block = shared_words[CANDIDATE_PLACES + of_block + c];
    const uint rank =
        rank_among(CANDIDATE_KEYS + of_block, CANDIDATE_PLACES + of_block, candidates, of_candidate, in_block);
    if (is_there && rank < kept) {
      // Equal entries stand in the order of their indices on every level.
      uint index = first + in_block;
      if (level > 0) index = scratch[3 * (stored + min(first + in_block, max(count, 1u) - 1)) + 2];
      store_entry(parameters[0].begins[level + 1] + block * kept + rank, uint3(of_candidate, 0, index));
    }
  }
}

void exchange_stored(uint pair) {
  const uint distance = 1u << BASE;
  const uint place = 2 * pair - (pair & (distance - 1));
  const uint first = parameters[0].begins[1] + place;
  const uint3 a = stored_entry(first), b = stored_entry(first + distance);
  // A sequence is one upright row in the end.
  const bool is_ascending = (place % parameters[0].counts[1] & (1u << LOGARITHM)) == 0;
  if (comes_before(b, a) == is_ascending) {
    store_entry(first, b);
    store_entry(first + distance, a);
  }
}

void merge_block(uint group, uint lane) {
  const uint begin = group * BLOCK;
  for (uint i = 0; i < 4; ++i) {
    const uint at = lane + i * GROUP_SIZE;
    share_entry(at, stored_entry(parameters[0].begins[1] + begin + at));
  }
  GroupMemoryBarrierWithGroupSync();
  for (uint distance = BLOCK / 2; distance > 0; distance >>= 1) {
    exchange_all(lane, distance, begin % parameters[0].counts[1], 1u << LOGARITHM);
    GroupMemoryBarrierWithGroupSync();
  }
  for (uint k = 0; k < 4; ++k) {
    const uint at = lane + k * GROUP_SIZE;
    store_entry(parameters[0].begins[1] + begin + at, shared_entry(at));
  }
}

// Output element `at`: the index, or the bits of the value.
uint2 output_bits(uint at) {
  const uint row = at / parameters[0].inner;
  const uint outer = row / parameters[0].k;
  const uint rank = row - outer * parameters[0].k;
  const uint sequence = outer * parameters[0].inner + (at - row * parameters[0].inner);
  const uint result = parameters[0].result;
  const uint place = parameters[0].begins[result] + sequence * parameters[0].counts[result] + rank;
  const uint index = scratch[3 * place + 2];
  const uint element = min(index, parameters[0].length - 1);
  uint2 bits = uint2(index, 0);
  if (KIND == VALUES) bits = element_bits(sequence_offset(sequence) + element * parameters[0].stride);
  return bits;
}

void write_outputs(uint thread) {
  const uint size = KIND == INDICES ? size_of(INDEX_TYPE) : size_of(TYPE);
  const uint count = 16 / size;
  uint4 result = uint4(0, 0, 0, 0);
  for (uint part = 0; part < count; ++part) {
    const uint2 bits = output_bits(min(thread * count + part, parameters[0].elements - 1));
    if (size == 8) {
      result |= part == 0 ? uint4(bits, 0, 0) : uint4(0, 0, bits);
    } else {
      const uint per_word = 4 / size;
      result |= with_word(uint4(0, 0, 0, 0), part / per_word, placed(bits.x, part % per_word, size));
    }
  }
  if (KIND == INDICES)
    output1[thread] = result;
  else
    output0[thread] = result;
}

void run(uint thread, uint lane) {
  const uint group = (thread - lane) / GROUP_SIZE;
  if (SELECTS_FEW != 0 && KIND == FEW) {
    keep_few(group, lane);
  } else if (SELECTS_FEW == 0 && KIND == SORT) {
    sort_block(group, lane);
  } else if (SELECTS_FEW == 0 && KIND == MERGE) {
    merge_block(group, lane);
  } else if (thread < END_OF_THREADS) {
    if (SELECTS_FEW == 0 && KIND == EXCHANGE)
      exchange_stored(thread);
    else
      write_outputs(thread);
  }
}
