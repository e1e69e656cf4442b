// What a process that was forked must not share with its parent.
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>

namespace dmlop {

/// How many forks made this process out of the first one.
unsigned forks() noexcept;

/// Has these called around each fork, as pthread_atfork() does. Returns 0, so that a static can be
/// initialized with the call.
int at_forks(void (*before)(), void (*in_parent)(), void (*in_child)());

/// A value with a mutex or with threads. A child begins with a new one: it has none of its parent's
/// threads, and one of them may have held the mutex. The parent's is left as it is. It is kept
/// until the process ends, also for threads that outlive main(). The compiler guards no static of
/// this type, so that no thread of the parent can hold such a guard when it forks.
template <typename T>
class KeptPerProcess {
 public:
  constexpr KeptPerProcess() = default;
  KeptPerProcess(const KeptPerProcess&) = delete;
  KeptPerProcess& operator=(const KeptPerProcess&) = delete;

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

 protected:
  /// Takes the value of this process away.
  void reset() {
    if (find() != nullptr) delete current_.exchange(nullptr);
  }

 private:
  struct Made {
    unsigned forks_before = forks();
    T value;
  };
  std::atomic<Made*> current_ = nullptr;
};

/// The same, which goes with its owner.
template <typename T>
class PerProcess : public KeptPerProcess<T> {
 public:
  PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;
  ~PerProcess() { this->reset(); }
};

/// What a function without captures returns. Each process calls it when it first needs that. If
/// this was a local static, a child that is forked while it is made would wait for it for ever.
template <typename Make>
const std::invoke_result_t<Make>& made_once(Make) {
  struct Made {
    std::invoke_result_t<Make> value = Make()();
  };
  static constinit KeptPerProcess<Made> of_process;
  return of_process.get().value;
}

}  // namespace dmlop
