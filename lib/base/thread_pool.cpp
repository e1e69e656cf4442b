#include "base/thread_pool.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "base/per_process.hpp"

namespace dmlop {
namespace {

// Work often follows work within microseconds, and to wake a thread takes longer. Where there are
// few processors, other programs need them sooner.
std::chrono::microseconds looking_time() {
  constexpr std::chrono::microseconds usual{200}, of_few_processors{50}, of_one{0};
  const unsigned processors = hardware_threads();
  return processors == 1 ? of_one : processors < 4 ? of_few_processors : usual;
}

/// Looks for a condition to come true, for a while. Returns whether it did.
template <typename Condition>
bool comes_true_soon(Condition&& condition) {
  constexpr int looks = 64;
  const auto end = std::chrono::steady_clock::now() + looking_time();
  do {
    for (int i = 0; i < looks; ++i) {
      if (condition()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

std::weak_ptr<ThreadPool> shared_pool;
// Of shared_pool. No other thread holds it when the process forks.
std::mutex shared_mutex;

void before_fork() {
  shared_mutex.lock();
}
void after_fork() {
  shared_mutex.unlock();
}
[[maybe_unused]] const int fork_handlers = at_forks(before_fork, after_fork, after_fork);

}  // namespace

// What a helper does: the lower bits of its state. The upper ones are the number of the call that
// it follows, so that nobody takes one call for another.
namespace {

enum class Doing : std::uint32_t {
  looking,   // for a call
  sleeping,  // until it is woken
  reserved,  // by a thread that is about to call it
  called,    // but has not seen it yet
  helping,
  awaited,  // helping, while a thread sleeps until it ends
  closed    // the pool ends
};

constexpr std::uint32_t state_of(unsigned number, Doing doing) {
  return number << 3 | static_cast<std::uint32_t>(doing);
}
constexpr Doing doing_of(std::uint32_t state) {
  return static_cast<Doing>(state & 7);
}
constexpr unsigned number_of(std::uint32_t state) {
  return state >> 3;
}

}  // namespace

/// A thread of the pool. Each has a state of its own, which it looks at while it waits: threads
/// that shared a queue and a mutex needed 100 us to begin together where there are 16 of them.
struct alignas(64) ThreadPool::Helper {
  std::atomic<std::uint32_t> state{state_of(0, Doing::reserved)};
  Work* work = nullptr;  // this and the next are written while it is reserved
  unsigned worker = 0;
  std::array<Helper*, 2> wakes{};
  std::thread thread;
  std::mutex mutex;  // of those that sleep
  std::condition_variable changed;

  /// Reserves it if it does this, and says with which call. Returns whether it did.
  bool reserve(Doing free, Call& call);
  void call(const Call& call, Work& of_work, unsigned as_worker);
  /// Ends a call that it does not follow yet. Returns whether it did.
  bool take_back(const Call& call);
  void await_end(const Call& call);
  void run();
  static void wake(const std::array<Helper*, 2>& sleepers);
  /// Wakes who sleeps because of its state, which was changed before.
  void wake();

 private:
  /// std::atomic's own wait() loses calls where the system has no futex (GCC's PR 106183).
  void sleep_while(std::uint32_t seen);
  void await_call();
  void follow(std::uint32_t state);
};

// To wake a thread takes long. So a thread wakes two, and each of these two more.
void ThreadPool::Helper::wake(const std::array<Helper*, 2>& sleepers) {
  for (Helper* const helper : sleepers) {
    if (helper != nullptr) helper->wake();
  }
}

void ThreadPool::Helper::wake() {
  { const std::scoped_lock lock(mutex); }  // a sleeper has seen the state, or sleeps
  changed.notify_all();
}

void ThreadPool::Helper::sleep_while(std::uint32_t seen) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return state.load() != seen; });
}

bool ThreadPool::Helper::reserve(Doing free, Call& call) {
  std::uint32_t seen = state.load(std::memory_order_relaxed);
  if (doing_of(seen) != free) return false;
  call = {this, number_of(seen) + 1, free == Doing::sleeping};
  return state.compare_exchange_strong(seen, state_of(call.number, Doing::reserved));
}

void ThreadPool::Helper::call(const Call& call, Work& of_work, unsigned as_worker) {
  work = &of_work;
  worker = as_worker;
  state.store(state_of(call.number, Doing::called));
}

bool ThreadPool::Helper::take_back(const Call& call) {
  std::uint32_t seen = state_of(call.number, Doing::called);
  return state.compare_exchange_strong(
      seen, state_of(call.number, call.was_asleep ? Doing::sleeping : Doing::looking));
}

void ThreadPool::Helper::await_end(const Call& call) {
  std::uint32_t is_helping = state_of(call.number, Doing::helping);
  const std::uint32_t is_awaited = state_of(call.number, Doing::awaited);
  if (comes_true_soon([&] { return state.load(std::memory_order_acquire) != is_helping; })) return;
  if (!state.compare_exchange_strong(is_helping, is_awaited)) return;
  sleep_while(is_awaited);
}

void ThreadPool::Helper::await_call() {
  const auto is_called = [&] {
    const Doing doing = doing_of(state.load(std::memory_order_acquire));
    return doing == Doing::called || doing == Doing::closed;
  };
  if (comes_true_soon(is_called)) return;
  std::uint32_t seen = state.load();
  if (doing_of(seen) == Doing::looking &&
      state.compare_exchange_strong(seen, state_of(number_of(seen), Doing::sleeping)))
    seen = state_of(number_of(seen), Doing::sleeping);
  for (; doing_of(seen) == Doing::sleeping; seen = state.load()) sleep_while(seen);
  if (doing_of(seen) == Doing::reserved) std::this_thread::yield();
}

void ThreadPool::Helper::follow(std::uint32_t seen) {
  const unsigned number = number_of(seen);
  if (!state.compare_exchange_strong(seen, state_of(number, Doing::helping)))
    return;  // it was taken back
  wake(wakes);
  work->help(worker);
  if (doing_of(state.exchange(state_of(number, Doing::looking))) == Doing::awaited) wake();
}

void ThreadPool::Helper::run() {
  while (true) {
    await_call();
    const std::uint32_t seen = state.load();
    if (doing_of(seen) == Doing::closed) return;
    if (doing_of(seen) == Doing::called) follow(seen);
  }
}

class ThreadPool::Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads();

  unsigned offer(Work& work, unsigned first, unsigned count);
  static unsigned withdraw(Work& work);

 private:
  static constexpr std::size_t most = 4096;

  /// Reserves helpers that do this, until the work has so many calls.
  void reserve(Doing free, std::vector<Call>& calls, std::size_t count);
  /// Starts another thread, which is reserved. Returns whether the system has one.
  bool start(Call& call);

  std::mutex mutex_;  // of those that start threads
  std::array<std::atomic<Helper*>, most> helpers_{};
  std::atomic<std::size_t> count_ = 0;
};

ThreadPool::Threads::~Threads() {
  for (std::size_t i = 0; i < count_; ++i) {
    helpers_[i].load()->state = state_of(0, Doing::closed);
    helpers_[i].load()->wake();
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const std::unique_ptr<Helper> helper(helpers_[i].load());
    helper->thread.join();
  }
}

void ThreadPool::Threads::reserve(Doing free, std::vector<Call>& calls, std::size_t count) {
  const std::size_t helpers = count_;
  for (std::size_t i = 0; i < helpers && calls.size() < count; ++i) {
    Call call{};
    if (helpers_[i].load(std::memory_order_relaxed)->reserve(free, call)) calls.push_back(call);
  }
}

bool ThreadPool::Threads::start(Call& call) {
  const std::scoped_lock lock(mutex_);
  if (count_ == most) return false;
  auto helper = std::make_unique<Helper>();
  call = {helper.get(), 0, false};
  helper->thread = std::thread([place = helper.get()] { place->run(); });
  helpers_[count_] = helper.release();
  ++count_;
  return true;
}

unsigned ThreadPool::Threads::offer(Work& work, unsigned first, unsigned count) {
  std::vector<Call>& calls = work.calls_;
  const std::size_t before = calls.size();
  std::size_t asleep = before;  // the first one that sleeps
  try {
    calls.reserve(before + count);
    reserve(Doing::looking, calls, before + count);
    asleep = calls.size();
    reserve(Doing::sleeping, calls, before + count);
    for (Call call{}; calls.size() < before + count && start(call);) calls.push_back(call);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  const auto sleeper = [&](std::size_t i) {
    return i < calls.size() && calls[i].was_asleep ? calls[i].helper : nullptr;
  };
  for (std::size_t i = before; i < calls.size(); ++i) {
    const std::size_t next = asleep + 2 * (i - asleep) + 2;
    const bool wakes = calls[i].was_asleep;
    calls[i].helper->wakes = {wakes ? sleeper(next) : nullptr, wakes ? sleeper(next + 1) : nullptr};
    calls[i].helper->call(calls[i], work, first + static_cast<unsigned>(i - before));
  }
  Helper::wake({sleeper(asleep), sleeper(asleep + 1)});
  return static_cast<unsigned>(calls.size() - before);
}

unsigned ThreadPool::Threads::withdraw(Work& work) {
  std::vector<Call>& calls = work.calls_;
  const auto taken_back =
      std::erase_if(calls, [](const Call& call) { return call.helper->take_back(call); });
  for (const Call& call : calls) call.helper->await_end(call);
  calls.clear();
  return static_cast<unsigned>(taken_back);
}

std::shared_ptr<ThreadPool> ThreadPool::shared() {
  const std::scoped_lock lock(shared_mutex);
  std::shared_ptr<ThreadPool> pool = shared_pool.lock();
  if (!pool) shared_pool = pool = std::make_shared<ThreadPool>();
  return pool;
}

ThreadPool::ThreadPool() = default;
ThreadPool::~ThreadPool() = default;

unsigned ThreadPool::offer(Work& work, unsigned first, unsigned count) {
  try {
    return threads_.get().offer(work, first, count);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

unsigned ThreadPool::withdraw(Work& work) {
  Threads* const threads = threads_.find();
  return threads != nullptr ? Threads::withdraw(work) : 0;
}

}  // namespace dmlop
