// How far an element may be from the expected one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dmlop {

/// An element passes if any given criterion allows it:
///   |actual - expected| <= atol + rtol * |expected|   (if only one is given, the other is 0)
///   at most `ulp` representable values away           (integers: |actual - expected| <= ulp)
/// If no criterion is given, elements must be equal bit for bit.
struct Tolerance {
  std::optional<double> rtol;
  std::optional<double> atol;
  std::optional<std::uint64_t> ulp;
  bool nan_equals_nan = true;  // ignored without a criterion: two NaN then need equal bits
  bool allow_trivial = false;  // whether a match that proves nothing may pass
  std::string origin;          // where it comes from: "--ulp", "default of LP_POOLING for FLOAT32"

  bool is_bitwise() const { return !rtol && !atol && !ulp; }
};

/// "bit for bit", "4 ULP", "rtol 1e-05, atol 1e-08 or 4 ULP".
std::string to_text(const Tolerance& tolerance);

/// The shortest text that reads back as `number`.
std::string shortest_text(double number);

}  // namespace dmlop
