// Findings about input: values, collected and reported together, not exceptions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace dmlop {

/// One violation: where it is, what is there, the rule it breaks and what to write instead.
/// Empty strings and zeros mean "does not apply".
struct Diagnostic {
  ErrorKind kind = ErrorKind::invalid_input;
  std::string file;
  std::uint32_t line = 0;     // from 1
  std::uint32_t column = 0;   // from 1, in Unicode characters
  std::string pointer;        // JSON pointer (RFC 6901) into the file
  std::string message;        // "OutputTensor.Sizes[3] is 11, must be 10"
  std::string value;          // the offending value as written
  std::string rule;           // the rule with the numbers put in
  std::string feature_level;  // the level of this run, where the rule depends on it
  std::string suggestion;     // what to write instead
  std::string note = {};      // what else is worth knowing: what DirectML does
  std::string argument = {};  // of the command line, where it is that: "--set PaddingMode"
};

using Diagnostics = std::vector<Diagnostic>;

/// "file:line:column: error: message" and indented lines for rule and suggestion; `word` may be
/// "warning" instead. An argument stands in the place of line and column.
std::string to_text(const Diagnostic& diagnostic, std::string_view word = "error");

/// Orders by place in the file; findings without a place come last, in the order found.
void sort_by_position(Diagnostics& diagnostics);

/// The kind that decides how the job ends: invalid input first, then what is not available.
ErrorKind worst_kind(const Diagnostics& diagnostics);

}  // namespace dmlop
