// A comparison as text for people.
#pragma once

#include <string>

#include "compare/compare.hpp"

namespace dmlop {

/// Several indented lines: the tolerance and the counts and, if anything differs, the first and the
/// worst elements, the distribution by ULP and the smallest tolerances that would pass.
std::string to_text(const Comparison& comparison);

/// "--rtol 0.06, --atol 0.5 or --ulp 3"; "" if none would pass.
std::string smallest_tolerances_text(const SmallestTolerances& smallest);

/// An element's value, exact, and its bits: "9.5", "0x41180000".
std::string value_text(const Comparison& comparison, const std::array<std::byte, 8>& element);
std::string bits_text(const Comparison& comparison, const std::array<std::byte, 8>& element);

}  // namespace dmlop
