// Numbers as the values of options: decimal, and refused with what they must be.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace dmlop::app {

/// For CLI::Option::transform. Leading zeros mean nothing; to CLI11 they mean octal.
CLI::Validator integer_between(std::uint64_t min, std::uint64_t max);
CLI::Validator positive_integer();

/// For CLI::Option::check. Neither infinite nor NaN.
CLI::Validator number_between(double min, double max);
CLI::Validator positive_number();

}  // namespace dmlop::app
