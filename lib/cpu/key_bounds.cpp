#include "cpu/key_bounds.hpp"

#include <bit>
#include <cstring>

#include "cpu/simd_small.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/key_bounds.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Bits>
void least_of(const Bits* HWY_RESTRICT keys, std::size_t count, Bits* HWY_RESTRICT least) {
  const hn::CappedTag<Bits, key_lanes> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < key_lanes; j += lanes) {
    auto found = hn::LoadU(d, keys + j);
    for (std::size_t i = key_lanes; i < count; i += key_lanes)
      found = hn::Min(found, hn::LoadU(d, keys + i + j));
    hn::StoreU(found, d, least + j);
  }
}

template <typename Bits>
std::size_t places_of(Bits bound, const Bits* HWY_RESTRICT keys, std::size_t count,
                      std::uint32_t* HWY_RESTRICT places) {
  const hn::CappedTag<Bits, key_lanes> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto most = hn::Set(d, bound);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto some = hn::LoadU(d, keys + i);
    const auto are_up_to = hn::Eq(hn::Min(some, most), some);
    if (hn::AllFalse(d, are_up_to)) continue;
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, are_up_to, bytes);
    std::uint64_t bits;
    std::memcpy(&bits, bytes, sizeof bits);
    if (lanes < 64) bits &= (std::uint64_t{1} << lanes) - 1;
    for (; bits != 0; bits &= bits - 1)
      places[found++] =
          static_cast<std::uint32_t>(i + static_cast<unsigned>(std::countr_zero(bits)));
  }
  return found;
}

#define DMLOP_KEYS(size)                                                               \
  void Least##size(const std::uint##size##_t* keys, std::size_t count,                 \
                   std::uint##size##_t* least) {                                       \
    least_of(keys, count, least);                                                      \
  }                                                                                    \
  std::size_t Places##size(std::uint##size##_t bound, const std::uint##size##_t* keys, \
                           std::size_t count, std::uint32_t* places) {                 \
    return places_of(bound, keys, count, places);                                      \
  }
DMLOP_KEYS(8)
DMLOP_KEYS(16)
DMLOP_KEYS(32)
DMLOP_KEYS(64)
#undef DMLOP_KEYS

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

#define DMLOP_KEYS(size)                                                               \
  template <>                                                                          \
  void least_keys(const std::uint##size##_t* keys, std::size_t count,                  \
                  std::uint##size##_t* least) {                                        \
    DMLOP_BEST_SIMD(Least##size)(keys, count, least);                                  \
  }                                                                                    \
  template <>                                                                          \
  std::size_t places_up_to(std::uint##size##_t bound, const std::uint##size##_t* keys, \
                           std::size_t count, std::uint32_t* places) {                 \
    return DMLOP_BEST_SIMD(Places##size)(bound, keys, count, places);                  \
  }
DMLOP_KEYS(8)
DMLOP_KEYS(16)
DMLOP_KEYS(32)
DMLOP_KEYS(64)
#undef DMLOP_KEYS

}  // namespace dmlop::cpu
#endif
