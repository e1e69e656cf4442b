// DML_OPERATOR_SLICE1 by its definition.
#pragma once

#include <array>
#include <nlohmann/json.hpp>

#include "reference/tensor.hpp"

namespace dmlop::test {

struct Slice1 {
  List offsets;
  List window;
  std::vector<std::int64_t> strides;
  List output_sizes = {};  // empty: all that the window gives

  static constexpr auto name = "DML_OPERATOR_SLICE1";
  static constexpr std::array inputs{"InputTensor"};

  List largest_sizes() const {
    List sizes;
    for (std::size_t i = 0; i < window.size(); ++i) {
      const auto step = static_cast<std::uint64_t>(strides[i] < 0 ? -strides[i] : strides[i]);
      sizes.push_back(1 + (window[i] - 1) / step);
    }
    return sizes;
  }

  Tensor result(const std::vector<Tensor>& tensors) const {
    const Tensor& input = tensors[0];
    Tensor output =
        Tensor::packed(input.type, output_sizes.empty() ? largest_sizes() : output_sizes);
    for_each_index(output.sizes, [&](const Index& o) {
      Index from(o.size());
      for (std::size_t i = 0; i < o.size(); ++i) {
        const std::uint64_t first = offsets[i] + (strides[i] < 0 ? window[i] - 1 : 0);
        from[i] = first + static_cast<std::uint64_t>(strides[i]) * o[i];
      }
      std::memcpy(output.at(o), input.at(from), output.element_size());
    });
    return output;
  }

  nlohmann::ordered_json fields() const {
    return {{"DimensionCount", window.size()},
            {"InputWindowOffsets", offsets},
            {"InputWindowSizes", window},
            {"InputWindowStrides", strides}};
  }
};

}  // namespace dmlop::test
