// What kinds with windows have in common: a search under all of their windows, and the kernels that
// run it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/dispatch.hpp"
#include "ops/kernels/window_axis.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::gpu::kernels {

/// What is found under the windows.
struct WindowSearch {
  const std::vector<WindowAxis>& axes;
  DataType data_type = DataType::Float32;
  std::optional<DataType> index_type = {};  // of the places of maxima
  bool is_maximum = false;                  // or a sum
  std::uint32_t quantization = 0;           // bits of the kernel

  std::uint64_t outputs() const;
  /// Whether it finds FLOAT32 or FLOAT16, and neither places nor quantized numbers.
  bool is_of_floats_alone() const;
};

/// Numbers that a kernel adds up are less than this.
inline constexpr std::uint64_t number_limit = std::uint64_t{1} << 31;

/// What a GPU makes of it: at most one dispatch. The words of quantization and of the place of
/// nothing are left to the caller.
Dispatches dispatches_of(const WindowSearch& search);

}  // namespace dmlop::gpu::kernels
