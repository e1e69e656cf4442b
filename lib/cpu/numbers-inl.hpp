// Elements of tensors as numbers to compute with, and back, a stretch at a time. All loops are over
// contiguous numbers, for the compiler to vectorize. Included once per instruction set.
#if defined(DMLOP_CPU_NUMBERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_NUMBERS_INL
#undef DMLOP_CPU_NUMBERS_INL
#else
#define DMLOP_CPU_NUMBERS_INL
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/element_bits.hpp"
#include "cpu/simd-inl.hpp"
#include "ops/kernels/element_wise.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// What is loaded, computed and stored at a time.
constexpr std::size_t stretch = 512;

// --- loading

template <typename T, typename Element>
HWY_INLINE T number_of(Element element) {
  if constexpr (std::is_same_v<Element, Half>) {
    return static_cast<T>(half_to_float(element.bits));
  } else {
    return static_cast<T>(element);
  }
}

template <typename T, typename Element>
void load_elements(const std::byte* from, std::uint64_t stride, std::size_t count, T* to) {
  if (stride == 1) {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = number_of<T>(cpu::load<Element>(from + i * sizeof(Element)));
  } else if (stride == 0) {
    std::fill(to, to + count, number_of<T>(cpu::load<Element>(from)));
  } else {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = number_of<T>(cpu::load<Element>(from + i * stride * sizeof(Element)));
  }
}

inline void load_halves(const std::byte* from, std::size_t count, float* to) {
  std::size_t i = 0;
#if DMLOP_CPU_HAS_HALF
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> halves;
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    HWY_ALIGN std::uint16_t bits[hn::MaxLanes(d)];
    std::memcpy(bits, from + i * 2, lanes * 2);
    const auto loaded = hn::Load(halves, reinterpret_cast<const hwy::float16_t*>(bits));
    hn::StoreU(hn::PromoteTo(d, loaded), d, to + i);
  }
#endif
  for (; i < count; ++i) to[i] = half_to_float(cpu::load<std::uint16_t>(from + i * 2));
}

inline void load_halves(const std::byte* from, std::size_t count, double* to) {
  std::array<float, stretch> floats;
  load_halves(from, count, floats.data());
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(floats[i]);
}

/// Elements as numbers, by their values; at most a stretch.
template <typename T>
void load(DataType type, const std::byte* from, std::uint64_t stride, std::size_t count, T* to) {
  switch (type) {
    case DataType::Float32:
      return load_elements<T, float>(from, stride, count, to);
    case DataType::Float16:
      if constexpr (std::is_floating_point_v<T>) {
        if (stride == 1) return load_halves(from, count, to);
      }
      return load_elements<T, Half>(from, stride, count, to);
    case DataType::Float64:
      return load_elements<T, double>(from, stride, count, to);
    case DataType::UInt8:
    case DataType::UInt4:
      return load_elements<T, std::uint8_t>(from, stride, count, to);
    case DataType::Int8:
    case DataType::Int4:
      return load_elements<T, std::int8_t>(from, stride, count, to);
    case DataType::UInt16:
      return load_elements<T, std::uint16_t>(from, stride, count, to);
    case DataType::Int16:
      return load_elements<T, std::int16_t>(from, stride, count, to);
    case DataType::UInt32:
      return load_elements<T, std::uint32_t>(from, stride, count, to);
    case DataType::Int32:
      return load_elements<T, std::int32_t>(from, stride, count, to);
    case DataType::UInt64:
      return load_elements<T, std::uint64_t>(from, stride, count, to);
    case DataType::Int64:
      return load_elements<T, std::int64_t>(from, stride, count, to);
  }
}

/// Elements as their bits.
template <typename T>
void load_bits(DataType type, const std::byte* from, std::uint64_t stride, std::size_t count,
               T* to) {
  switch (size_of(type)) {
    case 1:
      return load_elements<T, std::uint8_t>(from, stride, count, to);
    case 2:
      return load_elements<T, std::uint16_t>(from, stride, count, to);
    case 4:
      return load_elements<T, std::uint32_t>(from, stride, count, to);
    default:
      return load_elements<T, std::uint64_t>(from, stride, count, to);
  }
}

// --- storing

/// A float as an integer: truncated, saturated; NaN is 0.
template <typename Integer, typename T>
HWY_INLINE Integer saturated(T value) {
  using Limits = std::numeric_limits<Integer>;
  // As floats: the largest may be rounded up to a power of two, which is one too many.
  constexpr T low = static_cast<T>(Limits::min());
  constexpr T high = static_cast<T>(Limits::max());
  if (value != value) return Integer(0);
  if (value <= low) return Limits::min();
  if (value >= high) return Limits::max();
  return static_cast<Integer>(value);
}

template <typename Integer, StoreMode mode, typename T>
HWY_INLINE Integer integer_from(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    const T whole = mode == StoreMode::rounds ? std::nearbyint(value) : value;
    if constexpr (mode == StoreMode::truncates && sizeof(Integer) == 2) {
      constexpr bool is_signed = std::is_signed_v<Integer>;
      using Wide = std::conditional_t<is_signed, std::int32_t, std::uint32_t>;
      return static_cast<Integer>(saturated<Wide>(whole));
    }
    return saturated<Integer>(whole);
  } else if constexpr (mode == StoreMode::abs8 && std::is_same_v<Integer, std::int8_t>) {
    return static_cast<std::int8_t>(std::clamp<T>(value, T(-128), T(127)));
  } else {
    return static_cast<Integer>(value);
  }
}

template <typename Integer, StoreMode mode, typename T>
void store_integers(const T* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i)
    cpu::store(to + i * sizeof(Integer), integer_from<Integer, mode>(from[i]));
}

/// A float that FLOAT16 is rounded from as from the number itself: it has all digits that count,
/// and where a double has more, its last one is odd.
template <typename From>
HWY_INLINE float float_for_half(From number) {
  return static_cast<float>(number);
}
HWY_INLINE float float_for_half(double number) {
  const auto nearest = static_cast<float>(number);
  const auto back = static_cast<double>(nearest);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  bits = std::abs(back) > std::abs(number) ? bits - 1 : bits;
  return std::bit_cast<float>(back == number ? bits : bits | 1);
}

template <typename T>
void store_halves(const T* from, std::size_t count, std::byte* to) {
  std::size_t i = 0;
#if DMLOP_CPU_HAS_HALF
  if constexpr (std::is_floating_point_v<T>) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::float16_t, decltype(d)> halves;
    const std::size_t lanes = hn::Lanes(d);
    for (; i + lanes <= count; i += lanes) {
      HWY_ALIGN float numbers[hn::MaxLanes(d)];
      HWY_ALIGN hwy::float16_t bits[hn::MaxLanes(d)];
      for (std::size_t k = 0; k < lanes; ++k) numbers[k] = float_for_half(from[i + k]);
      hn::Store(hn::DemoteTo(halves, hn::Load(d, numbers)), halves, bits);
      std::memcpy(to + i * 2, bits, lanes * 2);
    }
  }
#endif
  for (; i < count; ++i) cpu::store(to + i * 2, half_from_double(static_cast<double>(from[i])));
}

template <typename T>
void store_four_bits(bool is_signed, const T* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = integer_from<std::int32_t, StoreMode::rounds>(from[i]);
    cpu::store(to + i, static_cast<std::int8_t>(is_signed ? std::clamp(value, -8, 7)
                                                          : std::clamp(value, 0, 15)));
  }
}

template <StoreMode mode, typename T>
void store(DataType type, const T* from, std::size_t count, std::byte* to) {
  switch (type) {
    case DataType::Float32:
      for (std::size_t i = 0; i < count; ++i) cpu::store(to + i * 4, static_cast<float>(from[i]));
      return;
    case DataType::Float16:
      return store_halves(from, count, to);
    case DataType::Float64:
      for (std::size_t i = 0; i < count; ++i) cpu::store(to + i * 8, static_cast<double>(from[i]));
      return;
    case DataType::UInt8:
      return store_integers<std::uint8_t, mode>(from, count, to);
    case DataType::Int8:
      return store_integers<std::int8_t, mode>(from, count, to);
    case DataType::UInt16:
      return store_integers<std::uint16_t, mode>(from, count, to);
    case DataType::Int16:
      return store_integers<std::int16_t, mode>(from, count, to);
    case DataType::UInt32:
      return store_integers<std::uint32_t, mode>(from, count, to);
    case DataType::Int32:
      return store_integers<std::int32_t, mode>(from, count, to);
    case DataType::UInt64:
      return store_integers<std::uint64_t, mode>(from, count, to);
    case DataType::Int64:
      return store_integers<std::int64_t, mode>(from, count, to);
    case DataType::UInt4:
    case DataType::Int4:
      return store_four_bits(type == DataType::Int4, from, count, to);
  }
}

// They are large: numbers.cpp compiles them once for all kernels.
#define DMLOP_FOR_EACH_NUMBER(DO) \
  DO(float, rounds, truncates)    \
  DO(double, rounds, truncates)   \
  DO(std::int32_t, wraps, abs8)   \
  DO(std::uint32_t, wraps, abs8)  \
  DO(std::int64_t, wraps, abs8)   \
  DO(std::uint64_t, wraps, abs8)
#define DMLOP_DECLARE(T, one, other)                                                       \
  extern template void load(DataType, const std::byte*, std::uint64_t, std::size_t, T*);   \
  extern template void store<StoreMode::one>(DataType, const T*, std::size_t, std::byte*); \
  extern template void store<StoreMode::other>(DataType, const T*, std::size_t, std::byte*);
DMLOP_FOR_EACH_NUMBER(DMLOP_DECLARE)
#undef DMLOP_DECLARE

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
