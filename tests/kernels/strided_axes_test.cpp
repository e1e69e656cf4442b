// Axes of several operands (ops/kernels/strided_axes.hpp): which of them are one, and the walk over
// them on the CPU.
#include "ops/kernels/strided_axes.hpp"

#include <doctest/doctest.h>

#include "cpu/walk.hpp"
#include "random.hpp"

namespace dmlop::test::strided_axes_test {
namespace {

using Offsets = std::array<std::uint64_t, 3>;

/// Where the first three operands have an element of axes that are not merged.
Offsets offsets_of(const StridedAxes& axes, std::uint64_t element) {
  Offsets offsets{};
  for (auto axis = axes.rbegin(); axis != axes.rend(); element /= axis->extent, ++axis) {
    for (std::size_t k = 0; k < offsets.size(); ++k)
      offsets[k] += element % axis->extent * axis->strides[k];
  }
  return offsets;
}

TEST_CASE("merged axes: packed axes are one, others stay in their order") {
  CHECK(merged({{2, {12}}, {3, {4}}, {4, {1}}}) == StridedAxes{{24, {1}}});
  CHECK(merged({{2, {24}}, {3, {8}}, {4, {2}}}) == StridedAxes{{24, {2}}});
  // Rows, then matrices, with something behind them.
  CHECK(merged({{2, {15}}, {3, {5}}, {4, {1}}}) == StridedAxes{{6, {5}}, {4, {1}}});
  CHECK(merged({{2, {13}}, {3, {4}}, {4, {1}}}) == StridedAxes{{2, {13}}, {12, {1}}});
  const StridedAxes turned{{4, {1}}, {3, {4}}, {2, {12}}};
  CHECK(merged(turned) == turned);
  const StridedAxes overlapping{{3, {1}}, {4, {1}}};
  CHECK(merged(overlapping) == overlapping);
}

TEST_CASE("merged axes: all operands move as one, or none does") {
  CHECK(merged({{3, {4, 8}}, {4, {1, 2}}}) == StridedAxes{{12, {1, 2}}});
  const StridedAxes last_differs{{3, {4, 8, 5}}, {4, {1, 2, 1}}};
  CHECK(merged(last_differs) == last_differs);
  const StridedAxes first_differs{{3, {5, 8}}, {4, {1, 2}}};
  CHECK(merged(first_differs) == first_differs);
  StridedAxes most{{3, {}}, {4, {}}};
  for (std::size_t k = 0; k < StridedAxis::operands_most; ++k) most[1].strides[k] = k;
  for (std::size_t k = 0; k < StridedAxis::operands_most; ++k) most[0].strides[k] = 4 * k;
  CHECK(merged(most).size() == 1);
  most[0].strides.back() += 1;
  CHECK(merged(most) == most);
}

TEST_CASE("merged axes: of the first operands, as if there were no others") {
  const StridedAxes axes{{3, {4, 8, 5}}, {4, {1, 2, 1}}};
  CHECK(merged(axes, 2) == StridedAxes{{12, {1, 2}}});
  CHECK(merged(axes, 3) == axes);
  CHECK(merged({{3, {5, 7}}, {4, {1, 1}}}, 1) == StridedAxes{{3, {5}}, {4, {1}}});
  CHECK(merged(axes, 0) == StridedAxes{{12, {}}});
}

TEST_CASE("merged axes: axes of one index vanish, whatever their strides are") {
  CHECK(merged({{1, {9}}, {3, {4}}, {1, {7}}, {4, {1}}, {1, {5}}}) == StridedAxes{{12, {1}}});
  CHECK(merged({{3, {5}}, {1, {0}}, {4, {1}}}) == StridedAxes{{3, {5}}, {4, {1}}});
  CHECK(merged({{1, {9, 4}}, {1, {1, 0}}}) == StridedAxes{{1, {}}});
  CHECK(merged({}) == StridedAxes{{1, {}}});
}

TEST_CASE("merged axes: elements that repeat along neighbors repeat along one axis") {
  CHECK(merged({{3, {0}}, {4, {0}}}) == StridedAxes{{12, {0}}});
  CHECK(merged({{3, {4, 0}}, {4, {1, 0}}}) == StridedAxes{{12, {1, 0}}});
  const StridedAxes rows{{3, {4, 1}}, {4, {1, 0}}};
  CHECK(merged(rows) == rows);
  const StridedAxes columns{{3, {4, 0}}, {4, {1, 1}}};
  CHECK(merged(columns) == columns);
}

TEST_CASE("merged axes: what does not fit 64 bits does not move as one") {
  constexpr std::uint64_t half = std::uint64_t{1} << 32;
  const StridedAxes far_apart{{2, {0}}, {half, {half}}};
  CHECK(merged(far_apart) == far_apart);
  const StridedAxes wrapping{{2, {2}}, {2, {(std::uint64_t{1} << 63) + 1}}};
  CHECK(merged(wrapping) == wrapping);
  const StridedAxes many{{half, {0}}, {half, {0}}};
  CHECK(merged(many) == many);
  CHECK(merged({{half - 1, {0}}, {half, {0}}}) == StridedAxes{{(half - 1) * half, {0}}});
}

TEST_CASE("strided axes: made of sizes and strides, and taken apart") {
  const StridedAxes axes = strided_axes({2, 3}, {{3, 1}, {0, 5}});
  CHECK(axes == StridedAxes{{2, {3, 0}}, {3, {1, 5}}});
  CHECK(extents_of(axes) == std::vector<std::uint64_t>{2, 3});
  CHECK(strides_of(axes, 0) == std::vector<std::uint64_t>{3, 1});
  CHECK(strides_of(axes, 1) == std::vector<std::uint64_t>{0, 5});
  CHECK(strides_of(axes, 2) == std::vector<std::uint64_t>{0, 0});
  CHECK(elements_of(axes) == 6);
  CHECK(elements_of({}) == 1);
}

TEST_CASE("sequences: the axes outside and inside are merged, and that of the sequences is not") {
  const StridedAxes axes = strided_axes({2, 3, 4, 5, 6}, {{360, 120, 30, 6, 1}});
  const SequenceAxes middle = sequences_along(axes, 2);
  CHECK(middle.outer == StridedAxes{{6, {120}}});
  CHECK(middle.along == StridedAxis{4, {30}});
  CHECK(middle.inner == StridedAxes{{30, {1}}});
  CHECK(middle.sequences() == 180);
  CHECK(sequences_along(axes, 0).outer == StridedAxes{{1, {}}});
  CHECK(sequences_along(axes, 0).inner == StridedAxes{{360, {1}}});
  CHECK(sequences_along(axes, 4).outer == StridedAxes{{120, {6}}});
  CHECK(sequences_along(axes, 4).inner == StridedAxes{{1, {}}});
}

TEST_CASE("a walk over merged axes meets the same elements in the same order") {
  Random random(2611);
  for (int i = 0; i < 2000; ++i) {
    StridedAxes axes(random.from_to(1, 9));
    // Most strides go on where the axis inside ends.
    Offsets next{1, 1, 1};
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      axis->extent = random.from_to(1, 3);
      for (std::size_t k = 0; k < next.size(); ++k) {
        if (random.one_in(8)) next[k] += random.below(3);
        axis->strides[k] = random.one_in(6) ? random.below(3) : next[k];
        next[k] = axis->strides[k] * axis->extent;
      }
    }
    const StridedAxes fewer = merged(axes);
    CHECK(merged(fewer) == fewer);
    CHECK(fewer.size() <= axes.size());
    const std::uint64_t elements = elements_of(axes);
    CHECK(elements_of(fewer) == elements);
    for (const StridedAxes& walked : {axes, fewer}) {
      const cpu::Walk<3> walk(walked);
      CHECK(walk.elements() == elements);
      const std::uint64_t begin = random.below(elements), end = random.from_to(begin, elements);
      std::uint64_t element = begin;
      walk.run(begin, end, [&](const Offsets& first, std::uint64_t count) {
        CHECK(first == walk.offsets(element));
        for (std::uint64_t n = 0; n < count; ++n, ++element) {
          Offsets at = first;
          for (std::size_t k = 0; k < at.size(); ++k) at[k] += n * walk.steps()[k];
          if (at != offsets_of(axes, element)) FAIL("another element");
        }
      });
      CHECK(element == end);
    }
  }
}

}  // namespace
}  // namespace dmlop::test::strided_axes_test
