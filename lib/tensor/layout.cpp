#include "tensor/layout.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"

namespace dmlop {

std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> sizes) {
  std::optional<std::uint64_t> count = 1;
  for (const std::uint64_t size : sizes) {
    count = checked_multiply(*count, size);
    if (!count) break;
  }
  return count;
}

Strides packed_strides(std::span<const std::uint64_t> sizes) {
  Strides strides(sizes.size());
  std::uint64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

Strides fortran_strides(std::span<const std::uint64_t> sizes) {
  Strides strides(sizes.size());
  std::uint64_t stride = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

bool is_packed(std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> strides) {
  std::uint64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] > 1 && strides[i] != stride) return false;
    stride *= sizes[i];
  }
  return true;
}

std::optional<std::uint64_t> reached_elements(std::span<const std::uint64_t> sizes,
                                              std::span<const std::uint64_t> strides) {
  std::optional<std::uint64_t> elements = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto distance = checked_multiply(sizes[i] - 1, strides[i]);
    elements = distance ? checked_add(*elements, *distance) : std::nullopt;
    if (!elements) break;
  }
  return elements;
}

bool may_overlap(std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> strides) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dimensions;  // stride, size
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) dimensions.emplace_back(strides[i], sizes[i]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  std::uint64_t reach = 1;  // elements that the faster dimensions span
  for (const auto& [stride, size] : dimensions) {
    if (stride < reach) return true;
    reach += (size - 1) * stride;
  }
  return false;
}

}  // namespace dmlop
