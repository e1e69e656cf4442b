// Code that fills the description of PADDING, as it stands in many programs:
// dmlop convert --from-cpp samples/cpp/padding.cpp
constexpr UINT inputSizes[4] = {1, 1, 4, 4};
constexpr UINT outputSizes[4] = {1, 1, 5, 7};

DML_BUFFER_TENSOR_DESC inputBuffer = {};
inputBuffer.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;
inputBuffer.DimensionCount = ARRAYSIZE(inputSizes);
inputBuffer.Sizes = inputSizes;
inputBuffer.TotalTensorSizeInBytes = 4 * 4 * sizeof(float);

DML_BUFFER_TENSOR_DESC outputBuffer = inputBuffer;
outputBuffer.Sizes = outputSizes;
outputBuffer.TotalTensorSizeInBytes = 5 * 7 * sizeof(float);

DML_TENSOR_DESC inputTensor{DML_TENSOR_TYPE_BUFFER, &inputBuffer};
DML_TENSOR_DESC outputTensor{DML_TENSOR_TYPE_BUFFER, &outputBuffer};

const std::array<UINT, 4> startPadding = {0, 0, 0, 1};
const std::vector<UINT> endPadding = {0, 0, 1, 2};

DML_PADDING_OPERATOR_DESC padding = {
    .InputTensor = &inputTensor,
    .OutputTensor = &outputTensor,
    .PaddingMode = DML_PADDING_MODE_CONSTANT,
    .PaddingValue = -1.5f,
    .DimensionCount = static_cast<UINT>(startPadding.size()),
    .StartPadding = startPadding.data(),
    .EndPadding = endPadding.data(),
};

DML_OPERATOR_DESC operatorDesc{DML_OPERATOR_PADDING, &padding};
THROW_IF_FAILED(device->CreateOperator(&operatorDesc, IID_PPV_ARGS(&compiledOperator)));
