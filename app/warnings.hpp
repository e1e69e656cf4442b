// Warnings as users see them: at most a thousand, as text or in a JSON document.
#pragma once

#include <nlohmann/json.hpp>

#include "base/diagnostic.hpp"

namespace dmlop::app {

/// Prints warnings on standard error.
void print_warnings(const Diagnostics& warnings);

/// The texts of the warnings, for the member "warnings" of a document.
nlohmann::ordered_json warnings_json(const Diagnostics& warnings);

}  // namespace dmlop::app
