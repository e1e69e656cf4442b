#include "tensor/element.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop {
namespace {

template <typename T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <typename T>
std::string shortest(T value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end);
}

}  // namespace

bool converts_to(DataType type, double value) {
  return visit_type(type, [value]<typename T>(T) {
    if constexpr (std::is_integral_v<T>) {
      // 2^63 and 2^64 are doubles but the largest integers are not, so compare with one more than
      // these.
      const double low = static_cast<double>(std::numeric_limits<T>::min());
      const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
      const double truncated = std::trunc(value);
      return truncated >= low && truncated < beyond;
    } else {
      return true;
    }
  });
}

std::array<std::byte, 8> element_from(DataType type, double value) {
  std::array<std::byte, 8> bytes{};
  visit_type(type, [&]<typename T>(T) {
    if constexpr (std::is_same_v<T, Half>) {
      const std::uint16_t half = half_from_double(value);
      std::memcpy(bytes.data(), &half, sizeof half);
    } else if (!converts_to(type, value)) {
      const T element = std::isnan(value) ? T{}
                        : value < 0       ? std::numeric_limits<T>::min()
                                          : std::numeric_limits<T>::max();
      std::memcpy(bytes.data(), &element, sizeof element);
    } else {
      const T element = static_cast<T>(value);
      std::memcpy(bytes.data(), &element, sizeof element);
    }
  });
  return bytes;
}

std::array<std::byte, 8> lowest_element(DataType type) {
  const std::uint64_t sign = ~std::uint64_t{0} << (info(type).bits - 1);
  const std::uint64_t bits = is_floating(type)         ? sign | (infinity_bits(type) - 1)
                             : is_signed_integer(type) ? sign
                                                       : 0;
  return std::bit_cast<std::array<std::byte, 8>>(bits);
}

std::array<std::byte, 8> highest_element(DataType type) {
  const std::size_t unused = 64 - info(type).bits + (is_signed_integer(type) ? 1 : 0);
  const std::uint64_t bits =
      is_floating(type) ? infinity_bits(type) - 1 : ~std::uint64_t{0} >> unused;
  return std::bit_cast<std::array<std::byte, 8>>(bits);
}

std::string range_text(DataType type) {
  if (has_4_bits(type))
    return element_text(stored_as(type), lowest_element(type).data()) + " to " +
           element_text(stored_as(type), highest_element(type).data());
  return visit_type(type, []<typename T>(T) -> std::string {
    if constexpr (std::is_integral_v<T>) {
      return std::to_string(std::numeric_limits<T>::min()) + " to " +
             std::to_string(std::numeric_limits<T>::max());
    } else {
      return "any number";
    }
  });
}

std::string element_text(DataType type, const std::byte* bytes) {
  return visit_type(type, [bytes]<typename T>(T) -> std::string {
    if constexpr (std::is_same_v<T, Half>) {
      return shortest(half_to_float(load<std::uint16_t>(bytes)));
    } else if constexpr (std::is_floating_point_v<T>) {
      return shortest(load<T>(bytes));
    } else {
      return std::to_string(load<T>(bytes));
    }
  });
}

std::string float_text(double value) {
  return shortest(static_cast<float>(value));
}

std::optional<std::size_t> first_beyond_4_bits(DataType type, std::span<const std::byte> elements) {
  const double low = element_value(type, lowest_element(type).data());
  const double high = element_value(type, highest_element(type).data());
  const auto found = std::ranges::find_if(elements, [&](const std::byte& element) {
    const double value = element_value(stored_as(type), &element);
    return value < low || value > high;
  });
  if (found == elements.end()) return std::nullopt;
  return static_cast<std::size_t>(found - elements.begin());
}

std::vector<std::byte> packed_4_bits(std::span<const std::byte> elements) {
  constexpr std::byte low{0x0F};
  std::vector<std::byte> packed((elements.size() + 1) / 2);
  for (std::size_t i = 0; i < elements.size(); ++i)
    packed[i / 2] |= i % 2 == 0 ? elements[i] & low : elements[i] << 4;
  return packed;
}

void unpack_4_bits(DataType type, std::span<const std::byte> packed, std::span<std::byte> to) {
  constexpr unsigned bits_of_sign = 0xF0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(packed[i / 2]);
    const unsigned bits = i % 2 == 0 ? byte & 15U : byte >> 4;
    const bool is_negative = is_signed_integer(type) && bits > 7;
    to[i] = static_cast<std::byte>(is_negative ? bits | bits_of_sign : bits);
  }
}

double element_value(DataType type, const std::byte* bytes) {
  return visit_type(type, [bytes]<typename T>(T) -> double {
    if constexpr (std::is_same_v<T, Half>) {
      return half_to_float(load<std::uint16_t>(bytes));
    } else {
      return static_cast<double>(load<T>(bytes));
    }
  });
}

}  // namespace dmlop
