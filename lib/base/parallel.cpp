#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace dmlop {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

unsigned hardware_threads() {
  return std::max(1U, std::thread::hardware_concurrency());
}

void request_interruption() noexcept {
  interrupted.store(true, std::memory_order_relaxed);
}

bool interruption_requested() noexcept {
  return interrupted.load(std::memory_order_relaxed);
}

void parallel_for(unsigned threads, std::uint64_t count,
                  const std::function<void(unsigned, std::uint64_t)>& action) {
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&](unsigned worker) {
    try {
      while (!failed) {
        const std::uint64_t index = next.fetch_add(1, std::memory_order_relaxed);
        if (index >= count) return;
        if (interruption_requested()) throw Error(ErrorKind::interrupted, "interrupted");
        action(worker, index);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    const auto workers =
        static_cast<unsigned>(std::min<std::uint64_t>(std::max(1U, threads), count));
    for (unsigned worker = 1; worker < workers; ++worker) helpers.emplace_back(work, worker);
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace dmlop
