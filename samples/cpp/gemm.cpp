// Code as programs have it, with a function that makes tensor descs, a struct and parameters:
// dmlop convert --from-cpp samples/cpp/gemm.cpp -D batch=2 -D headSize=64
struct TensorInfo {
  std::array<UINT, 4> sizes;
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_FLOAT32;
};

DML_BUFFER_TENSOR_DESC MakeDesc(const TensorInfo& info) {
  const UINT elements = std::accumulate(info.sizes.begin(), info.sizes.end(), 1u,
                                        std::multiplies<UINT>());
  DML_BUFFER_TENSOR_DESC desc = {};
  desc.DataType = info.type;
  desc.DimensionCount = gsl::narrow_cast<UINT>(info.sizes.size());
  desc.Sizes = info.sizes.data();
  desc.TotalTensorSizeInBytes = elements * (info.type == DML_TENSOR_DATA_TYPE_FLOAT16 ? 2 : 4);
  return desc;
}

void CreateAttention(IDMLDevice* device, UINT batch, UINT headSize) {
  TensorInfo a{{batch, 1, 8, headSize}};
  TensorInfo b{{batch, 1, 16, headSize}};
  TensorInfo output{a};
  output.sizes[3] = b.sizes[2];
  for (UINT size : output.sizes) printf("%u ", size);

  DML_BUFFER_TENSOR_DESC aBuffer = MakeDesc(a), bBuffer = MakeDesc(b);
  DML_BUFFER_TENSOR_DESC outputBuffer = MakeDesc(output);
  auto tensor = [](DML_BUFFER_TENSOR_DESC& buffer) {
    return DML_TENSOR_DESC{DML_TENSOR_TYPE_BUFFER, &buffer};
  };
  DML_TENSOR_DESC aTensor = tensor(aBuffer), bTensor = tensor(bBuffer);
  DML_TENSOR_DESC outputTensor = tensor(outputBuffer);

  DML_GEMM_OPERATOR_DESC gemm = {};
  gemm.ATensor = &aTensor;
  gemm.BTensor = &bTensor;
  gemm.OutputTensor = &outputTensor;
  gemm.TransB = DML_MATRIX_TRANSFORM_TRANSPOSE;
  gemm.Alpha = 1.0f / sqrtf(static_cast<float>(headSize));

  DML_OPERATOR_DESC desc{DML_OPERATOR_GEMM, &gemm};
  THROW_IF_FAILED(device->CreateOperator(&desc, IID_PPV_ARGS(&attention)));
}
