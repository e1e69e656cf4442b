// The planner of data movement and the arithmetic of one axis, shared by all backends.
#pragma once

#include <cstdint>

#include "ops/kernel.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// The same movement with as few axes as possible: axes of extent 1 are folded into the offset and
/// neighbors that move as one are merged. At least one axis remains.
IndexMapKernel simplified(IndexMapKernel kernel);

/// The elements of a tensor, packed.
IndexMapKernel packed_copy(const TensorDesc& tensor);

/// An axis that is moved from its first element to its last.
IndexMapAxis whole_axis(std::uint64_t extent, std::uint64_t stride);

/// A stretch of an axis along which the source moves evenly: the output indices [o, o + count) read
/// offset, offset + stride, … or, where outside, the fill.
struct Piece {
  std::int64_t offset = 0;  // elements, without the kernel's offset
  std::int64_t stride = 0;
  std::uint64_t count = 1;
  bool outside = false;
};

/// The piece of `axis` that begins at output index o (o < extent), reversals aside.
Piece piece_at(const IndexMapAxis& axis, std::uint64_t o);

}  // namespace dmlop
