// Whether a case has become slower, from times that are given: no time is measured here.
#include "job/slowdown.hpp"

#include <doctest/doctest.h>

#include <array>

namespace dmlop::test::slowdown_test {
namespace {

constexpr double eighth = 0.125;  // exact, so that the limit itself can be tried

TEST_CASE("slowdown: quartiles are times of runs") {
  CHECK(quartiles_of(std::array{3.0}).lower == 3);
  const std::array times{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0};
  const Quartiles quartiles = quartiles_of(times);
  CHECK(quartiles.lower == 3);
  CHECK(quartiles.median == 5);
  CHECK(quartiles.upper == 7);
}

TEST_CASE("slowdown: a case is slower or faster only where the runs themselves do not overlap") {
  struct Row {
    Quartiles before, now;
    Pace pace;
  };
  for (const Row& row : std::vector<Row>{
           {{1, 1, 1}, {1, 1, 1}, Pace::same},
           {{1, 1, 1}, {1.125, 1.125, 1.125}, Pace::same},  // what the limit allows
           {{1, 1, 1}, {1.126, 1.126, 1.126}, Pace::slower},
           {{1.125, 1.125, 1.125}, {1, 1, 1}, Pace::same},
           {{1.126, 1.126, 1.126}, {1, 1, 1}, Pace::faster},
           {{0.5, 1, 2}, {1, 2, 4}, Pace::unclear},     // twice as slow, but so are some runs
           {{0.5, 1, 2}, {2.25, 3, 4}, Pace::unclear},  // they meet at the limit
           {{0.5, 1, 2}, {2.26, 3, 4}, Pace::slower},
           {{0.5, 1, 2}, {0.1, 0.3, 0.4}, Pace::faster},
           {{0.5, 1, 2}, {0.1, 0.3, 0.5}, Pace::same},
           {{0, 0, 0}, {0, 0, 0}, Pace::same},
       }) {
    CAPTURE(row.before.median);
    CAPTURE(row.now.lower);
    CHECK(name_of(pace_of(row.before, row.now, eighth)) == name_of(row.pace));
  }
}

std::string text_of(const std::vector<PaceChange>& changes) {
  std::string text;
  for (const PaceChange& change : changes)
    text += (text.empty() ? "" : ", ") + change.name + " " + std::string(name_of(change.pace));
  return text;
}

TEST_CASE("slowdown: cases are compared by their names, and none is left out") {
  const Quartiles one{1, 1, 1}, two{2, 2, 2};
  CHECK(text_of(compare_paces({{"a", one}, {"gone", one}, {"b", two}},
                              {{"b", one}, {"a", two}, {"c", one}}, eighth)) ==
        "b faster, a slower, c new, gone missing");
  // The second of a name is compared with the second.
  CHECK(text_of(compare_paces({{"a", one}, {"a", two}, {"a", one}}, {{"a", one}, {"a", one}},
                              eighth)) == "a same, a faster, a missing");
  CHECK(compare_paces({}, {}, eighth).empty());
}

TEST_CASE("slowdown: the ratio is that of the medians, where there are two") {
  const Quartiles one{1, 1, 1}, two{2, 2, 2}, zero{};
  CHECK(PaceChange{"a", one, two, Pace::slower}.ratio() == 2);
  CHECK_FALSE(PaceChange{"a", one, std::nullopt, Pace::missing}.ratio());
  CHECK_FALSE(PaceChange{"a", std::nullopt, one, Pace::added}.ratio());
  CHECK_FALSE(PaceChange{"a", zero, one, Pace::slower}.ratio());
}

TEST_CASE("slowdown: what is slower or unclear is measured again, until it no longer is") {
  const Quartiles one{1, 1, 1}, two{2, 2, 2};
  const std::vector<TimedCase> before{{"a", one}, {"b", one}, {"c", one}, {"d", two}};
  const std::vector<TimedCase> now{
      {"c", two}, {"new", two}, {"a", {0.5, 2, 9}}, {"b", one}, {"d", one}};
  CHECK(suspects_in(before, now, eighth) == std::vector<std::size_t>{0, 2});
  struct Row {
    std::vector<double> measured;  // one after the other
    std::size_t asked;
  };
  for (const Row& row : std::vector<Row>{{{1}, 1}, {{9, 8, 1}, 3}, {{9, 9, 9, 9, 9}, 5}}) {
    std::vector<TimedCase> times{{"b", one}, {"a", two}};
    std::size_t asked = 0;
    measure_suspects(before, times, eighth, [&](const std::vector<std::size_t>& suspects) {
      CHECK(suspects == std::vector<std::size_t>{1});
      REQUIRE(asked < row.measured.size());
      const double seconds = row.measured[asked++];
      times[1].seconds = {seconds, seconds, seconds};
    });
    CHECK(asked == row.asked);
  }
  measure_suspects({}, now, eighth, [](const auto&) { FAIL("there is nothing to compare with"); });
}

}  // namespace
}  // namespace dmlop::test::slowdown_test
