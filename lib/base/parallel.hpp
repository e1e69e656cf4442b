// Work spread over threads, and the ways to stop it.
#pragma once

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

}  // namespace dmlop
