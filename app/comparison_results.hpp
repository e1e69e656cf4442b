// How run shows what it compared.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "job/golden.hpp"

namespace dmlop::app {

/// Prints a comparison: the verdict in a line and, `in_full`, what differs and where.
void print_comparison(const OutputComparison& output, bool in_full = true);
/// The same as JSON.
nlohmann::ordered_json comparison_json(const OutputComparison& output);

}  // namespace dmlop::app
