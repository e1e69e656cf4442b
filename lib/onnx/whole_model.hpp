// What is said of an ONNX model as a whole, before its nodes are read.
#pragma once

#include "base/diagnostic.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

inline constexpr const char* no_sparse = "it has sparse initializers, which DirectML does not have";

/// Adds findings about versions of ONNX's operators that are not read, sparse initializers, and a
/// model without outputs.
void check_whole_model(const OnnxModel& model, Diagnostics& diagnostics);

}  // namespace dmlop::onnx
