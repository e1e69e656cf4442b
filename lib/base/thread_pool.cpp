#include "base/thread_pool.hpp"

#include <algorithm>
#include <new>
#include <system_error>

namespace dmlop {

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

bool ThreadPool::offer(Work& work, unsigned worker) {
  try {
    const std::scoped_lock lock(mutex_);
    offers_.push_back({&work, worker});
    if (idle_ < offers_.size()) {
      try {
        threads_.reserve(threads_.size() + 1);
        threads_.emplace_back([this] { run(); });
      } catch (...) {
        offers_.pop_back();
        throw;
      }
    }
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  offered_.notify_one();
  return true;
}

unsigned ThreadPool::withdraw(Work& work) {
  std::unique_lock lock(mutex_);
  const auto of_work = [&](const Offer& offer) { return offer.work == &work; };
  const auto taken = static_cast<unsigned>(std::erase_if(offers_, of_work));
  ended_.wait(lock, [&] { return work.running_ == 0; });
  return taken;
}

void ThreadPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    offered_.wait(lock, [&] { return is_closed_ || !offers_.empty(); });
    --idle_;
    if (is_closed_) return;
    const Offer offer = offers_.front();
    offers_.pop_front();
    ++offer.work->running_;
    lock.unlock();
    offer.work->help(offer.worker);
    lock.lock();
    if (--offer.work->running_ == 0) ended_.notify_all();
  }
}

}  // namespace dmlop
