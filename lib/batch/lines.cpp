// POSIX implementation of batch/lines.hpp.
#include "batch/lines.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace dmlop {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorKind::io_failed,
              "reading the jobs " + path + ": " + std::generic_category().message(errno));
}

// Waits for input; false when interruption is requested meanwhile.
bool wait_for_input(int descriptor) {
  constexpr int step_milliseconds = 100;
  pollfd ready{descriptor, POLLIN, 0};
  while (!interruption_requested()) {
    if (::poll(&ready, 1, step_milliseconds) > 0) return true;
  }
  return false;
}

bool is_regular_file(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

LineReader::LineReader(const std::string& path, std::size_t line_bytes_max)
    : path_(path),
      line_bytes_max_(line_bytes_max),
      descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(path);
  is_file_ = is_regular_file(descriptor_);
}

LineReader::~LineReader() {
  if (path_ != "-") ::close(descriptor_);
}

bool LineReader::fill() {
  constexpr std::size_t step = std::size_t{1} << 16;
  if (at_end_ || (!is_file_ && !wait_for_input(descriptor_))) return false;
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  if (buffer_.size() > line_bytes_max_) {
    throw Error(ErrorKind::invalid_input, "reading the jobs " + path_ + ": a line is longer than " +
                                              std::to_string(line_bytes_max_) + " bytes");
  }
  const std::size_t used = buffer_.size();
  buffer_.resize(used + step);
  ssize_t count = -1;
  do {
    count = ::read(descriptor_, buffer_.data() + used, step);
  } while (count < 0 && errno == EINTR && !interruption_requested());
  buffer_.resize(used + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0 && errno != EINTR && errno != EAGAIN) fail(path_);
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
