// Rows of elements made one: sums, products, extremes and where these stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop {

/// A sum or product of FLOAT32 and FLOAT16 is taken in double precision; one of integers wraps. NaN
/// is no extreme, but where it is the first element, its index is found.
enum class ReduceFunction : std::uint8_t {
  sum,
  product,
  minimum,
  maximum,
  index_of_minimum,
  index_of_maximum,
};

/// What is summed, of operands a, b and c. Other functions take `value`.
enum class ReduceTerm : std::uint8_t {
  value,                    // a
  magnitude,                // |a|
  square,                   // a^2
  exponential,              // e^(a - b)
  finite_exponential,       // the same; e^a where b is not finite
  squared_difference,       // (a - b)^2
  product_with_difference,  // a (b - c)
};

/// What becomes of a sum of FLOAT32 or FLOAT16.
enum class ReduceFinish : std::uint8_t {
  none,
  mean,
  root,
  logarithm,
  softmax_logarithm,  // of at least 1e-20, also where the sum is NaN, as DirectML takes it
};

/// A tensor of any strides; 0 repeats it along an axis.
struct ReduceOperand {
  DataType data_type = DataType::Float32;
  std::vector<std::uint64_t> strides;  // in elements, one for each axis of the kernel
  bool is_position = false;            // no input but its own offset, which the strides count up
};

/// One output for each index of the kept axes: a function of all elements along the reduced ones,
/// the row. An index counts through the reduced axes, the last one fastest.
struct ReduceKernel {
  ReduceFunction function = ReduceFunction::sum;
  ReduceTerm term = ReduceTerm::value;
  ReduceFinish finish = ReduceFinish::none;
  bool takes_last = false;  // of equal extremes, the index
  DataType output_type = DataType::Float32;
  std::vector<std::uint64_t> extents;  // the kept axes, then the reduced ones; outermost first
  std::size_t kept = 1;                // how many are kept; at least one is, and one reduced
  std::vector<ReduceOperand> operands;

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {size_of(output_type)}; }
};

}  // namespace dmlop
