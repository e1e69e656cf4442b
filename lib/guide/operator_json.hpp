// What is known about operators, as JSON for other programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "spec/differences.hpp"
#include "spec/measurements.hpp"
#include "spec/spec.hpp"

namespace dmlop {

/// `runs_on` says where it runs (guide/words.hpp has the places).
nlohmann::ordered_json to_json(const OperatorSpec& spec, const std::vector<std::string>& runs_on);
nlohmann::ordered_json to_json(const Difference& row);
nlohmann::ordered_json to_json(const MeasuredError& error);
nlohmann::ordered_json to_json(const Speed& speed);

}  // namespace dmlop
