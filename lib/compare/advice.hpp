// Which tolerances are worth advising: those that are small beside the numbers, and not any that
// would let wrong ones pass.
#pragma once

#include "compare/compare.hpp"

namespace dmlop {

/// Those of the smallest tolerances that are at most 1000 times the one given, or small beside the
/// expected elements: an rtol up to 0.1, an atol up to a tenth of the largest magnitude, as many
/// ULP as a tenth of a number has. Integers may always be off by 1.
SmallestTolerances advised_tolerances(const Comparison& comparison);

/// The largest magnitude of a finite element; 0 if there is none. Of more than 2^24 elements it
/// looks at blocks that are spread evenly. Errors: as check_for_stop().
double largest_magnitude(const Elements& elements);

}  // namespace dmlop
