// For head_rows.hlsl and lib/gpu/kernels/head_rows.cpp: the same words in HLSL and C++.
struct HeadRowsParameters {
  uint elements;  // of the output
  uint heads;
  uint rows;  // of a head
  uint size;  // of a row
  uint past_rows;
  // Of the rows, the bias and the earlier rows, in this order: the first element, and the strides of batch, head, row
  // and element.
  uint offsets[3];
  uint strides[12];
};
