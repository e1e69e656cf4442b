// What outputs reach along one axis of an input: the elements under a window, or those around a
// coordinate.
#pragma once

#include <cstdint>
#include <variant>

namespace dmlop {

/// What a sum over windows is divided by.
enum class Divisor : std::uint8_t { none, elements_inside, elements_and_padding };

/// Window o has elements o * stride - start_padding + k * dilation for k < size. Those outside of
/// the input are padding, however far outside they are.
struct Windows {
  std::uint64_t size = 1;
  std::uint64_t stride = 1;
  std::uint64_t dilation = 1;
  std::uint64_t start_padding = 0;
  Divisor divisor = Divisor::none;
};

/// How a coordinate becomes elements. `nearest` rounds halves up.
enum class Sampling : std::uint8_t { linear, nearest, floor, ceiling };

/// Output o lies at coordinate (o - output_offset) / scale - input_offset, cut to the input. It is
/// computed in float where it is rounded to one element, and in double where it gives weights.
struct Interpolation {
  Sampling sampling = Sampling::linear;
  float scale = 1;
  float input_offset = 0;
  float output_offset = 0;
  /// Where an output covers more than two elements: the mean of linear samples, evenly spread over
  /// what it covers and at most two elements apart.
  bool is_antialiased = false;
};

/// One axis. A transposed one goes the other way: output i reaches all those that would reach
/// element i, with the weights they would have. By default it is copied.
struct WindowAxis {
  std::uint64_t input_extent = 1;
  std::uint64_t output_extent = 1;
  std::uint64_t input_stride = 0;  // elements
  std::variant<Windows, Interpolation> reach = Windows{};
  bool is_transposed = false;  // of windows: without dilation
};

}  // namespace dmlop
