#include "npy/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/element.hpp"

namespace dmlop {
namespace {

std::array<std::byte, 8> native_element(const NpyFile& file, std::uint64_t index) {
  const std::size_t size = size_of(file.header().data_type);
  std::array<std::byte, 8> element{};
  std::copy_n(file.data().begin() + static_cast<std::ptrdiff_t>(index * size), size,
              element.begin());
  if (file.header().big_endian)
    std::reverse(element.begin(), element.begin() + static_cast<std::ptrdiff_t>(size));
  return element;
}

}  // namespace

std::string element_text_at(const NpyFile& file, std::uint64_t index) {
  return element_text(file.header().data_type, native_element(file, index).data());
}

Statistics statistics_of(const NpyFile& file) {
  Statistics statistics;
  const DataType type = file.header().data_type;
  std::optional<std::uint64_t> lowest, highest;  // indices
  double low = 0, high = 0, sum = 0;
  std::uint64_t finite = 0;
  for (std::uint64_t i = 0; i < file.element_count(); ++i) {
    const double value = element_value(type, native_element(file, i).data());
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
    if (!lowest || value < low) low = value, lowest = i;
    if (!highest || value > high) high = value, highest = i;
  }
  if (lowest) statistics.min = element_text_at(file, *lowest);
  if (highest) statistics.max = element_text_at(file, *highest);
  if (finite > 0) statistics.mean = sum / static_cast<double>(finite);
  return statistics;
}

}  // namespace dmlop
