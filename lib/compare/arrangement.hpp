// Ways in which elements can be at other places than expected: transposed, shifted, reversed. It
// knows places only; relation.cpp compares the elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/layout.hpp"

namespace dmlop {

/// For each actual element the place of an expected one.
struct Arrangement {
  std::string text;                  // "actual is expected shifted by 1 along axis 3"
  Sizes sizes;                       // as which the actual elements are read, in C order
  std::uint64_t begin = 0, end = 0;  // the indices of `partial_axis` that have an expected element
  std::size_t partial_axis = 0;
  std::uint64_t offset = 0;            // of the first expected element
  std::vector<std::uint64_t> strides;  // of the expected elements, modulo 2^64: some go back

  /// Whether each actual element has an expected one.
  bool is_whole() const { return begin == 0 && end == sizes[partial_axis]; }
  /// The index of the expected element for an actual one; nothing if there is none.
  std::optional<std::uint64_t> expected_of(std::uint64_t actual) const;
};

/// All elements in the same order, with other sizes.
Arrangement in_order(const Sizes& sizes);

/// What is tried for tensors of these sizes, the plainest first. None leaves all elements in place.
std::vector<Arrangement> arrangements(const Sizes& sizes);

/// Calls action(actual, expected) with the indices of all pairs until it returns false. Returns
/// whether none did.
template <typename Action>
bool for_all_places(const Arrangement& arrangement, Action&& action) {
  const Sizes& sizes = arrangement.sizes;
  const std::size_t last = sizes.size() - 1;
  std::vector<std::uint64_t> at(sizes.size(), 0);
  const std::uint64_t rows = *element_count(sizes) / sizes[last];
  for (std::uint64_t row = 0; row < rows; ++row) {
    const bool is_last_partial = arrangement.partial_axis == last;
    const std::uint64_t here = at[arrangement.partial_axis];
    const bool is_inside = is_last_partial || (here >= arrangement.begin && here < arrangement.end);
    std::uint64_t expected = arrangement.offset;
    for (std::size_t i = 0; i < last; ++i) expected += at[i] * arrangement.strides[i];
    std::uint64_t column = is_last_partial ? arrangement.begin : 0;
    const std::uint64_t end = !is_inside ? 0 : is_last_partial ? arrangement.end : sizes[last];
    for (; column < end; ++column) {
      if (!action(row * sizes[last] + column, expected + column * arrangement.strides[last]))
        return false;
    }
    for (std::size_t i = last; i-- > 0;) {
      if (++at[i] < sizes[i]) break;
      at[i] = 0;
    }
  }
  return true;
}

}  // namespace dmlop
