// What is known about operators, as JSON for other programs.
#pragma once

#include <nlohmann/json.hpp>

#include "spec/differences.hpp"
#include "spec/measurements.hpp"
#include "spec/spec.hpp"

namespace dmlop::app {

nlohmann::ordered_json to_json(const OperatorSpec& spec);
nlohmann::ordered_json to_json(const Difference& row);
nlohmann::ordered_json to_json(const MeasuredError& error);
nlohmann::ordered_json to_json(const Speed& speed);

/// Where the operator runs; a new one runs nowhere until it has a row in lib/ops/operators.def.
std::vector<std::string> places_of(const OperatorSpec& spec);

}  // namespace dmlop::app
