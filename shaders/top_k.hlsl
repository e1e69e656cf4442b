// The first elements of sorted sequences: TopKKernel (lib/ops/kernels/top_k.hpp). An element becomes an entry: a key
// that sorts as the elements are to stand, and its index, so that no two are equal. A group sorts 1024 entries by a
// bitonic network and keeps the first ones for the next level, until a sequence has no more than a block. Where as many
// as a block are wanted, all are kept, and stages over the scratch sort them together. Where few are wanted, threads
// sort 16 elements each in registers, and a block is merged from these without sorting the rest.
#include "parameters/top_k.hlsli"
#define PARAMETERS TopKParameters
#define WHOLE_GROUPS
#include "resident.hlsli"
#include "functions.hlsli"
#include "pairs.hlsli"

SPECIALIZED(0, TYPE)
SPECIALIZED(1, INDEX_TYPE)
SPECIALIZED(2, IS_DESCENDING)

SPECIALIZED(3, SELECTS_FEW)  // in stages FEW, and none of SORT, EXCHANGE and MERGE

#define BLOCK 1024

// What the low bits of STEP say of a stage.
#define SORT 0      // blocks of a level, which is BASE; the rest of STEP is the logarithm of a sorted row's length
#define EXCHANGE 1  // entries; the rest of STEP is the logarithm of a row's length, BASE that of the distance
#define MERGE 2     // the rest of such an exchange, in blocks; the rest of STEP as before
#define VALUES 3    // the outputs
#define INDICES 4
#define FEW 5       // as SORT, where keys are words and at most 16 entries are kept
#define KIND (STEP & 7)
#define LOGARITHM (STEP >> 3)

bool is_real() { return TYPE == FLOAT32 || TYPE == FLOAT16; }
bool is_signed() { return TYPE == INT8 || TYPE == INT16 || TYPE == INT32 || TYPE == INT64; }

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
  if (!is_real()) return is_signed() ? extended(bits, TYPE) ^ 0x80000000u : bits;
  const float value = real_of(bits, TYPE);
  const bool is_zero = (asuint(value) & 0x7FFFFFFFu) == 0;
  return is_nan(value) ? 0xFFFFFFFFu : key_of_real(is_zero ? 0.0f : value);
}

uint2 key_of(uint2 bits) {
  uint2 key = uint2(key_of_word(bits.x), 0);
  if (size_of(TYPE) == 8) key = uint2(bits.x, is_signed() ? bits.y ^ 0x80000000u : bits.y);
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

#define FEW_MOST 16
#define LISTS (BLOCK / FEW_MOST)                // of a block
#define BLOCKS_OF_GROUP (GROUP_SIZE / LISTS)
#define SHARED_LISTS (GROUP_SIZE / 2)

// 16 entries of one word in ascending order, and their places in the block.
struct List {
  uint4 keys[4];
  uint4 places[4];
};

void order(inout uint4 keys, inout uint4 places, inout uint4 next_keys, inout uint4 next_places) {
  const bool4 swaps = next_keys < keys || (next_keys == keys && next_places < places);
  const uint4 key = keys, place = places;
  keys = swaps ? next_keys : key;
  places = swaps ? next_places : place;
  next_keys = swaps ? key : next_keys;
  next_places = swaps ? place : next_places;
}

// Entries of vectors a and b, at the named components of each, in order.
#define ORDER_WITHIN(a, b, at, next)                                                                              \
  {                                                                                                               \
    uint4 keys = uint4(list.keys[a].at, list.keys[b].at), places = uint4(list.places[a].at, list.places[b].at);   \
    uint4 next_keys = uint4(list.keys[a].next, list.keys[b].next);                                                \
    uint4 next_places = uint4(list.places[a].next, list.places[b].next);                                          \
    order(keys, places, next_keys, next_places);                                                                  \
    list.keys[a].at = keys.xy, list.keys[b].at = keys.zw;                                                         \
    list.places[a].at = places.xy, list.places[b].at = places.zw;                                                 \
    list.keys[a].next = next_keys.xy, list.keys[b].next = next_keys.zw;                                           \
    list.places[a].next = next_places.xy, list.places[b].next = next_places.zw;                                   \
  }

// Entries of vectors a and b: the one with the other, read in the other direction.
#define ORDER_MIRRORED(a, b)                                         \
  {                                                                  \
    uint4 keys = list.keys[b].wzyx, places = list.places[b].wzyx;    \
    order(list.keys[a], list.places[a], keys, places);               \
    list.keys[b] = keys.wzyx, list.places[b] = places.wzyx;          \
  }

// Sorts vectors that rise and then fall.
void sort_bitonic_vectors(inout List list) {
  ORDER_WITHIN(0, 1, xy, zw)
  ORDER_WITHIN(2, 3, xy, zw)
  ORDER_WITHIN(0, 1, xz, yw)
  ORDER_WITHIN(2, 3, xz, yw)
}

void order_vectors(inout List list, uint a, uint b) {
  order(list.keys[a], list.places[a], list.keys[b], list.places[b]);
}

// The same of the whole list.
void sort_bitonic_list(inout List list) {
  order_vectors(list, 0, 2);
  order_vectors(list, 1, 3);
  order_vectors(list, 0, 1);
  order_vectors(list, 2, 3);
  sort_bitonic_vectors(list);
}

// Sorts pairs, vectors, pairs of vectors, and all.
void sort_list(inout List list) {
  ORDER_WITHIN(0, 1, xz, yw)
  ORDER_WITHIN(2, 3, xz, yw)
  ORDER_WITHIN(0, 1, xy, wz)
  ORDER_WITHIN(2, 3, xy, wz)
  ORDER_WITHIN(0, 1, xz, yw)
  ORDER_WITHIN(2, 3, xz, yw)
  ORDER_MIRRORED(0, 1)
  ORDER_MIRRORED(2, 3)
  sort_bitonic_vectors(list);
  ORDER_MIRRORED(0, 3)
  ORDER_MIRRORED(1, 2)
  order_vectors(list, 0, 1);
  order_vectors(list, 2, 3);
  sort_bitonic_vectors(list);
}

// Places are shared in pairs: they are less than BLOCK.
void share_list(uint at, List list) {
  [unroll]
  for (uint i = 0; i < 4; ++i) {
    const uint first = at + 4 * i * SHARED_LISTS;
    shared_words[first] = list.keys[i].x;
    shared_words[first + SHARED_LISTS] = list.keys[i].y;
    shared_words[first + 2 * SHARED_LISTS] = list.keys[i].z;
    shared_words[first + 3 * SHARED_LISTS] = list.keys[i].w;
    const uint2 places = list.places[i].xz | (list.places[i].yw << 16);
    const uint first_place = at + (FEW_MOST + 2 * i) * SHARED_LISTS;
    shared_words[first_place] = places.x;
    shared_words[first_place + SHARED_LISTS] = places.y;
  }
}

// The first entries of a list and a shared one: the lesser of its first and the other's last, and so on.
void merge_shared_list(uint at, inout List list) {
  [unroll]
  for (uint i = 0; i < 4; ++i) {
    const uint first = at + 4 * (3 - i) * SHARED_LISTS;
    uint4 keys = uint4(shared_words[first + 3 * SHARED_LISTS], shared_words[first + 2 * SHARED_LISTS],
                       shared_words[first + SHARED_LISTS], shared_words[first]);
    const uint first_place = at + (FEW_MOST + 2 * (3 - i)) * SHARED_LISTS;
    const uint2 pairs = uint2(shared_words[first_place + SHARED_LISTS], shared_words[first_place]);
    uint4 places = uint4(pairs.x >> 16, pairs.x & 0xFFFF, pairs.y >> 16, pairs.y & 0xFFFF);
    order(list.keys[i], list.places[i], keys, places);
  }
  sort_bitonic_list(list);
}

uint size_of_word() { return min(size_of(TYPE), 4); }

// The bits of an input's element of one word, for a sequence that begins there.
uint word_bits(uint begin, uint place) {
  const uint element = begin + place * parameters[0].stride;
  return element_of_word(input1[element / (4 / size_of_word())], element, size_of_word());
}

uint4 keys_of(uint4 bits) {
  return uint4(key_of(uint2(bits.x, 0)).x, key_of(uint2(bits.y, 0)).x, key_of(uint2(bits.z, 0)).x,
               key_of(uint2(bits.w, 0)).x);
}

// The keys of entries of a level; behind the last one they come after all others.
void load_keys(uint level, uint begin, uint first, uint count, inout List list) {
  const uint last = max(count, 1u) - 1;
  // Loads first: they are under way together.
  if (level > 0) {
    [unroll]
    for (uint i = 0; i < 4; ++i) {
      const uint4 at = 3 * (begin + min(first + list.places[i], last));
      list.keys[i] = uint4(scratch[at.x], scratch[at.y], scratch[at.z], scratch[at.w]);
    }
  } else {
    [unroll]
    for (uint i = 0; i < 4; ++i) {
      const uint4 at = min(first + list.places[i], last);
      list.keys[i] = uint4(word_bits(begin, at.x), word_bits(begin, at.y), word_bits(begin, at.z), word_bits(begin, at.w));
    }
    [unroll]
    for (uint k = 0; k < 4; ++k) list.keys[k] = keys_of(list.keys[k]);
  }
  [unroll]
  for (uint n = 0; n < 4; ++n) list.keys[n] = first + list.places[n] < count ? list.keys[n] : 0xFFFFFFFFu;
}

// A group takes a few blocks. A block's lists are half a group apart first, and then neighbours.
void keep_few(uint group, uint lane) {
  const uint half_of_lists = LISTS / 2;
  const uint block_of_group = lane / half_of_lists % BLOCKS_OF_GROUP;
  const uint list_of_block = lane % half_of_lists + (lane < SHARED_LISTS ? 0 : half_of_lists);
  const uint level = BASE;
  const uint blocks = max(parameters[0].spans[level] / BLOCK, 1u);  // of a sequence
  const uint block = group * BLOCKS_OF_GROUP + block_of_group;
  const uint sequence = min(block / blocks, parameters[0].sequences - 1);
  const bool is_there = block / blocks == sequence;
  const uint first = (block - sequence * blocks) * BLOCK;  // of the block's entries in its sequence
  const uint count = is_there ? parameters[0].counts[level] : 0;
  const uint stored = parameters[0].begins[level] + sequence * parameters[0].counts[level];
  const uint begin = level > 0 ? stored : sequence_offset(sequence);
  List list;
  [unroll]
  for (uint i = 0; i < 4; ++i) list.places[i] = (uint4(0, 1, 2, 3) + 4 * i) * LISTS + list_of_block;
  load_keys(level, begin, first, count, list);
  sort_list(list);
  [loop]
  for (uint left = half_of_lists; left > 0; left >>= 1) {
    const bool is_given = list_of_block >= left && list_of_block < 2 * left;
    const uint at = block_of_group * half_of_lists + list_of_block;
    if (is_given) share_list(at - left, list);
    GroupMemoryBarrierWithGroupSync();
    if (list_of_block < left) merge_shared_list(at, list);
    GroupMemoryBarrierWithGroupSync();
  }
  const uint at = block_of_group * half_of_lists;
  if (list_of_block == 0) share_list(at, list);
  GroupMemoryBarrierWithGroupSync();
  const uint kept = parameters[0].kept;
  if (is_there && list_of_block < kept) {
    const uint key = shared_words[list_of_block * SHARED_LISTS + at];
    const uint pair = shared_words[(FEW_MOST + list_of_block / 2) * SHARED_LISTS + at];
    const uint place = first + (list_of_block % 2 == 0 ? pair & 0xFFFF : pair >> 16);
    // Equal entries stand in the order of their indices on every level.
    uint index = place;
    if (level > 0) index = scratch[3 * (stored + min(place, count - 1)) + 2];
    store_entry(parameters[0].begins[level + 1] + block * kept + list_of_block, uint3(key, 0, index));
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
