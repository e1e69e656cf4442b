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
    "\u00a0::e\n::error::e\r\n##[x]\t\x07\x7F",
    "e\u202e\u061c\u200b\ufeff\u2028\u2029\u0085\u009b\u00ad\u2066\U000e0041",
};

/// The code and length of the character at `at`; {0, 0} if there is none.
inline std::pair<std::uint32_t, std::size_t> character_at(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  std::uint32_t code = length == 0 ? 0 : first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3F);
  }
  return {code, length};
}

/// The part of a log that a reader would execute, or that hides something; "" if there is none. The
/// caller counts the program's own lines that are commands.
inline std::string danger_in(const std::string& log, std::size_t own_commands = 0) {
  static const std::vector<std::pair<std::uint32_t, std::uint32_t>> dangers{
      {0, 9},           {0xB, 0x1F},      {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
      {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE0FFF}};
  std::size_t commands = 0;
  bool at_start = true;
  for (std::size_t at = 0; at < log.size();) {
    const auto [code, length] = character_at(log, at);
    const std::string place = " at byte " + std::to_string(at);
    if (length == 0) return "no UTF-8" + place;
    for (const auto& [low, high] : dangers) {
      if (low <= code && code <= high) return "U+" + std::to_string(code) + place;
    }
    if (log.compare(at, 2, "##") == 0) return "##" + place;
    if (at_start && log.compare(at, 2, "::") == 0) ++commands;
    const bool is_blank = code == ' ' || code == 0xA0 || code == 0x3000;
    at_start = code == '\n' || (at_start && is_blank);
    at += length;
  }
  return commands == own_commands ? "" : std::to_string(commands) + " workflow commands";
}

inline void check_harmless(const ProgramResult& result, std::size_t own_commands = 0) {
  CAPTURE(result.output);
  CAPTURE(result.error);
  CHECK(danger_in(result.output, own_commands) == "");
  CHECK(danger_in(result.error) == "");
}

}  // namespace dmlop::test
