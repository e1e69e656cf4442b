// What kinds with windows share (shaders/window.hlsl): their axes as a GPU kernel's parameters, and
// the stages that run them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/dispatch.hpp"
#include "ops/kernels/window_axis.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::gpu::kernels {

/// Whether output o is element o.
bool is_copied(const WindowAxis& axis);

/// What is found under the windows.
struct WindowSearch {
  const std::vector<WindowAxis>& axes;
  DataType data_type = DataType::Float32;
  std::optional<DataType> index_type = {};  // of the places of maxima
  bool is_maximum = false;                  // or a sum
  std::uint32_t quantization = 0;           // bits of the kernel
};

/// What a GPU makes of it: at most one dispatch. The words of quantization and of the place of
/// nothing are left to the caller.
Dispatches dispatches_of(const WindowSearch& search);

}  // namespace dmlop::gpu::kernels
