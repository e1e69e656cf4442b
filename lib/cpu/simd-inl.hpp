// What every kernel needs of vectors: loads and stores at any address, and of a part of a vector.
// Included once per instruction set.
#if defined(DMLOP_CPU_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_SIMD_INL
#undef DMLOP_CPU_SIMD_INL
#else
#define DMLOP_CPU_SIMD_INL
#endif

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The first `count` lanes; the others are 0.
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const std::byte* from, std::size_t count) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())] = {};
  std::memcpy(lanes, from, count * sizeof(hn::TFromD<D>));
  return hn::Load(d, lanes);
}

/// Stores the first `count` lanes.
template <class D>
HWY_INLINE void store_part(hn::Vec<D> v, D d, std::byte* to, std::size_t count) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  std::memcpy(to, lanes, count * sizeof(hn::TFromD<D>));
}

/// Highway loads and stores a single lane as a number, whose address must be a multiple of its
/// size.
template <class D>
inline constexpr bool is_one_lane = hn::MaxLanes(D()) == 1;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  if constexpr (is_one_lane<D>) {
    return load_part(d, from, 1);
  } else {
    return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
  }
}

template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, std::byte* to) {
  if constexpr (is_one_lane<D>) {
    store_part(v, d, to, 1);
  } else {
    hn::StoreU(v, d, reinterpret_cast<hn::TFromD<D>*>(to));
  }
}

/// Doubles rounded to floats; those beyond float's range are infinite.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<float, D>> float_from_double(D d, hn::Vec<D> v) {
  const hn::Rebind<float, D> floats;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // Highway's own gives the largest float for them, for infinity, too.
  HWY_ALIGN double lanes[hn::MaxLanes(D())];
  HWY_ALIGN float rounded[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < hn::MaxLanes(D()); ++i) rounded[i] = static_cast<float>(lanes[i]);
  return hn::Load(floats, rounded);
#else
  (void)d;
  return hn::DemoteTo(floats, v);
#endif
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
