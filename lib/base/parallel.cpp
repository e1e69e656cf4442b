#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"

namespace dmlop {

using Clock = std::chrono::steady_clock;

/// What a StopWhen and the threads that work for it share.
struct StopWhen::State {
  std::function<bool()> condition;
  std::thread::id asker = std::this_thread::get_id();
  Clock::time_point next_time;  // for the asker alone
  std::atomic<bool> is_true{false};

  bool should_stop();
};

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// When the work of a thread has to end, and how much time it was given.
struct End {
  Clock::time_point when = Clock::time_point::max();
  double seconds = 0;
  std::string_view option;
};
thread_local End thread_end;
thread_local int deferrals = 0;  // of this thread
thread_local StopWhen::State* thread_stop = nullptr;

/// Often enough for people, and rare enough for conditions that take a microsecond.
constexpr std::chrono::milliseconds between_questions{20};

constexpr int unlimited = std::numeric_limits<int>::max();
std::atomic<int> spare_threads{unlimited};

bool take_spare_thread() {
  int spare = spare_threads.load(std::memory_order_relaxed);
  while (spare != unlimited && spare > 0) {
    if (spare_threads.compare_exchange_weak(spare, spare - 1)) return true;
  }
  return spare == unlimited;
}

void give_spare_thread() {
  int spare = spare_threads.load(std::memory_order_relaxed);
  while (spare != unlimited && !spare_threads.compare_exchange_weak(spare, spare + 1)) {
  }
}

/// One call of parallel_for: its indices, its threads and its first failure.
class Loop : public ThreadPool::Work {
 public:
  Loop(unsigned threads, std::uint64_t count,
       const std::function<void(unsigned, std::uint64_t)>& action)
      : workers_(static_cast<unsigned>(std::min<std::uint64_t>(std::max(1U, threads), count))),
        count_(count),
        action_(action) {}

  void run() {
    work(0);
    if (pool_) {
      for (unsigned left = pool_->withdraw(*this); left > 0; --left) give_spare_thread();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  void help(unsigned worker) override {
    thread_end = end_;
    thread_stop = stop_;
    work(worker);
    thread_stop = nullptr;
    thread_end = {};
    give_spare_thread();
  }

 private:
  void work(unsigned worker) {
    try {
      while (!failed_) {
        const std::uint64_t index = next_.fetch_add(1, std::memory_order_relaxed);
        if (index >= count_) return;
        check_for_stop();
        if (worker == 0) call_helpers(index);
        action_(worker, index);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
  }

  // Calls as many threads as there are work and room for; more follow when threads become free.
  // Where the system has none, the existing ones do the work.
  void call_helpers(std::uint64_t index) {
    const std::uint64_t most = std::min<std::uint64_t>(workers_ - 1 - helpers_, count_ - 1 - index);
    unsigned wanted = 0;
    while (wanted < most && take_spare_thread()) ++wanted;
    if (wanted == 0) return;
    if (!pool_) pool_ = ThreadPool::shared();
    const unsigned called = pool_->offer(*this, helpers_ + 1, wanted);
    helpers_ += called;
    for (unsigned i = called; i < wanted; ++i) give_spare_thread();
    if (called < wanted) workers_ = helpers_ + 1;
  }

  unsigned workers_;
  std::uint64_t count_;
  const std::function<void(unsigned, std::uint64_t)>& action_;
  const End end_ = thread_end;
  StopWhen::State* const stop_ = thread_stop;
  std::shared_ptr<ThreadPool> pool_;
  unsigned helpers_ = 0;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
  std::mutex mutex_;
};

/// One call of parallel_phases. Threads take the indices of all phases in order: whoever waits for
/// a phase waits for threads that compute.
class Phases {
 public:
  Phases(std::uint64_t phases, std::uint64_t count,
         const std::function<void(std::uint64_t, std::uint64_t)>& action)
      : total_(phases * count), count_(count), action_(action) {}

  void run() {
    try {
      for (;;) {
        const std::uint64_t taken = next_.fetch_add(1, std::memory_order_relaxed);
        if (taken >= total_ || !wait_for(taken / count_ * count_)) return;
        action_(taken / count_, taken % count_);
        done_.fetch_add(1, std::memory_order_acq_rel);
      }
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

 private:
  // Whether all before are done, and none has failed.
  bool wait_for(std::uint64_t before) const {
    constexpr int looks = 256;
    for (int i = 0; done_.load(std::memory_order_acquire) < before; ++i) {
      if (failed_) return false;
      if (i >= looks) std::this_thread::yield();
    }
    return !failed_;
  }

  std::uint64_t total_, count_;
  const std::function<void(std::uint64_t, std::uint64_t)>& action_;
  std::atomic<std::uint64_t> next_{0}, done_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace

unsigned hardware_threads() {
  // Asking the system takes 40 us, longer than a small run.
  static const unsigned count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

KeptThreads::KeptThreads() : pool_(ThreadPool::shared()) {}

KeptThreads::KeptThreads(KeptThreads&&) noexcept = default;
KeptThreads::~KeptThreads() = default;

SpareThreads::SpareThreads(unsigned count) {
  spare_threads = static_cast<int>(count);
}

SpareThreads::~SpareThreads() {
  spare_threads = unlimited;
}

void SpareThreads::add_one() {
  give_spare_thread();
}

void SpareThreads::remove_one() {
  --spare_threads;  // below zero until a helper ends
}

void request_interruption() noexcept {
  interrupted.store(true, std::memory_order_relaxed);
}

bool interruption_requested() noexcept {
  return interrupted.load(std::memory_order_relaxed);
}

Deadline::Deadline(std::optional<double> seconds, std::string_view option) {
  if (!seconds) return;
  const auto span = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(*seconds, 1e9)));
  thread_end = {Clock::now() + span, *seconds, option};
}

Deadline::~Deadline() {
  thread_end = {};
}

StopWhen::StopWhen(std::function<bool()> condition)
    : state_(std::make_unique<State>()), outer_(thread_stop) {
  state_->condition = std::move(condition);
  state_->next_time = Clock::now() + between_questions;
  thread_stop = state_.get();
}

StopWhen::~StopWhen() {
  thread_stop = outer_;
}

bool StopWhen::State::should_stop() {
  if (is_true.load(std::memory_order_relaxed)) return true;
  if (std::this_thread::get_id() != asker) return false;
  const auto now = Clock::now();
  if (now < next_time) return false;
  next_time = now + between_questions;
  if (condition()) is_true = true;
  return is_true;
}

StopDeferred::StopDeferred() {
  ++deferrals;
}

StopDeferred::~StopDeferred() {
  --deferrals;
}

void check_for_stop() {
  if (deferrals != 0) return;
  if (interruption_requested()) throw Error(ErrorKind::interrupted, "interrupted");
  if (thread_stop != nullptr && thread_stop->should_stop())
    throw Error(ErrorKind::interrupted, "stopped by the caller");
  if (thread_end.when == Clock::time_point::max() || Clock::now() < thread_end.when) return;
  std::string message = "stopped after " + rounded(thread_end.seconds) + " s";
  if (!thread_end.option.empty()) message += " (" + std::string(thread_end.option) + ")";
  throw Error(ErrorKind::run_failed, message);
}

void parallel_for(unsigned threads, std::uint64_t count,
                  const std::function<void(unsigned, std::uint64_t)>& action) {
  Loop(threads, count, action).run();
}

void parallel_phases(unsigned threads, std::uint64_t phases, std::uint64_t count,
                     const std::function<void(std::uint64_t, std::uint64_t)>& action) {
  Phases work(phases, count, action);
  const std::uint64_t workers = std::min<std::uint64_t>(std::max(1U, threads), count);
  parallel_for(threads, workers, [&](unsigned, std::uint64_t) { work.run(); });
}

}  // namespace dmlop
