// Sums of floats in double, by vectors. Included once per instruction set.
#if defined(DMLOP_CPU_ROW_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_ROW_SUMS_INL
#undef DMLOP_CPU_ROW_SUMS_INL
#else
#define DMLOP_CPU_ROW_SUMS_INL
#endif

#include <cstddef>

#include "cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// Elements of a row are added to so many sums in turns, whatever the vectors of a machine.
constexpr std::size_t sum_lanes = 16;

/// Adds term(d, x) of each number, as doubles, to the sums.
template <class TermOf>
HWY_INLINE void add_to_sums(const float* HWY_RESTRICT from, std::size_t count,
                            double* HWY_RESTRICT sums, const TermOf& term) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> floats;
  constexpr std::size_t lanes = hn::MaxLanes(d), vectors = sum_lanes / lanes;
  hn::Vec<decltype(d)> held[vectors];
  for (std::size_t v = 0; v < vectors; ++v) held[v] = hn::LoadU(d, sums + v * lanes);
  std::size_t i = 0;
  for (; i + sum_lanes <= count; i += sum_lanes) {
    HWY_UNROLL(vectors)
    for (std::size_t v = 0; v < vectors; ++v)
      held[v] =
          hn::Add(held[v], term(d, hn::PromoteTo(d, hn::LoadU(floats, from + i + v * lanes))));
  }
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(held[v], d, sums + v * lanes);
  const hn::CappedTag<double, 1> one;
  const hn::Rebind<float, decltype(one)> float_one;
  for (std::size_t k = 0; i + k < count; ++k) {
    const auto x = hn::PromoteTo(one, hn::LoadU(float_one, from + i + k));
    sums[k] += hn::GetLane(term(one, x));
  }
}

/// The sum of all of them.
HWY_INLINE double joined_sums(const double* from) {
  double sums[sum_lanes];
  for (std::size_t k = 0; k < sum_lanes; ++k) sums[k] = from[k];
  for (std::size_t half = sum_lanes / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
