// Spreads work over threads and stops it. A request to stop takes effect soon because all long work
// is done in pieces: parallel_for() and in_pieces() run loops, and other work counts its steps with
// Steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/threshold.hpp"

namespace dmlop {

class ThreadPool;

/// The number of threads that the machine runs at the same time, at least 1.
unsigned hardware_threads();

/// Calls action(worker, index) for every index in [0, count), in any order, on up to `threads`
/// threads including the caller's. worker is in [0, threads). The first exception stops the rest
/// and is rethrown. Between two indices it stops as check_for_stop() says.
void parallel_for(unsigned threads, std::uint64_t count,
                  const std::function<void(unsigned worker, std::uint64_t index)>& action);

/// Calls action(phase, index) for every index in [0, count) of one phase after the other. No phase
/// begins before the one before has ended. Otherwise as parallel_for(), but threads wait for each
/// other without sleeping: it is for phases of microseconds.
void parallel_phases(unsigned threads, std::uint64_t phases, std::uint64_t count,
                     const std::function<void(std::uint64_t phase, std::uint64_t index)>& action);

/// While a KeptThreads lives, parallel_for keeps its threads for the next call. Otherwise each call
/// starts and ends its own. Several may exist.
class KeptThreads {
 public:
  KeptThreads();
  KeptThreads(KeptThreads&&) noexcept;
  ~KeptThreads();

 private:
  std::shared_ptr<ThreadPool> pool_;
};

/// While a SpareThreads lives, all parallel_for together use at most this many threads in addition
/// to their callers'. Without one, each uses as many as it asks for. Only one may exist at a time.
class SpareThreads {
 public:
  explicit SpareThreads(unsigned count);
  SpareThreads(const SpareThreads&) = delete;
  SpareThreads& operator=(const SpareThreads&) = delete;
  ~SpareThreads();

  /// Adds one, because a thread stopped working. Running loops start to use it.
  void add_one();
  /// Takes one away, because the thread works again. Running loops are not disturbed.
  void remove_one();
};

/// Asks running work to stop at its next step. Safe to call from a signal handler.
void request_interruption() noexcept;
bool interruption_requested() noexcept;

/// While a Deadline lives, work that its thread starts has to end within `seconds`. Otherwise it
/// ends with an error, which names the `option` that set the limit, if one is given.
class Deadline {
 public:
  explicit Deadline(std::optional<double> seconds, std::string_view option = {});
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();
};

/// While a StopWhen lives, work that its thread starts ends soon after `condition` is true. This
/// thread asks it every few milliseconds while it works. The innermost one counts.
class StopWhen {
 public:
  explicit StopWhen(std::function<bool()> condition);
  StopWhen(const StopWhen&) = delete;
  StopWhen& operator=(const StopWhen&) = delete;
  ~StopWhen();

  struct State;

 private:
  std::unique_ptr<State> state_;
  State* outer_;
};

/// Call this between the steps of long work. Errors: interrupted if interruption was requested, or
/// a StopWhen says so; run_failed if the deadline of this thread has passed.
void check_for_stop();

/// While a StopDeferred lives, check_for_stop() lets its thread continue. It is for work that
/// reports the stop.
class StopDeferred {
 public:
  StopDeferred();
  StopDeferred(const StopDeferred&) = delete;
  StopDeferred& operator=(const StopDeferred&) = delete;
  ~StopDeferred();
};

/// Work checks for a stop after this many steps. A step takes a few nanoseconds at most.
inline constexpr Threshold steps_at_once{std::uint64_t{1} << 20, 50};
/// How many steps it counts to read a place far from the one before. Its page may have to come from
/// a disk, together with megabytes around it.
inline constexpr std::uint64_t far_steps = std::uint64_t{1} << 15;

/// How many of `count` things may be done between two checks if each takes `steps_each` steps; at
/// least 1.
inline std::uint64_t count_at_once(std::uint64_t count, std::uint64_t steps_each) {
  const bool fits =
      count <= steps_at_once && steps_each <= steps_at_once && count * steps_each <= steps_at_once;
  if (fits) return std::max<std::uint64_t>(1, count);  // without a division
  return std::clamp<std::uint64_t>(steps_at_once / std::max<std::uint64_t>(1, steps_each), 1,
                                   count);
}

/// A loop over [0, count) whose iterations take `steps_each` steps. Calls action(begin, end) for
/// one piece after another. Before each piece it stops as check_for_stop() says.
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

/// Counts the steps of other work.
class Steps {
 public:
  /// Announces `steps` more steps. Every steps_at_once steps it stops as check_for_stop() says.
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
