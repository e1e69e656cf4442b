// Data movement where each axis maps on its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop {

/// How an axis continues beyond its input (DML_PADDING_MODE); `none` never leaves it.
enum class Boundary : std::uint8_t { none, constant, edge, reflection, symmetric, wrap };

/// One output axis of an index map: for output index o the source index is
///   none: o;  otherwise boundary(o - start_padding) within [0, input_extent)
/// and the source offset is that index times `stride` (negative strides walk backwards).
struct IndexMapAxis {
  std::uint64_t extent = 1;  // output elements
  std::int64_t stride = 0;   // input elements per source index
  Boundary boundary = Boundary::none;
  std::int64_t start_padding = 0;    // negative only in tiles that begin behind their input
  std::uint64_t input_extent = 1;    // source indices, where boundary is not none
  std::uint64_t lengths_stride = 0;  // of the lengths tensor of a reversal
  bool operator==(const IndexMapAxis&) const = default;
};

/// Reversal of the first elements along one axis; how many stands in a second input.
struct Reversal {
  std::size_t axis;       // index into IndexMapKernel::axes
  DataType lengths_type;  // UInt32 or UInt64
  bool operator==(const Reversal&) const = default;
};

/// Data movement where each axis maps on its own: out[o0, o1…] = in[offset + f0(o0) + f1(o1)…], or
/// the fill where a constant boundary is outside. Elements are moved by size, bit for bit.
struct IndexMapKernel {
  std::size_t element_size = 4;
  std::int64_t offset = 0;          // elements
  std::vector<IndexMapAxis> axes;   // outermost first; at least one
  std::array<std::byte, 8> fill{};  // one element, in its first bytes
  std::optional<Reversal> reversal;

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {element_size}; }
};

}  // namespace dmlop
