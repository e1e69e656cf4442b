#include "base/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

namespace dmlop {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits a moment without sleeping. To wake up takes a thread as long as a small operator takes to
/// compute, and in virtual machines longer.
template <typename Condition>
void wait_awake(Condition&& is_true) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds most{100};
  constexpr int looks = 32;
  const auto end = Clock::now() + most;
  do {
    for (int i = 0; i < looks; ++i) {
      if (is_true()) return;
      relax();
    }
    std::this_thread::yield();  // to whoever has work
  } while (Clock::now() < end);
}

}  // namespace

std::shared_ptr<ThreadPool> ThreadPool::shared() {
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> current;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<ThreadPool> pool = current.lock();
  if (!pool) current = pool = std::make_shared<ThreadPool>();
  return pool;
}

ThreadPool::~ThreadPool() {
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = has_news_ = true;
  }
  offered_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ThreadPool::offer(Work& work, unsigned worker) {
  bool is_seen = false;
  try {
    const std::scoped_lock lock(mutex_);
    offers_.push_back({&work, worker});
    is_seen = offers_.size() <= awake_;
    if (idle_ < offers_.size()) {
      try {
        threads_.reserve(threads_.size() + 1);
        threads_.emplace_back([this] { run(); });
      } catch (...) {
        offers_.pop_back();
        throw;
      }
    }
    has_news_ = true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (!is_seen) offered_.notify_one();
  return true;
}

unsigned ThreadPool::withdraw(Work& work) {
  std::unique_lock lock(mutex_);
  const auto of_work = [&](const Offer& offer) { return offer.work == &work; };
  const auto taken = static_cast<unsigned>(std::erase_if(offers_, of_work));
  has_news_ = is_closed_ || !offers_.empty();
  if (work.running_ != 0) {
    lock.unlock();
    wait_awake([&] { return work.running_ == 0; });
    lock.lock();
  }
  ended_.wait(lock, [&] { return work.running_ == 0; });
  return taken;
}

void ThreadPool::look_for_offers(std::unique_lock<std::mutex>& lock) {
  if (has_news_) return;
  ++awake_;
  lock.unlock();
  wait_awake([&] { return has_news_.load(); });
  lock.lock();
  --awake_;
}

void ThreadPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    look_for_offers(lock);
    offered_.wait(lock, [&] { return is_closed_ || !offers_.empty(); });
    --idle_;
    if (is_closed_) return;
    const Offer offer = offers_.front();
    offers_.pop_front();
    has_news_ = is_closed_ || !offers_.empty();
    ++offer.work->running_;
    lock.unlock();
    offer.work->help(offer.worker);
    lock.lock();
    if (--offer.work->running_ == 0) ended_.notify_all();
  }
}

}  // namespace dmlop
