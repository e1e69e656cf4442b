// DML_OPERATOR_TOP_K1 by its definition.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/tensor.hpp"
#include "reference/values.hpp"

namespace dmlop::test {

struct TopK {
  std::size_t axis;
  std::uint64_t k;
  bool is_decreasing;

  struct Result {
    Tensor values;
    Tensor indices;
  };

  /// NaN is larger than any number; equal elements keep their order.
  bool comes_first(DataType type, const std::byte* a, const std::byte* b) const {
    const bool is_less = before(type, a, b), is_more = before(type, b, a);
    return is_decreasing ? is_more : is_less;
  }

  Result result(const Tensor& input, DataType index_type) const {
    List sizes = input.sizes;
    sizes[axis] = k;
    Result result{Tensor::packed(input.type, sizes), Tensor::packed(index_type, sizes)};
    List outer = input.sizes;
    outer[axis] = 1;
    for_each_index(outer, [&](const Index& sequence) {
      const auto at = [&](std::uint64_t i) {
        Index index = sequence;
        index[axis] = i;
        return index;
      };
      std::vector<std::uint64_t> order(input.sizes[axis]);
      for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
      std::stable_sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
        return comes_first(input.type, input.at(at(a)), input.at(at(b)));
      });
      for (std::uint64_t rank = 0; rank < k; ++rank) {
        std::memcpy(result.values.at(at(rank)), input.at(at(order[rank])), input.element_size());
        std::memcpy(result.indices.at(at(rank)), &order[rank], size_of(index_type));
      }
    });
    return result;
  }

 private:
  // Whether a < b, with NaN at the end.
  static bool before(DataType type, const std::byte* a, const std::byte* b) {
    const long double x = exact_number(type, a), y = exact_number(type, b);
    return !std::isnan(x) && (std::isnan(y) || x < y);
  }
};

}  // namespace dmlop::test
