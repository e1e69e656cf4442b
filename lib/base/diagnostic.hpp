// Findings about input. They are values, collected and reported together, not exceptions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/advice.hpp"
#include "base/error.hpp"

namespace dmlop {

/// A part of the file that gets another value.
struct Replacement {
  std::string pointer;  // JSON pointer; what it names may be missing
  std::string value;    // JSON; null leaves the part out

  bool operator==(const Replacement&) const = default;
};

/// Replacements that only mend something together.
using Fix = std::vector<Replacement>;

/// One violation: where it is, what is there, the rule it breaks and what to write instead.
/// Empty strings and zeros mean "does not apply".
struct Diagnostic {
  ErrorKind kind = ErrorKind::invalid_input;
  std::string file;
  std::uint32_t line = 0;       // from 1
  std::uint32_t column = 0;     // from 1, in Unicode characters
  std::string pointer;          // JSON pointer (RFC 6901) into the file
  std::string message;          // "OutputTensor.Sizes[3] is 11, must be 10"
  std::string value;            // the offending value as written
  std::string rule;             // the rule with its numbers filled in
  std::string feature_level;    // the level of this run, where the rule depends on it
  Advice suggestion;            // what to write instead
  std::string note = {};        // what else is worth knowing: what DirectML does
  std::string argument = {};    // of the command line, where it is that: "--set PaddingMode"
  std::uint64_t more = 0;       // so many of the same kind follow, which are not listed
  Fix fix = {};                 // what mends it and breaks nothing else; tried out. Empty: unknown
  std::vector<Fix> ideas = {};  // fixes to try, the likeliest first
};

using Diagnostics = std::vector<Diagnostic>;

/// The finding that an exception is: its kind and what it says, behind "CONTEXT: " if there is one.
/// Errors: an interruption is not a finding; it is thrown again.
Diagnostic finding_of(const Error& error, std::string_view context = "");

/// "file:line:column: error: message", then indented lines for rule and suggestion. `word` may be
/// "warning" instead of "error". An argument replaces line and column.
std::string to_text(const Diagnostic& diagnostic, std::string_view word = "error");

/// How many mistakes were found: those listed, and those that are not.
std::uint64_t count_of(const Diagnostics& diagnostics);

/// Orders findings by their place in the file. Findings without a place come last, in the order in
/// which they were found.
void sort_by_position(Diagnostics& diagnostics);

/// Makes a finding of each warning, for callers who take warnings for errors. None is left.
void refuse_warnings(Diagnostics& warnings, Diagnostics& findings);

/// The kind that decides how the job ends: invalid input before files that cannot be read, and
/// before what is not available.
ErrorKind worst_kind(const Diagnostics& diagnostics);

}  // namespace dmlop
