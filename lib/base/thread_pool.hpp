// Threads that wait for work. parallel_for (base/parallel.hpp) is what offers it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dmlop {

class ThreadPool {
 public:
  /// Work that several threads do together. The pool must outlive it.
  class Work {
   public:
    virtual ~Work() = default;
    /// Takes part as the given worker, until there is nothing left to begin.
    virtual void help(unsigned worker) = 0;

   private:
    friend class ThreadPool;
    // Threads of the pool that take part; changed with the pool's mutex.
    std::atomic<unsigned> running_ = 0;
  };

  /// The pool that all holders share. Its threads end with the last holder.
  static std::shared_ptr<ThreadPool> shared();

  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Lets `count` threads take part in the work as workers from `first` on, as soon as they are
  /// free. Returns how many it found a thread for: fewer if the system has none, or no memory.
  unsigned offer(Work& work, unsigned first, unsigned count);
  /// Takes back the offers that no thread has begun, waits for the others, and returns how many it
  /// took back. So nobody waits for a thread that has yet to wake up, and a process without its
  /// threads, after a fork, does all work itself.
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

}  // namespace dmlop
