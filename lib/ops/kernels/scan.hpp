// Running sums and products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/strided_axes.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// Running sums or products along an axis. Integers wrap. Floating-point ones are kept with twice
/// the digits, products with an exponent of their own, and are rounded for each output.
struct ScanKernel {
  DataType data_type = DataType::Float32;
  SequenceAxes axes;  // of the input
  bool is_product = false;
  bool from_end = false;      // starts at the last element of a sequence
  bool is_exclusive = false;  // leaves out the element itself

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {size_of(data_type)}; }
};

}  // namespace dmlop
