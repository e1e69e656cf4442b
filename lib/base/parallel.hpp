// Work spread over threads.
#pragma once

#include <cstdint>
#include <functional>

namespace dmlop {

/// The number of threads the machine runs at once, at least 1.
unsigned hardware_threads();

/// Calls action(worker, index) for every index in [0, count), in any order, from up to `threads`
/// threads including the caller's; worker is in [0, threads). The first exception stops the rest
/// and is thrown on. Stops with Error(interrupted) when interruption was requested.
void parallel_for(unsigned threads, std::uint64_t count,
                  const std::function<void(unsigned worker, std::uint64_t index)>& action);

/// Asks running work to stop at the next step; safe to call from a signal handler.
void request_interruption() noexcept;
bool interruption_requested() noexcept;

}  // namespace dmlop
