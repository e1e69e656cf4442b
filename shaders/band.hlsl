// Matrices with one value on some diagonals: BandKernel (lib/ops/kernels/band.hpp). A thread makes up the elements of 16
// bytes of output. The input is there if HAS_INPUT says so; elsewhere it is zeros.
#include "parameters/walk.hlsli"
#include "parameters/band.hlsli"
#define PARAMETERS BandParameters
#include "elements.hlsli"
#include "runs.hlsli"
#define WALK parameters[0].walk
#include "walk.hlsli"

BAND_SPECIALIZATION(SPECIALIZED)

// The compiler for Direct3D does not divide by 0, which a test specializes.
#define MOVED_SIZE clamp(SIZE, 1u, 4u)
uint parts_of_element() { return SIZE == 8 ? 2 : 1; }

bool is_value(int diagonal) {
  const bool is_in_band = diagonal >= parameters[0].begin && diagonal < parameters[0].end;
  return IS_INVERTED != 0 ? !is_in_band : is_in_band;
}

// Whether `count` diagonals from this one on are alike.
bool are_alike(int diagonal, uint count) {
  const int last = diagonal + int(count) - 1;
  return last < parameters[0].begin || diagonal >= parameters[0].end ||
         (diagonal >= parameters[0].begin && last < parameters[0].end);
}

// Part `part` of the value where it has 8 bytes.
uint value_bits(uint part) { return SIZE == 8 && part == 1 ? parameters[0].value[1] : parameters[0].value[0]; }

// A place in the output.
struct Element {
  uint column;
  uint row;     // of its matrix
  uint offset;  // of the row in the input
};

Element element_at(uint at) {
  const uint matrix_row = at / parameters[0].columns;
  Element element;
  element.column = at - matrix_row * parameters[0].columns;
  element.row = matrix_row % parameters[0].rows;
  element.offset = HAS_INPUT != 0 ? place_at(matrix_row).offsets.x : 0;
  return element;
}

int diagonal_of(Element element) { return int(element.column) - int(element.row); }

uint element_bits(Element element, uint part) {
  if (is_value(diagonal_of(element))) return value_bits(part);
  if (HAS_INPUT == 0) return 0;
  const uint at = element.offset + element.column * parameters[0].column_stride;
  return load_bits(1, SIZE == 8 ? 2 * at + part : at, MOVED_SIZE);
}

uint4 alike_elements(Element element) {
  if (is_value(diagonal_of(element))) {
    const uint word = value_bits(0) * (SIZE == 1 ? 0x01010101u : SIZE == 2 ? 0x00010001u : 1u);
    return SIZE == 8 ? uint4(word, value_bits(1), word, value_bits(1)) : uint4(word, word, word, word);
  }
  if (HAS_INPUT == 0) return uint4(0, 0, 0, 0);
  const uint at = element.offset + element.column;
  return load_run(1, SIZE == 8 ? 2 * at : at, MOVED_SIZE);
}

void run(uint thread) {
  const uint count = 16 / max(SIZE, 1u);
  uint at = thread * count;
  Element element = element_at(at);
  const bool stands_side_by_side = HAS_INPUT == 0 || parameters[0].column_stride == 1;
  if (parameters[0].columns - element.column >= count && are_alike(diagonal_of(element), count)) {
    if (stands_side_by_side || is_value(diagonal_of(element))) {
      output0[thread] = alike_elements(element);
      return;
    }
  }
  uint4 result = uint4(0, 0, 0, 0);
  const uint parts = parts_of_element();
  for (uint i = 0; i < count * parts; ++i) {
    const uint part = i % parts;
    put(result, i, element_bits(element, part), MOVED_SIZE);
    if (part + 1 == parts) {
      ++at;
      ++element.column;
      if (element.column == parameters[0].columns) element = element_at(at < parameters[0].elements ? at : 0);
    }
  }
  output0[thread] = result;
}
