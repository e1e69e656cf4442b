#include "onnx/rows.hpp"
namespace dmlop::onnx {
std::span<const OnnxOperator> unsupported_rows() { return {}; }
}
