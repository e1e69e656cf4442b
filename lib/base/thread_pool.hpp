// Threads that wait for work. parallel_for (base/parallel.hpp) is what offers it.
#pragma once

#include <memory>
#include <vector>

#include "base/per_process.hpp"

namespace dmlop {

class ThreadPool {
  class Threads;
  struct Helper;
  /// A thread that was called to take part in some work.
  struct Call {
    Helper* helper;
    unsigned number;  // of the calls of this thread
    bool was_asleep;
  };

 public:
  /// Work that several threads do together. The pool must outlive it. One thread offers it.
  class Work {
   public:
    virtual ~Work() = default;
    /// Takes part as the given worker, until there is nothing left to begin.
    virtual void help(unsigned worker) = 0;

   private:
    friend class ThreadPool::Threads;
    std::vector<Call> calls_;
  };

  /// The pool that all holders share. Its threads end with the last holder.
  static std::shared_ptr<ThreadPool> shared();

  ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Calls `count` threads to take part in the work, as workers from `first` on. Returns how many
  /// it called: fewer if the system has none, or no memory.
  unsigned offer(Work& work, unsigned first, unsigned count);
  /// Takes back the calls that no thread has followed yet, waits for the others to end, and returns
  /// how many it took back. So nobody waits for a thread that has yet to wake up.
  unsigned withdraw(Work& work);

 private:
  PerProcess<Threads> threads_;
};

}  // namespace dmlop
