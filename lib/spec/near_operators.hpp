// Finds the operators that a wrong name may mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

/// The operators nearest to `name`, best first, at most four: likely misspellings, names that
/// differ in a version number only (SLICE and SLICE1), and names of which it is a part (CONV).
/// Empty where none is near.
std::vector<std::string> near_operators(std::string_view name);

/// `did you mean "A" or "B"?` with these operators, or with one that has a field with such a value
/// (REFLECT); "" where none is near.
std::string operator_suggestion(std::string_view name);

/// The other versions of an operator: ELEMENT_WISE_ADD1 of ELEMENT_WISE_ADD.
std::vector<std::string> versions_of(std::string_view name);

}  // namespace dmlop
