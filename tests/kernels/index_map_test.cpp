// The planner of data movement (ops/index_map.hpp): what it merges, what it must not, and that
// neither merging nor pieces change which element goes where.
#include "ops/index_map.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "reference/padding.hpp"
#include "reference/reverse_subsequences.hpp"
#include "reference/slice1.hpp"
#include "sweep.hpp"

namespace dmlop::test::index_map_test {
namespace {

using Int = std::int64_t;

IndexMapKernel map_of(const nlohmann::ordered_json& description) {
  return std::get<IndexMapKernel>(kernel_of(description));
}

IndexMapKernel slice_plan(const List& sizes, const Slice1& slice) {
  return map_of(case_of(slice, {Tensor::packed(DataType::UInt8, sizes)}).description);
}

IndexMapKernel padding_plan(const List& sizes, const std::string& mode, const List& start,
                            const List& end) {
  return map_of(
      case_of(Padding{mode, start, end, 0}, {Tensor::packed(DataType::UInt8, sizes)}).description);
}

IndexMapAxis axis(std::uint64_t extent, Int stride) {
  return {.extent = extent, .stride = stride};
}

IndexMapAxis padded(Boundary boundary, std::uint64_t extent, Int stride, Int start,
                    std::uint64_t input_extent) {
  return {.extent = extent,
          .stride = stride,
          .boundary = boundary,
          .start_padding = start,
          .input_extent = input_extent};
}

using Axes = std::vector<IndexMapAxis>;

TEST_CASE("index map: a slice of the whole tensor is one run") {
  const IndexMapKernel plan =
      slice_plan({2, 3, 4}, {.offsets = {0, 0, 0}, .window = {2, 3, 4}, .strides = {1, 1, 1}});
  CHECK(plan.axes == Axes{axis(24, 1)});
  CHECK(plan.offset == 0);
}

TEST_CASE("index map: a slice of the first dimension alone is one run") {
  const IndexMapKernel plan =
      slice_plan({5, 3, 4}, {.offsets = {2, 0, 0}, .window = {2, 3, 4}, .strides = {1, 1, 1}});
  CHECK(plan.axes == Axes{axis(24, 1)});
  CHECK(plan.offset == 24);
}

TEST_CASE("index map: a slice of the last dimension keeps rows") {
  const IndexMapKernel plan =
      slice_plan({2, 3, 4}, {.offsets = {0, 0, 1}, .window = {2, 3, 2}, .strides = {1, 1, 1}});
  CHECK(plan.axes == Axes{axis(6, 4), axis(2, 1)});
  CHECK(plan.offset == 1);
}

TEST_CASE("index map: a reversal of the whole tensor is one run backwards") {
  const IndexMapKernel plan =
      slice_plan({2, 3}, {.offsets = {0, 0}, .window = {2, 3}, .strides = {-1, -1}});
  CHECK(plan.axes == Axes{axis(6, -1)});
  CHECK(plan.offset == 5);
}

TEST_CASE("index map: dimensions of opposite directions stay apart") {
  const IndexMapKernel plan =
      slice_plan({2, 3}, {.offsets = {0, 0}, .window = {2, 3}, .strides = {-1, 1}});
  CHECK(plan.axes == Axes{axis(2, -3), axis(3, 1)});
  CHECK(plan.offset == 3);
}

TEST_CASE("index map: a shortened output does not merge") {
  const IndexMapKernel plan = slice_plan(
      {2, 3}, {.offsets = {0, 0}, .window = {2, 3}, .strides = {1, 1}, .output_sizes = {2, 2}});
  CHECK(plan.axes == Axes{axis(2, 3), axis(2, 1)});
}

TEST_CASE("index map: dimensions of one element are folded into the offset") {
  const IndexMapKernel plan =
      slice_plan({4, 5, 6}, {.offsets = {2, 1, 3}, .window = {1, 4, 1}, .strides = {1, 1, -7}});
  CHECK(plan.axes == Axes{axis(4, 6)});
  CHECK(plan.offset == 2 * 30 + 1 * 6 + 3);
}

TEST_CASE("index map: one element has one axis") {
  const IndexMapKernel plan =
      slice_plan({3, 3}, {.offsets = {1, 2}, .window = {1, 1}, .strides = {1, 1}});
  CHECK(plan.axes == Axes{axis(1, 0)});
  CHECK(plan.offset == 5);
}

TEST_CASE("index map: a broadcast input merges where it repeats one element") {
  Tensor input = Tensor::strided(DataType::UInt8, {2, 3, 4}, {0, 0, 1});
  const Slice1 slice{.offsets = {0, 0, 0}, .window = {2, 3, 4}, .strides = {1, 1, 1}};
  CHECK(map_of(case_of(slice, {input}).description).axes == Axes{axis(6, 0), axis(4, 1)});
}

TEST_CASE("index map: a transposed input does not merge") {
  Tensor input = Tensor::strided(DataType::UInt8, {2, 3}, {1, 2});
  const Slice1 slice{.offsets = {0, 0}, .window = {2, 3}, .strides = {1, 1}};
  CHECK(map_of(case_of(slice, {input}).description).axes == Axes{axis(2, 1), axis(3, 2)});
}

TEST_CASE("index map: images padded in height and width keep these two and one for the images") {
  for (const auto& [name, boundary] : {std::pair{"CONSTANT", Boundary::constant},
                                       {"EDGE", Boundary::edge},
                                       {"REFLECTION", Boundary::reflection},
                                       {"SYMMETRIC", Boundary::symmetric},
                                       {"WRAP", Boundary::wrap}}) {
    const auto& mode = name;  // lambdas of Clang before 16 capture no bindings
    CAPTURE(mode);
    const IndexMapKernel plan = padding_plan({2, 3, 4, 5}, mode, {0, 0, 1, 2}, {0, 0, 1, 0});
    CHECK(plan.axes ==
          Axes{axis(6, 20), padded(boundary, 6, 5, 1, 4), padded(boundary, 7, 1, 2, 5)});
  }
}

TEST_CASE("index map: constant and wrapped padding of whole blocks is padding of their elements") {
  for (const auto& [name, boundary] :
       {std::pair{"CONSTANT", Boundary::constant}, {"WRAP", Boundary::wrap}}) {
    const auto& mode = name;  // lambdas of Clang before 16 capture no bindings
    CAPTURE(mode);
    const IndexMapKernel plan = padding_plan({2, 3, 4, 5}, mode, {0, 0, 1, 0}, {0, 0, 2, 0});
    CHECK(plan.axes == Axes{axis(6, 20), padded(boundary, 35, 1, 5, 20)});
  }
}

TEST_CASE("index map: mirrored and edge padding of whole blocks repeats blocks") {
  for (const auto& [name, boundary] : {std::pair{"EDGE", Boundary::edge},
                                       {"REFLECTION", Boundary::reflection},
                                       {"SYMMETRIC", Boundary::symmetric}}) {
    const auto& mode = name;  // lambdas of Clang before 16 capture no bindings
    CAPTURE(mode);
    const IndexMapKernel plan = padding_plan({3, 4, 5}, mode, {1, 0, 0}, {0, 0, 0});
    CHECK(plan.axes == Axes{padded(boundary, 4, 20, 1, 3), axis(20, 1)});
  }
}

TEST_CASE("index map: padding of nothing is one run") {
  CHECK(padding_plan({2, 3, 4}, "REFLECTION", {0, 0, 0}, {0, 0, 0}).axes == Axes{axis(24, 1)});
}

TEST_CASE("index map: an edge of one element is that element repeated") {
  CHECK(padding_plan({1, 4}, "SYMMETRIC", {2, 0}, {3, 0}).axes == Axes{axis(6, 0), axis(4, 1)});
  CHECK(padding_plan({1, 4}, "CONSTANT", {2, 0}, {3, 0}).axes ==
        Axes{padded(Boundary::constant, 24, 1, 8, 4)});
}

IndexMapKernel reversal_plan(const List& sizes, std::size_t reversed, const Tensor& lengths) {
  return map_of(
      case_of(ReverseSubsequences{reversed}, {Tensor::packed(DataType::UInt8, sizes), lengths})
          .description);
}

TEST_CASE("index map: a reversed axis stays, and what lies on either side of it merges") {
  const IndexMapKernel plan =
      reversal_plan({2, 3, 4, 5, 6}, 2, Tensor::packed(DataType::UInt32, {2, 3, 1, 5, 6}));
  REQUIRE(plan.axes.size() == 3);
  CHECK(plan.reversal == Reversal{1, DataType::UInt32});
  CHECK(plan.axes[0] == IndexMapAxis{.extent = 6, .stride = 120, .lengths_stride = 30});
  CHECK(plan.axes[1] == IndexMapAxis{.extent = 4, .stride = 30, .lengths_stride = 0});
  CHECK(plan.axes[2] == IndexMapAxis{.extent = 30, .stride = 1, .lengths_stride = 1});
}

TEST_CASE("index map: lengths in another order keep dimensions apart") {
  const Tensor lengths = Tensor::strided(DataType::UInt64, {2, 3, 1}, {1, 2, 1});
  const IndexMapKernel plan = reversal_plan({2, 3, 4}, 2, lengths);
  CHECK(plan.axes.size() == 3);
  CHECK(plan.reversal == Reversal{2, DataType::UInt64});
}

TEST_CASE("index map: a reversed axis of one element is kept") {
  const IndexMapKernel plan =
      reversal_plan({2, 1, 3}, 1, Tensor::packed(DataType::UInt32, {2, 1, 3}));
  REQUIRE(plan.reversal);
  CHECK(plan.axes.at(plan.reversal->axis).extent == 1);
}

const std::vector<std::pair<Boundary, std::string>> boundaries{{Boundary::constant, "CONSTANT"},
                                                               {Boundary::edge, "EDGE"},
                                                               {Boundary::reflection, "REFLECTION"},
                                                               {Boundary::symmetric, "SYMMETRIC"},
                                                               {Boundary::wrap, "WRAP"}};

/// The source index of output index o by the definition of the boundary; nothing when outside.
std::optional<Int> source(const IndexMapAxis& along, std::uint64_t o) {
  if (along.boundary == Boundary::none) return static_cast<Int>(o);
  const auto mode = std::find_if(boundaries.begin(), boundaries.end(),
                                 [&](const auto& entry) { return entry.first == along.boundary; });
  return Padding{.mode = mode->second}.source(static_cast<Int>(o) - along.start_padding,
                                              static_cast<Int>(along.input_extent));
}

/// How many indices of an axis piece_at places elsewhere than the definition.
int wrong_pieces(const IndexMapAxis& along) {
  int wrong = 0;
  for (std::uint64_t o = 0; o < along.extent; ++o) {
    const Piece piece = piece_at(along, o);
    if (piece.count < 1 || piece.count > along.extent - o) return ++wrong;
    for (std::uint64_t k = 0; k < piece.count; ++k) {
      const auto index = source(along, o + k);
      const Int offset = piece.offset + static_cast<Int>(k) * piece.stride;
      if (piece.outside == index.has_value()) ++wrong;
      if (index && offset != *index * along.stride) ++wrong;
    }
  }
  return wrong;
}

TEST_CASE("piece_at: agrees with the definition, element by element") {
  for (const auto& [boundary, name] : boundaries) {
    const auto& mode = name;  // lambdas of Clang before 16 capture no bindings
    CAPTURE(mode);
    for (std::uint64_t n = 1; n <= 5; ++n) {
      // A negative start begins behind the input's first element.
      for (Int start = -13; start <= 13; ++start) {
        for (std::uint64_t extent = 1; extent <= 30; ++extent) {
          CAPTURE(n);
          CAPTURE(start);
          CAPTURE(extent);
          CHECK(wrong_pieces(padded(boundary, extent, 3, start, n)) == 0);
        }
      }
    }
  }
  CHECK(wrong_pieces(axis(7, 3)) == 0);
  CHECK(wrong_pieces(axis(7, -3)) == 0);
  CHECK(wrong_pieces(axis(7, 0)) == 0);
}

TEST_CASE("piece_at: takes the longest even stretch") {
  const auto count = [](Boundary boundary, std::uint64_t o) {
    return piece_at(padded(boundary, 20, 1, 6, 4), o).count;
  };
  CHECK(count(Boundary::constant, 0) == 6);    // before the input
  CHECK(count(Boundary::constant, 6) == 4);    // the input
  CHECK(count(Boundary::constant, 10) == 10);  // after it
  CHECK(count(Boundary::edge, 1) == 5);
  CHECK(count(Boundary::wrap, 2) == 4);
  CHECK(count(Boundary::symmetric, 2) == 4);
  CHECK(count(Boundary::reflection, 10) == 2);  // 2 1, then 0 1 2 3
}

TEST_CASE("piece_at: works at the far end of the largest axis") {
  const IndexMapAxis wrap = padded(Boundary::wrap, 4294967295, 1, 4294967292, 3);
  CHECK(piece_at(wrap, 0).offset == 0);
  CHECK(piece_at(wrap, 4294967294).offset == 2);
  const IndexMapAxis mirror = padded(Boundary::symmetric, 4294967295, 1, 0, 2);
  CHECK(piece_at(mirror, 4294967294).offset == 1);  // 0 1 1 0, and 4294967294 mod 4 is 2
}

/// The source offset of element `index` of a plan's output without reversal; nothing for the fill.
std::optional<Int> source_of(const IndexMapKernel& plan, std::uint64_t index) {
  Int offset = plan.offset;
  for (std::size_t i = plan.axes.size(); i-- > 0;) {
    const auto from = source(plan.axes[i], index % plan.axes[i].extent);
    index /= plan.axes[i].extent;
    if (!from) return std::nullopt;
    offset += *from * plan.axes[i].stride;
  }
  return offset;
}

IndexMapKernel random_plan(Random& random) {
  IndexMapKernel plan{.offset = 1000};
  Int stride = 1;  // mostly that of a packed tensor, so that there is something to merge
  for (std::uint64_t i = random.from_to(1, 5); i > 0; --i) {
    IndexMapAxis along = axis(random.from_to(1, 4),
                              random.one_in(4) ? static_cast<Int>(random.below(7)) - 3 : stride);
    along.input_extent = along.extent;
    if (random.one_in(2)) {
      const std::uint64_t start = random.one_in(2) ? 0 : random.below(4);
      along.boundary = boundaries[random.below(boundaries.size())].first;
      along.start_padding = static_cast<Int>(start);
      along.extent += start + (random.one_in(2) ? 0 : random.below(4));
    }
    stride *= static_cast<Int>(along.input_extent);
    if (along.boundary == Boundary::none) along.input_extent = 1;
    plan.axes.insert(plan.axes.begin(), along);
  }
  return plan;
}

TEST_CASE("simplified: every element still comes from its place, from fewer axes") {
  Random random(70);
  int fewer = 0;
  for (int repeat = 0; repeat < 20000; ++repeat) {
    const IndexMapKernel plan = random_plan(random);
    const IndexMapKernel simple = simplified(plan);
    CAPTURE(repeat);
    REQUIRE(simple.axes.size() >= 1);
    REQUIRE(simple.axes.size() <= plan.axes.size());
    if (simple.axes.size() < plan.axes.size()) ++fewer;
    REQUIRE(output_elements(simple) == output_elements(plan));
    std::uint64_t wrong = 0;
    for (std::uint64_t index = 0; index < output_elements(plan); ++index) {
      if (source_of(simple, index) != source_of(plan, index)) ++wrong;
    }
    REQUIRE(wrong == 0);
  }
  CHECK(fewer > 10000);
}

}  // namespace
}  // namespace dmlop::test::index_map_test
