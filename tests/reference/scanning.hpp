// CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT by their definitions.
#pragma once

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

struct Scan {
  std::size_t axis;
  bool is_product = false, is_decreasing = false, is_exclusive = false;

  Tensor result(const Tensor& input) const {
    Tensor output = Tensor::packed(input.type, input.sizes);
    for_each_index(input.sizes, [&](const Index& to) {
      double real = is_product ? 1 : 0;
      std::uint64_t integer = is_product ? 1 : 0;
      // From the end where the sums begin up to the element, or to the one before it.
      for (std::uint64_t k = 0; k < input.sizes[axis]; ++k) {
        Index from = to;
        from[axis] = is_decreasing ? input.sizes[axis] - 1 - k : k;
        const bool is_own = from[axis] == to[axis];
        if (!is_own || !is_exclusive) add(input, from, real, integer);
        if (is_own) break;
      }
      if (info(input.type).kind == NumberKind::floating) {
        std::memcpy(output.at(to), element(input.type, real).data(), output.element_size());
      } else {
        std::memcpy(output.at(to), &integer, output.element_size());
      }
    });
    return output;
  }

 private:
  void add(const Tensor& input, const Index& from, double& real, std::uint64_t& integer) const {
    if (info(input.type).kind == NumberKind::floating) {
      const double value = number(input.type, input.at(from));
      real = is_product ? real * value : real + value;
      return;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, input.at(from), input.element_size());
    integer = is_product ? integer * bits : integer + bits;
  }
};

}  // namespace dmlop::test
