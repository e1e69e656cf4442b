// A TensorProto in a file of its own, as ONNX's tests have them, in place of a .npy file.
#pragma once

#include <string>

#include "base/buffer.hpp"
#include "npy/npy.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// Whether a file is a TensorProto by its name: *.pb.
bool is_named_tensor(const std::string& path);

/// Its elements in C order. Those of 4 bits have a byte each. Errors: run_failed without memory.
Buffer elements_of(const TensorData& data, const std::string& name);

/// Its elements, in memory. Errors: as read_tensor_file; invalid_input if there are none.
NpyFile open_tensor_file(const std::string& path, const SharedConfinement& confinement = {});

}  // namespace dmlop::onnx
