#include "base/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

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
    is_closed_ = true;
  }
  offered_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

unsigned ThreadPool::offer(Work& work, unsigned first, unsigned count) {
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
void ThreadPool::wake(std::size_t count) {
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 2); ++i) offered_.notify_one();
}

unsigned ThreadPool::withdraw(Work& work) {
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

void ThreadPool::await_offer(std::unique_lock<std::mutex>& lock) {
  ++idle_;
  if (offers_.empty() && !is_closed_) {
    lock.unlock();
    comes_true_soon([&] { return offers_left_ != 0 || is_closed_; });
    lock.lock();
  }
  offered_.wait(lock, [&] { return is_closed_ || !offers_.empty(); });
  --idle_;
}

void ThreadPool::run() {
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

}  // namespace dmlop
