// Loads and stores of numbers for all kernels, for every instruction set.
#include "cpu/simd_small.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/numbers.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/numbers-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

#define DMLOP_DEFINE(T, one, other)                                                 \
  template void load(DataType, const std::byte*, std::uint64_t, std::size_t, T*);   \
  template void store<StoreMode::one>(DataType, const T*, std::size_t, std::byte*); \
  template void store<StoreMode::other>(DataType, const T*, std::size_t, std::byte*);
DMLOP_FOR_EACH_NUMBER(DMLOP_DEFINE)
#undef DMLOP_DEFINE

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
