// Quotients that are rounded up.
#pragma once

#include <cstdint>

namespace dmlop {

/// The least integer that is not below a / b, for b > 0.
constexpr std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

}  // namespace dmlop
