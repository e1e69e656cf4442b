// A comparison as JSON, the same wherever one is printed or stored.
#pragma once

#include <nlohmann/json.hpp>

#include "compare/compare.hpp"

namespace dmlop {

/// An object with verdict, tolerance, counts, first and worst elements, histogram and smallest
/// tolerances; what has no value is null.
nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace dmlop
