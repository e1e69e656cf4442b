// DML_OPERATOR_GEMM and the products of quantized matrices by their definitions. Numbers that are
// left out are 0, scales 1.
#pragma once

#include <optional>

#include "reference/values.hpp"

namespace dmlop::test {

struct MatrixProduct {
  Tensor a, b;
  bool transposes_a = false, transposes_b = false;
  std::optional<Tensor> a_zero, b_zero, a_scale, b_scale;
  double alpha = 1;
  std::optional<Tensor> c;
  double beta = 0;
  std::optional<Tensor> output_scale, output_zero;

  Tensor result(DataType type) const {
    const std::size_t n = a.sizes.size();
    List sizes = a.sizes;
    sizes[n - 2] = a.sizes[transposes_a ? n - 1 : n - 2];
    sizes[n - 1] = b.sizes[transposes_b ? n - 2 : n - 1];
    Tensor output = Tensor::packed(type, sizes);
    for_each_index(sizes, [&](const Index& at) {
      const std::uint64_t row = at[n - 2], column = at[n - 1];
      double x = alpha * sum(at) * along_or(a_scale, row, 1) * along_or(b_scale, column, 1);
      if (c) x += beta * value_at(*c, at);
      if (output_scale)
        x = quantized(x / along_or(output_scale, row, 1), along_or(output_zero, row, 0), type);
      set_value(output, at, x);
    });
    return output;
  }

 private:
  static double along_or(const std::optional<Tensor>& tensor, std::uint64_t i, double otherwise) {
    return tensor ? value_at(*tensor, along(*tensor, i)) : otherwise;
  }

  double sum(const Index& at) const {
    const std::size_t n = at.size();
    Index in_a = at, in_b = at;
    double sum = 0;
    for (std::uint64_t k = 0; k < a.sizes[transposes_a ? n - 2 : n - 1]; ++k) {
      in_a[n - 2] = transposes_a ? k : at[n - 2];
      in_a[n - 1] = transposes_a ? at[n - 2] : k;
      in_b[n - 2] = transposes_b ? at[n - 1] : k;
      in_b[n - 1] = transposes_b ? k : at[n - 1];
      sum += (value_at(a, in_a) - along_or(a_zero, at[n - 2], 0)) *
             (value_at(b, in_b) - along_or(b_zero, at[n - 1], 0));
    }
    return sum;
  }
};

}  // namespace dmlop::test
