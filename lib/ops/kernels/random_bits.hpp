// Random bits that follow from a state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dmlop {

/// Philox 4x32-10. The input is a state of UINT32: a counter of four, the lowest first, and a key
/// of two. Element j is word j % 4 of the block of the counter plus j / 4; or the output is the
/// state after the blocks of so many elements.
struct RandomBitsKernel {
  std::uint64_t elements = 1;
  std::uint64_t state_stride = 1;  // elements
  bool is_next_state = false;

  static constexpr std::uint64_t state_elements = 6;
  std::uint64_t output_elements() const { return is_next_state ? state_elements : elements; }
  std::vector<std::size_t> output_element_sizes() const { return {sizeof(std::uint32_t)}; }
};

}  // namespace dmlop
