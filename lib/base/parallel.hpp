// Work spread over threads, and the ways to stop it. A request to stop takes effect soon because
// all long work comes in pieces: parallel_for() and in_pieces() give out loops, and what loops
// otherwise counts its steps with Steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace dmlop {

/// The number of threads the machine runs at once, at least 1.
unsigned hardware_threads();

/// Calls action(worker, index) for every index in [0, count), in any order, from up to `threads`
/// threads including the caller's; worker is in [0, threads). The first exception stops the rest
/// and is thrown on. Between two indices it stops as check_for_stop() says.
void parallel_for(unsigned threads, std::uint64_t count,
                  const std::function<void(unsigned worker, std::uint64_t index)>& action);

/// While one lives, all parallel_for together have at most so many threads beside their callers'.
/// Without one, each has as many as it asks for. One at a time.
class SpareThreads {
 public:
  explicit SpareThreads(unsigned count);
  SpareThreads(const SpareThreads&) = delete;
  SpareThreads& operator=(const SpareThreads&) = delete;
  ~SpareThreads();

  /// One more: a thread that itself works no longer. Work in progress takes it up.
  void add_one();
  /// One less: it works again. Work in progress is not disturbed.
  void remove_one();
};

/// Asks running work to stop at the next step; safe to call from a signal handler.
void request_interruption() noexcept;
bool interruption_requested() noexcept;

/// While one lives, what its thread starts has to end within `seconds`.
class Deadline {
 public:
  explicit Deadline(std::optional<double> seconds);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();
};

/// Called between the steps of long work. Errors: interrupted when interruption was requested;
/// run_failed when the deadline of this thread has passed.
void check_for_stop();

/// While one lives, check_for_stop() lets its thread go on: for what tells of the stop, such as
/// reports.
class StopDeferred {
 public:
  StopDeferred();
  StopDeferred(const StopDeferred&) = delete;
  StopDeferred& operator=(const StopDeferred&) = delete;
  ~StopDeferred();
};

/// Work is looked at for a stop after so many steps. A step takes a few nanoseconds at most.
inline constexpr std::uint64_t steps_at_once = std::uint64_t{1} << 20;
/// What it counts to read a place far from the one before: its page may have to come from a disk,
/// and megabytes with it.
inline constexpr std::uint64_t far_steps = std::uint64_t{1} << 15;

/// How many of `count` things that take so many steps each may be done at once, at least 1.
constexpr std::uint64_t count_at_once(std::uint64_t count, std::uint64_t steps_each) {
  const bool fits =
      count <= steps_at_once && steps_each <= steps_at_once && count * steps_each <= steps_at_once;
  if (fits) return std::max<std::uint64_t>(1, count);  // without a division
  return std::clamp<std::uint64_t>(steps_at_once / std::max<std::uint64_t>(1, steps_each), 1,
                                   count);
}

/// A loop over [0, count) whose iterations take `steps_each` steps: calls action(begin, end) for
/// one piece after the other. Before each it stops as check_for_stop() says.
template <typename Action>
void in_pieces(std::uint64_t count, std::uint64_t steps_each, Action&& action) {
  const std::uint64_t piece = count_at_once(count, steps_each);
  for (std::uint64_t begin = 0; begin < count;) {
    check_for_stop();
    const std::uint64_t end = begin + std::min(piece, count - begin);
    action(begin, end);
    begin = end;
  }
}

/// Counts the steps of work that is no such loop.
class Steps {
 public:
  /// So many more follow. Every steps_at_once it stops as check_for_stop() says.
  void add(std::uint64_t steps) {
    if (steps < left_) {
      left_ -= steps;
      return;
    }
    check_for_stop();
    left_ = steps_at_once;
  }

 private:
  std::uint64_t left_ = steps_at_once;
};

}  // namespace dmlop
