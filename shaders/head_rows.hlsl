// Rows of heads: HeadRowsKernel (lib/ops/kernels/attention.hpp). A thread makes 16 bytes of output.
#include "parameters/head_rows.hlsli"
#define PARAMETERS HeadRowsParameters
#include "resident.hlsli"

SPECIALIZED(0, OUTPUT_TYPE)
SPECIALIZED(1, INPUT_TYPE)
SPECIALIZED(2, BIAS_TYPE)    // 0: there is none
SPECIALIZED(3, PAST_TYPE)    // 0: there is none
SPECIALIZED(4, PAST_BUFFER)

// Where an element of a row of a head is.
uint offset_at(uint input, uint batch, uint head, uint row, uint i) {
  return parameters[0].offsets[input] + batch * parameters[0].batch_strides[input] +
         head * parameters[0].head_strides[input] + row * parameters[0].row_strides[input] +
         i * parameters[0].element_strides[input];
}

float number_at(uint at) {
  const uint whole_row = at / parameters[0].size;
  const uint i = at - whole_row * parameters[0].size;
  const uint whole_head = whole_row / parameters[0].rows;
  const uint row = whole_row - whole_head * parameters[0].rows;
  const uint batch = whole_head / parameters[0].heads;
  const uint head = whole_head - batch * parameters[0].heads;
  if (PAST_TYPE != 0 && row < parameters[0].past_rows)
    return load_real(PAST_BUFFER, offset_at(2, batch, head, row, i), PAST_TYPE);
  float number = load_real(1, offset_at(0, batch, head, row - parameters[0].past_rows, i), INPUT_TYPE);
  if (BIAS_TYPE != 0) number += load_real(2, offset_at(1, batch, head, 0, i), BIAS_TYPE);
  return number;
}

void run(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint per_word = 4 / size;
  uint at = thread * 4 * per_word;
  uint4 result = uint4(0, 0, 0, 0);
  for (uint w = 0; w < 4; ++w) {
    uint word = 0;
    for (uint part = 0; part < per_word; ++part) {
      const float number = number_at(min(at++, parameters[0].elements - 1));
      word |= placed(bits_of_real(number, OUTPUT_TYPE), part, size);
    }
    result = with_word(result, w, word);
  }
  output0[thread] = result;
}
