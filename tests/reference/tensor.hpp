// A tensor as the references see it: a buffer of bytes, reached by sizes and any strides. It is
// slow and obvious, and shares nothing with the library except the names of the types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop::test {

using Index = std::vector<std::uint64_t>;  // one per dimension
using List = std::vector<std::uint64_t>;   // sizes, strides, paddings…

struct Tensor {
  DataType type;
  List sizes;
  List strides;  // in elements
  std::vector<std::byte> bytes;

  /// A tensor of zero bytes, as large as the strides need.
  static Tensor strided(DataType type, List sizes, List strides) {
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) elements += (sizes[i] - 1) * strides[i];
    return {type, std::move(sizes), std::move(strides),
            std::vector<std::byte>(elements * size_of(type))};
  }

  /// Without gaps, last dimension fastest.
  static List packed_strides(const List& sizes) {
    List strides(sizes.size(), 1);
    for (std::size_t i = sizes.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * sizes[i + 1];
    return strides;
  }
  static Tensor packed(DataType type, const List& sizes) {
    return strided(type, sizes, packed_strides(sizes));
  }

  /// A packed tensor of these values. Their C++ type is as wide as `type`.
  template <typename T>
  static Tensor of(DataType type, const List& sizes, const std::vector<T>& values) {
    Tensor tensor = packed(type, sizes);
    if (values.size() * sizeof(T) != tensor.bytes.size())
      throw std::logic_error("values and sizes do not agree");
    if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor;
  }

  std::size_t element_size() const { return size_of(type); }

  const std::byte* at(const Index& index) const {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
    return bytes.data() + offset * element_size();
  }
  std::byte* at(const Index& index) {
    return const_cast<std::byte*>(std::as_const(*this).at(index));
  }

  bool operator==(const Tensor&) const = default;
};

inline Tensor floats(const List& sizes, const std::vector<float>& values) {
  return Tensor::of(DataType::Float32, sizes, values);
}

/// Calls action(index) for every index; the last dimension changes fastest.
template <typename Action>
void for_each_index(const List& sizes, Action&& action) {
  Index index(sizes.size(), 0);
  for (;;) {
    action(std::as_const(index));
    std::size_t i = sizes.size();
    while (i > 0 && ++index[i - 1] == sizes[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace dmlop::test
