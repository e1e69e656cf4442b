// What base/text.hpp promises.
#include "base/text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>

using dmlop::edit_distance;
using dmlop::nearest_name;
using dmlop::printable;

TEST_CASE("the edit distance counts insertions, deletions and replacements, not case") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("EDGE", "edge") == 0);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ab", "ba") == 2);
}

TEST_CASE("the nearest name is offered only where it is a likely misspelling") {
  const std::vector<std::string> names{"StartPadding", "EndPadding", "P", "Axis"};
  CHECK(nearest_name("EndPading", names) == "EndPadding");
  CHECK(nearest_name("startpadding", names) == "StartPadding");
  CHECK(nearest_name("Axs", names) == "Axis");
  CHECK(nearest_name("Colour", names) == "");
  CHECK(nearest_name("", names) == "");
  CHECK(nearest_name("Q", names) == "");
  CHECK(nearest_name(std::string(1'000'000, 'E'), names) == "");
}

TEST_CASE("lists and counts") {
  CHECK(dmlop::join(std::vector<std::string>{"a", "b"}) == "a, b");
  CHECK(dmlop::list_of(std::vector<int>{}) == "[]");
  CHECK(dmlop::list_of(std::vector<std::uint64_t>{1, 2, 3}) == "[1, 2, 3]");
  std::vector<int> many(20);
  std::iota(many.begin(), many.end(), 0);
  CHECK(dmlop::list_of(many) ==
        "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ... 20 values]");
  CHECK(dmlop::counted(1, "value") == "1 value");
  CHECK(dmlop::counted(0, "value") == "0 values");
}

TEST_CASE("text from files is shown without control characters and not at length") {
  CHECK(printable("plain") == "plain");
  CHECK(printable("a\x1b[31m\n\x7f") == "a\\u001b[31m\\u000a\\u007f");
  CHECK(printable(std::string(60, 'x')) == std::string(60, 'x'));
  CHECK(printable(std::string(61, 'x')) == std::string(60, 'x') + "...");
  std::string euros;
  for (int i = 0; i < 61; ++i) euros += "\u20ac";
  CHECK(printable(euros) == euros.substr(3) + "...");
}
