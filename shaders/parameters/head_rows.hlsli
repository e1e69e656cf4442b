// The parameters of shaders/head_rows.hlsl. Inputs are the rows, the bias and the earlier rows: for each of these its
// offset and its strides by batch, head, row and element.
struct HeadRowsParameters {
  uint elements;  // of the output
  uint heads, rows, size, past_rows;
  uint offsets[3];
  uint batch_strides[3];
  uint head_strides[3];
  uint row_strides[3];
  uint element_strides[3];
};
