// A comparison as text for people.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.hpp"

namespace dmlop {

/// Several indented lines: the tolerance and the counts and, if anything differs, where, how the
/// elements are related, the first and the worst ones, the distribution by ULP and the smallest
/// tolerances that would pass.
std::string to_text(const Comparison& comparison);

/// "where: only [0, 3:5] differs" and "relation: actual is 0 where it differs", as far as there is
/// something to say.
std::vector<std::string> difference_lines(const Comparison& comparison);

/// "would pass with --rtol 0.06", with advised_tolerances(), or why there is none. `would` is
/// "would pass" or "would have passed".
std::string advice_text(const Comparison& comparison, const std::string& would = "would pass");

/// "--rtol 0.06, --atol 0.5 or --ulp 3"; "" if none would pass.
std::string smallest_tolerances_text(const SmallestTolerances& smallest);

/// An element's value, exact, and its bits: "9.5", "0x41180000".
std::string value_text(const Comparison& comparison, const std::array<std::byte, 8>& element);
std::string bits_text(const Comparison& comparison, const std::array<std::byte, 8>& element);

}  // namespace dmlop
