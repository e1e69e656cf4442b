// For head_rows.hlsl and lib/gpu/kernels/head_rows.cpp: the same words in HLSL and C++.
struct HeadRowsConstants {
  uint elements;  // of the output
  uint heads;
  uint rows;  // of a head
  uint size;  // of a row
  uint past_rows;
  uint new_rows, length_stride;  // of the lengths of the earlier rows
  uint offset, bias_offset, past_offset;  // of the first element of the rows, the bias and the earlier rows
  uint unused0, unused1;
  uint4 strides, bias_strides, past_strides;  // x of an element, y of a row, z of a head, w of a batch
};

// The specialization constants of head_rows.hlsl.
#define HEAD_ROWS_SPECIALIZATION(VALUE) \
  VALUE(0, OUTPUT_TYPE) \
  VALUE(1, INPUT_TYPE) \
  VALUE(2, BIAS_TYPE)   /* 0: there is none */ \
  VALUE(3, PAST_TYPE)   /* 0: there are none */ \
  VALUE(4, HAS_LENGTHS) /* of the earlier rows; what is behind the new ones is 0 then */ \
  VALUE(5, IS_MOVED)    /* as vectors of 16 bytes */
