// DML_OPERATOR_ACTIVATION_SOFTMAX, LOG_SOFTMAX and HARDMAX, and the same over any axes.
#include <doctest/doctest.h>

#include <limits>

#include "plan_case.hpp"
#include "reference/rows.hpp"
#include "sweep.hpp"

namespace dmlop::test::softmax_test {
namespace {

using Axes = std::vector<std::size_t>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

const std::vector<std::string> functions{"SOFTMAX", "LOG_SOFTMAX", "HARDMAX"};

/// Without axes, the operator over the last one.
PlanCase softmax_case(const std::string& function, const Axes& axes, const Tensor& input,
                      const Tensor& output, double tolerance = 1e-6) {
  PlanCase a_case{"DML_OPERATOR_ACTIVATION_" + function,
                  nlohmann::ordered_json::object(),
                  {{"InputTensor", input}},
                  {{"OutputTensor", output, {}, 0, function == "HARDMAX" ? 0 : tolerance}}};
  if (!axes.empty()) {
    a_case.type += "1";
    a_case.fields["Axes"] = axes;
  }
  return a_case;
}

void check(const std::string& function, const Axes& axes, const Tensor& input) {
  const bool is_half = input.type == DataType::Float16;
  const Axes along = axes.empty() ? Axes{input.sizes.size() - 1} : axes;
  const rows::Numbers expected =
      rows::softmax(function, rows::numbers_of(input), rows::rows_of(input.sizes, along));
  check_plan_case(softmax_case(function, axes, input,
                               rows::tensor_of(input.type, input.sizes, expected),
                               is_half ? 1e-3 : 1e-6));
}

TEST_CASE("SOFTMAX, LOG_SOFTMAX and HARDMAX: a row of three numbers") {
  const Tensor input = floats({1, 3}, {1, 2, 3});
  check_plan_case(
      softmax_case("SOFTMAX", {}, input, floats({1, 3}, {0.09003057F, 0.24472848F, 0.66524094F})));
  check_plan_case(softmax_case("LOG_SOFTMAX", {}, input,
                               floats({1, 3}, {-2.4076059F, -1.4076059F, -0.4076059F})));
  check_plan_case(softmax_case("HARDMAX", {}, input, floats({1, 3}, {0, 0, 1})));
}

TEST_CASE("SOFTMAX and its like: random rows of any strides, along the last axis") {
  Random random(65);
  for (int i = 0; i < 150; ++i) {
    List sizes(random.from_to(1, 8), 1);
    sizes.back() = random.from_to(1, 40);
    if (sizes.size() > 1) sizes[sizes.size() - 2] = random.from_to(1, 40);
    const DataType type = random.one_in(2) ? DataType::Float32 : DataType::Float16;
    check(random.one_of(functions), {}, random_numbers(type, sizes, false, random));
  }
}

TEST_CASE("SOFTMAX1 and its like: random tensors of any strides, along any axes") {
  Random random(66);
  for (int i = 0; i < 300; ++i) {
    const List sizes = random_sizes(random.from_to(1, 8), random);
    Axes axes;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (random.one_in(2)) axes.push_back(axis);
    }
    if (axes.empty()) axes.push_back(random.below(sizes.size()));
    const DataType type = random.one_in(2) ? DataType::Float32 : DataType::Float16;
    check(random.one_of(functions), axes, random_numbers(type, sizes, false, random));
  }
}

/// Numbers from -4 to 4 that are packed, as the kernel takes them that reads a row once on a GPU.
Tensor packed_numbers(DataType type, const List& sizes, Random& random) {
  rows::Numbers numbers;
  for_each_index(sizes, [&](const Index&) {
    numbers.push_back(static_cast<double>(random.below(1 << 11)) / (1 << 8) - 4);
  });
  return rows::tensor_of(type, sizes, numbers);
}

/// The functions in turn, of FLOAT16 and FLOAT32.
void check_packed(const std::vector<std::pair<List, Axes>>& shapes) {
  Random random(67);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [sizes, axes] = shapes[i];
    const DataType type = i % 2 == 0 ? DataType::Float32 : DataType::Float16;
    check(functions[i / 2 % 2], axes, packed_numbers(type, sizes, random));
  }
}

TEST_CASE("SOFTMAX1 and LOG_SOFTMAX1: packed rows of some lanes and of a whole group") {
  check_packed({{{5, 24}, {1}}, {{3, 5, 16}, {1, 2}}, {{3, 2000}, {1}}, {{3, 4, 1024}, {2}}});
}

TEST_CASE("SOFTMAX1 and LOG_SOFTMAX1: packed columns of a lane and of several") {
  check_packed({{{3, 16, 20}, {1}}, {{3, 11, 24}, {1}}, {{2, 40, 12}, {1}}, {{2, 300, 3, 8}, {1}}});
}

TEST_CASE("SOFTMAX1 and LOG_SOFTMAX1: packed rows in parts") {
  check_packed({{{2, 20004}, {1}}, {{2, 20008}, {1}}, {{1, 17000}, {1}}});
}

// A part of minus infinities alone adds nothing.
TEST_CASE("SOFTMAX and LOG_SOFTMAX: packed rows with infinities and NaN, in parts and whole") {
  for (const std::uint64_t length : {std::uint64_t{16}, std::uint64_t{20000}}) {
    for (const std::string function : {"SOFTMAX", "LOG_SOFTMAX"}) {
      const List sizes{2, length};
      rows::Numbers numbers(2 * length, -infinity);
      numbers[length - 2] = 1000;
      numbers[length - 1] = 1000;
      rows::Numbers expected(2 * length, function == "SOFTMAX" ? 0 : -infinity);
      expected[length - 2] = expected[length - 1] = function == "SOFTMAX" ? 0.5 : -std::log(2.0);
      // The second row is undefined.
      std::fill(expected.begin() + static_cast<std::ptrdiff_t>(length), expected.end(), nan);
      check_plan_case(softmax_case(function, {}, rows::tensor_of(DataType::Float32, sizes, numbers),
                                   rows::tensor_of(DataType::Float32, sizes, expected)));
    }
  }
}

TEST_CASE("SOFTMAX and LOG_SOFTMAX: large numbers, infinity and NaN") {
  const Tensor input = floats({4, 2}, {1e30F, 1e30F, infinity, 0, -infinity, -infinity, nan, 1});
  check_plan_case(softmax_case("SOFTMAX", {}, input,
                               floats({4, 2}, {0.5F, 0.5F, nan, nan, nan, nan, nan, nan})));
  check_plan_case(
      softmax_case("SOFTMAX", {}, floats({1, 2}, {-infinity, 3}), floats({1, 2}, {0, 1})));
  check_plan_case(
      softmax_case("LOG_SOFTMAX", {}, floats({1, 2}, {-1000, 0}), floats({1, 2}, {-1000, 0})));
}

// DirectML takes the logarithm of a sum that is NaN as that of 1e-20.
TEST_CASE("LOG_SOFTMAX: a NaN stays where it is") {
  check_plan_case(softmax_case("LOG_SOFTMAX", {}, floats({1, 3}, {nan, 1, 3}),
                               floats({1, 3}, {nan, 44.051702F, 46.051702F})));
}

TEST_CASE("HARDMAX: the first of equal maxima, and a NaN in first place") {
  const Tensor input = floats({3, 3}, {2, 1, 2, nan, 1, 2, 1, nan, 2});
  check_plan_case(softmax_case("HARDMAX", {}, input, floats({3, 3}, {1, 0, 0, 1, 0, 0, 0, 0, 1})));
}

TEST_CASE("SOFTMAX: only the last two dimensions may be larger than 1") {
  const Tensor input = floats({1, 2, 2}, {1, 2, 3, 4});
  nlohmann::ordered_json description = softmax_case("SOFTMAX", {}, input, input).description();
  CHECK(messages(description) == "");
  description["desc"]["InputTensor"]["Sizes"] = {2, 1, 2};
  description["desc"]["OutputTensor"]["Sizes"] = {2, 1, 2};
  CHECK(messages(description) != "");
}

}  // namespace
}  // namespace dmlop::test::softmax_test
