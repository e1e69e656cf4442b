// Running totals of scans: products with powers of two beside them, which neither overflow nor
// vanish, and eight rows at once by vectors of four doubles. Included once per instruction set.
#if defined(DMLOP_CPU_SCAN_TOTALS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_SCAN_TOTALS_INL
#undef DMLOP_CPU_SCAN_TOTALS_INL
#else
#define DMLOP_CPU_SCAN_TOTALS_INL
#endif

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "cpu/numbers-inl.hpp"
#include "cpu/scan_blocks.hpp"
#include "cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// A product of floats is a total times a power of two beside it. So none on the way is too large or
// too small for a double: a total has room for so many factors, once it is settled.
constexpr std::size_t settled_for = 4;

// The exponents of powers that numbers are computed with. Beyond these all outputs are 0, or
// infinite; and below -700 many machines are slow, because a total times its power is a denormal.
constexpr std::int64_t least_exponent = -700, most_exponent = 1023;

// Less than half of the smallest float. Many machines are slow, too, where they round it to 0.
constexpr double nothing = 0x1p-151;

HWY_INLINE double power_of(std::int64_t exponent) {
  return std::ldexp(1.0, static_cast<int>(std::clamp(exponent, least_exponent, most_exponent)));
}

/// A total times its power, where no float is it 0.
HWY_INLINE double product_of(double total, double power) {
  const double product = total * power;
  return std::abs(product) < nothing ? std::copysign(0.0, product) : product;
}

template <class D>
HWY_INLINE hn::Vec<D> product_of(D d, hn::Vec<D> total, hn::Vec<D> power) {
  const auto product = hn::Mul(total, power);
  const auto zero = hn::And(product, hn::SignBit(d));
  return hn::IfThenElse(hn::Lt(hn::Abs(product), hn::Set(d, nothing)), zero, product);
}

/// Takes powers of two out of totals that are neither 0 nor infinite.
template <class D>
HWY_INLINE void settle(D d, hn::Vec<D>& total, hn::Vec<hn::RebindToSigned<D>>& exponent,
                       hn::Vec<D>& power) {
  const hn::RebindToSigned<D> di;
  constexpr int fraction_bits = 52;
  constexpr std::int64_t bias = 1023, all = 0x7ff;
  const auto bits = hn::BitCast(di, total);
  const auto field = hn::And(bits, hn::Set(di, all << fraction_bits));
  const auto has_none =
      hn::Or(hn::Eq(field, hn::Zero(di)), hn::Eq(field, hn::Set(di, all << fraction_bits)));
  const auto taken =
      hn::IfThenZeroElse(has_none, hn::Sub(field, hn::Set(di, bias << fraction_bits)));
  total = hn::BitCast(d, hn::Sub(bits, taken));
  const hn::RebindToUnsigned<D> du;
  const auto shifted = hn::BitCast(di, hn::ShiftRight<fraction_bits>(hn::BitCast(du, field)));
  exponent = hn::Add(exponent, hn::IfThenZeroElse(has_none, hn::Sub(shifted, hn::Set(di, bias))));
  const auto clamped = hn::Clamp(exponent, hn::Set(di, least_exponent), hn::Set(di, most_exponent));
  power = hn::BitCast(d, hn::ShiftLeft<fraction_bits>(hn::Add(clamped, hn::Set(di, bias))));
}

template <class D>
HWY_INLINE void settle_at(D d, double* totals, std::int64_t* exponents, double* powers) {
  const hn::RebindToSigned<D> di;
  auto total = hn::LoadU(d, totals), power = hn::Zero(d);
  auto exponent = hn::LoadU(di, exponents);
  settle(d, total, exponent, power);
  hn::StoreU(total, d, totals);
  hn::StoreU(exponent, di, exponents);
  hn::StoreU(power, d, powers);
}

HWY_INLINE void settle_all(double* totals, std::int64_t* exponents, double* powers,
                           std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) settle_at(d, totals + k, exponents + k, powers + k);
  const hn::CappedTag<double, 1> one;
  for (; k < count; ++k) settle_at(one, totals + k, exponents + k, powers + k);
}

// --- rows that are computed together

/// What a few sequences have come to.
template <typename Value>
struct Running {
  std::array<Value, scans_together> totals;
  std::array<std::int64_t, scans_together> exponents;
  std::array<double, scans_together> powers;
};

HWY_INLINE void settle_all(Running<double>& running) {
  settle_all(running.totals.data(), running.exponents.data(), running.powers.data(),
             scans_together);
}

#undef DMLOP_CPU_SCANS_VECTORS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define DMLOP_CPU_SCANS_VECTORS 1
#else
#define DMLOP_CPU_SCANS_VECTORS 0
#endif

#if DMLOP_CPU_SCANS_VECTORS
using FourSums = hn::CappedTag<double, 4>;
using FourFloats = hn::Rebind<float, FourSums>;
using FourRows = std::array<hn::Vec<FourFloats>, 4>;

/// Four elements of each of four rows: an element of each row in one vector, and back.
HWY_INLINE FourRows transposed(const FourRows& rows) {
  const FourFloats d;
  const hn::RebindToUnsigned<hn::Repartition<double, FourFloats>> pairs;
  const auto upper = [&](auto a, auto b) HWY_ATTR {
    return hn::BitCast(d, hn::InterleaveUpper(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
  };
  const auto lower = [&](auto a, auto b) HWY_ATTR {
    return hn::BitCast(d, hn::InterleaveLower(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
  };
  const auto a = hn::InterleaveLower(d, rows[0], rows[1]),
             b = hn::InterleaveLower(d, rows[2], rows[3]);
  const auto c = hn::InterleaveUpper(d, rows[0], rows[1]),
             e = hn::InterleaveUpper(d, rows[2], rows[3]);
  return {lower(a, b), upper(a, b), lower(c, e), upper(c, e)};
}

/// Totals as floats. For FLOAT16 they keep that digits were lost in an odd last bit, so that they
/// are rounded once.
template <bool for_halves>
HWY_INLINE hn::Vec<FourFloats> floats_of(hn::Vec<FourSums> totals) {
  const FourSums d;
  if constexpr (for_halves) {
    const hn::RebindToUnsigned<FourSums> du;
    const auto lost = hn::Set(du, (std::uint64_t{1} << 29) - 1);
    const auto bits = hn::BitCast(du, totals);
    const auto odd = hn::Or(bits, hn::Add(hn::And(bits, lost), lost));
    totals = hn::BitCast(d, hn::AndNot(lost, odd));
  }
  return float_from_double(d, totals);
}

/// How eight rows are computed.
template <bool is_product_, bool from_end_, bool for_halves_>
struct EightRows {
  static constexpr bool is_product = is_product_, from_end = from_end_, for_halves = for_halves_;
};

/// The running sums or products of eight rows: from where they are to where they go, from either
/// end.
template <class Way>
void scan_eight_rows(const std::array<const float*, 8>& from, std::size_t count, float* to,
                     std::size_t pitch, bool is_exclusive, Running<double>& running) {
  const FourSums d;
  const FourFloats floats;
  const hn::RebindToSigned<FourSums> di;
  std::array totals{hn::LoadU(d, &running.totals[0]), hn::LoadU(d, &running.totals[4])};
  std::array powers{hn::LoadU(d, &running.powers[0]), hn::LoadU(d, &running.powers[4])};
  std::array exponents{hn::LoadU(di, &running.exponents[0]), hn::LoadU(di, &running.exponents[4])};
  const auto takes_before = hn::Eq(hn::Set(d, is_exclusive ? 1.0 : 0.0), hn::Set(d, 1.0));
  const std::size_t fours = count / 4;
  for (std::size_t k = 0; k < fours; ++k) {
    const std::size_t at = Way::from_end ? count - 4 * (k + 1) : 4 * k;
    HWY_UNROLL(2)
    for (std::size_t half = 0; half < 2; ++half) {
      FourRows rows;
      for (std::size_t r = 0; r < 4; ++r) rows[r] = hn::LoadU(floats, from[4 * half + r] + at);
      rows = transposed(rows);
      HWY_UNROLL(4)
      for (std::size_t j = 0; j < 4; ++j) {
        auto& element = rows[Way::from_end ? 3 - j : j];
        const auto before = totals[half], number = hn::PromoteTo(d, element);
        totals[half] = Way::is_product ? hn::Mul(before, number) : hn::Add(before, number);
        auto result = hn::IfThenElse(takes_before, before, totals[half]);
        if constexpr (Way::is_product) result = product_of(d, result, powers[half]);
        element = floats_of<Way::for_halves>(result);
      }
      if constexpr (Way::is_product) settle(d, totals[half], exponents[half], powers[half]);
      rows = transposed(rows);
      for (std::size_t r = 0; r < 4; ++r)
        hn::StoreU(rows[r], floats, to + (4 * half + r) * pitch + at);
    }
  }
  for (std::size_t half = 0; half < 2; ++half) {
    hn::StoreU(totals[half], d, &running.totals[4 * half]);
    hn::StoreU(powers[half], d, &running.powers[4 * half]);
    hn::StoreU(exponents[half], di, &running.exponents[4 * half]);
  }
  for (std::size_t k = 4 * fours; k < count; ++k) {
    const std::size_t at = Way::from_end ? count - 1 - k : k;
    for (std::size_t r = 0; r < 8; ++r) {
      double& total = running.totals[r];
      const double before = total, number = static_cast<double>(from[r][at]);
      total = Way::is_product ? before * number : before + number;
      double result = is_exclusive ? before : total;
      if constexpr (Way::is_product) result = product_of(result, running.powers[r]);
      to[r * pitch + at] = Way::for_halves ? float_for_half(result) : static_cast<float>(result);
    }
  }
  if constexpr (Way::is_product) settle_all(running);
}
#endif

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
