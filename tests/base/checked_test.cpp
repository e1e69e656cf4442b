// Checked integer arithmetic (base/checked.hpp), against all sums, differences and products of
// bytes.
#include "base/checked.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace dmlop::test::checked_test {
namespace {

template <typename T>
std::optional<T> in_type(int value) {
  const bool fits =
      value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  return fits ? std::optional(static_cast<T>(value)) : std::nullopt;
}

template <typename T>
void check_all_bytes() {
  int wrong = 0;
  for (int a = std::numeric_limits<T>::min(); a <= std::numeric_limits<T>::max(); ++a) {
    for (int b = std::numeric_limits<T>::min(); b <= std::numeric_limits<T>::max(); ++b) {
      const T x = static_cast<T>(a);
      const T y = static_cast<T>(b);
      wrong += checked_add(x, y) != in_type<T>(a + b);
      wrong += checked_subtract(x, y) != in_type<T>(a - b);
      wrong += checked_multiply(x, y) != in_type<T>(a * b);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("checked arithmetic is that of the integers, or nothing") {
  check_all_bytes<std::int8_t>();
  check_all_bytes<std::uint8_t>();
}

TEST_CASE("checked arithmetic at the ends of 64 bits") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  CHECK(checked_multiply(least, std::int64_t{1}) == least);
  CHECK_FALSE(checked_multiply(least, std::int64_t{-1}));
  CHECK_FALSE(checked_multiply(std::int64_t{-1}, least));
  CHECK(checked_multiply(std::int64_t{1} << 32, -(std::int64_t{1} << 31)) == least);
  CHECK_FALSE(checked_add(most, std::uint64_t{1}));
  CHECK(checked_multiply(most, std::uint64_t{1}) == most);
  CHECK_FALSE(checked_multiply(most / 2 + 1, std::uint64_t{2}));
}

}  // namespace
}  // namespace dmlop::test::checked_test
