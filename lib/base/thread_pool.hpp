// Threads that wait for work. parallel_for (base/parallel.hpp) is what offers it.
#pragma once

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
    unsigned running_ = 0;  // threads of the pool that take part; the pool's mutex guards it
  };

  /// The pool that all holders share. Its threads end with the last holder.
  static std::shared_ptr<ThreadPool> shared();

  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Lets one thread take part in the work, as soon as one is free. Returns false if the system has
  /// no thread for it, or no memory.
  bool offer(Work& work, unsigned worker);
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

  std::mutex mutex_;
  std::condition_variable offered_;
  std::condition_variable ended_;
  std::deque<Offer> offers_;
  std::size_t idle_ = 0;
  bool is_closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dmlop
