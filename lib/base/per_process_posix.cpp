#include <pthread.h>

#include "base/per_process.hpp"

namespace dmlop {
namespace {

std::atomic<unsigned> fork_count{0};

void count_fork() {
  ++fork_count;
}
[[maybe_unused]] const int fork_handler =
    ::pthread_atfork(/*prepare=*/nullptr, /*parent=*/nullptr, count_fork);

}  // namespace

unsigned forks() noexcept {
  return fork_count.load(std::memory_order_relaxed);
}

}  // namespace dmlop
