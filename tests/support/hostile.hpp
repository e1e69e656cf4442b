// Texts that terminals, CI services and pages would execute, and a search for them in outputs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "batch.hpp"

namespace dmlop::test {

/// Each text contains letters to find it by.
inline const std::vector<std::string> hostile_texts{
    "a\x1b[31mb",
    "a\x1b]0;title\x07z",
    "::error::b",
    "\u00a0 ::error::b",  // CI services skip leading blanks
    "a\n::error::b",
    "a\n  ::add-mask::b",
    "a\r\n::warning::b",
    "a##[group]b",
    "a##vso[task.setvariable variable=x]b",
    "a###[add-path]b",
    "a\u009b31mb",  // CSI as one character
    "a\u202eb",     // turns the direction of text
    "a\u061cb",
    "a\u2066b",
    "a\u2028::b",  // Unicode's line ends
    "a\u0085::b",
    "a\u200bb",  // invisible
    "a\ufeffb",
    "a\u00adb",
    "a\U000e0041b",
    "a\x7F\x08z",
    "a</script><script>alert(1)</script>b",
    "a\"><img src=x onerror=alert(1)>b",
};

/// The same in a few short texts, for sweeps: messages show only 60 characters of a name.
inline const std::vector<std::string> hostile_names{
    "::error::e\x1b[31m##vso[x]",
    "\u00a0::e\n::error::e\r\n##[x]\t\x07\x7F"
    "\u202e\u061c\u200b\ufeff\u2028\u2029\u0085\u009b\u00ad\u2066\U000e0041",
};

/// The code and length of the character at `at`; {0, 0} if there is none.
std::pair<std::uint32_t, std::size_t> character_at(const std::string& text, std::size_t at);

/// The part of a log that a reader would execute, or that hides something; "" if there is none. The
/// caller counts the program's own lines that are commands.
std::string danger_in(const std::string& log, std::size_t own_commands = 0);

void check_harmless(const ProgramResult& result, std::size_t own_commands = 0);

}  // namespace dmlop::test
