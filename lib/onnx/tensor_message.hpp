// Reads a TensorProto. Only the readers of models and of tensors include this.
#pragma once

#include "onnx/message.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// Errors: as Message.
Tensor tensor_of(Message message);

}  // namespace dmlop::onnx
