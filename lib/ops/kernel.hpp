// The kinds of computation: one struct of parameters each, free of operators, files and devices.
// The CPU and every GPU execute the same kernels. Outputs are packed; inputs have any strides, in
// elements. A kernel with several outputs has as many elements in each.
//
// A new kind is a struct here, and an answer to each question that the layers ask of every kind:
// how it is cut into tiles (ops/tiles.hpp), how the CPU runs it (cpu/kinds.hpp), how a GPU launches
// it (gpu/dispatch.cpp). These visit Kernel without a default: a kind that forgets one does not
// compile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
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
};

struct PoolingAxis {
  std::uint64_t input_extent = 1;
  std::uint64_t output_extent = 1;
  std::uint64_t input_stride = 0;  // elements
  std::uint64_t window = 1;
  std::uint64_t window_stride = 1;
  std::int64_t start_padding = 0;  // negative only in tiles that begin behind their input
};

/// Lp norms of windows over the three innermost axes (the outermost of them 1 for 4-D tensors).
struct LpPoolingKernel {
  DataType data_type = DataType::Float32;
  std::array<std::uint64_t, 2> batch_extents{1, 1};  // batch, channel
  std::array<std::uint64_t, 2> batch_strides{0, 0};  // of the input, elements
  std::array<PoolingAxis, 3> axes;                   // depth, height, width
  std::uint64_t p = 2;
};

/// Tensors one after the other along an axis. The outputs of part p, packed, are those of its
/// index map over input p; the parts differ in their extent along `axis` only.
struct JoinKernel {
  std::vector<IndexMapKernel> parts;  // of one element size; none has a reversal
  std::uint64_t outer = 1;            // elements along the axes outside of the joined one

  std::uint64_t part_elements(std::size_t part) const;  // of all its outputs
};

/// An axis of an input that is read with strides.
struct StridedAxis {
  std::uint64_t extent = 1;
  std::uint64_t stride = 0;  // elements
  bool operator==(const StridedAxis&) const = default;
};

/// The first `k` elements of each sequence along an axis when it is sorted, and where they stood:
/// two outputs. Equal elements, among them 0 and -0, keep their order; NaN is larger than any
/// number.
struct TopKKernel {
  DataType data_type = DataType::Float32;
  DataType index_type = DataType::UInt32;
  std::vector<StridedAxis> axes;  // of the input, outermost first
  std::size_t axis = 0;
  std::uint64_t k = 1;
  bool is_descending = false;  // the largest first
};

using Kernel = std::variant<IndexMapKernel, LpPoolingKernel, JoinKernel, TopKKernel>;

/// How many outputs the kernel writes.
std::size_t output_count(const Kernel& kernel);

/// Elements of each of its outputs; bytes of an element of one of them.
std::uint64_t output_elements(const Kernel& kernel);
std::size_t output_element_size(const Kernel& kernel, std::size_t output = 0);

}  // namespace dmlop
