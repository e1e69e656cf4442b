#include "base/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#endif

#include "base/parallel.hpp"

namespace dmlop {
namespace {

// Work often follows work within microseconds, and to wake a thread takes longer. Where there are
// few processors, others need them.
constexpr std::chrono::microseconds looking_time{50};
constexpr unsigned enough_processors = 4;

/// Looks for a condition to come true, for a while. Returns whether it did.
template <typename Condition>
bool comes_true_soon(Condition&& condition) {
  if (hardware_threads() < enough_processors) return condition();
  constexpr int looks = 64;
  const auto end = std::chrono::steady_clock::now() + looking_time;
  do {
    for (int i = 0; i < looks; ++i) {
      if (condition()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

std::weak_ptr<ThreadPool> shared_pool;
// Of shared_pool. No other thread holds it when the process forks.
std::mutex shared_mutex;

#ifndef _WIN32
void before_fork() {
  shared_mutex.lock();
}
void after_fork() {
  shared_mutex.unlock();
}
[[maybe_unused]] const int fork_handlers = ::pthread_atfork(before_fork, after_fork, after_fork);
#endif

}  // namespace

class ThreadPool::Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads();

  unsigned offer(Work& work, unsigned first, unsigned count);
  unsigned withdraw(Work& work);

 private:
  struct Offer {
    Work* work;
    unsigned worker;
  };

  void run();
  /// Wakes threads for so many offers.
  void wake(std::size_t count);
  /// Waits for an offer, or for the end.
  void await_offer(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable offered_;
  std::condition_variable ended_;
  std::deque<Offer> offers_;
  // The number of offers, for those that look without the mutex.
  std::atomic<std::size_t> offers_left_ = 0;
  std::size_t idle_ = 0;
  std::atomic<bool> is_closed_ = false;
  std::vector<std::thread> threads_;
};

ThreadPool::Threads::~Threads() {
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
  }
  offered_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

unsigned ThreadPool::Threads::offer(Work& work, unsigned first, unsigned count) {
  unsigned offered = 0;
  try {
    const std::scoped_lock lock(mutex_);
    for (; offered < count; ++offered) {
      offers_.push_back({&work, first + offered});
      offers_left_ = offers_.size();
      if (idle_ >= offers_.size()) continue;
      try {
        threads_.reserve(threads_.size() + 1);
        threads_.emplace_back([this] { run(); });
      } catch (...) {
        offers_.pop_back();
        offers_left_ = offers_.size();
        throw;
      }
    }
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  wake(offered);
  return offered;
}

// To wake a thread takes long. So a thread wakes two, and each of these two more.
void ThreadPool::Threads::wake(std::size_t count) {
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 2); ++i) offered_.notify_one();
}

unsigned ThreadPool::Threads::withdraw(Work& work) {
  std::unique_lock lock(mutex_);
  const auto of_work = [&](const Offer& offer) { return offer.work == &work; };
  const auto taken = static_cast<unsigned>(std::erase_if(offers_, of_work));
  offers_left_ = offers_.size();
  const auto has_ended = [&] { return work.running_ == 0; };
  if (has_ended()) return taken;
  lock.unlock();
  if (comes_true_soon(has_ended)) return taken;
  lock.lock();
  ended_.wait(lock, has_ended);
  return taken;
}

void ThreadPool::Threads::await_offer(std::unique_lock<std::mutex>& lock) {
  ++idle_;
  if (offers_.empty() && !is_closed_) {
    lock.unlock();
    comes_true_soon([&] { return offers_left_ != 0 || is_closed_; });
    lock.lock();
  }
  offered_.wait(lock, [&] { return is_closed_ || !offers_.empty(); });
  --idle_;
}

void ThreadPool::Threads::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    await_offer(lock);
    if (is_closed_) return;
    const Offer offer = offers_.front();
    offers_.pop_front();
    offers_left_ = offers_.size();
    ++offer.work->running_;
    const std::size_t left = offers_left_;
    lock.unlock();
    wake(left);
    offer.work->help(offer.worker);
    lock.lock();
    if (--offer.work->running_ == 0) ended_.notify_all();
  }
}

std::shared_ptr<ThreadPool> ThreadPool::shared() {
  const std::scoped_lock lock(shared_mutex);
  std::shared_ptr<ThreadPool> pool = shared_pool.lock();
  if (!pool) shared_pool = pool = std::make_shared<ThreadPool>();
  return pool;
}

ThreadPool::ThreadPool() = default;
ThreadPool::~ThreadPool() = default;

unsigned ThreadPool::offer(Work& work, unsigned first, unsigned count) {
  try {
    return threads_.get().offer(work, first, count);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

unsigned ThreadPool::withdraw(Work& work) {
  Threads* const threads = threads_.find();
  return threads != nullptr ? threads->withdraw(work) : 0;
}

}  // namespace dmlop
