// The comparison of tensors by its definition. It answers every question by going through all
// elements, and finds the smallest tolerances by trying one after another. The library, which goes
// over the elements once, is checked against it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "compare/compare.hpp"
#include "number.hpp"
#include "tensor.hpp"

namespace dmlop::test::comparison {

/// A floating-point format: digits of precision and the exponent of its smallest normal number.
struct Format {
  int digits;
  int least_exponent;
  int greatest_exponent;
};

inline std::optional<Format> format_of(DataType type) {
  if (type == DataType::Float16) return Format{11, -14, 15};
  if (type == DataType::Float32) return Format{24, -126, 127};
  if (type == DataType::Float64) return Format{53, -1022, 1023};
  return std::nullopt;
}

/// The meaning of an element. Integers have a magnitude and a sign, so that all 64-bit values are
/// exact.
struct Number {
  bool is_floating = false;
  bool is_negative = false;
  std::uint64_t magnitude = 0;  // of an integer
  double value = 0;             // of a floating-point number; for an integer, the nearest double
};

template <typename T>
T as(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline Number signed_number(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return {false, value < 0, value < 0 ? 0 - bits : bits, static_cast<double>(value)};
}

inline Number unsigned_number(std::uint64_t value) {
  return {false, false, value, static_cast<double>(value)};
}

inline Number number_of(DataType type, const std::byte* bytes) {
  switch (type) {
    case DataType::Float64:
      return {true, false, 0, as<double>(bytes)};
    case DataType::Float32:
    case DataType::Float16:
      return {true, false, 0, number(type, bytes)};
    case DataType::UInt64:
      return unsigned_number(as<std::uint64_t>(bytes));
    case DataType::UInt32:
      return unsigned_number(as<std::uint32_t>(bytes));
    case DataType::UInt16:
      return unsigned_number(as<std::uint16_t>(bytes));
    case DataType::UInt8:
    case DataType::UInt4:
      return unsigned_number(as<std::uint8_t>(bytes));
    case DataType::Int64:
      return signed_number(as<std::int64_t>(bytes));
    case DataType::Int32:
      return signed_number(as<std::int32_t>(bytes));
    case DataType::Int16:
      return signed_number(as<std::int16_t>(bytes));
    case DataType::Int8:
    case DataType::Int4:
      break;
  }
  return signed_number(as<std::int8_t>(bytes));
}

/// How many numbers of the format lie between 0 and a magnitude, including the magnitude. Each
/// power of two begins 2^(digits - 1) of them, and infinity follows the largest.
inline std::uint64_t rank(double magnitude, const Format& format) {
  const auto per_power = static_cast<std::uint64_t>(std::ldexp(1, format.digits - 1));
  const auto powers =
      static_cast<std::uint64_t>(format.greatest_exponent - format.least_exponent + 1);
  if (std::isinf(magnitude)) return (powers + 1) * per_power;
  if (magnitude < std::ldexp(1, format.least_exponent)) {
    return static_cast<std::uint64_t>(
        std::ldexp(magnitude, format.digits - 1 - format.least_exponent));
  }
  const int exponent = std::ilogb(magnitude);
  const auto within =
      static_cast<std::uint64_t>(std::ldexp(magnitude, format.digits - 1 - exponent)) - per_power;
  return static_cast<std::uint64_t>(exponent - format.least_exponent + 1) * per_power + within;
}

/// One pair of elements.
struct Pair {
  DataType type;
  std::array<std::byte, 8> actual_bytes{};
  std::array<std::byte, 8> expected_bytes{};

  Pair(DataType data_type, const std::byte* a, const std::byte* e) : type(data_type) {
    std::memcpy(actual_bytes.data(), a, size_of(type));
    std::memcpy(expected_bytes.data(), e, size_of(type));
  }

  Number actual() const { return number_of(type, actual_bytes.data()); }
  Number expected() const { return number_of(type, expected_bytes.data()); }
  bool same_bits() const { return actual_bytes == expected_bytes; }
  bool any_nan() const { return std::isnan(actual().value) || std::isnan(expected().value); }
  bool both_nan() const { return std::isnan(actual().value) && std::isnan(expected().value); }

  /// Whether the pair has a distance.
  bool comparable(bool nan_equals_nan) const {
    return !any_nan() || (both_nan() && nan_equals_nan);
  }

  std::uint64_t ulp() const {
    if (both_nan()) return 0;
    const Number a = actual(), e = expected();
    const auto format = format_of(type);
    const std::uint64_t rank_a = format ? rank(std::abs(a.value), *format) : a.magnitude;
    const std::uint64_t rank_e = format ? rank(std::abs(e.value), *format) : e.magnitude;
    const bool a_is_negative = format ? std::signbit(a.value) : a.is_negative;
    const bool e_is_negative = format ? std::signbit(e.value) : e.is_negative;
    if (a_is_negative != e_is_negative) return rank_a + rank_e;
    return std::max(rank_a, rank_e) - std::min(rank_a, rank_e);
  }

  /// |actual - expected|; for integers, the nearest double.
  double absolute() const {
    if (both_nan()) return 0;
    const Number a = actual(), e = expected();
    if (!a.is_floating) return static_cast<double>(ulp());
    if (std::isinf(a.value) && a.value == e.value) return 0;
    return std::abs(a.value - e.value);
  }

  double relative() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (absolute() == 0) return 0;
    if (std::isinf(absolute()) || expected().value == 0) return infinity;
    return absolute() / std::abs(expected().value);
  }

  bool is_near(double rtol, double atol) const {
    const double allowed = atol + (rtol == 0 ? 0 : rtol * std::abs(expected().value));
    if (both_nan()) return true;
    if (!expected().is_floating) {
      // This is exact, because a long double holds all digits of any integer.
      static_assert(std::numeric_limits<long double>::digits >= 64);
      return static_cast<long double>(ulp()) <= static_cast<long double>(allowed);
    }
    if (actual().value == expected().value) return true;
    if (std::isinf(actual().value) || std::isinf(expected().value)) return false;
    return std::isfinite(absolute()) && absolute() <= allowed;
  }

  bool passes(const Tolerance& tolerance) const {
    if (tolerance.is_bitwise())
      return same_bits() && (!std::isnan(actual().value) || tolerance.nan_equals_nan);
    if (!comparable(tolerance.nan_equals_nan)) return false;
    if (tolerance.ulp && ulp() <= *tolerance.ulp) return true;
    return (tolerance.rtol || tolerance.atol) &&
           is_near(tolerance.rtol.value_or(0), tolerance.atol.value_or(0));
  }
};

inline std::uint64_t bits_of(double number) {
  return as<std::uint64_t>(reinterpret_cast<const std::byte*>(&number));
}

inline double double_of(std::uint64_t bits) {
  return as<double>(reinterpret_cast<const std::byte*>(&bits));
}

/// The smallest number up to `greatest` that passes, if larger ones pass too.
template <typename Passes>
std::optional<std::uint64_t> smallest_that(std::uint64_t greatest, Passes passes) {
  if (!passes(greatest)) return std::nullopt;
  std::uint64_t low = 0, high = greatest;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (passes(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The same for the doubles that are not negative. They are ordered like their bits.
template <typename Passes>
std::optional<double> smallest_double_that(Passes passes) {
  const auto bits = smallest_that(bits_of(std::numeric_limits<double>::max()),
                                  [&](std::uint64_t some) { return passes(double_of(some)); });
  return bits ? std::optional(double_of(*bits)) : std::nullopt;
}

inline bool all_pass(const std::vector<Pair>& pairs, const Tolerance& tolerance) {
  return std::all_of(pairs.begin(), pairs.end(),
                     [&](const Pair& pair) { return pair.passes(tolerance); });
}

inline SmallestTolerances smallest_tolerances(const std::vector<Pair>& pairs, bool nan_equals_nan) {
  const auto passes = [&](Tolerance tolerance) {
    tolerance.nan_equals_nan = nan_equals_nan;
    return all_pass(pairs, tolerance);
  };
  SmallestTolerances smallest;
  smallest.rtol = smallest_double_that([&](double some) { return passes({.rtol = some}); });
  smallest.atol = smallest_double_that([&](double some) { return passes({.atol = some}); });
  smallest.ulp = smallest_that(std::numeric_limits<std::uint64_t>::max(),
                               [&](std::uint64_t some) { return passes({.ulp = some}); });
  return smallest;
}

/// Of 0, 1, 2 and then the powers of two, the index of the first one that is not exceeded.
inline std::size_t histogram_place(std::uint64_t ulp) {
  if (ulp <= 2) return ulp;
  std::size_t place = 3;
  for (std::uint64_t bound = 4; ulp > bound && place < 65; ++place) bound *= 2;
  return place;
}

/// Compares `actual` with `expected`, both packed. Byte offsets are those in memory.
inline Comparison of(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  const DataType type = actual.type;
  const std::size_t size = size_of(type);
  std::vector<Pair> pairs;
  for (std::size_t at = 0; at < actual.bytes.size(); at += size)
    pairs.emplace_back(type, actual.bytes.data() + at, expected.bytes.data() + at);

  Comparison result{.tolerance = tolerance, .data_type = type, .sizes = actual.sizes};
  result.elements = pairs.size();
  std::vector<ElementDifference> mismatches, differences;
  for (std::uint64_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    const bool comparable = pair.comparable(tolerance.nan_equals_nan);
    ElementDifference difference{i, i * size, pair.actual_bytes, pair.expected_bytes, {}};
    difference.deviation.comparable = comparable;
    if (comparable) {
      difference.deviation = {true, pair.absolute(), pair.relative(), pair.ulp()};
      ++result.histogram[histogram_place(pair.ulp())];
    } else {
      ++result.nan_mismatches;
    }
    if (!pair.same_bits() || !comparable) differences.push_back(difference);
    if (!pair.passes(tolerance)) mismatches.push_back(difference);
  }
  result.mismatches = mismatches.size();
  result.first = mismatches;
  result.first.resize(std::min<std::size_t>(5, mismatches.size()));

  const bool by_absolute = tolerance.rtol || tolerance.atol;
  std::stable_sort(differences.begin(), differences.end(),
                   [&](const ElementDifference& a, const ElementDifference& b) {
                     if (a.deviation.comparable != b.deviation.comparable)
                       return !a.deviation.comparable;
                     if (by_absolute && a.deviation.absolute != b.deviation.absolute)
                       return a.deviation.absolute > b.deviation.absolute;
                     return a.deviation.ulp > b.deviation.ulp;
                   });
  result.worst = differences;
  result.worst.resize(std::min<std::size_t>(5, differences.size()));

  result.smallest = smallest_tolerances(pairs, tolerance.nan_equals_nan);
  const auto every = [&](auto holds) {
    return !pairs.empty() && std::all_of(pairs.begin(), pairs.end(), holds);
  };
  result.all_nan = every([](const Pair& pair) { return std::isnan(pair.actual().value); });
  // +0 and -0 count as one value, and so do all NaN.
  const bool expected_is_constant = every([&](const Pair& pair) {
    const Pair both(type, pairs.front().expected_bytes.data(), pair.expected_bytes.data());
    return both.both_nan() || (!both.any_nan() && both.ulp() == 0);
  });
  result.all_zero =
      every([](const Pair& pair) { return pair.actual().value == 0; }) && !expected_is_constant;
  return result;
}

}  // namespace dmlop::test::comparison
