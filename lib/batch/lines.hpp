// Lines of a file or of standard input, as they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/system_file.hpp"

namespace dmlop {

struct Line {
  std::string text;          // without its line end
  bool is_too_long = false;  // the line was skipped and there is no text
};

class LineReader {
 public:
  /// "-" is standard input. A line may have at most `line_bytes_max` bytes. Errors: io_failed.
  LineReader(const std::string& path, std::size_t line_bytes_max);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line. Returns nothing at the end of the input, or if interruption was requested and
  /// more input would have to be waited for. Errors: io_failed, also if the lines of a file changed
  /// while they were read; invalid_input for a line of more than 2^30 bytes.
  std::optional<Line> next();
  /// Whether these are the lines of a file that can be read again.
  bool is_regular() const { return is_regular_; }

 private:
  bool fill();
  Line take(std::size_t end);
  void forget_too_long_line();
  void require_intact() const;

  std::string path_;
  std::size_t line_bytes_max_;
  SystemFile file_;
  FileStatus opened_;
  bool is_regular_ = false;  // all of it is there already
  std::string buffer_;
  std::size_t begin_ = 0;      // of the next line in the buffer
  std::size_t searched_ = 0;   // there is no line end before this
  bool is_too_long_ = false;   // the buffer begins with the rest of a line that is too long
  std::uint64_t dropped_ = 0;  // bytes of that line
  bool at_end_ = false;
};

}  // namespace dmlop
