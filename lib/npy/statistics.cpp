#include "npy/statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "tensor/element.hpp"

namespace dmlop {
namespace {

using Element = std::array<std::byte, 8>;

Element native_element(const NpyFile& file, std::uint64_t index) {
  const std::size_t size = size_of(file.header().data_type);
  Element element{};
  std::copy_n(file.data().begin() + static_cast<std::ptrdiff_t>(index * size), size,
              element.begin());
  if (file.header().big_endian)
    std::reverse(element.begin(), element.begin() + static_cast<std::ptrdiff_t>(size));
  return element;
}

// Compares two elements that are equal as doubles. A double does not hold every 64-bit integer
// beyond 2^53.
bool is_less(DataType type, const Element& a, const Element& b) {
  if (type == DataType::Int64)
    return std::bit_cast<std::int64_t>(a) < std::bit_cast<std::int64_t>(b);
  if (type == DataType::UInt64)
    return std::bit_cast<std::uint64_t>(a) < std::bit_cast<std::uint64_t>(b);
  return false;
}

}  // namespace

std::string element_text_at(const NpyFile& file, std::uint64_t index) {
  return element_text(file.header().data_type, native_element(file, index).data());
}

Statistics statistics_of(const NpyFile& file) {
  Statistics statistics;
  const DataType type = file.header().data_type;
  std::optional<Element> lowest, highest;
  double low = 0, high = 0, sum = 0;
  std::uint64_t finite = 0;
  for (std::uint64_t i = 0; i < file.element_count(); ++i) {
    const Element element = native_element(file, i);
    const double value = element_value(type, element.data());
    if (std::isnan(value)) {
      ++statistics.nan_count;
      continue;
    }
    if (std::isinf(value)) {
      ++statistics.infinity_count;
    } else {
      sum += value;
      ++finite;
    }
    if (!lowest || value < low || (value == low && is_less(type, element, *lowest)))
      low = value, lowest = element;
    if (!highest || value > high || (value == high && is_less(type, *highest, element)))
      high = value, highest = element;
  }
  if (lowest) statistics.min = element_text(type, lowest->data());
  if (highest) statistics.max = element_text(type, highest->data());
  if (finite > 0) statistics.mean = sum / static_cast<double>(finite);
  return statistics;
}

}  // namespace dmlop
