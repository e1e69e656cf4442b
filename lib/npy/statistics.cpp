#include "npy/statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/threshold.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

using Element = std::array<std::byte, 8>;

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

std::string element_text_at(const Elements& elements, std::uint64_t index) {
  std::vector<std::byte> scratch;
  return element_text(elements.data_type(), elements.read(index, 1, scratch).data());
}

Statistics statistics_of(const Elements& elements) {
  Statistics statistics;
  const DataType type = elements.data_type();
  const std::size_t size = size_of(type);
  std::optional<Element> lowest, highest;
  double low = 0, high = 0, sum = 0;
  std::uint64_t finite = 0;
  const auto add = [&](const std::byte* bytes) {
    const double value = element_value(type, bytes);
    if (std::isnan(value)) {
      ++statistics.nan_count;
      return;
    }
    if (std::isinf(value)) {
      ++statistics.infinity_count;
    } else {
      sum += value;
      ++finite;
    }
    Element element{};
    std::copy_n(bytes, size, element.begin());
    if (!lowest || value < low || (value == low && is_less(type, element, *lowest)))
      low = value, lowest = element;
    if (!highest || value > high || (value == high && is_less(type, *highest, element)))
      high = value, highest = element;
  };
  constexpr Threshold piece{std::uint64_t{1} << 16, 7};
  std::vector<std::byte> scratch;
  for (std::uint64_t first = 0; first < elements.count(); first += piece) {
    const std::uint64_t count = std::min<std::uint64_t>(piece, elements.count() - first);
    const auto bytes = elements.read(first, count, scratch);
    for (std::uint64_t i = 0; i < count; ++i) add(&bytes[i * size]);
  }
  if (lowest) statistics.min = element_text(type, lowest->data());
  if (highest) statistics.max = element_text(type, highest->data());
  if (finite > 0) statistics.mean = sum / static_cast<double>(finite);
  return statistics;
}

}  // namespace dmlop
