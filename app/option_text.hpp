// How help, the man page and messages call an option.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace dmlop::app {

/// The option's names with their dashes, the short ones first; none of a positional.
std::vector<std::string> names_of(const CLI::Option& option);

/// What follows the option's name: "FILE", or "[=FOLDER]" if the value is optional; "" for a flag.
/// It shows only the value's name, not what else the parser knows about it.
std::string value_of(const CLI::Option& option);

/// "-i, --input [NAME=]FILE", "--confine[=FOLDER]", "OP.json".
std::string shown(const CLI::Option& option);

/// Whether the value is a path, so that shells offer files for it.
bool takes_file(const CLI::Option& option);

/// Lays out --help: options as `shown`, descriptions within the width of a terminal.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace dmlop::app
