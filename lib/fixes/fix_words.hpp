// What a finding advises once it is known what mends it. Whether that mends it, others try out.
#pragma once

#include <string>

#include "base/diagnostic.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

/// "write 2", "write [2, 5] for CTensor.Sizes and [0, 1] for CTensor.Strides". `here` is the
/// pointer that needs no name.
Alternative words_of(const Fix& fix, const std::string& here = "");

/// Whether it says first, and for sure, what to write.
bool begins_with_value(const Advice& advice);

/// Moves the alternative that writes a fix's value to the front, if there is one: one whose place
/// is `place`, or one without a place if `is_here`, as for what the finding is about.
bool begin_with(Advice& advice, const std::string& value, const std::string& place, bool is_here);

/// Whether it says which array to save.
bool has_saving(const Advice& advice);

/// Without the sizes of "add dimensions of size 1: write [1, 1, 3, 4]", which did not help.
Advice without_failed_sizes(Advice advice);

/// With another array to save. "write 2 values, or ", which comes before the old one, stays.
Advice with_saving(Advice advice, Alternative saving);

/// The same with an array of the sizes `from` in another shape.
Advice with_shape(const Advice& advice, const Sizes& from, const Sizes& sizes);

/// With what mends so many findings in front.
Advice with_common(Advice advice, Alternative common, std::size_t findings);

}  // namespace dmlop
