// DML_OPERATOR_PADDING by its definition.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

struct Padding {
  std::string mode;
  List start;
  List end;
  std::optional<double> value = std::nullopt;  // for mode CONSTANT; a FLOAT

  static constexpr auto name = "DML_OPERATOR_PADDING";
  static constexpr std::array inputs{"InputTensor"};

  /// Where index t, counted from the first element, reads in a dimension of n elements; nothing if
  /// it is the padding value.
  std::optional<std::int64_t> source(std::int64_t t, std::int64_t n) const {
    const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
    if (mode == "EDGE") return std::clamp<std::int64_t>(t, 0, n - 1);
    if (mode == "WRAP") return modulo(t, n);
    if (mode == "SYMMETRIC") {
      const std::int64_t m = modulo(t, 2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    if (mode == "REFLECTION") {
      if (n == 1) return 0;
      const std::int64_t m = modulo(t, 2 * (n - 1));
      return m < n ? m : 2 * (n - 1) - m;
    }
    return 0 <= t && t < n ? std::optional(t) : std::nullopt;
  }

  Tensor result(const std::vector<Tensor>& tensors) const {
    const Tensor& input = tensors[0];
    List sizes;
    for (std::size_t i = 0; i < input.sizes.size(); ++i) {
      sizes.push_back(input.sizes[i] + start[i] + end[i]);
    }
    Tensor output = Tensor::packed(input.type, sizes);
    const std::vector<std::byte> fill = element(input.type, static_cast<float>(value.value_or(0)));
    for_each_index(sizes, [&](const Index& o) {
      Index from(o.size());
      bool outside = false;
      for (std::size_t i = 0; i < o.size(); ++i) {
        const auto index =
            source(static_cast<std::int64_t>(o[i]) - static_cast<std::int64_t>(start[i]),
                   static_cast<std::int64_t>(input.sizes[i]));
        from[i] = static_cast<std::uint64_t>(index.value_or(0));
        if (!index) outside = true;
      }
      std::memcpy(output.at(o), outside ? fill.data() : input.at(from), output.element_size());
    });
    return output;
  }

  nlohmann::ordered_json fields() const {
    nlohmann::ordered_json fields{{"PaddingMode", mode},
                                  {"DimensionCount", start.size()},
                                  {"StartPadding", start},
                                  {"EndPadding", end}};
    if (value) fields["PaddingValue"] = *value;
    return fields;
  }
};

}  // namespace dmlop::test
