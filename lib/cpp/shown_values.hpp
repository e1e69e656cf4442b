// Values that a debugger shows more than once: what it shows for one place becomes one value.
#pragma once

#include "cpp/value.hpp"

namespace dmlop::cpp {

/// Keeps one of two values for one place, or says that they are not the same.
void compare_shown(Value& known, const Value& shown);

/// Adds what is shown at a place to what was shown there before.
void merge_shown(Memory& memory, const Place& place, Value shown);

}  // namespace dmlop::cpp
