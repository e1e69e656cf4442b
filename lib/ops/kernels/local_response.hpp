// Elements that are divided by what the squares around them add up to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

/// How many elements of a window lie before and behind the one that it belongs to. What lies
/// outside of the axis for every element does not count.
struct WindowReach {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

/// x / (bias + factor * sum)^beta, with the sum of the squares in a window of x.
struct LocalResponseKernel {
  DataType data_type = DataType::Float32;  // of input and output
  Sizes extents;                           // of both, outermost first
  Strides strides;                         // of the input, elements
  std::vector<std::size_t> axes;           // along which windows lie
  std::uint64_t window = 1;                // elements along each of these
  float bias = 0;
  float factor = 0;
  float beta = 0;

  /// An even window reaches one further behind its element than before it.
  WindowReach reach(std::size_t axis) const;
  std::uint64_t output_elements() const { return element_count(extents).value_or(0); }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(data_type)}; }
};

}  // namespace dmlop
