// DML_OPERATOR_CAST: elements of one type as those of another, a stretch at a time. Included once
// per instruction set.
#if defined(DMLOP_CPU_CASTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_CASTS_INL
#undef DMLOP_CPU_CASTS_INL
#else
#define DMLOP_CPU_CASTS_INL
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu/element_bits.hpp"
#include "cpu/numbers-inl.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// DML_OPERATOR_CAST: floats are truncated and saturated; integers keep their low bits, but those
/// of 8 bits are saturated from the low 32, and a negative INT8 is the largest UINT16.
template <typename To, typename From>
HWY_INLINE To cast_of(From from) {
  if constexpr (std::is_same_v<To, Half>) {
    if constexpr (std::is_same_v<From, Half>)
      return from;
    else if constexpr (std::is_integral_v<From> && sizeof(From) == 8)
      return {half_from_double(static_cast<double>(static_cast<float>(from)))};
    else
      return {half_from_double(static_cast<double>(from))};
  } else if constexpr (std::is_same_v<From, Half>) {
    return cast_of<To>(half_to_float(from.bits));
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_floating_point_v<From>) {
    return saturated<To>(from);
  } else if constexpr (std::is_same_v<To, std::uint8_t>) {
    return static_cast<To>(std::min<std::uint32_t>(static_cast<std::uint32_t>(from), 255));
  } else if constexpr (std::is_same_v<To, std::int8_t>) {
    return static_cast<To>(std::clamp<std::int32_t>(
        static_cast<std::int32_t>(static_cast<std::uint32_t>(from)), -128, 127));
  } else if constexpr (std::is_same_v<To, std::uint16_t> && std::is_same_v<From, std::int8_t>) {
    return from < 0 ? To(0xFFFF) : static_cast<To>(from);
  } else {
    return static_cast<To>(from);
  }
}

/// Between FLOAT16 and another type, through a stretch of floats.
template <typename To, typename From>
void cast_halves(const std::byte* from, std::size_t count, std::byte* to) {
  std::array<float, stretch> numbers;
  if constexpr (std::is_same_v<From, Half>) {
    load(DataType::Float16, from, 1, count, numbers.data());
    for (std::size_t i = 0; i < count; ++i)
      cpu::store(to + i * sizeof(To), cast_of<To>(numbers[i]));
  } else {
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] = float_for_half(cpu::load<From>(from + i * sizeof(From)));
    store_halves(numbers.data(), count, to);
  }
}

template <typename To, typename From>
void cast_elements(const std::byte* from, std::size_t count, std::byte* to) {
  if constexpr (std::is_same_v<To, Half> != std::is_same_v<From, Half>) {
    cast_halves<To, From>(from, count, to);
  } else {
    for (std::size_t i = 0; i < count; ++i)
      cpu::store(to + i * sizeof(To), cast_of<To>(cpu::load<From>(from + i * sizeof(From))));
  }
}

/// The unsigned integer with as many bits, where `is_it` holds; otherwise the type itself.
template <typename T, bool is_it>
using UnsignedIf =
    typename std::conditional_t<is_it, std::make_unsigned<T>, std::common_type<T>>::type;

/// Casts between integers that keep the low bits do not depend on the sign of the target, nor on
/// that of a source of which no bit is made: one function serves all of them.
template <typename To, typename From>
constexpr auto cast_between() {
  constexpr bool are_integers = std::is_integral_v<To> && std::is_integral_v<From>;
  constexpr bool keeps_bits =
      are_integers && sizeof(To) > 1 && !(sizeof(To) == 2 && std::is_same_v<From, std::int8_t>);
  // What is saturated to 8 bits are the low 32.
  constexpr bool has_all_bits =
      are_integers && (sizeof(To) == 1 ? sizeof(From) >= 4 : sizeof(From) >= sizeof(To));
  return cast_elements<UnsignedIf<To, keeps_bits>, UnsignedIf<From, has_all_bits>>;
}

using Cast = void (*)(const std::byte* from, std::size_t count, std::byte* to);
inline Cast find_cast(DataType from, DataType to) {
  return visit_type(from, [&](auto source) {
    return visit_type(to, [&](auto target) -> Cast {
      return cast_between<decltype(target), decltype(source)>();
    });
  });
}

/// Puts elements that are a stride apart side by side; at most a stretch.
template <typename Bits>
void put_together(const std::byte* from, std::uint64_t stride, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i)
    cpu::store(to + i * sizeof(Bits), cpu::load<Bits>(from + i * stride * sizeof(Bits)));
}

inline void put_together(std::size_t size, const std::byte* from, std::uint64_t stride,
                         std::size_t count, std::byte* to) {
  switch (size) {
    case 1:
      return put_together<std::uint8_t>(from, stride, count, to);
    case 2:
      return put_together<std::uint16_t>(from, stride, count, to);
    case 4:
      return put_together<std::uint32_t>(from, stride, count, to);
    default:
      return put_together<std::uint64_t>(from, stride, count, to);
  }
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
