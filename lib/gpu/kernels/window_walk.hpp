// How threads walk down windows (shaders/window_walk.hlsli): which windows are fit for it, what
// each thread owns, and the kernel's constants. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/kernels/window_axis.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::gpu::kernels {

/// Windows along one axis of an input: window o has elements o * window_stride - start_padding + k
/// * dilation for k < window. Those outside of the input are padding.
struct WalkedAxis {
  std::uint64_t input_extent = 1;
  std::uint64_t output_extent = 1;
  std::uint64_t input_stride = 0;  // elements
  std::uint64_t window = 1;
  std::uint64_t window_stride = 1;
  std::uint64_t dilation = 1;
  std::int64_t start_padding = 0;  // negative where windows begin behind the first element
};

/// The same as a kernel has it: Windows that are not transposed.
WalkedAxis walked(const WindowAxis& axis);

/// Windows over the last two axes of packed outputs.
struct WalkedWindows {
  DataType data_type = DataType::Float32;  // or FLOAT16
  std::uint32_t operation = 0;             // the kernel's
  WalkedAxis height, width;
  std::uint64_t planes = 1;
  std::vector<std::uint64_t> strides;  // of the input's other axes, elements
  /// Bytes that may be loaded in front of the first element and behind the last; none where the
  /// kernel keeps loads inside.
  std::optional<std::uint64_t> slack_bytes = {};
  bool is_weighted = false;  // elements of a window have weights
  // Iterations of loops for each plane, element and output.
  std::uint64_t plane_work = 0;
  std::uint64_t element_work = 0;
  std::uint64_t output_work = 0;
};

struct WindowWalk {
  std::uint64_t column_blocks = 1;
  std::uint64_t row_blocks = 1;
  std::uint64_t block_rows = 1;  // of outputs
  std::uint64_t threads = 1;
  std::uint64_t work = 1;  // of a thread
  std::string variant;     // what the name of the kernel ends in
  std::vector<std::uint32_t> specialization;
};

/// None where the windows do not fit the kernel, as those that are dilated or do not find elements
/// of a row side by side, or are too few for its set-up to pay.
std::optional<WindowWalk> window_walk(const WalkedWindows& windows);

}  // namespace dmlop::gpu::kernels
