#include "cpu/rounding.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/rounding.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/powers-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

void WidenHalves(const std::byte* from, std::uint64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> halves;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(float_from_half(d, load(halves, from + i * 2)), d, to + i);
  if (i < count) {
    const auto last = load_part(halves, from + i * 2, count - i);
    store_part(float_from_half(d, last), d, reinterpret_cast<std::byte*>(to + i), count - i);
  }
}

void NarrowDoubles(const double* from, double factor, std::uint64_t count, std::byte* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    store(float_from_double(d, hn::Mul(hn::Set(d, factor), hn::LoadU(d, from + i))), floats,
          to + i * sizeof(float));
  for (; i < count; ++i) {
    const auto number = static_cast<float>(factor * from[i]);
    std::memcpy(to + i * sizeof number, &number, sizeof number);
  }
}

void WrapDoubles(const double* from, std::uint64_t count, std::byte* to) {
  const auto wrap = [&](std::uint64_t i) {
    const auto element = static_cast<std::uint32_t>(static_cast<std::int64_t>(from[i]));
    std::memcpy(to + i * sizeof element, &element, sizeof element);
  };
  std::uint64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::Rebind<std::uint32_t, decltype(d)> words;
  const std::size_t lanes = hn::Lanes(d);
  // Added to the first, smaller whole numbers than the second are the low bits of a double.
  const auto whole = hn::Set(d, 0x1.8p52), limit = hn::Set(d, 0x1p51);
  for (; i + lanes <= count; i += lanes) {
    const auto numbers = hn::LoadU(d, from + i);
    if (hn::AllTrue(d, hn::Lt(hn::Abs(numbers), limit))) {
      store(hn::TruncateTo(words, hn::BitCast(bits, hn::Add(numbers, whole))), words,
            to + i * sizeof(std::uint32_t));
    } else {
      for (std::size_t j = 0; j < lanes; ++j) wrap(i + j);
    }
  }
#endif
  for (; i < count; ++i) wrap(i);
}

void QuantizeDoubles(double* numbers, double scale, double zero_point, std::uint64_t count) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const auto quantize = [&](auto tag, double* at) HWY_ATTR {
    const auto quotients = hn::Div(hn::LoadU(tag, at), hn::Set(tag, scale));
    const auto sums = hn::Add(hn::Round(quotients), hn::Set(tag, zero_point));
    hn::StoreU(hn::IfThenElseZero(hn::Eq(sums, sums), sums), tag, at);
  };
  std::uint64_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) quantize(d, numbers + i);
  for (; i < count; ++i) quantize(one, numbers + i);
}

template <typename Byte>
HWY_INLINE void saturate_doubles(const double* from, std::uint64_t count, std::byte* to) {
  using Limits = std::numeric_limits<Byte>;
  std::uint64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> words;
  const hn::Rebind<Byte, decltype(d)> bytes;
  const auto low = hn::Set(d, Limits::min()), high = hn::Set(d, Limits::max());
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto clamped = hn::Min(hn::Max(hn::LoadU(d, from + i), low), high);
    store_part(hn::DemoteTo(bytes, hn::DemoteTo(words, clamped)), bytes, to + i, hn::Lanes(d));
  }
#endif
  for (; i < count; ++i) {
    const double clamped = std::clamp<double>(from[i], Limits::min(), Limits::max());
    to[i] = static_cast<std::byte>(static_cast<int>(clamped));
  }
}

void SaturateDoubles(const double* from, std::uint64_t count, bool is_signed, std::byte* to) {
  if (is_signed) return saturate_doubles<std::int8_t>(from, count, to);
  saturate_doubles<std::uint8_t>(from, count, to);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void widen_halves(const std::byte* from, std::uint64_t count, float* to) {
  DMLOP_BEST_SIMD(WidenHalves)(from, count, to);
}

void narrow_doubles(const double* from, double factor, std::uint64_t count, std::byte* to) {
  DMLOP_BEST_SIMD(NarrowDoubles)(from, factor, count, to);
}

void quantize_doubles(double* numbers, double scale, double zero_point, std::uint64_t count) {
  DMLOP_BEST_SIMD(QuantizeDoubles)(numbers, scale, zero_point, count);
}

void saturate_doubles(const double* from, std::uint64_t count, bool is_signed, std::byte* to) {
  DMLOP_BEST_SIMD(SaturateDoubles)(from, count, is_signed, to);
}

void wrap_doubles(const double* from, std::uint64_t count, std::byte* to) {
  DMLOP_BEST_SIMD(WrapDoubles)(from, count, to);
}

}  // namespace dmlop::cpu
#endif
