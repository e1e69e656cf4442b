// compare/region.hpp: where tensors differ, as slices and in words, against lists of indices.
#include "compare/region.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "random.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test::region_test {
namespace {

std::uint64_t position_of(const Index& index, const List& sizes) {
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) position = position * sizes[i] + index[i];
  return position;
}

/// What a finder finds that takes the elements in this order.
Region region_of(const List& sizes, const std::vector<Index>& differing) {
  RegionFinder finder(sizes);
  for (const Index& index : differing) finder.add(position_of(index, sizes));
  return finder.found();
}

std::string text_of(const List& sizes, const std::vector<Index>& differing) {
  return to_text(region_of(sizes, differing), sizes, differing.size());
}

/// All indices that `is_one` holds for.
template <typename IsOne>
std::vector<Index> indices_where(const List& sizes, IsOne is_one) {
  std::vector<Index> list;
  for_each_index(sizes, [&](const Index& index) {
    if (is_one(index)) list.push_back(index);
  });
  return list;
}

/// The region by its definition.
void check_region(const Region& region, const std::vector<Index>& differing) {
  std::uint64_t places = 1;
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    std::set<std::uint64_t> seen;
    for (const Index& index : differing) seen.insert(index[axis]);
    std::uint64_t step = 0;
    for (const std::uint64_t index : seen) step = std::gcd(step, index - *seen.begin());
    const AxisRegion& found = region.axes[axis];
    CHECK(found.first == *seen.begin());
    CHECK(found.last == *seen.rbegin());
    CHECK(found.step == std::max<std::uint64_t>(1, step));
    CHECK(found.count == seen.size());
    places *= (found.last - found.first) / found.step + 1;
  }
  CHECK(region.elements == places);
  CHECK(region.is_full == (places == differing.size()));
}

}  // namespace

TEST_CASE("the slices are the smallest with every differing element, in any order and any parts") {
  Random random(1);
  int full = 0, others = 0;
  for (int round = 0; round < 500; ++round) {
    List sizes;
    for (std::uint64_t i = random.from_to(1, 4); i > 0; --i) sizes.push_back(random.from_to(1, 7));
    // Half of them are a grid, the others have holes.
    List first, step;
    for (const std::uint64_t size : sizes) {
      first.push_back(random.below(size));
      step.push_back(random.from_to(1, 3));
    }
    const bool has_holes = random.one_in(2);
    std::vector<Index> differing = indices_where(sizes, [&](const Index& index) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (index[i] < first[i] || (index[i] - first[i]) % step[i] != 0) return false;
      }
      return !has_holes || random.one_in(2);
    });
    if (differing.empty()) continue;
    const Region in_order = region_of(sizes, differing);
    check_region(in_order, differing);
    in_order.is_full ? ++full : ++others;
    for (std::size_t i = differing.size(); i > 1; --i)
      std::swap(differing[i - 1], differing[random.below(i)]);
    check_region(region_of(sizes, differing), differing);
    RegionFinder all(sizes), part(sizes), none(sizes);
    for (std::size_t i = 0; i < differing.size(); ++i)
      (i % 3 == 0 ? all : part).add(position_of(differing[i], sizes));
    all.add(none);
    all.add(part);
    check_region(all.found(), differing);
  }
  CHECK(full > 50);
  CHECK(others > 50);
}

TEST_CASE("a region that differs as a whole is told by its slices") {
  const List sizes{2, 128, 5, 32};
  CHECK(text_of(sizes, indices_where(sizes, [](const Index& at) {
                  return at[0] == 0 && at[1] >= 40 && at[3] >= 24 && at[3] < 28;
                })) == "only [0, 40:, :, 24:28] differs");
  CHECK(text_of(sizes, indices_where(sizes, [](const Index& at) { return at[3] % 2 == 1; })) ==
        "only [:, :, :, 1::2] differs (every 2nd index of axis 3)");
  CHECK(text_of(sizes, indices_where(sizes,
                                     [](const Index& at) {
                                       return at[1] % 11 == 3 && at[1] < 100 && at[3] % 3 == 0;
                                     })) ==
        "only [:, 3:92:11, :, ::3] differs (every 11th index of axis 1, every 3rd index of axis "
        "3)");
  CHECK(text_of({9}, {{1}, {4}}) == "only [1:5:3] differs (every 3rd index of axis 0)");
  CHECK(text_of({7}, {{1}, {5}}) == "only [1::4] differs (every 4th index of axis 0)");
  CHECK(text_of({1, 3}, {{0, 2}}) == "only [:, 2] differs");
}

TEST_CASE("a region with equal elements in it says how many differ, and on how many indices") {
  CHECK(text_of({4, 6}, {{1, 2}, {2, 3}, {2, 5}}) ==
        "only 3 of 8 elements in [1:3, 2:] differ: on 2 of 4 indices of axis 0, 3 of 6 of axis 1");
  CHECK(
      text_of({1, 4, 6}, {{0, 0, 0}, {0, 1, 2}, {0, 1, 4}}) ==
      "only 3 of 6 elements in [:, :2, ::2] (every 2nd index of axis 2) differ: on 2 of 4 indices "
      "of axis 1, 3 of 6 of axis 2");
  CHECK(text_of({9}, {{1}, {2}, {4}}) == "only 3 of 4 elements in [1:5] differ");
  CHECK(text_of({2, 2}, {{0, 1}, {1, 0}}) == "every index of every axis has differences");
}

TEST_CASE("nothing is said where no element differs or all do") {
  CHECK(text_of({2, 3}, {}) == "");
  CHECK(text_of({2, 3}, indices_where({2, 3}, [](const Index&) { return true; })) == "");
  CHECK(region_of({2, 3}, {}).axes.empty());
}

TEST_CASE("indices of an axis are counted up to 65536 of them; slices are exact beyond") {
  const List counted{65536}, longer{65537};
  CHECK(region_of(counted, {{3}, {65535}}).axes[0].count == 2);
  const Region region = region_of(longer, {{3}, {65535}, {65536}});
  CHECK_FALSE(region.axes[0].count.has_value());
  CHECK(region.slices(longer) == "[3:]");
  CHECK(region_of(longer, {{65536}}).is_full);
}

}  // namespace dmlop::test::region_test
