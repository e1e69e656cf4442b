// A comparison as JSON, in the same form wherever it is printed or stored.
#pragma once

#include <nlohmann/json.hpp>

#include "compare/compare.hpp"

namespace dmlop {

/// An object with verdict, tolerance, counts, region, relation, first and worst elements, histogram
/// and smallest tolerances. Missing values are null.
nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace dmlop
