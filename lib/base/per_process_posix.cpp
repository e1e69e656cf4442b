#include <pthread.h>

#include "base/per_process.hpp"

namespace dmlop {
namespace {

std::atomic<unsigned> fork_count{0};

void count_fork() {
  ++fork_count;
}
[[maybe_unused]] const int fork_handler =
    at_forks(/*before=*/nullptr, /*in_parent=*/nullptr, count_fork);

}  // namespace

unsigned forks() noexcept {
  return fork_count.load(std::memory_order_relaxed);
}

int at_forks(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  return ::pthread_atfork(before, in_parent, in_child);
}

}  // namespace dmlop
