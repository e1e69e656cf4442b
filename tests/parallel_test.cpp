// What base/parallel.hpp promises.
#include "base/parallel.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace dmlop::test {
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

TEST_CASE("parallel_for: runs on as many threads as asked, the caller's among them") {
  constexpr unsigned threads = 3;
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
    while (arrived < threads && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::yield();
    }
  });
  CHECK(seen.size() == threads);
  CHECK(seen.count(std::this_thread::get_id()) == 1);
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

TEST_CASE("parallel_for: of several exceptions one is thrown on") {
  CHECK_THROWS_AS(
      parallel_for(4, 100, [](unsigned, std::uint64_t) { throw Error(ErrorKind::io_failed, "x"); }),
      Error);
}

TEST_CASE("parallel_for: nothing to do calls nothing") {
  parallel_for(4, 0, [](unsigned, std::uint64_t) { FAIL("called"); });
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

}  // namespace
}  // namespace dmlop::test
