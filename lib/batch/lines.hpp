// Lines of a file or of standard input, as they arrive.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/system_file.hpp"

namespace dmlop {

class LineReader {
 public:
  /// "-" is standard input. A line of more than `line_bytes_max` is an error. Errors: io_failed.
  LineReader(const std::string& path, std::size_t line_bytes_max);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end; nothing at the end of the input, or once interruption was
  /// requested and more input would have to be waited for. Errors: io_failed, invalid_input.
  std::optional<std::string> next();

 private:
  bool fill();

  std::string path_;
  std::size_t line_bytes_max_;
  SystemFile file_;
  bool is_regular_ = false;  // all of it is there already
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next line in the buffer
  std::size_t searched_ = 0;  // no line end before
  bool at_end_ = false;
};

}  // namespace dmlop
