// Arguments exactly as they are typed. CLI11 would read "[a,b]" as a list of two values and "{}" as
// a default, and take the next argument as the value of "--name=".
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dmlop::app {

/// The arguments after the program's name, the last one first, as CLI::App::parse takes them.
/// Arguments with ends that mean something to CLI11 are marked.
std::vector<std::string> marked_arguments(int argument_count, const char* const* arguments);

/// The text as it was typed.
std::string without_mark(std::string text);

/// Makes all options of the command take their values as typed, before anything else looks at them,
/// and makes options with one value take only one.
void take_verbatim(CLI::App& command);

}  // namespace dmlop::app
