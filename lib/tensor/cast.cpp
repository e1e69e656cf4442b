#include "tensor/cast.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop {
namespace {

// The largest integer up to which every one is a double.
constexpr std::uint64_t exact_in_double = std::uint64_t{1} << 53;

template <typename To, typename From>
bool holds(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    return true;
  } else if constexpr (std::is_floating_point_v<To>) {
    if constexpr (sizeof(From) < sizeof(std::uint64_t)) return true;
    const auto bits = static_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = std::cmp_less(value, 0) ? 0 - bits : bits;
    // Larger ones need zeros at their end, as many as the double has too few bits.
    std::uint64_t odd = magnitude;
    while (odd > exact_in_double && odd % 2 == 0) odd /= 2;
    return odd <= exact_in_double;
  } else {
    return std::in_range<To>(value);
  }
}

template <typename To, typename From>
std::optional<std::size_t> cast_each(std::span<const std::byte> elements,
                                     std::span<std::byte> cast) {
  for (std::size_t i = 0; i < elements.size() / sizeof(From); ++i) {
    From stored;
    std::memcpy(&stored, elements.data() + i * sizeof(From), sizeof stored);
    To value{};
    if constexpr (std::is_same_v<From, Half>) {
      value = static_cast<To>(half_to_float(stored.bits));
    } else {
      if (!holds<To>(stored)) return i;
      value = static_cast<To>(stored);
    }
    std::memcpy(cast.data() + i * sizeof(To), &value, sizeof value);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> cast_elements(DataType from, std::span<const std::byte> elements,
                                         DataType to, std::span<std::byte> cast) {
  return visit_type(from, [&]<typename From>(From) -> std::optional<std::size_t> {
    return visit_type_among<DataType::Float64, DataType::Float32, DataType::Int64,
                            DataType::UInt64>(
        to, [&]<typename To>(To) { return cast_each<To, From>(elements, cast); });
  });
}

}  // namespace dmlop
