// What base/parallel.hpp promises.
#include "base/parallel.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/per_process.hpp"

namespace dmlop::test::parallel_test {
namespace {

TEST_CASE("parallel_for: every index once, by workers below the number of threads") {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    for (const std::uint64_t count : {0U, 1U, 2U, 5U, 1000U}) {
      CAPTURE(threads);
      CAPTURE(count);
      std::vector<std::atomic<int>> calls(count);
      std::atomic<unsigned> highest_worker{0};
      parallel_for(threads, count, [&](unsigned worker, std::uint64_t index) {
        ++calls.at(index);
        unsigned highest = highest_worker;
        while (worker > highest && !highest_worker.compare_exchange_weak(highest, worker)) {
        }
      });
      int wrong = 0;
      for (const auto& calls_of_one : calls) wrong += calls_of_one == 1 ? 0 : 1;
      CHECK(wrong == 0);
      CHECK(highest_worker < std::max(1U, threads));
    }
  }
}

// The threads that take part in a loop of so many.
std::set<std::thread::id> ids_of_loop(unsigned threads) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<unsigned> arrived{0};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  parallel_for(threads, threads, [&](unsigned, std::uint64_t) {
    {
      const std::scoped_lock lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    ++arrived;
    // Nobody leaves before all are here, so that nobody can do another's part.
    while (arrived < threads && std::chrono::steady_clock::now() < give_up)
      std::this_thread::yield();
  });
  return seen;
}

TEST_CASE("parallel_for: runs on as many threads as asked, the caller's among them") {
  const std::set<std::thread::id> seen = ids_of_loop(3);
  CHECK(seen.size() == 3);
  CHECK(seen.contains(std::this_thread::get_id()));
}

TEST_CASE("KeptThreads: the threads of a loop wait for the next one") {
  const KeptThreads kept;
  const auto first = ids_of_loop(4);
  CHECK(first.size() == 4);
  for (int i = 0; i < 20; ++i) CHECK(ids_of_loop(4) == first);
  auto more = ids_of_loop(6);
  CHECK(more.size() == 6);
  for (const std::thread::id thread : first) CHECK(more.contains(thread));
}

/// Whether a child of this process ends well after it has done this.
template <typename Action>
bool ends_well_after_a_fork(Action&& action) {
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    ::alarm(120);  // whoever waits for a thread that is not there waits for ever
    ::_exit(action() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

std::atomic<bool> is_making = false, may_end = false;

// A child would wait for ever for a local static.
TEST_CASE("made_once: a child that is forked while another thread makes something makes its own") {
  const auto made = []() -> const int& {
    return made_once([] {
      is_making = true;
      while (!may_end) std::this_thread::yield();
      return 7;
    });
  };
  std::thread first(made);
  while (!is_making) std::this_thread::yield();
  CHECK(ends_well_after_a_fork([&] {
    may_end = true;
    return made() == 7;
  }));
  may_end = true;
  first.join();
  CHECK(made() == 7);
  CHECK(&made() == &made());
}

// A child has none of its parent's threads.
TEST_CASE("KeptThreads: after a fork, the child has threads of its own, and can let them go") {
  auto kept = std::make_unique<KeptThreads>();
  REQUIRE(ids_of_loop(4).size() == 4);
  CHECK(ends_well_after_a_fork([&] {
    const auto first = ids_of_loop(4);
    const bool is_kept = first.size() == 4 && ids_of_loop(4) == first;
    kept.reset();
    return is_kept && ids_of_loop(3).size() == 3;
  }));
  CHECK(ends_well_after_a_fork([&] {
    kept.reset();
    return ids_of_loop(3).size() == 3;
  }));
  CHECK(ids_of_loop(4).size() == 4);
}

TEST_CASE("KeptThreads: a process may fork while another of its threads computes") {
  auto kept = std::make_unique<KeptThreads>();
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) parallel_for(3, 8, [](unsigned, std::uint64_t) {});
  });
  int wrong = 0;
  for (int i = 0; i < 50; ++i) {
    wrong += ends_well_after_a_fork([&] {
      const bool has_threads = ids_of_loop(3).size() == 3;
      kept.reset();
      return has_threads && ids_of_loop(2).size() == 2;
    })
                 ? 0
                 : 1;
    if (wrong > 0) break;
  }
  is_over = true;
  other.join();
  CHECK(wrong == 0);
}

TEST_CASE("parallel_for: one worker works at one index at a time") {
  constexpr unsigned threads = 4;
  std::vector<std::atomic<bool>> busy(threads);
  std::atomic<int> collisions{0};
  parallel_for(threads, 2000, [&](unsigned worker, std::uint64_t) {
    if (busy.at(worker).exchange(true)) ++collisions;
    std::this_thread::yield();
    busy.at(worker) = false;
  });
  CHECK(collisions == 0);
}

TEST_CASE("parallel_for: an exception stops the rest and is thrown on") {
  for (const unsigned threads : {1U, 4U}) {
    CAPTURE(threads);
    std::atomic<std::uint64_t> calls{0};
    const auto fail_at_10 = [&](unsigned, std::uint64_t index) {
      ++calls;
      if (index == 10) throw std::runtime_error("at 10");
      std::this_thread::yield();
    };
    CHECK_THROWS_WITH(parallel_for(threads, 100'000'000, fail_at_10), "at 10");
    CHECK(calls < 100'000'000);
    if (threads == 1) CHECK(calls == 11);
  }
}

/// Loops of all lengths, some of which end by an exception; sometimes it waits until threads sleep.
int wrong_loops(unsigned seed, int loops) {
  int wrong = 0;
  for (int i = 0; i < loops; ++i) {
    seed = seed * 1664525 + 1013904223;
    const unsigned threads = 1 + (seed >> 8) % 6;
    const std::uint64_t count = (seed >> 16) % 30, failing = (seed >> 12) % 40;
    std::vector<int> calls(count);
    bool has_failed = false;
    try {
      parallel_for(threads, count, [&](unsigned, std::uint64_t index) {
        ++calls[index];
        if (index == failing) throw std::runtime_error("on purpose");
      });
    } catch (const std::runtime_error&) {
      has_failed = true;
    }
    wrong += has_failed == (failing < count) ? 0 : 1;
    for (const int number : calls) wrong += number == 1 || (has_failed && number == 0) ? 0 : 1;
    if (seed % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  return wrong;
}

TEST_CASE("parallel_for: threads may run loops at the same time, again and again") {
  const KeptThreads kept;
  std::vector<int> wrong(4, -1);
  {
    std::vector<std::jthread> callers;
    for (unsigned i = 0; i < wrong.size(); ++i)
      callers.emplace_back([&wrong, i] { wrong[i] = wrong_loops(i + 1, 3000); });
  }
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("parallel_for: of several exceptions one is thrown on") {
  CHECK_THROWS_AS(
      parallel_for(4, 100, [](unsigned, std::uint64_t) { throw Error(ErrorKind::io_failed, "x"); }),
      Error);
}

TEST_CASE("parallel_for: nothing to do calls nothing") {
  parallel_for(4, 0, [](unsigned, std::uint64_t) { FAIL("called"); });
}

TEST_CASE("parallel_phases: every index of every phase once, and no phase before its time") {
  for (const unsigned threads : {1U, 3U, 8U}) {
    CAPTURE(threads);
    constexpr std::uint64_t phases = 50, count = 7;
    std::vector<std::atomic<int>> calls(phases * count);
    std::atomic<int> early{0};
    parallel_phases(threads, phases, count, [&](std::uint64_t phase, std::uint64_t index) {
      for (std::uint64_t i = 0; phase > 0 && i < count; ++i)
        early += calls.at((phase - 1) * count + i) == 1 ? 0 : 1;
      std::this_thread::yield();
      ++calls.at(phase * count + index);
    });
    int wrong = 0;
    for (const auto& calls_of_one : calls) wrong += calls_of_one == 1 ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(early == 0);
  }
}

TEST_CASE("parallel_phases: an exception stops the rest and is thrown on") {
  for (const unsigned threads : {1U, 4U}) {
    CAPTURE(threads);
    std::atomic<std::uint64_t> last{0};
    CHECK_THROWS_WITH(parallel_phases(threads, 1000, 4,
                                      [&](std::uint64_t phase, std::uint64_t index) {
                                        if (phase == 3 && index == 1)
                                          throw std::runtime_error("in phase 3");
                                        if (phase > last) last = phase;
                                      }),
                      "in phase 3");
    CHECK(last <= 3);
  }
}

TEST_CASE("hardware_threads: at least one") {
  CHECK(hardware_threads() >= 1);
}

/// Interrupts at index 3 of 100, in a process of its own, as an interruption is for good. The exit
/// status is the number of calls; 200 and more are failures.
int calls_until_interrupted() {
  int calls = 0;
  try {
    parallel_for(1, 100, [&](unsigned, std::uint64_t index) {
      ++calls;
      if (index == 3) request_interruption();
    });
  } catch (const Error& error) {
    return error.kind() == ErrorKind::interrupted && interruption_requested() ? calls : 200;
  }
  return 201;
}

TEST_CASE("request_interruption: stops at the next step with Error(interrupted)") {
  CHECK_FALSE(interruption_requested());
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(calls_until_interrupted());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 4);
}

/// How many threads a parallel_for that asks for 8 has, told by all being there at the same time:
/// nobody leaves before `expected` are here and a moment has passed in which one more could come.
std::size_t threads_of_loop(unsigned expected) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<unsigned> arrived{0};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  parallel_for(8, 1000, [&](unsigned, std::uint64_t) {
    bool is_first = false;
    {
      const std::scoped_lock lock(mutex);
      is_first = seen.insert(std::this_thread::get_id()).second;
    }
    if (!is_first) return;
    ++arrived;
    while (arrived < expected && std::chrono::steady_clock::now() < give_up)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  return seen.size();
}

TEST_CASE("SpareThreads: loops have their caller and the spare ones, and give them back") {
  for (const unsigned spare : {0U, 1U, 3U}) {
    CAPTURE(spare);
    const SpareThreads threads(spare);
    CHECK(threads_of_loop(spare + 1) == spare + 1);
    CHECK(threads_of_loop(spare + 1) == spare + 1);
    const auto fail = [](unsigned, std::uint64_t) { throw std::runtime_error("x"); };
    CHECK_THROWS(parallel_for(8, 1000, fail));
    CHECK(threads_of_loop(spare + 1) == spare + 1);
  }
  CHECK(threads_of_loop(8) == 8);  // none lives
}

TEST_CASE("SpareThreads: a thread that waits is one more, until it works again") {
  SpareThreads threads(1);
  threads.add_one();
  CHECK(threads_of_loop(3) == 3);
  threads.remove_one();
  CHECK(threads_of_loop(2) == 2);
  threads.remove_one();
  CHECK(threads_of_loop(1) == 1);
  threads.remove_one();  // below zero
  CHECK(threads_of_loop(1) == 1);
  threads.add_one();
  CHECK(threads_of_loop(1) == 1);
  threads.add_one();
  CHECK(threads_of_loop(2) == 2);
}

TEST_CASE("SpareThreads: work in progress takes up a thread that becomes free") {
  SpareThreads threads(0);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto look = [&](unsigned worker, std::uint64_t index) {
    if (worker == 0 && index == 10) threads.add_one();
    const std::scoped_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
    const bool is_late = std::chrono::steady_clock::now() > give_up;
    if (seen.size() == 2 || is_late)
      throw std::runtime_error("seen " + std::to_string(seen.size()));
  };
  CHECK_THROWS_WITH(parallel_for(2, 1'000'000'000, look), "seen 2");
}

TEST_CASE("SpareThreads: loops of several threads share them") {
  constexpr unsigned callers = 3, spare = 2;
  const SpareThreads threads(spare);
  std::atomic<int> running{0}, most{0};
  {
    std::vector<std::jthread> working;
    for (unsigned i = 0; i < callers; ++i) {
      working.emplace_back([&] {
        parallel_for(8, 300, [&](unsigned, std::uint64_t) {
          const int now = ++running;
          int highest = most;
          while (now > highest && !most.compare_exchange_weak(highest, now)) {
          }
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          --running;
        });
      });
    }
  }
  CHECK(most <= static_cast<int>(callers + spare));
  CHECK(threads_of_loop(spare + 1) == spare + 1);
}

/// What check_for_stop throws, as "kind: message"; "" where it throws nothing.
std::string stop_found() {
  try {
    check_for_stop();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.kind())) + ": " + error.what();
  }
  return "";
}
const std::string run_failed = std::to_string(static_cast<int>(ErrorKind::run_failed)) + ": ";

TEST_CASE("Deadline: what its thread starts ends with an error once the time is over") {
  CHECK(stop_found() == "");
  {
    const Deadline none(std::nullopt);
    const Deadline far(1000.0);
    CHECK(stop_found() == "");
  }
  {
    const Deadline endless(1e300);
    CHECK(stop_found() == "");
  }
  {
    const Deadline now(1e-9);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(stop_found() == run_failed + "stopped after 1e-09 s");
    // Of this thread alone.
    std::string other = "not run";
    std::jthread([&] { other = stop_found(); }).join();
    CHECK(other == "");
  }
  CHECK(stop_found() == "");
}

TEST_CASE("Deadline: holds for all threads of a loop, and no longer for the next one") {
  for (const unsigned threads : {1U, 3U}) {
    CAPTURE(threads);
    {
      const Deadline soon(0.02);
      std::atomic<std::uint64_t> calls{0};
      const auto work = [&](unsigned, std::uint64_t) {
        ++calls;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      };
      CHECK_THROWS_WITH_AS(parallel_for(threads, 1'000'000'000, work), "stopped after 0.02 s",
                           Error);
      CHECK(calls > 0);
    }
    int calls = 0;
    parallel_for(1, 10, [&](unsigned, std::uint64_t) { ++calls; });
    CHECK(calls == 10);
  }
}

TEST_CASE("Deadline: a helper of a loop finds the end by itself") {
  const Deadline soon(0.2);
  std::atomic<bool> helper_works{false}, helper_stopped{false};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto look = [&](unsigned worker, std::uint64_t) {
    if (worker == 1) helper_works = true;
    while (std::chrono::steady_clock::now() < give_up && !helper_stopped) {
      if (worker == 1 && !stop_found().empty()) helper_stopped = true;
      if (worker == 0 && !helper_works && !stop_found().empty()) return;  // it was too late
      std::this_thread::yield();
    }
  };
  CHECK_THROWS_WITH_AS(parallel_for(2, 1'000'000'000, look), "stopped after 0.2 s", Error);
  CHECK(helper_stopped == helper_works);
}

TEST_CASE("in_pieces: all of a loop in order, in pieces of a bounded number of steps") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t each : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000},
                                   std::uint64_t{steps_at_once}, steps_at_once + 1, most}) {
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1048},
                                      std::uint64_t{1049}, std::uint64_t{steps_at_once}}) {
      if (count > 5000 && each > 1) continue;
      CAPTURE(each);
      CAPTURE(count);
      std::uint64_t next = 0;
      in_pieces(count, each, [&](std::uint64_t begin, std::uint64_t end) {
        REQUIRE(begin == next);
        REQUIRE(end > begin);
        const bool is_bounded = end - begin == 1 || (end - begin) * each <= steps_at_once;
        REQUIRE(is_bounded);
        next = end;
      });
      CHECK(next == count);
    }
  }
  // What no loop gets to the end of may still be asked for.
  CHECK_THROWS_AS(in_pieces(most, 1, [](std::uint64_t, std::uint64_t) { throw 1; }), int);
}

TEST_CASE("in_pieces and Steps: stop when the time is over") {
  const Deadline soon(0.02);
  int pieces = 0;
  const auto wait = [&](std::uint64_t, std::uint64_t) {
    ++pieces;
    while (stop_found().empty()) std::this_thread::yield();
  };
  CHECK_THROWS_WITH_AS(in_pieces(1000, steps_at_once, wait), "stopped after 0.02 s", Error);
  CHECK(pieces == 1);
  for (const std::uint64_t step :
       {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{steps_at_once}}) {
    Steps steps;
    std::uint64_t done = 0;
    const auto work = [&] {
      for (;; done += step) steps.add(step);
    };
    CHECK_THROWS_WITH_AS(work(), "stopped after 0.02 s", Error);
    CHECK(done <= steps_at_once);
  }
}

TEST_CASE("StopDeferred: its thread goes on after a stop") {
  const Deadline now(1e-9);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  {
    const StopDeferred deferred;
    CHECK(stop_found() == "");
    {
      const StopDeferred again;
      CHECK(stop_found() == "");
    }
    CHECK(stop_found() == "");
  }
  CHECK(stop_found() == run_failed + "stopped after 1e-09 s");
}

}  // namespace
}  // namespace dmlop::test::parallel_test
