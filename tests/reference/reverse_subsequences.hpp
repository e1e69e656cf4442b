// DML_OPERATOR_REVERSE_SUBSEQUENCES by its definition.
#pragma once

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "reference/tensor.hpp"

namespace dmlop::test {

struct ReverseSubsequences {
  std::size_t axis;

  static constexpr auto name = "DML_OPERATOR_REVERSE_SUBSEQUENCES";
  static constexpr std::array inputs{"InputTensor", "SequenceLengthsTensor"};

  static std::uint64_t length_at(const Tensor& lengths, const Index& index) {
    std::uint64_t wide = 0;  // little-endian: the low bytes come first
    std::memcpy(&wide, lengths.at(index), lengths.element_size());
    return wide;
  }

  Tensor result(const std::vector<Tensor>& tensors) const {
    const Tensor& input = tensors[0];
    Tensor output = Tensor::packed(input.type, input.sizes);
    for_each_index(output.sizes, [&](const Index& o) {
      Index sequence = o;
      sequence[axis] = 0;
      const std::uint64_t length = std::min(length_at(tensors[1], sequence), input.sizes[axis]);
      Index from = o;
      if (o[axis] < length) from[axis] = length - 1 - o[axis];
      std::memcpy(output.at(o), input.at(from), output.element_size());
    });
    return output;
  }

  nlohmann::ordered_json fields() const { return {{"Axis", axis}}; }
};

}  // namespace dmlop::test
