// How a dispatch is cut into launches, and how much work is launched at a time (gpu/launches.hpp).
#include "gpu/launches.hpp"

#include <doctest/doctest.h>

#include <array>
#include <initializer_list>
#include <map>
#include <optional>

#include "gpu/commands.hpp"
#include "random.hpp"

namespace dmlop::test::launches_test {
namespace {

constexpr std::uint32_t group = 256;

std::uint64_t threads_of(const gpu::Launch& launch) {
  return launch.row[1] - launch.row[0];
}

TEST_CASE("launches: every thread of every stage once, in order, in pieces of the wanted work") {
  Random random(80);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::vector<gpu::Stage> made;
    for (std::uint64_t stages = random.below(6); stages > 0; --stages) {
      const std::uint64_t first = random.below(5) * group;
      gpu::Stage stage(first, first + random.below(20 * group), random.from_to(1, 1000));
      stage.step = static_cast<std::uint32_t>(made.size());
      stage.base = 5;
      made.push_back(stage);
    }
    std::map<std::uint32_t, std::uint32_t> reached;  // by stage
    for (const gpu::Stage& stage : made) reached[stage.step] = stage.first;
    gpu::Launches launches(made);
    bool is_first = true;
    std::uint32_t step = 0;
    while (!launches.done()) {
      const std::uint64_t wanted = random.below(4) * 1'000'000;
      const gpu::Submission submission = launches.next(wanted);
      REQUIRE_FALSE(submission.launches.empty());
      std::uint64_t work = 0;
      for (const gpu::Launch& launch : submission.launches) {
        const auto& [first, end, its_step, base] = launch.row;
        REQUIRE(its_step >= step);
        step = its_step;
        const gpu::Stage& stage = made.at(step);
        REQUIRE(first == reached[step]);
        REQUIRE(first % group == 0);
        REQUIRE(base == 5);
        REQUIRE(launch.awaits_writes == (!is_first && first == stage.first));
        is_first = false;
        reached[step] = end;
        work += threads_of(launch) * stage.work;
        REQUIRE(std::uint64_t{launch.groups[0]} * launch.groups[1] * group >= threads_of(launch));
      }
      REQUIRE(work == submission.work);
      const bool is_one_group =
          submission.launches.size() == 1 && threads_of(submission.launches[0]) <= group;
      REQUIRE((work <= wanted || is_one_group));
    }
    for (const gpu::Stage& stage : made)
      REQUIRE(reached[stage.step] == std::max(stage.first, stage.end));
  }
}

TEST_CASE("launches: rows of at most 65535 groups, each with threads") {
  using Groups = std::array<std::uint32_t, 2>;
  const auto groups = [](std::uint64_t threads) {
    const std::vector<gpu::Stage> stages{{0, threads, 1}};
    std::vector<Groups> all;
    for (const gpu::Launch& launch : gpu::Launches(stages).next(std::uint64_t{1} << 40).launches) {
      CHECK_FALSE(launch.awaits_writes);
      all.push_back(launch.groups);
    }
    return all;
  };
  CHECK(groups(1) == std::vector{Groups{1, 1}});
  CHECK(groups(group) == std::vector{Groups{1, 1}});
  CHECK(groups(group + 1) == std::vector{Groups{2, 1}});
  CHECK(groups(65535 * group) == std::vector{Groups{65535, 1}});
  CHECK(groups(65535 * group + 1) == std::vector{Groups{65535, 1}, Groups{1, 1}});
  CHECK(groups(65535 * 2 * group) == std::vector{Groups{65535, 2}});
  CHECK(groups(65535 * 3 * group - 1) == std::vector{Groups{65535, 3}});
}

/// What a device was given together, and how long it took.
struct Given {
  gpu::Pace& pace;
  std::uint64_t work;
};

void took(std::initializer_list<Given> all, double seconds) {
  gpu::GivenWork given;
  for (const auto& [pace, work] : all) given.add(pace, work);
  given.took(seconds);
}

/// Gives a device that does so much work a second what the pace says, many times.
void keep_pace(gpu::Pace& pace, double work_per_second) {
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t work = pace.work();
    took({{pace, work}}, static_cast<double>(work) / work_per_second);
  }
}

TEST_CASE("launches: the pace finds what a device does in about a tenth of a second") {
  gpu::Pace pace;
  for (const double work_per_second : {1e9, 1e14, 1e9, 1e11}) {
    CAPTURE(work_per_second);
    keep_pace(pace, work_per_second);
    const double seconds = static_cast<double>(pace.work()) / work_per_second;
    CHECK(seconds >= 0.04);
    CHECK(seconds <= 0.21);
  }
  // Little work that took little time says nothing; nor does a clock that stands still do harm.
  const std::uint64_t before = pace.work();
  for (int i = 0; i < 100; ++i) took({{pace, before / 4}}, 0.001);
  CHECK(pace.work() == before);
  for (int i = 0; i < 100; ++i) took({{pace, pace.work()}}, 0);
  CHECK(pace.work() <= std::uint64_t{1} << 48);
  for (int i = 0; i < 100; ++i) took({{pace, pace.work()}}, 1000);
  CHECK(pace.work() >= gpu::Pace::least_work);
}

TEST_CASE("launches: what is given together fills a tenth of a second") {
  gpu::Pace slow(1'000'000), fast(100'000'000);
  gpu::GivenWork given;
  CHECK(given.empty());
  CHECK(given.room(slow) == 1'000'000);
  given.add(slow, 250'000);
  CHECK_FALSE(given.empty());
  CHECK(given.room(slow) == 750'000);
  CHECK(given.room(fast) == 75'000'000);
  given.add(fast, 50'000'000);
  CHECK(given.room(slow) == 250'000);
  CHECK(given.room(fast) == 25'000'000);
  given.add(slow, 1'000'000);  // a group of threads is given however much it does
  CHECK(given.room(slow) == 0);
  CHECK(given.room(fast) == 0);
}

TEST_CASE("launches: kernels that took long together are given less each") {
  constexpr std::uint64_t much = std::uint64_t{1} << 30;
  gpu::Pace one(much), other(4 * much);
  gpu::GivenWork next;  // in flight behind the first
  next.add(other, 3 * much);
  took({{one, much / 4}, {other, much}, {one, much / 4}}, 1);
  // Whichever took that long, what fits of it takes a tenth of a second.
  CHECK(one.work() == doctest::Approx(much * 0.05).epsilon(1e-6));
  CHECK(other.work() == doctest::Approx(much * 0.1).epsilon(1e-6));
  next.took(3);  // as slow as was known
  CHECK(other.work() == doctest::Approx(much * 0.1).epsilon(1e-6));
  // What is slow is never given more.
  gpu::Pace least(gpu::Pace::least_work / 2);
  took({{least, 1}}, 10);
  CHECK(least.work() == gpu::Pace::least_work / 2);
  // What took as long as wanted, or up to twice, changes nothing.
  gpu::Pace right(much);
  for (const double seconds : {0.06, 0.1, 0.19}) took({{right, much}}, seconds);
  CHECK(right.work() == much);
}

TEST_CASE("launches: a kernel is given more as far as it is known to be fast") {
  constexpr std::uint64_t much = std::uint64_t{1} << 30;
  gpu::Pace most(much), little(much);
  took({{most, much / 2}, {little, much / 64}}, 0.01);
  CHECK(most.work() == doctest::Approx(much * 5.0).epsilon(1e-6));
  CHECK(little.work() == much);
  took({{most, most.work()}}, 0.001);  // at most eight times as much
  CHECK(most.work() == doctest::Approx(much * 40.0).epsilon(1e-6));
}

TEST_CASE("launches: many kernels of little work come to be given together") {
  constexpr std::uint64_t each = gpu::Pace::first_work / 2;
  constexpr double seconds_each = 0.0001;
  std::array<gpu::Pace, 60> many;
  const auto lists_of_a_pass = [&] {
    int lists = 1, kernels = 0;
    gpu::GivenWork given;
    for (gpu::Pace& pace : many) {
      if (given.room(pace) < each) {
        given.took(kernels * seconds_each);
        given = {};
        kernels = 0;
        ++lists;
      }
      given.add(pace, each);
      ++kernels;
    }
    given.took(kernels * seconds_each);
    return lists;
  };
  CHECK(lists_of_a_pass() == 30);
  for (int i = 0; i < 4; ++i) lists_of_a_pass();
  CHECK(lists_of_a_pass() == 1);
}

TEST_CASE("launches: each kernel of a device has a pace of its own") {
  gpu::Paces paces(1000);
  gpu::Dispatch dispatch;
  dispatch.kernel = "one";
  dispatch.specialization = {1, 2};
  dispatch.stages = {{0, 100, 20}, {50, 350, 20}, {7, 7, 20}};
  gpu::Pace& one = paces.of(dispatch);
  took({{one, 1000}}, 0.01);
  CHECK(one.work() == 8000);
  CHECK(&paces.of(dispatch) == &one);
  CHECK(paces.estimated_seconds(dispatch) == doctest::Approx(0.1));
  gpu::Dispatch other = dispatch, special = dispatch;
  other.kernel = "other";
  special.specialization = {1, 3};
  for (const gpu::Dispatch& each : {other, special}) {
    CHECK(paces.of(each).work() == 1000);
    CHECK(paces.estimated_seconds(each) == doctest::Approx(0.8));
  }
}

TEST_CASE("launches: ticks become seconds, and none where the clock runs backwards") {
  using Ticks = std::array<std::uint64_t, gpu::moment_count>;
  using Seconds = std::array<double, gpu::moment_count - 1>;
  constexpr std::uint64_t last = (std::uint64_t{1} << 36) - 1;
  const Ticks usual{1000, 1002, 1002, 1010}, backwards{1000, 1002, 1001, 1010};
  CHECK(gpu::seconds_between(usual, 0.5) == Seconds{1, 0, 4});
  CHECK(gpu::seconds_between(usual, 0.5, last) == Seconds{1, 0, 4});
  CHECK(gpu::seconds_between(backwards, 0.5) == std::nullopt);
  CHECK(gpu::seconds_between(backwards, 0.5, last) == std::nullopt);
  CHECK(gpu::seconds_between(Ticks{last - 1, last, 1, 3}, 0.5, last) == Seconds{0.5, 1, 1});
}

}  // namespace
}  // namespace dmlop::test::launches_test
