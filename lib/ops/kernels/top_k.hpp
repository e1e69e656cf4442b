// Selection of the first elements of sorted sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/strided_axes.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// The first `k` elements of each sequence along an axis when it is sorted, and where they stood:
/// two outputs. Equal elements, among them 0 and -0, keep their order; NaN is larger than any
/// number.
struct TopKKernel {
  DataType data_type = DataType::Float32;
  DataType index_type = DataType::UInt32;
  SequenceAxes axes;  // of the input
  std::uint64_t k = 1;
  bool is_descending = false;  // the largest first

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const {
    return {size_of(data_type), size_of(index_type)};
  }
};

}  // namespace dmlop
