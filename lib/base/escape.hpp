// Makes text from files safe as part of a line on a terminal or in a log: nothing in it is
// executed, and nothing in it is hidden. base/output.hpp prints it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/utf8.hpp"

namespace dmlop {

/// Splits text into parts that stay as they are and parts that are escaped. Needs no memory.
class LineEscaper {
 public:
  /// CI services look for commands (::error) at the start of a line, but not after other text.
  enum class Place { start_of_line, within_line };
  explicit LineEscaper(Place place) : is_at_start_(place == Place::start_of_line) {}

  /// Takes the first piece off `text`, which is not empty, and returns how it is shown: a part of
  /// the text unchanged, or an escape, which the next call overwrites. Escapes are those of JSON,
  /// and \xff for a byte that is not UTF-8.
  std::string_view next(std::string_view& text);

  /// Records that unescaped text was shown in between. A new line starts after its last '
  /// '.
  void pass(std::string_view text);

 private:
  bool must_escape(std::uint32_t code) const;
  void move_past(std::uint32_t code);
  std::string_view escape_of(const Character& character, unsigned char byte);

  std::array<char, 16> escape_{};
  bool is_at_start_;           // so far the line has only blanks and colons
  bool ends_in_hash_ = false;  // ## also starts commands, anywhere in a line
};

/// Whether the character is shown as itself: it is no control, no line end, not invisible, and does
/// not turn the direction of text.
bool shows_as_itself(std::uint32_t code);

}  // namespace dmlop
