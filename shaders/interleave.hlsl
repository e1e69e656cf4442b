// Data movement (lib/ops/kernels/index_map.hpp) between a few rows and one in which their elements take turns:
// ... x0 y0 z0 x1 y1 z1 ... becomes ... x0 x1 ..., ... y0 y1 ... and ... z0 z1 ..., or the other way round.
//
// Input 1 is the source.
#include "parameters/transpose.hlsli"
#define CONSTANTS InterleaveConstants
#define LOADS_VECTORS
#define LOADS_WORDS
#include "bindings.hlsli"

INTERLEAVE_SPECIALIZATION(SPECIALIZED)

// The compiler for Direct3D does not divide by 0, which a test specializes.
#define SIZE max(ELEMENT_SIZE, 1u)
#define ROWS max(FEW, 1u)

// A unit is what a thread does at once: so many words of each row. Together they are whole vectors where they take turns,
// and each is one where they are apart in the output.
#define UNIT_WORDS (IS_APART != 0 || FEW == 3 ? 4u : max(4 / ROWS, SIZE / 4))
#define UNITS (IS_APART != 0 || FEW == 3 ? 1u : 4u)
#define UNITS_MOST 4
#define WORDS_MOST 16

// Where a unit begins, in elements.
struct Unit {
  uint source;
  uint output;
};

// Takes the index along an axis off a row's index.
void place_along(inout Unit unit, inout uint index, uint4 axis) {
  const uint next = index / axis.x;
  const uint o = index - next * axis.x;
  index = next;
  unit.source += o * axis.y;
  unit.output += o * axis.z;
}

Unit unit_at(uint at) {
  uint rest = at / constants.row_units;
  const uint elements = (at - rest * constants.row_units) * UNIT_WORDS * 4 / SIZE;  // of one row, before the unit
  Unit unit;
  unit.source = uint(constants.offset) + elements * (IS_APART != 0 ? ROWS : 1u);
  unit.output = elements * (IS_APART != 0 ? 1u : ROWS);
  if (OTHER_AXES > 3) place_along(unit, rest, constants.axis3);
  if (OTHER_AXES > 2) place_along(unit, rest, constants.axis2);
  if (OTHER_AXES > 1) place_along(unit, rest, constants.axis1);
  if (OTHER_AXES > 0) place_along(unit, rest, constants.axis0);
  return unit;
}

struct Words {
  uint words[WORDS_MOST];
};

// The words of all rows, one behind the other, or as they take turns.
Words load_unit(Unit unit) {
  Words loaded;
  [unroll]
  for (uint r = 0; r < 4; ++r) {
    if (r < ROWS) {
      // The rows may follow one another backwards: elements, which may wrap, are added before they become words.
      const uint row = IS_APART != 0 ? unit.source * SIZE / 4 + 4 * r : (unit.source + r * constants.source_stride) * SIZE / 4;
      const uint4 words = load_words(row, UNIT_WORDS);
      [unroll]
      for (uint w = 0; w < 4; ++w) {
        if (w < UNIT_WORDS) loaded.words[r * UNIT_WORDS + w] = w == 0 ? words.x : w == 1 ? words.y : w == 2 ? words.z : words.w;
      }
    }
  }
  return loaded;
}

// Where element `at` of what is stored stands in what was loaded.
uint source_of(uint at) {
  const uint elements = UNIT_WORDS * 4 / SIZE;  // of a row
  return IS_APART != 0 ? at % elements * ROWS + at / elements : at % ROWS * elements + at / ROWS;
}

// Word `at` of what is stored.
uint moved_word(Words loaded, uint at) {
  if (SIZE == 8) return loaded.words[2 * source_of(at >> 1) + (at & 1)];
  if (SIZE == 4) return loaded.words[source_of(at)];
  uint word = 0;
  [unroll]
  for (uint part = 0; part < 4; ++part) {
    if (part * SIZE < 4) {
      const uint from = source_of(at * (4 / min(SIZE, 4u)) + part) * SIZE;  // bytes
      const uint moved = loaded.words[from >> 2] >> ((from & 3) * 8);
      word |= (moved & (SIZE == 2 ? 0xFFFF : 0xFF)) << (part * SIZE * 8);
    }
  }
  return word;
}

void store_unit(Unit unit, Words loaded) {
  [unroll]
  for (uint v = 0; v < 4; ++v) {
    if (v < ROWS * UNIT_WORDS / 4) {
      const uint elements = unit.output + (IS_APART != 0 ? v * constants.output_stride : v * 16 / SIZE);
      output0[elements * SIZE / 16] = uint4(moved_word(loaded, 4 * v), moved_word(loaded, 4 * v + 1),
                                            moved_word(loaded, 4 * v + 2), moved_word(loaded, 4 * v + 3));
    }
  }
}

// Threads that are neighbors move neighbors. The loads of a thread's units are under way together.
void run(uint thread) {
  const uint first = thread / GROUP_SIZE * GROUP_SIZE * UNITS + thread % GROUP_SIZE;
  Unit units[UNITS_MOST];
  Words loaded[UNITS_MOST];
  [unroll]
  for (uint i = 0; i < UNITS_MOST; ++i) {
    if (i < UNITS) units[i] = unit_at(min(first + i * GROUP_SIZE, constants.units - 1));
  }
  [unroll]
  for (uint j = 0; j < UNITS_MOST; ++j) {
    if (j < UNITS) loaded[j] = load_unit(units[j]);
  }
  [unroll]
  for (uint k = 0; k < UNITS_MOST; ++k) {
    if (k < UNITS && first + k * GROUP_SIZE < constants.units) store_unit(units[k], loaded[k]);
  }
}
