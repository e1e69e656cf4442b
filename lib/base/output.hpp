// All text that leaves the program on standard output and standard error. Text is data and is
// escaped (base/escape.hpp), so that no terminal and no CI service executes any of it; unescaped
// text is marked as such. No other file prints: security_test reads the sources. base/file.hpp
// writes files and pipes of bytes.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/system_file.hpp"

namespace dmlop {

/// A part of what is printed. It refers to its text and does not own it.
class Text {
 public:
  /// A literal of this program, printed unchanged.
  template <std::size_t size>
  consteval Text(const char (&literal)[size]) : kind_(Kind::verbatim), text_(literal, size - 1) {}
  /// Any other text, escaped as a part of one line.
  Text(std::string_view text) : kind_(Kind::part_of_line), text_(text) {}
  Text(const std::string& text) : Text(std::string_view(text)) {}
  /// A number, in decimal.
  template <std::integral Number>
  requires(!std::same_as<Number, bool> && !std::same_as<Number, char>) Text(Number number)
      : kind_(number < 0 ? Kind::negative : Kind::natural),
        number_(number < 0 ? 0 - static_cast<std::uint64_t>(number)
                           : static_cast<std::uint64_t>(number)) {}

  /// Text of several lines, each escaped as one line.
  static Text lines(std::string_view text) { return {Kind::lines, text}; }
  /// Text that this program made for other programs, printed unchanged. It must hold no text from
  /// files.
  static Text verbatim(std::string_view text) { return {Kind::verbatim, text}; }

 private:
  friend class Printer;
  enum class Kind : std::uint8_t { verbatim, part_of_line, lines, natural, negative };
  Text(Kind kind, std::string_view text) : kind_(kind), text_(text) {}

  Kind kind_;
  std::string_view text_;
  std::uint64_t number_ = 0;
};

/// Prints the parts one after another, from the start of a line. Needs no memory. finish_output()
/// reports whether anything could not be written.
void print(StandardStream stream, std::initializer_list<Text> parts);
inline void print(std::initializer_list<Text> parts) {
  print(StandardStream::output, parts);
}

/// The text followed by blanks, so that columns line up.
std::string padded(std::string text, std::size_t width);
/// A number with `digits` digits after the point.
std::string with_decimals(double number, int digits);

/// Hands what was printed to its reader.
void flush_output(StandardStream stream);
/// Whether everything that was printed to standard output has been written.
bool finish_output();

}  // namespace dmlop
