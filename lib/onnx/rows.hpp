// The parts of the table of ONNX operators. Only the files that make them include this.
#pragma once

#include <span>

#include "onnx/mapping.hpp"

namespace dmlop::onnx {

std::span<const OnnxOperator> element_wise_rows();
std::span<const OnnxOperator> constant_rows();
std::span<const OnnxOperator> shape_rows();
std::span<const OnnxOperator> gather_rows();
std::span<const OnnxOperator> reduction_rows();
std::span<const OnnxOperator> window_rows();
std::span<const OnnxOperator> matrix_rows();
std::span<const OnnxOperator> normalization_rows();
std::span<const OnnxOperator> quantization_rows();
std::span<const OnnxOperator> recurrent_rows();
std::span<const OnnxOperator> resize_rows();
std::span<const OnnxOperator> image_rows();
std::span<const OnnxOperator> contrib_rows();
std::span<const OnnxOperator> attention_rows();
std::span<const OnnxOperator> rotary_rows();
std::span<const OnnxOperator> group_query_rows();
std::span<const OnnxOperator> standard_attention_rows();
std::span<const OnnxOperator> fused_rows();
std::span<const OnnxOperator> control_rows();
std::span<const OnnxOperator> unsupported_rows();

constexpr const char* microsoft = "com.microsoft";

}  // namespace dmlop::onnx
