// Tensors one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/index_map.hpp"

namespace dmlop {

/// Tensors one after the other along an axis. The outputs of part p, packed, are those of its
/// index map over input p; the parts differ in their extent along `axis` only.
struct JoinKernel {
  std::vector<IndexMapKernel> parts;  // of one element size; none has a reversal
  std::uint64_t outer = 1;            // elements along the axes outside of the joined one

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {parts.front().element_size}; }
};

}  // namespace dmlop
