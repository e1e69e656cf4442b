// Lines of a file or of standard input, as they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/system_file.hpp"

namespace dmlop {

struct Line {
  std::string text;          // without its end
  bool is_too_long = false;  // and was read over: there is no text
};

class LineReader {
 public:
  /// "-" is standard input. A line may have `line_bytes_max`. Errors: io_failed.
  LineReader(const std::string& path, std::size_t line_bytes_max);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line; nothing at the end of the input, or once interruption was requested and more
  /// input would have to be waited for. Errors: io_failed, also when the lines of a file were
  /// changed while they were read; invalid_input for a line of more than 2^30 bytes.
  std::optional<Line> next();

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
  std::size_t searched_ = 0;   // no line end before
  bool is_too_long_ = false;   // the line whose rest the buffer begins with
  std::uint64_t dropped_ = 0;  // bytes of that line
  bool at_end_ = false;
};

}  // namespace dmlop
