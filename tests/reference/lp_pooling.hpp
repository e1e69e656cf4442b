// DML_OPERATOR_LP_POOLING by its definition, in double.
#pragma once

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

struct LpPooling {
  std::uint64_t p;
  List window;
  List strides;
  List start;
  List end;

  static constexpr auto name = "DML_OPERATOR_LP_POOLING";
  static constexpr std::array inputs{"InputTensor"};

  /// (sum of |x|^P)^(1/P). The largest element is factored out, so that no power overflows double.
  double norm(const std::vector<double>& values) const {
    if (p == 0) return std::pow(static_cast<double>(values.size()), HUGE_VAL);
    double largest = 0;
    for (const double x : values) {
      if (std::isnan(x)) return x;
      largest = std::max(largest, std::abs(x));
    }
    if (largest == 0 || std::isinf(largest)) return largest;
    double sum = 0;
    for (const double x : values) {
      sum += std::pow(std::abs(x) / largest, static_cast<double>(p));
    }
    return largest * std::pow(sum, 1.0 / static_cast<double>(p));
  }

  Tensor result(const std::vector<Tensor>& tensors) const {
    const Tensor& input = tensors[0];
    List sizes{input.sizes[0], input.sizes[1]};
    for (std::size_t i = 0; i < window.size(); ++i) {
      sizes.push_back((input.sizes[i + 2] + start[i] + end[i] - window[i]) / strides[i] + 1);
    }
    Tensor output = Tensor::packed(input.type, sizes);
    for_each_index(sizes, [&](const Index& o) {
      std::vector<double> values;
      for_each_index(window, [&](const Index& w) {
        Index from = o;
        bool inside = true;
        for (std::size_t i = 0; i < w.size(); ++i) {
          const std::uint64_t padded = o[i + 2] * strides[i] + w[i];
          from[i + 2] = padded - start[i];
          inside = inside && padded >= start[i] && from[i + 2] < input.sizes[i + 2];
        }
        if (inside) values.push_back(number(input.type, input.at(from)));
      });
      std::memcpy(output.at(o), element(input.type, norm(values)).data(), output.element_size());
    });
    return output;
  }

  nlohmann::ordered_json fields() const {
    return {{"DimensionCount", window.size()}, {"Strides", strides}, {"WindowSize", window},
            {"StartPadding", start},           {"EndPadding", end},  {"P", p}};
  }
};

}  // namespace dmlop::test
