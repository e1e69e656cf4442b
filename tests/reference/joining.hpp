// DML_OPERATOR_JOIN and DML_OPERATOR_SPLIT by their definitions.
#pragma once

#include "reference/tensor.hpp"

namespace dmlop::test {

/// The tensors one after the other along an axis.
inline Tensor joined(const std::vector<Tensor>& inputs, std::size_t axis) {
  List sizes = inputs[0].sizes;
  sizes[axis] = 0;
  for (const Tensor& input : inputs) sizes[axis] += input.sizes[axis];
  Tensor output = Tensor::packed(inputs[0].type, sizes);
  std::uint64_t begin = 0;
  for (const Tensor& input : inputs) {
    for_each_index(input.sizes, [&](const Index& from) {
      Index to = from;
      to[axis] += begin;
      std::memcpy(output.at(to), input.at(from), output.element_size());
    });
    begin += input.sizes[axis];
  }
  return output;
}

/// Elements [begin, begin + size) along an axis.
inline Tensor part_of(const Tensor& input, std::size_t axis, std::uint64_t begin,
                      std::uint64_t size) {
  List sizes = input.sizes;
  sizes[axis] = size;
  Tensor output = Tensor::packed(input.type, sizes);
  for_each_index(sizes, [&](const Index& to) {
    Index from = to;
    from[axis] += begin;
    std::memcpy(output.at(to), input.at(from), output.element_size());
  });
  return output;
}

}  // namespace dmlop::test
