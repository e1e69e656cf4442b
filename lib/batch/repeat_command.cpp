#include "batch/repeat_command.hpp"

#include <algorithm>
#include <string_view>

#include "base/escape.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

// Writes the bytes as escapes that printf's %b reads back.
std::string octal_escapes(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {'\\', '0', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
             static_cast<char>('0' + byte % 8)};
  }
  return text;
}

}  // namespace

std::string one_line_command(const std::string& command) {
  if (one_line(command) == command) return command;
  // Characters that a shell or CI service acts on in spite of quotes: ! in a shell's history, ## in
  // CI services.
  constexpr std::string_view special = "\\'!#";
  std::string quoted;
  for (std::string_view rest = command; !rest.empty();) {
    const Character character = first_character(rest);
    const std::size_t length = std::max<std::size_t>(character.length, 1);
    const bool stays = character.length != 0 && shows_as_itself(character.code) &&
                       special.find(rest[0]) == std::string_view::npos;
    quoted += stays ? std::string(rest.substr(0, length)) : octal_escapes(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return "eval \"$(printf %b '" + quoted + "')\"";
}

std::string repeat_command(const BatchJob& job, const BatchOptions& options) {
  if (!job.place.starts_with("-:"))
    return one_line_command(options.repeat_command + " --filter " +
                            shell_quoted(literal_pattern(job.id)));
  if (job.text.empty() || job.text.size() > recorded_bytes_max) return "";
  std::string text = job.text;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return one_line_command("printf '%s\\n' " + shell_quoted(text) + " | " + options.repeat_command);
}

}  // namespace dmlop
