// The short help, and the names of commands.
#pragma once

#include <string>
#include <vector>

#include "base/output.hpp"

namespace dmlop::app {

/// All commands but hidden ones.
std::vector<std::string> command_names();

/// What people do most, with commands that work here.
void print_overview(StandardStream stream);

}  // namespace dmlop::app
