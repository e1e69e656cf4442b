#include "onnx/rows.hpp"
namespace dmlop::onnx {
std::span<const OnnxOperator> quantization_rows() { return {}; }
}
