// Axes of ONNX's nodes: each operator that has some computes what plain arithmetic says, for
// tensors with 1 to 5 dimensions, whose sizes all differ, and for axes that count from the start or
// from the end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_axes_test {
namespace {

using namespace onnx_bytes;

using Axes = std::vector<std::size_t>;
using Line = std::vector<double>;
using OfLine = std::function<Line(const Line&)>;

/// The first dimensions of a tensor; no two sizes are alike.
Sizes sizes_of(std::size_t dimensions) {
  const Sizes all{3, 2, 5, 4, 6};
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(dimensions)};
}

bool has(const Axes& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

void place_in(Numbers& tensor, const Sizes& place, double number) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < place.size(); ++i) index = index * tensor.sizes[i] + place[i];
  tensor.values[index] = number;
}

/// All numbers that differ in these axes only, in row-major order, become others: as many, or one
/// for all, or those of a single axis.
Numbers along(const Numbers& tensor, const Axes& axes, const OfLine& of_line) {
  Sizes kept = tensor.sizes, line_sizes(tensor.sizes.size(), 1);
  for (const std::size_t axis : axes) std::swap(kept[axis], line_sizes[axis]);
  const auto sum = [](Sizes a, const Sizes& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  };
  Sizes made_sizes = line_sizes;
  Numbers result;
  for (const Sizes& place : places_of(kept)) {
    Line line;
    for (const Sizes& step : places_of(line_sizes)) line.push_back(at(tensor, sum(place, step)));
    const Line made = of_line(line);
    if (result.values.empty()) {
      if (axes.size() == 1) made_sizes[axes[0]] = made.size();
      if (made.size() == 1) made_sizes.assign(made_sizes.size(), 1);
      result.sizes = kept;
      for (const std::size_t axis : axes) result.sizes[axis] = made_sizes[axis];
      result.values.resize(element_count(result.sizes).value_or(0));
    }
    std::size_t next = 0;
    for (const Sizes& step : places_of(made_sizes))
      place_in(result, sum(place, step), made[next++]);
  }
  return result;
}

Numbers without(Numbers tensor, const Axes& axes) {
  for (std::size_t i = axes.size(); i-- > 0;)
    tensor.sizes.erase(tensor.sizes.begin() + static_cast<std::ptrdiff_t>(axes[i]));
  return tensor;
}

/// An axis as it may be written.
std::vector<std::int64_t> spellings(std::size_t axis, std::size_t dimensions) {
  const auto count = static_cast<std::int64_t>(axis);
  return {count, count - static_cast<std::int64_t>(dimensions)};
}

/// All choices of axes, each counted from the start, from the end, and by turns.
std::vector<std::pair<Axes, std::vector<std::int64_t>>> choices_of_axes(std::size_t dimensions) {
  std::vector<std::pair<Axes, std::vector<std::int64_t>>> choices;
  for (std::size_t bits = 1; bits < std::size_t{1} << dimensions; ++bits) {
    for (std::size_t spelling = 0; spelling < 3; ++spelling) {
      Axes axes;
      std::vector<std::int64_t> written;
      for (std::size_t i = 0; i < dimensions; ++i) {
        if ((bits >> i & 1) == 0) continue;
        axes.push_back(i);
        written.push_back(spellings(i, dimensions)[spelling == 2 ? i % 2 : spelling]);
      }
      if (spelling == 2) std::reverse(written.begin(), written.end());
      choices.emplace_back(axes, written);
    }
  }
  return choices;
}

double sum_of(const Line& line) {
  return std::accumulate(line.begin(), line.end(), 0.0);
}

Line each(Line line, const std::function<double(double)>& function) {
  std::transform(line.begin(), line.end(), line.begin(), function);
  return line;
}

double absolute(double x) {
  return std::abs(x);
}
double square(double x) {
  return x * x;
}
double exponential(double x) {
  return std::exp(x);
}

Line softmax(const Line& line) {
  const double sum = sum_of(each(line, exponential));
  return each(line, [&](double x) { return std::exp(x) / sum; });
}

Line log_softmax(const Line& line) {
  return each(softmax(line), [](double x) { return std::log(x); });
}

Line hardmax(const Line& line) {
  Line made(line.size(), 0);
  made[static_cast<std::size_t>(std::max_element(line.begin(), line.end()) - line.begin())] = 1;
  return made;
}

Line normalized(const Line& line) {
  const double count = static_cast<double>(line.size()), mean = sum_of(line) / count;
  const double variance = sum_of(each(line, [&](double x) { return square(x - mean); })) / count;
  return each(line, [&](double x) { return (x - mean) / std::sqrt(variance + 1e-5); });
}

/// What a node with one input computes along one axis.
struct Row {
  std::string type;
  OfLine of_line;
  std::vector<std::string> attributes = {};
  std::int64_t version = 17;
  double offset = 0;  // of its numbers
};

/// The attribute's axis is left out where it is the one that ONNX then means.
constexpr std::int64_t no_default = 99;

void check_axis(const Row& row, std::int64_t other = no_default, bool takes_all_behind = false) {
  CAPTURE(row.type);
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    Numbers x = some_numbers(sizes_of(dimensions));
    x.values = each(x.values, [&](double number) { return number + row.offset; });
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      Axes axes{axis};
      while (takes_all_behind && axes.back() + 1 < dimensions) axes.push_back(axes.back() + 1);
      const Numbers expected = along(x, axes, row.of_line);
      for (const std::int64_t written : spellings(axis, dimensions)) {
        CAPTURE(dimensions);
        CAPTURE(written);
        OneNode node{row.type, {x}, row.attributes, 1, row.version};
        if (written == other) CHECK(difference(node, {expected}) == "");
        node.attributes.push_back(integer("axis", written));
        CHECK(difference(node, {expected}) == "");
      }
    }
  }
}

}  // namespace

TEST_CASE("onnx axes: softmax and its relatives, and norms") {
  check_axis({"Softmax", softmax}, -1);
  check_axis({"LogSoftmax", log_softmax}, -1);
  check_axis({"Hardmax", hardmax}, -1);
  check_axis({"LpNormalization",
              [](const Line& line) {
                const double norm = std::sqrt(sum_of(each(line, square)));
                return each(line, [&](double x) { return x / norm; });
              },
              {},
              17,
              4},  // DirectML adds an epsilon, which is nothing beside these
             -1);
  check_axis({"LpNormalization",
              [](const Line& line) {
                const double norm = sum_of(each(line, absolute));
                return each(line, [&](double x) { return x / norm; });
              },
              {integer("p", 1)},
              17,
              4},
             -1);
}

// Before version 13 all dimensions from the axis on are one.
TEST_CASE("onnx axes: older softmax takes all dimensions behind its axis") {
  check_axis({"Softmax", softmax, {}, 12}, 1, true);
  check_axis({"LogSoftmax", log_softmax, {}, 12}, 1, true);
}

TEST_CASE("onnx axes: reductions take every choice of axes") {
  struct Reduction {
    const char* type;
    std::function<double(const Line&)> of_line;
    bool is_near_one = false;  // its numbers: their logarithm exists, their product is not large
  };
  const std::vector<Reduction> reductions{
      {"ReduceL1", [](const Line& line) { return sum_of(each(line, absolute)); }},
      {"ReduceL2", [](const Line& line) { return std::sqrt(sum_of(each(line, square))); }},
      {"ReduceLogSum", [](const Line& line) { return std::log(sum_of(line)); }, true},
      {"ReduceLogSumExp",
       [](const Line& line) { return std::log(sum_of(each(line, exponential))); }},
      {"ReduceMax", [](const Line& line) { return *std::max_element(line.begin(), line.end()); }},
      {"ReduceMin", [](const Line& line) { return *std::min_element(line.begin(), line.end()); }},
      {"ReduceMean",
       [](const Line& line) { return sum_of(line) / static_cast<double>(line.size()); }},
      {"ReduceProd",
       [](const Line& line) {
         return std::accumulate(line.begin(), line.end(), 1.0, std::multiplies<>());
       },
       true},
      {"ReduceSum", sum_of},
      {"ReduceSumSquare", [](const Line& line) { return sum_of(each(line, square)); }},
  };
  std::size_t turn = 0;
  for (const Reduction& row : reductions) {
    CAPTURE(std::string(row.type));
    const auto of_line = [&](const Line& line) { return Line{row.of_line(line)}; };
    const bool was_input_early = std::string(row.type) == "ReduceSum";
    for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
      Numbers x = some_numbers(sizes_of(dimensions));
      if (row.is_near_one) x.values = each(x.values, [](double v) { return 1 + v / 64; });
      for (const auto& [axes, written] : choices_of_axes(dimensions)) {
        if (turn++ % 8 != 0 && dimensions > 3) continue;  // all go the same way
        CAPTURE(written);
        const Numbers kept = along(x, axes, of_line);
        const Numbers expected = written.front() % 2 == 0 ? kept : without(kept, axes);
        const std::string keeps = integer("keepdims", written.front() % 2 == 0);
        OneNode older{row.type, {x}, {integers("axes", written), keeps}};
        if (was_input_early) older.version = 12;
        CHECK(difference(older, {expected}) == "");
        CHECK(difference({row.type, {x, whole_numbers(written)}, {keeps}, 1, 18}, {expected}) ==
              "");
      }
      Axes all(dimensions);
      std::iota(all.begin(), all.end(), std::size_t{0});
      CHECK(difference({row.type, {x}}, {along(x, all, of_line)}) == "");
    }
  }
}

TEST_CASE("onnx axes: the place of the largest and the smallest number") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    Numbers x = some_numbers(sizes_of(dimensions));
    x.values = each(x.values, [](double v) { return std::floor(v); });  // some are equal
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      for (const std::int64_t written : spellings(axis, dimensions)) {
        for (int choice = 0; choice < 8; ++choice) {
          const bool is_max = (choice & 1) != 0, keeps = (choice & 2) != 0;
          const bool is_last = (choice & 4) != 0;
          CAPTURE(dimensions);
          CAPTURE(written);
          CAPTURE(choice);
          const Numbers kept = along(x, {axis}, [&](const Line& line) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < line.size(); ++i) {
              const double more = is_max ? line[i] - line[best] : line[best] - line[i];
              if (more > 0 || (is_last && more == 0)) best = i;
            }
            return Line{static_cast<double>(best)};
          });
          OneNode node{is_max ? "ArgMax" : "ArgMin",
                       {x},
                       {integer("axis", written), integer("keepdims", keeps),
                        integer("select_last_index", is_last)}};
          CHECK(difference(node, {keeps ? kept : without(kept, {axis})}) == "");
          if (written != 0 || !keeps || is_last) continue;
          node.attributes.clear();
          CHECK(difference(node, {kept}) == "");
        }
      }
    }
  }
}

TEST_CASE("onnx axes: MeanVarianceNormalization takes every choice of axes") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Numbers x = some_numbers(sizes_of(dimensions));
    for (const auto& [axes, written] : choices_of_axes(dimensions)) {
      CAPTURE(written);
      CAPTURE(dimensions);
      OneNode node{"MeanVarianceNormalization", {x}, {integers("axes", written)}};
      const Numbers expected = along(x, axes, normalized);
      CHECK(difference(node, {expected}) == "");
      node.attributes.clear();
      if (dimensions == 4 && axes == Axes{0, 2, 3}) CHECK(difference(node, {expected}) == "");
    }
  }
}

TEST_CASE("onnx axes: LayerNormalization normalizes all dimensions from its axis on") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      Axes axes;
      for (std::size_t i = axis; i < dimensions; ++i) axes.push_back(i);
      const Sizes behind(sizes.begin() + static_cast<std::ptrdiff_t>(axis), sizes.end());
      Sizes first(behind.size(), 1), last{behind.back()};  // one for all, along one dimension
      first[0] = behind[0];
      for (const Sizes& factors : {behind, first, last}) {
        const Numbers scale = some_numbers(factors, 1), bias = some_numbers(factors, 2);
        const auto factor = [&](const Numbers& tensor, const Sizes& place) {
          Sizes from;
          for (std::size_t i = 0; i < factors.size(); ++i)
            from.push_back(factors[i] == 1 ? 0 : place[place.size() - factors.size() + i]);
          return at(tensor, from);
        };
        const Numbers plain = along(x, axes, normalized);
        const Numbers expected = numbers_at(sizes, [&](const Sizes& place) {
          return at(plain, place) * factor(scale, place) + factor(bias, place);
        });
        for (const std::int64_t written : spellings(axis, dimensions)) {
          CAPTURE(dimensions);
          CAPTURE(written);
          CAPTURE(factors.size());
          OneNode node{"LayerNormalization", {x, scale, bias}, {integer("axis", written)}};
          CHECK(difference(node, {expected}) == "");
          node.attributes.clear();
          if (written == -1) CHECK(difference(node, {expected}) == "");
        }
      }
    }
  }
}

// Batch and channels are the first two dimensions, whatever follows.
TEST_CASE("onnx axes: channels stay the second dimension") {
  for (std::size_t dimensions = 2; dimensions <= 5; ++dimensions) {
    CAPTURE(dimensions);
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    const Numbers scale = some_numbers({2}, 1), bias = some_numbers({2}, 2);
    const Numbers mean = some_numbers({2}, 3), variance{{2}, {0.5, 2}};
    const auto scaled = [&](Numbers made) {
      for (const Sizes& place : places_of(sizes))
        place_in(made, place, at(made, place) * scale.values[place[1]] + bias.values[place[1]]);
      return made;
    };
    const Numbers by_channel = numbers_at(sizes, [&](const Sizes& place) {
      return (at(x, place) - mean.values[place[1]]) / std::sqrt(variance.values[place[1]] + 1e-5);
    });
    CHECK(difference({"BatchNormalization", {x, scale, bias, mean, variance}},
                     {scaled(by_channel)}) == "");
    if (dimensions < 3) continue;
    Axes behind(dimensions - 2);
    std::iota(behind.begin(), behind.end(), std::size_t{2});
    CHECK(difference({"InstanceNormalization", {x, scale, bias}},
                     {scaled(along(x, behind, normalized))}) == "");
    CHECK(difference({"GlobalAveragePool", {x}}, {along(x, behind, [](const Line& line) {
                       return Line{sum_of(line) / static_cast<double>(line.size())};
                     })}) == "");
    CHECK(difference({"GlobalMaxPool", {x}}, {along(x, behind, [](const Line& line) {
                       return Line{*std::max_element(line.begin(), line.end())};
                     })}) == "");
  }
}

// Of 7 channels each sees itself and one neighbour on both sides.
TEST_CASE("onnx axes: LRN sums over channels") {
  for (std::size_t dimensions = 2; dimensions <= 5; ++dimensions) {
    CAPTURE(dimensions);
    Sizes sizes = sizes_of(dimensions);
    sizes[1] = 7;
    const Numbers x = some_numbers(sizes);
    const Numbers expected = along(x, {1}, [](const Line& line) {
      Line made;
      for (std::size_t i = 0; i < line.size(); ++i) {
        double sum = 0;
        for (std::size_t j = i == 0 ? 0 : i - 1; j <= i + 1 && j < line.size(); ++j)
          sum += square(line[j]);
        made.push_back(line[i] / std::pow(2 + 0.5 * sum / 3, 0.75));
      }
      return made;
    });
    CHECK(difference({"LRN", {x}, {integer("size", 3), real("alpha", 0.5F), real("bias", 2)}},
                     {expected}) == "");
  }
}

TEST_CASE("onnx axes: sums and products along an axis") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Numbers x = some_numbers(sizes_of(dimensions));
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      for (int choice = 0; choice < 8; ++choice) {
        const bool is_reverse = (choice & 1) != 0, is_exclusive = (choice & 2) != 0;
        const bool is_product = (choice & 4) != 0;
        const Numbers expected = along(x, {axis}, [&](Line line) {
          if (is_reverse) std::reverse(line.begin(), line.end());
          double all = is_product ? 1 : 0;
          for (double& number : line) {
            const double before = all;
            all = is_product ? all * number : all + number;
            number = is_exclusive ? before : all;
          }
          if (is_reverse) std::reverse(line.begin(), line.end());
          return line;
        });
        for (const std::int64_t written : spellings(axis, dimensions)) {
          CAPTURE(dimensions);
          CAPTURE(written);
          CAPTURE(choice);
          CHECK(difference({is_product ? "CumProd" : "CumSum",
                            {x, {{}, {static_cast<double>(written)}, DataType::Int64}},
                            {integer("reverse", is_reverse), integer("exclusive", is_exclusive)},
                            1,
                            26},
                           {expected}) == "");
        }
      }
    }
  }
}

TEST_CASE("onnx axes: sums and products begin with the first element and include each one") {
  const Numbers x{{3}, {2, 3, 4}}, axis{{}, {0}, DataType::Int64};
  CHECK(difference({"CumSum", {x, axis}}, {{{3}, {2, 5, 9}}}) == "");
  CHECK(difference({"CumProd", {x, axis}, {}, 1, 26}, {{{3}, {2, 6, 24}}}) == "");
  check_refused({"CumProd", {x, whole_numbers({0, 0})}, {}, 1, 26}, "its axis must be one number");
  check_refused({"CumProd", {x, axis}, {}, 1, 25}, "it is there from version 26 on");
}

TEST_CASE("onnx axes: TopK sorts along its axis") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Numbers x = some_numbers(sizes_of(dimensions));
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      for (const bool is_largest : {false, true}) {
        const auto places = [&](const Line& line) {
          Line sorted(line.size());
          std::iota(sorted.begin(), sorted.end(), 0.0);
          std::stable_sort(sorted.begin(), sorted.end(), [&](double a, double b) {
            const double x_a = line[static_cast<std::size_t>(a)];
            const double x_b = line[static_cast<std::size_t>(b)];
            return is_largest ? x_a > x_b : x_a < x_b;
          });
          sorted.resize(2);
          return sorted;
        };
        const auto values = [&](const Line& line) {
          return each(places(line), [&](double i) { return line[static_cast<std::size_t>(i)]; });
        };
        const std::vector<Numbers> expected{along(x, {axis}, values), along(x, {axis}, places)};
        for (const std::int64_t written : spellings(axis, dimensions)) {
          CAPTURE(dimensions);
          CAPTURE(written);
          OneNode node{"TopK", {x, whole_numbers({2})}, {integer("largest", is_largest)}, 2};
          if (written == -1) CHECK(difference(node, expected) == "");
          node.attributes.push_back(integer("axis", written));
          CHECK(difference(node, expected) == "");
        }
      }
    }
  }
}

TEST_CASE("onnx axes: TopK takes one element at least, and no more than there are") {
  const Numbers x = some_numbers({2, 3});
  for (const std::int64_t k : {-1, 0, 4}) {
    CAPTURE(k);
    for (const OneNode& node : {OneNode{"TopK", {x, whole_numbers({k})}},
                                OneNode{"TopK", {x}, {integer("k", k)}, 1, 9}}) {
      const std::string findings = run_node(node).findings;
      const std::string place = node.inputs.size() > 1 ? ", input 1 \"input1\"," : "";
      CHECK_MESSAGE(findings.find("its k" + place + " is " + std::to_string(k) +
                                  ", but dimension 1 has 3 elements") != std::string::npos,
                    findings);
    }
  }
}

TEST_CASE("onnx axes: Concat and Split, with parts of different sizes") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      Sizes sizes = sizes_of(dimensions);
      sizes[axis] = 6;
      const Numbers all = some_numbers(sizes);
      const auto part = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        return along(all, {axis}, [&](const Line& line) {
          return Line(line.begin() + begin, line.begin() + end);
        });
      };
      const std::vector<Numbers> parts{part(0, 2), part(2, 3), part(3, 6)};
      const std::vector<Numbers> halves{part(0, 3), part(3, 6)};
      for (const std::int64_t written : spellings(axis, dimensions)) {
        CAPTURE(dimensions);
        CAPTURE(written);
        const std::string attribute = integer("axis", written);
        CHECK(difference({"Concat", parts, {attribute}}, {all}) == "");
        CHECK(difference({"Split", {all, whole_numbers({2, 1, 3})}, {attribute}, 3}, parts) == "");
        CHECK(difference({"Split", {all}, {attribute, integers("split", {2, 1, 3})}, 3, 12},
                         parts) == "");
        CHECK(difference({"Split", {all}, {attribute}, 2}, halves) == "");
        if (axis == 0) CHECK(difference({"Split", {all}, {}, 2}, halves) == "");
      }
    }
  }
}

TEST_CASE("onnx axes: Gather puts the indices' dimensions in the place of its axis") {
  const Numbers indices[]{{{}, {1}, DataType::Int64},
                          whole_numbers({1, 0, -1, 1}),
                          {{2, 3}, {1, 0, 1, 0, 0, 1}, DataType::Int64}};
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      const auto place = static_cast<std::ptrdiff_t>(axis);
      for (const Numbers& picked : indices) {
        const auto count = static_cast<std::ptrdiff_t>(picked.sizes.size());
        Sizes made = sizes;
        made.erase(made.begin() + place);
        made.insert(made.begin() + place, picked.sizes.begin(), picked.sizes.end());
        const Numbers expected = numbers_at(made, [&](const Sizes& to) {
          const auto middle = to.begin() + place;
          const double index = at(picked, {middle, middle + count});
          Sizes from(to.begin(), middle);
          from.push_back(index < 0 ? sizes[axis] - 1 : static_cast<std::uint64_t>(index));
          from.insert(from.end(), middle + count, to.end());
          return at(x, from);
        });
        for (const std::int64_t written : spellings(axis, dimensions)) {
          CAPTURE(dimensions);
          CAPTURE(written);
          CAPTURE(picked.sizes.size());
          OneNode node{"Gather", {x, picked}, {integer("axis", written)}};
          CHECK(difference(node, {expected}) == "");
          node.attributes.clear();
          if (written == 0) CHECK(difference(node, {expected}) == "");
        }
      }
    }
  }
}

// The indices have two places along the axis, in an order that changes from line to line.
TEST_CASE("onnx axes: GatherElements and ScatterElements") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      Sizes two = sizes;
      two[axis] = 2;
      const Numbers indices = numbers_at(
          two,
          [&](const Sizes& place) {
            std::uint64_t line = 0;
            for (std::size_t i = 0; i < place.size(); ++i) line += i == axis ? 0 : place[i];
            return static_cast<double>((line + place[axis]) % sizes[axis]);
          },
          DataType::Int64);
      const auto picked = [&](Sizes place) {
        place[axis] = static_cast<std::uint64_t>(at(indices, place));
        return place;
      };
      const Numbers gathered =
          numbers_at(two, [&](const Sizes& place) { return at(x, picked(place)); });
      const Numbers updates = some_numbers(two, 1);
      Numbers scattered = x;
      for (const Sizes& place : places_of(two))
        place_in(scattered, picked(place), at(updates, place));
      for (const std::int64_t written : spellings(axis, dimensions)) {
        CAPTURE(dimensions);
        CAPTURE(written);
        OneNode gather{"GatherElements", {x, indices}, {integer("axis", written)}};
        OneNode scatter{"ScatterElements", {x, indices, updates}, {integer("axis", written)}};
        CHECK(difference(gather, {gathered}) == "");
        CHECK(difference(scatter, {scattered}) == "");
        if (written != 0) continue;
        gather.attributes.clear();
        scatter.attributes.clear();
        CHECK(difference(gather, {gathered}) == "");
        CHECK(difference(scatter, {scattered}) == "");
      }
    }
  }
}

// All dimensions but the axis lack their last place.
TEST_CASE("onnx axes: indices of GatherElements may reach a part of the data") {
  for (std::size_t dimensions = 2; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      CAPTURE(dimensions);
      CAPTURE(axis);
      Sizes part = sizes;
      for (std::uint64_t& size : part) --size;
      const Numbers indices = numbers_at(
          part, [&](const Sizes& place) { return static_cast<double>(place[axis] + 1); },
          DataType::Int64);
      const Numbers gathered = numbers_at(part, [&](Sizes place) {
        ++place[axis];
        return at(x, place);
      });
      const auto written = static_cast<std::int64_t>(axis);
      CHECK(difference({"GatherElements", {x, indices}, {integer("axis", written)}}, {gathered}) ==
            "");
    }
  }
}

TEST_CASE("onnx axes: indices that reach beyond the data, or only a part of it, are refused") {
  const Numbers x = some_numbers({3, 4}), zero{{1, 1}, {0}, DataType::Int64},
                column{{4, 1}, {0, 0, 0, 0}, DataType::Int64}, line{{1}, {0}, DataType::Int64};
  const auto findings = [&](const std::string& type, std::vector<Numbers> inputs) {
    if (type == "ScatterElements") inputs.push_back(some_numbers(inputs[1].sizes));
    return run_node({type, inputs, {integer("axis", 1)}}).findings;
  };
  for (const char* type : {"GatherElements", "ScatterElements"}) {
    CAPTURE(type);
    CHECK(findings(type, {x, column}).find("its indices [4, 1] do not fit its input [3, 4]") !=
          std::string::npos);
    CHECK(findings(type, {x, line}).find("its indices [1] do not fit its input [3, 4]") !=
          std::string::npos);
  }
  const std::string part = findings("ScatterElements", {x, zero});
  CHECK_MESSAGE(
      part.find("its indices [1, 1] reach a part of its input [3, 4] only") != std::string::npos,
      part);
}

TEST_CASE("onnx axes: OneHot inserts its axis") {
  for (std::size_t dimensions = 1; dimensions <= 4; ++dimensions) {
    Numbers indices = some_numbers(sizes_of(dimensions));
    indices.type = DataType::Int64;
    indices.values = each(indices.values, [](double x) { return std::floor(x + 4); });  // 0 to 7
    for (std::size_t axis = 0; axis <= dimensions; ++axis) {
      Sizes sizes = indices.sizes;
      sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), 7);
      const Numbers expected = numbers_at(sizes, [&](const Sizes& place) {
        Sizes from = place;
        from.erase(from.begin() + static_cast<std::ptrdiff_t>(axis));
        return at(indices, from) == static_cast<double>(place[axis]) ? 5 : -2;
      });
      for (const std::int64_t written : spellings(axis, dimensions + 1)) {
        CAPTURE(dimensions);
        CAPTURE(written);
        OneNode node{
            "OneHot", {indices, whole_numbers({7}), {{2}, {-2, 5}}}, {integer("axis", written)}};
        CHECK(difference(node, {expected}) == "");
        node.attributes.clear();
        if (written == -1) CHECK(difference(node, {expected}) == "");
      }
    }
  }
}

TEST_CASE("onnx axes: ReverseSequence reverses along the time, for each of the batch") {
  for (std::size_t dimensions = 2; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    for (const std::size_t time : {0U, 1U}) {
      const std::size_t batch = 1 - time;
      CAPTURE(dimensions);
      CAPTURE(time);
      const std::vector<std::int64_t> lengths =
          time == 0 ? std::vector<std::int64_t>{3, 2} : std::vector<std::int64_t>{1, 2, 2};
      const Numbers expected = numbers_at(sizes, [&](Sizes place) {
        const auto length = static_cast<std::uint64_t>(lengths[place[batch]]);
        if (place[time] < length) place[time] = length - 1 - place[time];
        return at(x, place);
      });
      OneNode node{"ReverseSequence",
                   {x, whole_numbers(lengths)},
                   {integer("time_axis", static_cast<std::int64_t>(time)),
                    integer("batch_axis", static_cast<std::int64_t>(batch))}};
      CHECK(difference(node, {expected}) == "");
      const auto count = static_cast<std::int64_t>(dimensions);
      node.attributes = {integer("time_axis", static_cast<std::int64_t>(time) - count),
                         integer("batch_axis", static_cast<std::int64_t>(batch) - count)};
      CHECK(difference(node, {expected}) == "");
      node.attributes.clear();
      if (time == 0) CHECK(difference(node, {expected}) == "");
    }
    CHECK(run_node({"ReverseSequence", {x, whole_numbers({3, 2, 1})}, {integer("batch_axis", 0)}})
              .findings.find("its time_axis is its batch_axis") != std::string::npos);
  }
}

TEST_CASE("onnx axes: Slice and Pad take every choice of axes") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    for (const auto& [axes, written] : choices_of_axes(dimensions)) {
      CAPTURE(dimensions);
      CAPTURE(written);
      const std::size_t count = axes.size();
      // From the second element on, or from the last one backwards; an element before and more
      // behind.
      std::vector<std::int64_t> starts, ends, steps, pads(2 * count);
      std::vector<std::uint64_t> before(dimensions, 0), behind(dimensions, 0);
      Sizes sliced = sizes, padded = sizes;
      for (std::size_t i = 0; i < count; ++i) {
        const auto axis = static_cast<std::size_t>(
            written[i] < 0 ? written[i] + static_cast<std::int64_t>(dimensions) : written[i]);
        const bool is_reverse = axis % 2 == 1;
        starts.push_back(is_reverse ? -1 : 1);
        ends.push_back(is_reverse ? -100 : 100);
        steps.push_back(is_reverse ? -1 : 1);
        if (!is_reverse) --sliced[axis];
        pads[i] = static_cast<std::int64_t>(before[axis] = axis % 2);
        pads[count + i] = static_cast<std::int64_t>(behind[axis] = axis + 1);
        padded[axis] += before[axis] + behind[axis];
      }
      const Numbers slice = numbers_at(sliced, [&](Sizes place) {
        for (const std::size_t axis : axes)
          place[axis] = axis % 2 == 1 ? sizes[axis] - 1 - place[axis] : place[axis] + 1;
        return at(x, place);
      });
      CHECK(difference({"Slice",
                        {x, whole_numbers(starts), whole_numbers(ends), whole_numbers(written),
                         whole_numbers(steps)}},
                       {slice}) == "");
      const Numbers pad = numbers_at(padded, [&](Sizes place) {
        for (std::size_t i = 0; i < dimensions; ++i) {
          if (place[i] < before[i] || place[i] >= before[i] + sizes[i]) return 9.0;
          place[i] -= before[i];
        }
        return at(x, place);
      });
      CHECK(difference(
                {"Pad", {x, whole_numbers(pads), {{}, {9}}, whole_numbers(written)}, {}, 1, 18},
                {pad}) == "");
    }
  }
}

TEST_CASE("onnx axes: Pad goes around as often as its pads say") {
  const Numbers x = some_numbers({3, 4});
  const Numbers around = numbers_at({3 + 5, 4 + 1 + 9}, [&](const Sizes& place) {
    return at(x, {(place[0] + 6 - 5) % 3, (place[1] + 4 - 1) % 4});
  });
  const OneNode pad{"Pad", {x, whole_numbers({5, 1, 0, 9})}, {text("mode", "wrap")}, 1, 19};
  CHECK(difference(pad, {around}) == "");
  OneNode other = pad;
  other.version = 18;
  check_refused(other, "Pad has it from version 19 on\n  help: declare version 19");
  other.attributes = {text("mode", "around")};
  check_refused(other, "mode is one of: constant, edge, reflect, wrap");
}

TEST_CASE("onnx axes: Slice goes backwards from the first element at the earliest") {
  struct Row {
    std::int64_t start, end, step;
    std::vector<std::uint64_t> places;
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Numbers x = some_numbers({5});
  for (const Row& row : std::vector<Row>{{-20, -30, -1, {0}},
                                         {-6, -10, -1, {0}},
                                         {-5, -10, -1, {0}},
                                         {0, -100, -3, {0}},
                                         {-4, -100, -1, {1, 0}},
                                         {10, -10, -2, {4, 2, 0}},
                                         {1, 5, most, {1}},
                                         {4, -10, least, {4}}}) {
    CAPTURE(row.start);
    const Numbers slice = numbers_at(
        {row.places.size()}, [&](const Sizes& place) { return at(x, {row.places[place[0]]}); });
    CHECK(difference({"Slice",
                      {x, whole_numbers({row.start}), whole_numbers({row.end}), whole_numbers({0}),
                       whole_numbers({row.step})}},
                     {slice}) == "");
  }
}

TEST_CASE("onnx axes: dimensions of 1 come and go, and all change their order") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    for (const auto& [axes, written] : choices_of_axes(dimensions)) {
      CAPTURE(dimensions);
      CAPTURE(written);
      Sizes with = sizes, less;
      for (const std::size_t axis : axes) with[axis] = 1;
      for (std::size_t i = 0; i < dimensions; ++i) {
        if (!has(axes, i)) less.push_back(sizes[i]);
      }
      const Numbers large = some_numbers(with);
      const Numbers small{less, large.values};
      CHECK(difference({"Squeeze", {large, whole_numbers(written)}}, {small}) == "");
      CHECK(difference({"Unsqueeze", {small, whole_numbers(written)}}, {large}) == "");
      CHECK(difference({"Squeeze", {large}, {integers("axes", written)}, 1, 11}, {small}) == "");
      CHECK(difference({"Unsqueeze", {small}, {integers("axes", written)}, 1, 11}, {large}) == "");
    }
    const Numbers x = some_numbers(sizes);
    for (std::size_t axis = 0; axis <= dimensions; ++axis) {
      const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(axis);
      const Numbers flat{{element_count({sizes.begin(), middle}).value_or(0),
                          element_count({middle, sizes.end()}).value_or(0)},
                         x.values};
      const auto count = static_cast<std::int64_t>(axis);
      CHECK(difference({"Flatten", {x}, {integer("axis", count)}}, {flat}) == "");
      if (axis == 1) CHECK(difference({"Flatten", {x}}, {flat}) == "");
      if (axis == dimensions) continue;
      const std::int64_t from_end = count - static_cast<std::int64_t>(dimensions);
      CHECK(difference({"Flatten", {x}, {integer("axis", from_end)}}, {flat}) == "");
    }
    std::vector<std::int64_t> order(dimensions);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    do {
      CAPTURE(order);
      Sizes turned;
      for (const std::int64_t axis : order) turned.push_back(sizes[static_cast<std::size_t>(axis)]);
      const Numbers expected = numbers_at(turned, [&](const Sizes& to) {
        Sizes from(dimensions);
        for (std::size_t i = 0; i < dimensions; ++i)
          from[static_cast<std::size_t>(order[i])] = to[i];
        return at(x, from);
      });
      CHECK(difference({"Transpose", {x}, {integers("perm", order)}}, {expected}) == "");
      if (std::is_sorted(order.rbegin(), order.rend()))
        CHECK(difference({"Transpose", {x}}, {expected}) == "");
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("onnx axes: quantization has a scale for each place along its axis") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      const Numbers scales =
          numbers_at({sizes[axis]}, [](const Sizes& i) { return 1.0 / (1 << (i[0] + 1)); });
      const Numbers zeros = numbers_at(
          {sizes[axis]}, [](const Sizes& i) { return 100.0 + 3 * static_cast<double>(i[0]); },
          DataType::UInt8);
      const auto scale = [&](const Sizes& place) { return scales.values[place[axis]]; };
      const auto zero = [&](const Sizes& place) { return zeros.values[place[axis]]; };
      const Numbers quantized = numbers_at(
          sizes,
          [&](const Sizes& place) {
            return std::clamp(std::nearbyint(at(x, place) / scale(place)) + zero(place), 0.0,
                              255.0);
          },
          DataType::UInt8);
      const Numbers back = numbers_at(sizes, [&](const Sizes& place) {
        return (at(quantized, place) - zero(place)) * scale(place);
      });
      for (const std::int64_t written : spellings(axis, dimensions)) {
        CAPTURE(dimensions);
        CAPTURE(written);
        OneNode to{"QuantizeLinear", {x, scales, zeros}, {integer("axis", written)}};
        OneNode from{"DequantizeLinear", {quantized, scales, zeros}, {integer("axis", written)}};
        CHECK(difference(to, {quantized}) == "");
        CHECK(difference(from, {back}) == "");
        if (written != 1) continue;
        to.attributes.clear();
        from.attributes.clear();
        CHECK(difference(to, {quantized}) == "");
        CHECK(difference(from, {back}) == "");
      }
    }
  }
}

TEST_CASE("onnx axes: Resize and Tile change one dimension") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    // DirectML resamples 4 dimensions; neighbors that stay as they are become one.
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    for (std::size_t axis = dimensions > 4 ? 1 : 0; axis < dimensions; ++axis) {
      CAPTURE(dimensions);
      CAPTURE(axis);
      const Numbers doubled = along(x, {axis}, [](const Line& line) {
        Line made;
        for (const double number : line) made.insert(made.end(), 2, number);
        return made;
      });
      const std::vector<std::string> floors{text("coordinate_transformation_mode", "asymmetric"),
                                            text("nearest_mode", "floor")};
      std::vector<double> scales(dimensions, 1);
      scales[axis] = 2;
      const std::vector<std::int64_t> wanted(doubled.sizes.begin(), doubled.sizes.end());
      CHECK(difference({"Resize", {x, {}, {{dimensions}, scales}}, floors}, {doubled}) == "");
      CHECK(difference({"Resize", {x, {}, {}, whole_numbers(wanted)}, floors}, {doubled}) == "");
      for (const std::int64_t written : spellings(axis, dimensions)) {
        CAPTURE(written);
        std::vector<std::string> attributes = floors;
        attributes.push_back(integers("axes", {written}));
        CHECK(difference({"Resize", {x, {}, {{1}, {2}}}, attributes, 1, 18}, {doubled}) == "");
        CHECK(difference({"Resize", {x, {}, {}, whole_numbers({wanted[axis]})}, attributes, 1, 18},
                         {doubled}) == "");
      }
      std::vector<std::int64_t> repeats(dimensions, 1);
      repeats[axis] = 3;
      CHECK(
          difference({"Tile", {x, whole_numbers(repeats)}}, {along(x, {axis}, [](const Line& line) {
                       Line made;
                       for (int i = 0; i < 3; ++i)
                         made.insert(made.end(), line.begin(), line.end());
                       return made;
                     })}) == "");
    }
  }
}

// 2.94 times as many as 4 are 11.76, of which 11 are in the middle.
TEST_CASE("onnx axes: half_pixel_symmetric cuts as much off both ends") {
  const Numbers x{{4}, {0, 1, 2, 3}};
  const std::vector<std::string> symmetric{
      text("coordinate_transformation_mode", "half_pixel_symmetric")};
  CHECK(difference({"Resize", {x, {}, {{1}, {2.94}}}, symmetric, 1, 19},
                   {{{11}, {0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3}}}) == "");
}

TEST_CASE("onnx axes: an axis that is named twice is refused") {
  const Numbers x = some_numbers({4, 2}), image = some_numbers({1, 1, 2, 2});
  const Numbers zeros = whole_numbers({0, 0}), twos = whole_numbers({2, 2}),
                same = whole_numbers({0, -2});
  const std::string last = integers("axes", {-1, 3});
  const std::vector<std::pair<OneNode, std::size_t>> nodes{
      {{"Slice", {x, zeros, twos, same}}, 0},
      {{"Slice",
        {x},
        {integers("starts", {0, 0}), integers("ends", {2, 2}), integers("axes", {1, 1})},
        1,
        9},
       1},
      {{"Pad", {x, whole_numbers({1, 1, 1, 1}), {}, same}, {}, 1, 18}, 0},
      {{"Resize", {image, {}, {{2}, {2, 2}}}, {last}, 1, 18}, 3},
      {{"Unsqueeze", {x, whole_numbers({1, -3})}}, 1},
  };
  for (const auto& [node, axis] : nodes) {
    CAPTURE(node.type);
    const std::string findings = run_node(node).findings;
    CHECK_MESSAGE(findings.find("its axes name dimension " + std::to_string(axis) + " twice") !=
                      std::string::npos,
                  findings);
  }
}

// As in ONNX Runtime; ONNX does not say that axes differ there.
TEST_CASE("onnx axes: Squeeze and reductions take an axis that is named twice once") {
  const Numbers x = some_numbers({1, 3}), line{{3}, x.values};
  CHECK(difference({"Squeeze", {x, whole_numbers({0, -2})}}, {line}) == "");
  const Numbers sum{{1, 1}, {sum_of(x.values)}};
  CHECK(difference({"ReduceSum", {x, whole_numbers({1, -1})}}, {sum}) == "");
  CHECK(difference({"ReduceSum", {x}, {integers("axes", {-1, 1})}, 1, 11}, {sum}) == "");
}

// The provider's scale would be 0, which DirectML refuses.
TEST_CASE("onnx axes: Resize crops no dimension to one element") {
  const std::vector<std::string> crop{text("coordinate_transformation_mode", "tf_crop_and_resize")};
  const Numbers region{{2}, {0.25, 0.75}};
  const auto findings_of = [&](std::uint64_t from, std::int64_t to) {
    return run_node({"Resize", {some_numbers({from}), region, {}, whole_numbers({to})}, crop})
        .findings;
  };
  const std::string findings = findings_of(4, 1);
  CHECK_MESSAGE(findings.find("node \"node of output0\" (Resize): its tf_crop_and_resize makes 1 "
                              "element of the 4 of dimension 0") != std::string::npos,
                findings);
  CHECK(findings_of(4, 2) == "");
  CHECK(findings_of(1, 1) == "");
}

// A region of some dimensions is one of all dimensions, from 0 to 1 in the others.
TEST_CASE("onnx axes: Resize crops along its axes") {
  for (std::size_t dimensions = 1; dimensions <= 4; ++dimensions) {
    const Numbers x = some_numbers(sizes_of(dimensions));
    for (const auto& [axes, written] : choices_of_axes(dimensions)) {
      CAPTURE(dimensions);
      CAPTURE(written);
      const std::size_t count = written.size();
      std::vector<double> all_regions(2 * dimensions, 0), regions(2 * count);
      std::vector<std::int64_t> all_sizes(x.sizes.begin(), x.sizes.end()), sizes;
      std::fill_n(all_regions.begin() + static_cast<std::ptrdiff_t>(dimensions), dimensions, 1.0);
      for (std::size_t i = 0; i < count; ++i) {
        const auto axis = static_cast<std::size_t>(
            written[i] < 0 ? written[i] + static_cast<std::int64_t>(dimensions) : written[i]);
        all_regions[axis] = regions[i] = 0.125 * static_cast<double>(axis);
        all_regions[dimensions + axis] = regions[count + i] =
            1 - 0.0625 * static_cast<double>(axis);
        all_sizes[axis] = static_cast<std::int64_t>(axis) + 3;
        sizes.push_back(all_sizes[axis]);
      }
      const std::vector<std::string> crop{
          text("coordinate_transformation_mode", "tf_crop_and_resize"), text("mode", "linear")};
      std::vector<std::string> with_axes = crop;
      with_axes.push_back(integers("axes", written));
      const OnnxRun all =
          run_node({"Resize",
                    {x, {{2 * dimensions}, all_regions}, {}, whole_numbers(all_sizes)},
                    crop,
                    1,
                    18});
      REQUIRE(all.findings == "");
      CHECK(difference(
                {"Resize", {x, {{2 * count}, regions}, {}, whole_numbers(sizes)}, with_axes, 1, 18},
                {all.outputs[0]}) == "");
    }
  }
}

// The provider's scale is that of one element at least.
TEST_CASE("onnx axes: Resize crops a region that is smaller than an element") {
  const std::vector<std::string> crop{text("coordinate_transformation_mode", "tf_crop_and_resize"),
                                      text("mode", "linear")};
  const Numbers x{{3}, {0, 10, 20}}, region{{2}, {0.25, 0.5}}, expected{{3}, {5, 10, 15}};
  CHECK(difference({"Resize", {x, region, {}, whole_numbers({3})}, crop}, {expected}) == "");
}

TEST_CASE("onnx axes: Resize refuses sizes, scales and regions that it cannot follow") {
  const auto check = [](const OneNode& node, const std::string& expected) {
    const std::string findings = run_node(node).findings;
    CHECK_MESSAGE(findings.find(expected) != std::string::npos, findings);
  };
  const Numbers x = some_numbers({4});
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
    CAPTURE(size);
    check({"Resize", {x, {}, {}, whole_numbers({size})}},
          "its size of dimension 0 is " + std::to_string(size));
  }
  check({"Resize", {x, {}, {{1}, {1e10}}}}, "its scale of dimension 0, which is 4, is 1");
  check({"Resize",
         {x, {{1}, {0.25}}, {}, whole_numbers({2})},
         {text("coordinate_transformation_mode", "tf_crop_and_resize")}},
        "its roi does not fit its dimensions");
  // These have their sizes, but other elements, so that they do not become one.
  const Numbers of_five = some_numbers({2, 2, 2, 2, 2});
  check({"Resize", {of_five, {}, {{5}, {1.25, 1.25, 1.25, 1.25, 1.25}}}},
        "InputTensor has 5 dimensions, must have 1 to 4");
  check({"Resize",
         {of_five, {}, {{5}, {1, 1, 1, 1, 1}}},
         {text("coordinate_transformation_mode", "tf_half_pixel_for_nn")}},
        "InputTensor has 5 dimensions, must have 1 to 4");
}

TEST_CASE("onnx axes: Shape gives the sizes from one dimension to another") {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    const Sizes sizes = sizes_of(dimensions);
    const Numbers x = some_numbers(sizes);
    const auto count = static_cast<std::int64_t>(dimensions);
    for (std::int64_t start = -count - 1; start <= count; ++start) {
      for (std::int64_t end = -count - 1; end <= count + 1; ++end) {
        std::vector<std::int64_t> some;
        for (std::int64_t i = 0; i < count; ++i) {
          const bool is_behind = i >= (start < 0 ? start + count : start);
          if (is_behind && i < (end < 0 ? end + count : end))
            some.push_back(static_cast<std::int64_t>(sizes[static_cast<std::size_t>(i)]));
        }
        if (some.empty()) continue;  // no output of DirectML
        CAPTURE(dimensions);
        CAPTURE(start);
        CAPTURE(end);
        CHECK(difference({"Shape", {x}, {integer("start", start), integer("end", end)}},
                         {whole_numbers(some)}) == "");
      }
    }
    const std::vector<std::int64_t> all(sizes.begin(), sizes.end());
    CHECK(difference({"Shape", {x}}, {whole_numbers(all)}) == "");
  }
}

}  // namespace dmlop::test::onnx_axes_test
