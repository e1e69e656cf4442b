// How far a batch is, on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dmlop::app {

/// One line that is rewritten where standard error is a terminal; a line now and then elsewhere.
class Progress {
 public:
  Progress(std::optional<std::uint64_t> total, bool quiet);

  /// Counts a job that ended; shows the progress when it is time to.
  void count(bool good);
  /// Makes room for other output: clears the line.
  void clear();

 private:
  std::string text() const;

  std::optional<std::uint64_t> total_;
  bool quiet_;
  bool is_terminal_;
  std::uint64_t done_ = 0;
  std::uint64_t bad_ = 0;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_;
};

/// Whether text on standard output may be coloured: a terminal, and NO_COLOR is not set.
bool may_colour_output();

}  // namespace dmlop::app
