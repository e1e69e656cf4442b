// Reversal along the axis before the innermost one (lib/ops/kernels/index_map.hpp), where words of 32 bits stand below
// words. A thread moves one column of words, or a part of it, and reads the lengths of its elements once.
//
// With STAGED, a thread keeps the words of its column, which has few rows, in groupshared memory of its own and picks the
// elements there: threads side by side, which need different rows, would load from as many lines of a cache at once.
//
// Input 1 is the source and input 2 the lengths.
#include "parameters/reverse_columns.hlsli"
#define CONSTANTS ReverseColumnsConstants
#define OUTPUT_WORDS
#define WHOLE_GROUPS
#include "bindings.hlsli"

REVERSE_COLUMNS_SPECIALIZATION(SPECIALIZED)

#define ELEMENTS_OF_WORD (ELEMENT_SIZE == 1 ? 4 : ELEMENT_SIZE == 2 ? 2 : 1)
#define ROWS constants.rows

// The number of rows to reverse in a column of elements; 64-bit lengths are clamped by their high word.
uint length_at(uint at) {
  const uint words = constants.length_words;
  const uint low = input2[at * words];
  const uint high = input2[at * words + words - 1];
  return words == 2 && high != 0 ? ROWS : min(low, ROWS);
}

uint source_word(uint row, uint length, int first) {
  const uint source = row < length ? length - 1 - row : row;
  return input1[uint(first + int(source) * constants.row_stride)];
}

// A word of row `row`: each of its elements comes from the row that its length says.
uint word_at(uint row, uint4 lengths, int first) {
  const uint word = source_word(row, lengths.x, first);
  if (ELEMENT_SIZE == 2) return (word & 0xFFFF) | (source_word(row, lengths.y, first) & 0xFFFF0000);
  return (word & 0xFF) | (source_word(row, lengths.y, first) & 0xFF00) |
         (source_word(row, lengths.z, first) & 0xFF0000) | (source_word(row, lengths.w, first) & 0xFF000000);
}

void store_word(uint place, uint row, uint end, uint word) {
  if (row < end) output_words[place + row * constants.columns] = word;
}

void store_four_words(uint place, uint row, uint end, uint4 words) {
  store_word(place, row, end, words.x);
  store_word(place, row + 1, end, words.y);
  store_word(place, row + 2, end, words.z);
  store_word(place, row + 3, end, words.w);
}

// Moves rows [row, end) of a column of elements of different lengths. Loads of four rows are under way together.
void move_elements(uint row, uint end, uint4 lengths, int first, uint place) {
  [loop]
  for (; row < end; row += 4) {
    uint4 words;
    words.x = word_at(row, lengths, first);
    words.y = word_at(min(row + 1, end - 1), lengths, first);
    words.z = word_at(min(row + 2, end - 1), lengths, first);
    words.w = word_at(min(row + 3, end - 1), lengths, first);
    store_four_words(place, row, end, words);
  }
}

uint4 four_words(uint row, uint end, uint length, int first) {
  return uint4(source_word(min(row, end - 1), length, first), source_word(min(row + 1, end - 1), length, first),
               source_word(min(row + 2, end - 1), length, first), source_word(min(row + 3, end - 1), length, first));
}

// The same where all elements of a word have the same length. Loads of eight rows are under way together.
void move_words(uint row, uint end, uint length, int first, uint place) {
  [loop]
  for (; row < end; row += 8) {
    const uint4 words = four_words(row, end, length, first), more = four_words(row + 4, end, length, first);
    store_four_words(place, row, end, words);
    store_four_words(place, row + 4, end, more);
  }
}

#ifdef STAGED
groupshared uint staged[STAGED_MOST * GROUP_SIZE];

uint staged_word(uint row, uint length, uint lane) {
  return staged[(row < length ? length - 1 - row : row) * GROUP_SIZE + lane];
}

uint staged_elements(uint row, uint4 lengths, uint lane) {
  const uint word = staged_word(row, lengths.x, lane);
  if (ELEMENTS_OF_WORD == 1) return word;
  if (ELEMENTS_OF_WORD == 2) return (word & 0xFFFF) | (staged_word(row, lengths.y, lane) & 0xFFFF0000);
  return (word & 0xFF) | (staged_word(row, lengths.y, lane) & 0xFF00) |
         (staged_word(row, lengths.z, lane) & 0xFF0000) | (staged_word(row, lengths.w, lane) & 0xFF000000);
}

// Moves a whole column. Loads of all rows are under way together.
void move_staged(uint lane, uint4 lengths, int first, uint place) {
  uint words[STAGED_MOST];
  uint i;
  [unroll]
  for (i = 0; i < STAGED_MOST; ++i) {
    words[i] = 0;
    if (i < STAGED_ROWS) words[i] = source_word(i, 0, first);
  }
  [unroll]
  for (i = 0; i < STAGED_MOST; ++i) {
    if (i < STAGED_ROWS) staged[i * GROUP_SIZE + lane] = words[i];
  }
  [unroll]
  for (i = 0; i < STAGED_MOST; ++i) {
    if (i < STAGED_ROWS) output_words[place + i * constants.columns] = staged_elements(i, lengths, lane);
  }
}
#endif

void run(uint thread, uint lane) {
  if (thread >= END_OF_THREADS) return;
  // Groups take all rows of a block of columns one after the other: what one of them reads, the next ones need, too.
  uint rest = thread / constants.block_columns;
  const uint in_block = thread - rest * constants.block_columns;
  const uint part_rest = rest / constants.parts;
  const uint part = rest - part_rest * constants.parts;
  const uint outer = part_rest / constants.blocks;
  const uint column = (part_rest - outer * constants.blocks) * constants.block_columns + in_block;
  if (column >= constants.columns) return;

  const uint place = outer * ROWS * constants.columns + column;  // in the output
  const uint outermost = outer / constants.outer.x;
  const uint inner = outer - outermost * constants.outer.x;
  const int first = constants.offset + int(column) + int(outermost) * int(constants.outermost.y) + int(inner) * int(constants.outer.y);
  const uint element = ELEMENT_SIZE == 8 ? column >> 1 : column * ELEMENTS_OF_WORD;
  const uint length_place = outermost * constants.outermost.z + inner * constants.outer.z + element * constants.length_stride;
  uint4 lengths;
  lengths.x = length_at(length_place);
  lengths.yzw = lengths.xxx;
  if (ELEMENTS_OF_WORD == 2) lengths.yw = length_at(length_place + constants.length_stride).xx;
  if (ELEMENTS_OF_WORD == 4) {
    lengths.y = length_at(length_place + constants.length_stride);
    lengths.z = length_at(length_place + 2 * constants.length_stride);
    lengths.w = length_at(length_place + 3 * constants.length_stride);
  }
#ifdef STAGED
  move_staged(lane, lengths, first, place);
#else
  const bool is_one_length = all(lengths == lengths.xxxx);
  const uint row = part * constants.thread_rows;
  const uint end = min(row + constants.thread_rows, ROWS);
  if (ELEMENTS_OF_WORD == 1 || is_one_length)
    move_words(row, end, lengths.x, first, place);
  else
    move_elements(row, end, lengths, first, place);
#endif
}
