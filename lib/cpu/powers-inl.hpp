// Arithmetic of norms on vectors: |x|^P, its inverse, and binary16. Included once per instruction
// set.
#if defined(DMLOP_CPU_POWERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_POWERS_INL
#undef DMLOP_CPU_POWERS_INL
#else
#define DMLOP_CPU_POWERS_INL
#endif

#include <cstdint>
#include <limits>

#include "cpu/simd-inl.hpp"
#include "hwy/contrib/math/math-inl.h"
#include "tensor/half.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// The halves at `bits` as floats.
template <class D, class DBits = hn::Rebind<std::uint16_t, D>>
HWY_INLINE hn::Vec<D> float_from_half(D d, hn::Vec<DBits> bits) {
#if DMLOP_CPU_HAS_HALF
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
#else
  const hn::RebindToUnsigned<D> du;
  const auto wide = hn::PromoteTo(du, bits);
  const auto magnitude = hn::ShiftLeft<13>(hn::And(wide, hn::Set(du, 0x7FFFU)));
  const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(du, 0x8000U)));
  // The exponent's bias is 112 more; a multiplication also makes denormals normal.
  const auto value = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112F));
  const auto special = hn::Ge(value, hn::Set(d, 65536.0F));  // infinity or NaN
  const auto exponent =
      hn::And(hn::VecFromMask(du, hn::RebindMask(du, special)), hn::Set(du, 0x7F800000U));
  return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(du, value), exponent), sign));
#endif
}

/// Floats that are NaN or not negative, rounded to the nearest half, ties to even.
template <class D, class DBits = hn::Rebind<std::uint16_t, D>>
HWY_INLINE hn::Vec<DBits> half_from_float(D d, hn::Vec<D> v) {
#if DMLOP_CPU_HAS_HALF
  (void)d;
  return hn::BitCast(DBits(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v));
#else
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(du, 1U));
  // The new bias and half a unit less one, so that ties go up where the last bit is odd.
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(bits, hn::Set(du, 0xC8000FFFU)), odd));
  // A unit of 0.5 is the denormals' unit: the addition rounds to it.
  const auto half = hn::Set(d, 0.5F);
  const auto small = hn::Sub(hn::BitCast(du, hn::Add(v, half)), hn::BitCast(du, half));
  auto result = hn::IfThenElse(hn::RebindMask(du, hn::Lt(v, hn::Set(d, 0x1p-14F))), small, normal);
  result = hn::IfThenElse(hn::RebindMask(du, hn::Ge(v, hn::Set(d, 65520.0F))), hn::Set(du, 0x7C00U),
                          result);
  result = hn::IfThenElse(hn::RebindMask(du, hn::Ne(v, v)), hn::Set(du, 0x7E00U), result);
  return hn::DemoteTo(DBits(), hn::BitCast(di, result));
#endif
}

/// Doubles rounded once to halves. NaN carries nothing, as that would depend on the instruction
/// set.
template <class D, class DBits = hn::Rebind<std::uint16_t, D>>
HWY_INLINE hn::Vec<DBits> half_from_doubles(D d, hn::Vec<D> v) {
  const auto nan = hn::CopySign(hn::Set(d, std::numeric_limits<double>::quiet_NaN()), v);
  const auto number = hn::IfThenElse(hn::Eq(v, v), v, nan);
#if DMLOP_CPU_HAS_HALF
  // Cut to the digits of a float. The last one becomes odd where others are cut off, so that no
  // number beside the middle of two halves becomes this middle.
  const hn::RebindToUnsigned<D> du;
  constexpr std::uint64_t last = std::uint64_t{1} << 29;
  const auto others = hn::Set(du, last - 1);
  const auto bits = hn::BitCast(du, number);
  const auto odd = hn::And(hn::Add(hn::And(bits, others), others), hn::Set(du, last));
  const auto cut = hn::BitCast(d, hn::Or(hn::AndNot(others, bits), odd));
  const hn::Rebind<float, D> floats;
  const hn::Rebind<hwy::float16_t, D> halves;
  return hn::BitCast(DBits(), hn::DemoteTo(halves, hn::DemoteTo(floats, cut)));
#else
  HWY_ALIGN double numbers[hn::MaxLanes(D())];
  HWY_ALIGN std::uint16_t halves[hn::MaxLanes(D())];
  hn::Store(number, d, numbers);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) halves[i] = half_from_double(numbers[i]);
  return hn::Load(DBits(), halves);
#endif
}

// An approximation of x^(-1/3) to 4 percent, for positive normal x: the exponent divided by -3.
template <class D>
HWY_INLINE hn::Vec<D> rough_inverse_cube_root(D d, hn::Vec<D> x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    // The upper 32 bits as a number, and back: the lower bits of 2^52 + n are n.
    const hn::RebindToUnsigned<D> du;
    const auto shift = hn::Set(d, 0x1p52);
    const auto upper = hn::ShiftRight<32>(hn::BitCast(du, x));
    const auto number = hn::Sub(hn::BitCast(d, hn::Or(upper, hn::BitCast(du, shift))), shift);
    const auto divided =
        hn::MulAdd(number, hn::Set(d, -1.0 / 3), hn::Set(d, static_cast<double>(0x553F09FD)));
    return hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(du, hn::Add(divided, shift))));
  } else {
    const hn::RebindToSigned<D> di;
    const auto number = hn::ConvertTo(d, hn::BitCast(di, x));
    const auto divided =
        hn::MulAdd(number, hn::Set(d, -1.0F / 3), hn::Set(d, static_cast<float>(0x54A2FA80)));
    return hn::BitCast(d, hn::ConvertTo(di, divided));
  }
}

/// The positive finite ones get `y`; 0, infinity and NaN stay.
template <class D>
HWY_INLINE hn::Vec<D> unless_special(D d, hn::Vec<D> x, hn::Vec<D> y) {
  const auto infinity = hn::Inf(d);
  return hn::IfThenElse(hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, infinity)), y, x);
}

/// To 1e-10 of its value in double, to 2 units in the last place in float.
template <class D>
HWY_INLINE hn::Vec<D> cube_root(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  const auto one = hn::Set(d, T{1});
  const auto c1 = hn::Set(d, static_cast<T>(1.0 / 3));
  const auto c2 = hn::Set(d, static_cast<T>(2.0 / 9));
  auto r = rough_inverse_cube_root(d, x);
  // r (1 - e)^(-1/3) with e = 1 - x r^3, as a series: the error becomes a sixth of its cube.
  for (int i = 0; i < 2; ++i) {
    const auto e = hn::NegMulAdd(hn::Mul(x, r), hn::Mul(r, r), one);
    r = hn::MulAdd(hn::Mul(r, e), hn::MulAdd(e, c2, c1), r);
  }
  return unless_special(d, x, hn::Mul(hn::Mul(x, r), r));
}

// What is summed over a window, and what of the sum is the norm.
template <int p>
struct Power;

template <>
struct Power<1> {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V add(D, V sum, V x) const {
    return hn::Add(sum, hn::Abs(x));
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V root(D, V sum) const {
    return sum;
  }
};

template <>
struct Power<2> {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V add(D, V sum, V x) const {
    return hn::MulAdd(x, x, sum);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V root(D, V sum) const {
    return hn::Sqrt(sum);
  }
};

template <>
struct Power<3> {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V add(D, V sum, V x) const {
    return hn::MulAdd(hn::Mul(x, x), hn::Abs(x), sum);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V root(D d, V sum) const {
    return cube_root(d, sum);
  }
};

template <>
struct Power<4> {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V add(D, V sum, V x) const {
    const V square = hn::Mul(x, x);
    return hn::MulAdd(square, square, sum);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V root(D, V sum) const {
    return hn::Sqrt(hn::Sqrt(sum));
  }
};

/// x^p by squaring, for x not negative.
template <class V>
HWY_INLINE V raised(V x, std::uint64_t p) {
  V result = x;  // stands for 1 while no factor is in it
  bool is_one = true;
  for (; p != 0; p >>= 1) {
    if ((p & 1) != 0) {
      result = is_one ? x : hn::Mul(result, x);
      is_one = false;
    }
    x = hn::Mul(x, x);
  }
  return result;
}

/// x^(1/p), for x not negative or NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V root_of(D d, V x, std::uint64_t p) {
  const V exponent = hn::Div(hn::Log(d, x), hn::Set(d, static_cast<double>(p)));
  return unless_special(d, x, hn::Exp(d, exponent));
}

/// Any other exponent.
template <>
struct Power<0> {
  std::uint64_t p;

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V add(D, V sum, V x) const {
    return hn::Add(sum, raised(hn::Abs(x), p));
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V root(D d, V sum) const {
    return root_of(d, sum, p);
  }
};

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
