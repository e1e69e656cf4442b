// Arguments as they are typed. To CLI11 "[a,b]" is a list of two values, "{}" is a default, and
// "--name=" has the next argument for its value; here they are what they say.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dmlop::app {

/// The arguments after the program's name, the last one first, as CLI::App::parse takes them. Those
/// whose ends mean something to CLI11 are marked.
std::vector<std::string> marked_arguments(int argument_count, const char* const* arguments);

/// The text as it was typed.
std::string without_mark(std::string text);

/// All options that were added to the command take their values as typed, before anything else
/// looks at them; and options with one value take one, not what follows it, too.
void take_verbatim(CLI::App& command);

}  // namespace dmlop::app
