// Equally spaced values, and one value everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop {

/// Element i is start + i * delta, rounded once; integers wrap. Where the bytes of the delta are
/// zero it is the start, bit for bit.
struct SequenceKernel {
  DataType data_type = DataType::Float32;
  std::array<std::byte, 8> start{};  // one element, in its first bytes
  std::array<std::byte, 8> delta{};
  std::uint64_t elements = 1;

  std::uint64_t output_elements() const { return elements; }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(data_type)}; }
};

}  // namespace dmlop
