// What the actual elements are in terms of the expected ones, where that can be proved on the data:
// it tries out what usually goes wrong. It guesses nothing.
#pragma once

#include <string>

#include "compare/compare.hpp"

namespace dmlop {

/// Tensors of more elements are not tried.
inline constexpr std::uint64_t related_max = std::uint64_t{1} << 25;

/// "actual is 0 where it differs", "actual is expected shifted by 1 along axis 3"; "" if nothing
/// that is tried holds. A relation of elements holds for each that the tolerance does not allow. A
/// relation of places holds for the whole tensor within the tolerance. `comparison` is that of both
/// tensors. Errors: as check_for_stop().
std::string relation_of(const Elements& actual, const Elements& expected,
                        const Comparison& comparison);

/// The same of tensors of one type and other sizes, which no comparison takes element by element:
/// "actual has the elements of expected in the same order, but other sizes", or with which axes
/// transposed. Errors: as check_for_stop().
std::string relation_of_unlike(const Elements& actual, const Elements& expected,
                               const Tolerance& tolerance);

}  // namespace dmlop
