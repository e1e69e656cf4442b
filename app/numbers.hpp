// Numbers as values of options. They are decimal; a wrong one is refused with the values that are
// allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace dmlop::app {

/// For CLI::Option::transform. Leading zeros are ignored; for CLI11 they would mean octal.
CLI::Validator integer_between(std::uint64_t min, std::uint64_t max);
CLI::Validator positive_integer();

/// For CLI::Option::check. Refuses infinity and NaN.
CLI::Validator number_between(double min, double max);
CLI::Validator positive_number();

}  // namespace dmlop::app
