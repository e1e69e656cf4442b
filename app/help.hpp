// The short help, and the names of commands.
#pragma once

#include <string>
#include <vector>

#include "base/output.hpp"

namespace dmlop::app {

/// All commands but hidden ones.
std::vector<std::string> command_names();

/// Prints the most common commands, with paths that work here.
void print_overview(StandardStream stream);

}  // namespace dmlop::app
