// Numbers and words as values of options. Numbers are decimal; a wrong value is refused with those
// that are allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace dmlop::app {

/// For CLI::Option::transform. Leading zeros are ignored; for CLI11 they would mean octal.
CLI::Validator integer_between(std::uint64_t min, std::uint64_t max);
CLI::Validator positive_integer();
/// Bytes, with or without a unit: 512MB is 512 * 1024 * 1024.
CLI::Validator byte_count(std::uint64_t min);

/// For CLI::Option::check. Refuses infinity and NaN.
CLI::Validator number_between(double min, double max);
CLI::Validator positive_number();

/// For CLI::Option::check.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace dmlop::app
