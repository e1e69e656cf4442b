// A named pipe for tests (POSIX).
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace dmlop::test {

inline void make_pipe(const std::string& path) {
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
}

/// A new pipe with a reader that reads nothing, so that a writer fills it and then waits.
class StalledPipe {
 public:
  explicit StalledPipe(const std::string& path) {
    make_pipe(path);
    reader_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(reader_ >= 0);
  }
  StalledPipe(const StalledPipe&) = delete;
  StalledPipe& operator=(const StalledPipe&) = delete;
  ~StalledPipe() { ::close(reader_); }

  /// Waits until the writer waits: the pipe has bytes and got no more for a second.
  void wait_until_full() const {
    constexpr std::chrono::milliseconds step(50);
    int bytes = 0;
    for (int steps = 0, unchanged = 0; unchanged < 20; ++steps) {
      REQUIRE_MESSAGE(steps < 600, "the pipe does not get full");
      const int before = bytes;
      REQUIRE(::ioctl(reader_, FIONREAD, &bytes) == 0);
      unchanged = bytes > 0 && bytes == before ? unchanged + 1 : 0;
      std::this_thread::sleep_for(step);
    }
  }

 private:
  int reader_ = -1;
};

/// Everything that a pipe delivered from its first writer's start to its last writer's end.
class PipeReader {
 public:
  explicit PipeReader(const std::string& path)
      : thread_([this, path] {
          std::ifstream file(path, std::ios::binary);
          text_.assign(std::istreambuf_iterator<char>(file), {});
        }) {}
  std::string text() {
    thread_.join();
    return text_;
  }

 private:
  std::string text_;
  std::jthread thread_;
};

}  // namespace dmlop::test
