#include "progress.hpp"

#include <algorithm>

#include "base/output.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"

namespace dmlop::app {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The time between two updates. A terminal is watched as it changes; a log is read later.
constexpr auto terminal_step = 100ms;
constexpr auto log_step = 10s;

}  // namespace

Progress::Progress(std::optional<std::uint64_t> total, bool quiet)
    : total_(total),
      quiet_(quiet),
      is_terminal_(is_terminal(StandardStream::error)),
      start_(Clock::now()),
      next_(start_ + (is_terminal_ ? Clock::duration(terminal_step) : Clock::duration(log_step))) {}

void Progress::count(bool good) {
  ++done_;
  if (!good) ++bad_;
  if (quiet_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  if (is_terminal_) {
    print(StandardStream::error, {"\r\033[K", text()});
    is_shown_ = true;
  } else {
    print(StandardStream::error, {text(), "\n"});
  }
  flush_output(StandardStream::error);
  next_ = now + (is_terminal_ ? Clock::duration(terminal_step) : Clock::duration(log_step));
}

void Progress::clear() {
  if (!is_shown_) return;
  print(StandardStream::error, {"\r\033[K"});
  flush_output(StandardStream::error);
  is_shown_ = false;
}

std::string Progress::text() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = static_cast<double>(done_) / seconds;
  std::string text = std::to_string(done_);
  if (total_) text += " of " + std::to_string(*total_);
  text += " jobs, " + std::to_string(bad_) + " not passed, " + rounded(rate) + " jobs/s";
  if (!total_) return text;
  const double rest = static_cast<double>(*total_ - std::min(*total_, done_));
  return text + ", " + rounded(std::max(1.0, rest / rate)) + " s left";
}

bool may_color_output() {
  return is_terminal(StandardStream::output) && environment_variable("NO_COLOR").empty();
}

}  // namespace dmlop::app
