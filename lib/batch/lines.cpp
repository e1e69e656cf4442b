#include "batch/lines.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace dmlop {
namespace {

[[noreturn]] void fail(const std::string& path, const std::error_code& error) {
  throw Error(ErrorKind::io_failed, "reading the jobs " + path + ": " + reason(error));
}

// Waits for input; false when interruption is requested meanwhile.
bool wait_for_input(SystemFile& file) {
  constexpr int step_milliseconds = 100;
  while (!interruption_requested()) {
    if (file.wait_for_input(step_milliseconds)) return true;
  }
  return false;
}

}  // namespace

LineReader::LineReader(const std::string& path, std::size_t line_bytes_max)
    : path_(path), line_bytes_max_(line_bytes_max) {
  std::error_code error;
  file_ = path == "-" ? SystemFile::standard_input() : SystemFile::open_to_read(path, error);
  if (error) fail(path, error);
  is_regular_ = file_.status(error).kind == FileKind::regular;
}

bool LineReader::fill() {
  constexpr std::size_t step = std::size_t{1} << 16;
  if (at_end_ || (!is_regular_ && !wait_for_input(file_))) return false;
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  if (buffer_.size() > line_bytes_max_) {
    throw Error(ErrorKind::invalid_input, "reading the jobs " + path_ + ": a line is longer than " +
                                              std::to_string(line_bytes_max_) + " bytes");
  }
  const std::size_t used = buffer_.size();
  buffer_.resize(used + step);
  std::error_code error;
  const std::size_t count =
      file_.read_some(std::as_writable_bytes(std::span(buffer_).subspan(used)), error);
  buffer_.resize(used + count);
  if (error) fail(path_, error);
  at_end_ = count == 0;
  return !at_end_;
}

std::optional<std::string> LineReader::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(begin_, end - begin_);
      begin_ = searched_ = end + 1;
      return line;
    }
    searched_ = buffer_.size();
    if (fill()) continue;
    if (begin_ == buffer_.size() || !at_end_) return std::nullopt;
    std::string line = buffer_.substr(begin_);  // the last one, without an end
    begin_ = searched_ = buffer_.size();
    return line;
  }
}

}  // namespace dmlop
