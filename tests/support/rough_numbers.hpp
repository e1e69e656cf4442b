// Numbers whose sums depend on their order.
#pragma once

#include <cstddef>
#include <vector>

#include "random.hpp"

namespace dmlop::test {

/// From -500 to 548.6, in steps of a thousandth; whole ones of an integer type.
template <typename T>
std::vector<T> rough_numbers(std::size_t count, Random& random) {
  std::vector<T> numbers(count);
  for (T& number : numbers)
    number = static_cast<T>(static_cast<double>(random.below(1 << 20)) / 1000 - 500);
  return numbers;
}

}  // namespace dmlop::test
