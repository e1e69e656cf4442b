// Elements of any type as numbers, and tensors of random small ones.
#pragma once

#include <cstring>

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

/// Any element as a number. A long double holds all digits of 64-bit integers.
inline long double exact_number(DataType type, const std::byte* bytes) {
  const auto as = [&](auto zero) {
    std::memcpy(&zero, bytes, sizeof zero);
    return static_cast<long double>(zero);
  };
  switch (type) {
    case DataType::Int64:
      return as(std::int64_t{});
    case DataType::UInt64:
      return as(std::uint64_t{});
    case DataType::Int32:
      return as(std::int32_t{});
    case DataType::UInt32:
      return as(std::uint32_t{});
    case DataType::Int16:
      return as(std::int16_t{});
    case DataType::UInt16:
      return as(std::uint16_t{});
    case DataType::Int8:
      return as(std::int8_t{});
    case DataType::UInt8:
      return as(std::uint8_t{});
    case DataType::Float64:
      return as(double{});
    default:
      return number(type, bytes);
  }
}

/// The element at an index.
inline double value_at(const Tensor& tensor, const Index& index) {
  return static_cast<double>(exact_number(tensor.type, tensor.at(index)));
}

/// Stores a number that the type holds, or that is rounded to it.
inline void set_value(Tensor& tensor, const Index& index, double value) {
  const std::vector<std::byte> bytes = element(tensor.type, value);
  std::memcpy(tensor.at(index), bytes.data(), bytes.size());
}

/// The place of an element among those of a packed tensor.
inline std::uint64_t place_of(const Index& index, const List& sizes) {
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) place = place * sizes[i] + index[i];
  return place;
}

/// A tensor of numbers by their places, each rounded to the type.
inline Tensor rounded(DataType type, const List& sizes, const std::vector<double>& values) {
  Tensor output = Tensor::packed(type, sizes);
  for_each_index(sizes, [&](const Index& i) {
    std::memcpy(output.at(i), element(type, values[place_of(i, sizes)]).data(),
                output.element_size());
  });
  return output;
}

/// The index of a tensor's only element, or of element i along its only dimension larger than 1.
inline Index along(const Tensor& tensor, std::uint64_t i) {
  Index index(tensor.sizes.size(), 0);
  for (std::size_t k = 0; k < index.size(); ++k) {
    if (tensor.sizes[k] > 1) index[k] = i;
  }
  return index;
}

/// A number rounded half to even, moved by the zero point and saturated.
inline double quantized(double number, double zero_point, DataType type) {
  const double low = type == DataType::Int8 ? -128 : 0, high = type == DataType::Int8 ? 127 : 255;
  return std::min(std::max(std::nearbyint(number) + zero_point, low), high);
}

}  // namespace dmlop::test
