// Shows on standard error how far a batch is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dmlop::app {

/// On a terminal, one line that is rewritten. Elsewhere, a line now and then.
class Progress {
 public:
  Progress(std::optional<std::uint64_t> total, bool quiet);

  /// Counts a job that ended, and shows the progress if it is time to.
  void count(bool good);
  /// Clears the line to make room for other output.
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

/// Whether text on standard output may be colored: it is a terminal, and NO_COLOR is not set.
bool may_color_output();

}  // namespace dmlop::app
