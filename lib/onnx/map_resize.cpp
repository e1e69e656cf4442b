#include "onnx/rows.hpp"
namespace dmlop::onnx {
std::span<const OnnxOperator> resize_rows() { return {}; }
}
