// Stores norms as elements of an output. Included once per instruction set.
#if defined(DMLOP_CPU_NORMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_NORMS_INL
#undef DMLOP_CPU_NORMS_INL
#else
#define DMLOP_CPU_NORMS_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu/powers-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "tensor/half.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

template <class DOut>
HWY_INLINE void store_lanes(hn::Vec<DOut> v, DOut out, std::byte* to, std::size_t count) {
  if (count >= hn::Lanes(out)) return store(v, out, to);
  store_part(v, out, to, count);
}

/// Stores norms, rounded once, as the elements of `size` bytes from `k` on of an output that has
/// `count`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void store_norms(D d, V norms, std::size_t size, std::byte* output, std::size_t k,
                            std::size_t count) {
  if (k >= count) return;
  std::byte* to = output + k * size;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::Rebind<std::uint16_t, D> halves;
    store_lanes(half_from_float(d, norms), halves, to, count - k);
  } else if (size == sizeof(float)) {
    const hn::Rebind<float, D> floats;
    store_lanes(float_from_double(d, norms), floats, to, count - k);
  } else {
    HWY_ALIGN hn::TFromD<D> values[hn::MaxLanes(D())];
    hn::Store(norms, d, values);
    for (std::size_t i = 0; i < std::min(count - k, hn::Lanes(d)); ++i) {
      const std::uint16_t half = half_from_double(values[i]);
      std::memcpy(to + i * sizeof half, &half, sizeof half);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Square roots of floats take a third of the time of those of doubles. Rounded before and after
/// they are within 1 unit in the last place; sums near the ends of float's range and beyond have
/// double's. Which of the two is taken depends on the sum alone.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void store_square_roots(D d, V sum0, V sum1, std::byte* output, std::size_t k,
                                   std::size_t count) {
  const hn::Twice<hn::Rebind<float, D>> floats;
  const auto sums = hn::Combine(floats, float_from_double(d, sum1), float_from_double(d, sum0));
  const auto usual =
      hn::And(hn::Gt(sums, hn::Set(floats, 0x1p-100F)), hn::Lt(sums, hn::Set(floats, 0x1p100F)));
  auto roots = hn::Sqrt(sums);
  if (HWY_UNLIKELY(!hn::AllTrue(floats, usual))) {
    const auto low = float_from_double(d, hn::Sqrt(sum0)),
               high = float_from_double(d, hn::Sqrt(sum1));
    roots = hn::IfThenElse(usual, roots, hn::Combine(floats, high, low));
  }
  if (k < count) store_lanes(roots, floats, output + k * sizeof(float), count - k);
}
#endif

/// Stores the norms of two vectors of sums as store_norms does.
template <class P, class D, class V = hn::Vec<D>>
HWY_INLINE void store_roots(const P& power, D d, V sum0, V sum1, std::size_t size,
                            std::byte* output, std::size_t k, std::size_t count) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<P, Power<2>> && sizeof(hn::TFromD<D>) == 8) {
    if (size == sizeof(float)) return store_square_roots(d, sum0, sum1, output, k, count);
  }
#endif
  store_norms(d, power.root(d, sum0), size, output, k, count);
  store_norms(d, power.root(d, sum1), size, output, k + hn::Lanes(d), count);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
