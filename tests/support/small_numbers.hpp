// Tensors of numbers so small and round that sums of products of them are exact in any order.
#pragma once

#include "random.hpp"
#include "reference/values.hpp"
#include "sweep.hpp"

namespace dmlop::test {

/// Multiples of `unit` from -4 * unit to 4 * unit, or from 0 where the type has no sign.
inline Tensor with_small_numbers(Tensor tensor, Random& random, double unit = 1) {
  const double low = info(tensor.type).kind == NumberKind::unsigned_integer ? 0 : -4;
  for (std::size_t at = 0; at < tensor.bytes.size(); at += tensor.element_size()) {
    const double value = low + static_cast<double>(random.below(9));
    std::memcpy(tensor.bytes.data() + at, element(tensor.type, value * unit).data(),
                tensor.element_size());
  }
  return tensor;
}

/// The same in a tensor of any strides.
inline Tensor small_numbers(DataType type, const List& sizes, Random& random, double unit = 1) {
  return with_small_numbers(random_tensor(type, sizes, random), random, unit);
}

/// 0.25, 0.5, 1 or 2.
inline Tensor powers_of_two(DataType type, const List& sizes, Random& random) {
  Tensor tensor = Tensor::packed(type, sizes);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += tensor.element_size()) {
    const double value = std::ldexp(1.0, static_cast<int>(random.below(4)) - 2);
    std::memcpy(tensor.bytes.data() + at, element(type, value).data(), tensor.element_size());
  }
  return tensor;
}

}  // namespace dmlop::test
