#include "hostile.hpp"

namespace dmlop::test {

std::pair<std::uint32_t, std::size_t> character_at(const std::string& text, std::size_t at) {
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

std::string danger_in(const std::string& log, std::size_t own_commands) {
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

void check_harmless(const ProgramResult& result, std::size_t own_commands) {
  CAPTURE(result.output);
  CAPTURE(result.error);
  CHECK(danger_in(result.output, own_commands) == "");
  CHECK(danger_in(result.error) == "");
}

}  // namespace dmlop::test
