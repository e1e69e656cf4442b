// What a process that was forked must not share with its parent.
#pragma once

#include <atomic>
#include <memory>

namespace dmlop {

/// How many forks made this process out of the first one.
unsigned forks() noexcept;

/// A value with a mutex or with threads. A child begins with a new one: it has none of its parent's
/// threads, and one of them may have held the mutex. The parent's is left as it is.
template <typename T>
class PerProcess {
 public:
  PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;
  ~PerProcess() {
    if (find() != nullptr) delete current_.load();
  }

  /// That of this process, made when it is first asked for.
  T& get() {
    Made* current = current_;
    while (current == nullptr || current->forks_before != forks()) {
      auto other = std::make_unique<Made>();
      if (current_.compare_exchange_strong(current, other.get())) return other.release()->value;
    }
    return current->value;
  }
  /// Null where get() has not been called in this process.
  T* find() {
    Made* const current = current_;
    const bool is_its = current != nullptr && current->forks_before == forks();
    return is_its ? &current->value : nullptr;
  }

 private:
  struct Made {
    unsigned forks_before = forks();
    T value;
  };
  std::atomic<Made*> current_ = nullptr;
};

}  // namespace dmlop
