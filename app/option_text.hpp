// How help, the man page and messages call an option.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace dmlop::app {

/// The option's names with their dashes, the short ones first; none of a positional.
std::vector<std::string> names_of(const CLI::Option& option);

/// What stands behind its name: "FILE", or "[=FOLDER]" where the value may be left out; "" of a
/// flag. What the parser knows of values beyond their name is not shown.
std::string value_of(const CLI::Option& option);

/// "-i, --input [NAME=]FILE", "--confine[=FOLDER]", "OP.json".
std::string shown(const CLI::Option& option);

/// Lays out --help: options as `shown`, descriptions within the width of a terminal.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace dmlop::app
