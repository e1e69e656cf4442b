// Text from files as part of a line of a terminal or a log: nothing in it is acted on, nothing in
// it is hidden. What prints is base/output.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/utf8.hpp"

namespace dmlop {

/// Takes text apart into what stays as it is and what is escaped. Needs no memory.
class LineEscaper {
 public:
  /// At the start of a line, CI services look for commands (::error); behind other text they do
  /// not.
  enum class Place { start_of_line, within_line };
  explicit LineEscaper(Place place) : is_at_start_(place == Place::start_of_line) {}

  /// Takes the first piece off `text`, which is not empty, and returns what is shown of it: a part
  /// of the text as it is, or an escape, which the next call replaces. Escapes are those of JSON,
  /// and \xff for a byte that is no UTF-8.
  std::string_view next(std::string_view& text);

  /// Says that text which is not escaped was shown in between. Behind its last '\n' a line starts.
  void pass(std::string_view text);

 private:
  bool must_escape(std::uint32_t code) const;
  void move_past(std::uint32_t code);
  std::string_view escape_of(const Character& character, unsigned char byte);

  std::array<char, 16> escape_{};
  bool is_at_start_;           // so far the line has blanks and colons only
  bool ends_in_hash_ = false;  // ## starts commands, too, anywhere in a line
};

/// Whether the character is shown as itself: no control, no end of a line, nothing invisible, and
/// nothing that turns the direction of text.
bool shows_as_itself(std::uint32_t code);

}  // namespace dmlop
