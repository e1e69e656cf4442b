// C++ whose operator DirectML refuses with E_INVALIDARG: the output is one column too wide.
UINT inputSizes[] = {1, 1, 4, 4}, outputSizes[] = {1, 1, 8, 11};
UINT start[] = {0, 0, 1, 2}, end[] = {0, 0, 3, 4};
DML_BUFFER_TENSOR_DESC input{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, inputSizes, nullptr, 64, 0};
DML_BUFFER_TENSOR_DESC output{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, outputSizes, nullptr, 352, 0};
DML_TENSOR_DESC inputDesc{DML_TENSOR_TYPE_BUFFER, &input}, outputDesc{DML_TENSOR_TYPE_BUFFER, &output};
DML_PADDING_OPERATOR_DESC padding{&inputDesc, &outputDesc, DML_PADDING_MODE_EDGE, 0, 4, start, end};
DML_OPERATOR_DESC desc{DML_OPERATOR_PADDING, &padding};
