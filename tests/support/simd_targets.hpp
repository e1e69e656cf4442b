// Tests of kernels on every instruction set that this machine has.
#pragma once

#include "cpu/simd.hpp"
//
#include <doctest/doctest.h>
#include <hwy/highway.h>

#include <cstdint>
#include <string>

#include "cpu/simd_dispatch.hpp"

namespace dmlop::test {

/// Calls action() once for each instruction set of this machine, which kernels then use.
template <typename Action>
void on_every_target(Action&& action) {
  REQUIRE(cpu::simd_targets() != 0);
  const std::int64_t before = cpu::usable_simd_targets;
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t target = (std::int64_t{1} << bit) & cpu::simd_targets();
    if (target == 0) continue;
    cpu::limit_simd_targets(target);
    CAPTURE(std::string(hwy::TargetName(target)));
    action();
  }
  cpu::limit_simd_targets(before);
}

}  // namespace dmlop::test
