// Threads that wait for work. parallel_for (base/parallel.hpp) is what offers it.
#pragma once

#include <atomic>
#include <memory>

#include "base/per_process.hpp"

namespace dmlop {

class ThreadPool {
  class Threads;

 public:
  /// Work that several threads do together. The pool must outlive it.
  class Work {
   public:
    virtual ~Work() = default;
    /// Takes part as the given worker, until there is nothing left to begin.
    virtual void help(unsigned worker) = 0;

   private:
    friend class ThreadPool::Threads;
    // Threads of the pool that take part; changed with the pool's mutex.
    std::atomic<unsigned> running_ = 0;
  };

  /// The pool that all holders share. Its threads end with the last holder.
  static std::shared_ptr<ThreadPool> shared();

  ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Lets `count` threads take part in the work as workers from `first` on, as soon as they are
  /// free. Returns how many it found a thread for: fewer if the system has none, or no memory.
  unsigned offer(Work& work, unsigned first, unsigned count);
  /// Takes back the offers that no thread has begun, waits for the others, and returns how many it
  /// took back. So nobody waits for a thread that has yet to wake up.
  unsigned withdraw(Work& work);

 private:
  PerProcess<Threads> threads_;
};

}  // namespace dmlop
