#include "batch/lines.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace dmlop {
namespace {

// A line that is too long is skipped up to this length.
constexpr std::uint64_t dropped_max = std::uint64_t{1} << 30;

[[noreturn]] void fail_reading_line(const std::string& path, const std::error_code& error) {
  throw Error(ErrorKind::io_failed, "reading the jobs " + path + ": " + reason(error));
}

// Waits for input. Returns false if interruption is requested meanwhile.
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
  if (error) fail_reading_line(path, error);
  file_.wait_for_running_write();
  opened_ = file_.status(error);
  is_regular_ = opened_.kind == FileKind::regular;
}

// Lines may be added during reading, but those that were read must not change.
void LineReader::require_intact() const {
  std::error_code error;
  const FileChange change = change_between(opened_, file_.status(error));
  if (error) fail_reading_line(path_, error);
  if (change != FileChange::none && change != FileChange::longer)
    throw Error(ErrorKind::io_failed, "reading the jobs " + path_ +
                                          ": the file was changed while it was read; run this "
                                          "again when nothing writes to the file");
}

bool LineReader::fill() {
  constexpr std::size_t step = std::size_t{1} << 16;
  if (at_end_ || (!is_regular_ && !wait_for_input(file_))) return false;
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  forget_too_long_line();
  const std::size_t used = buffer_.size();
  buffer_.resize(used + step);
  std::error_code error;
  const std::size_t count =
      file_.read_some(std::as_writable_bytes(std::span(buffer_).subspan(used)), error);
  buffer_.resize(used + count);
  if (error) fail_reading_line(path_, error);
  at_end_ = count == 0;
  if (at_end_ && is_regular_) require_intact();
  return !at_end_;
}

// The whole buffer is part of one line that is too long. Forgetting it keeps memory bounded.
void LineReader::forget_too_long_line() {
  if (!is_too_long_ && buffer_.size() <= line_bytes_max_) return;
  dropped_ = (is_too_long_ ? dropped_ : 0) + buffer_.size();
  if (dropped_ > dropped_max)
    throw Error(ErrorKind::invalid_input, "reading the jobs " + path_ + ": a line has more than " +
                                              std::to_string(dropped_max) + " bytes");
  is_too_long_ = true;
  std::string().swap(buffer_);
  searched_ = 0;
}

// Returns the line that ends at `end` in the buffer.
Line LineReader::take(std::size_t end) {
  const bool is_too_long = std::exchange(is_too_long_, false) || end - begin_ > line_bytes_max_;
  Line line{is_too_long ? "" : buffer_.substr(begin_, end - begin_), is_too_long};
  begin_ = searched_ = std::min(end + 1, buffer_.size());
  return line;
}

std::optional<Line> LineReader::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) return take(end);
    searched_ = buffer_.size();
    if (fill()) continue;
    if (!at_end_ || (begin_ == buffer_.size() && !is_too_long_)) return std::nullopt;
    return take(buffer_.size());  // the last line, which has no line end
  }
}

}  // namespace dmlop
