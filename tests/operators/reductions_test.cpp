// DML_OPERATOR_REDUCE, ARGMIN and ARGMAX.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "plan_case.hpp"
#include "reference/rows.hpp"
#include "sweep.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::test::reductions_test {
namespace {

using Axes = std::vector<std::size_t>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

PlanCase reduce_case(const std::string& function, const Axes& axes, const Tensor& input,
                     const Tensor& output, double tolerance = 0) {
  return {"DML_OPERATOR_REDUCE",
          {{"Function", function}, {"Axes", axes}},
          {{"InputTensor", input}},
          {{"OutputTensor", output, {}, 0, tolerance}}};
}

PlanCase index_case(bool is_maximum, bool is_last, const Axes& axes, const Tensor& input,
                    const Tensor& output) {
  return {is_maximum ? "DML_OPERATOR_ARGMAX" : "DML_OPERATOR_ARGMIN",
          {{"Axes", axes}, {"AxisDirection", is_last ? "DECREASING" : "INCREASING"}},
          {{"InputTensor", input}},
          {{"OutputTensor", output}}};
}

Tensor indices(const List& sizes, const std::vector<std::uint32_t>& values) {
  return Tensor::of(DataType::UInt32, sizes, values);
}

double tolerance_of(DataType type) {
  return type == DataType::Float16 ? 1e-3 : 4e-7;
}

/// Numbers about 1, so that products stay in range.
Tensor random_factors(DataType type, const List& sizes, bool is_positive, Random& random) {
  Tensor tensor = random_tensor(type, sizes, random);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += tensor.element_size()) {
    double value = 0.75 + static_cast<double>(random.below(1 << 10)) / (1 << 11);
    if (!is_positive && random.one_in(2)) value = -value;
    std::memcpy(&tensor.bytes[at], element(type, value).data(), tensor.element_size());
  }
  return tensor;
}

Axes random_axes(std::size_t dimensions, Random& random) {
  Axes axes;
  while (axes.empty()) {
    for (std::size_t i = 0; i < dimensions; ++i) {
      if (random.one_in(2)) axes.push_back(i);
    }
  }
  if (random.one_in(2)) std::reverse(axes.begin(), axes.end());
  return axes;
}

/// The elements of a tensor in row-major order.
template <typename T>
std::vector<T> elements_of(const Tensor& tensor) {
  std::vector<T> elements;
  for_each_index(tensor.sizes, [&](const Index& index) {
    T value;
    std::memcpy(&value, tensor.at(index), sizeof value);
    elements.push_back(value);
  });
  return elements;
}

template <typename T>
std::vector<T> picked(const std::vector<T>& elements, const rows::Row& row) {
  std::vector<T> result;
  for (const std::uint64_t place : row) result.push_back(elements[place]);
  return result;
}

const std::vector<std::string> float_functions{
    "AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MAX", "MIN", "MULTIPLY", "SUM", "SUM_SQUARE"};

TEST_CASE("REDUCE: the page's functions of columns, rows and all elements") {
  const Tensor input = floats({2, 3}, {1, 2, 3, 3, 0, 4});
  check_plan_case(reduce_case("SUM", {0}, input, floats({1, 3}, {4, 2, 7})));
  check_plan_case(reduce_case("SUM", {1}, input, floats({2, 1}, {6, 7})));
  check_plan_case(reduce_case("SUM", {0, 1}, input, floats({1, 1}, {13})));
  check_plan_case(reduce_case("AVERAGE", {1}, input, floats({2, 1}, {2, 7.0F / 3})));
  check_plan_case(reduce_case("L1", {1}, floats({1, 2}, {-3, 4}), floats({1, 1}, {7})));
  check_plan_case(reduce_case("L2", {1}, floats({1, 2}, {-3, 4}), floats({1, 1}, {5})));
  check_plan_case(reduce_case("SUM_SQUARE", {1}, floats({1, 2}, {-3, 4}), floats({1, 1}, {25})));
  check_plan_case(reduce_case("MULTIPLY", {0}, input, floats({1, 3}, {3, 0, 12})));
  check_plan_case(reduce_case("MAX", {1}, input, floats({2, 1}, {3, 4})));
  check_plan_case(reduce_case("MIN", {1}, input, floats({2, 1}, {1, 0})));
  check_plan_case(
      reduce_case("LOG_SUM", {1}, input, floats({2, 1}, {1.7917595F, 1.9459101F}), 1e-7));
  check_plan_case(reduce_case("ARGMAX", {1}, input, indices({2, 1}, {2, 2})));
  check_plan_case(reduce_case("ARGMIN", {0, 1}, input, indices({1, 1}, {4})));
}

TEST_CASE("REDUCE: random floats of all strides along any axes") {
  Random random(61);
  for (int i = 0; i < 400; ++i) {
    const DataType type = random.one_in(2) ? DataType::Float32 : DataType::Float16;
    const std::string function = random.one_of(float_functions);
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const Axes axes = random_axes(sizes.size(), random);
    const Tensor input = random_factors(type, sizes, function == "LOG_SUM", random);
    const rows::Numbers x = rows::numbers_of(input);
    rows::Numbers expected;
    for (const rows::Row& row : rows::rows_of(sizes, axes))
      expected.push_back(rows::reduced(function, x, row));
    const Tensor output = rows::tensor_of(type, rows::reduced_sizes(sizes, axes), expected);
    check_plan_case(reduce_case(function, axes, input, output, tolerance_of(type)));
  }
}

/// Numbers about 1, with a NaN now and then.
Tensor packed_numbers(DataType type, const List& sizes, bool has_nan, Random& random) {
  rows::Numbers numbers;
  for_each_index(sizes, [&](const Index&) {
    numbers.push_back(0.75 + static_cast<double>(random.below(1 << 9)) / (1 << 10));
    if (has_nan && random.one_in(5)) numbers.back() = nan;
  });
  return rows::tensor_of(type, sizes, numbers);
}

// 60000 + 0.0019 is no float, so that a sum of two halves may lose what is left in the end.
TEST_CASE("REDUCE: what is left of halves that cancel each other") {
  const List sizes{3, 24};
  rows::Numbers numbers;
  for (int i = 0; i < 72; ++i) numbers.push_back(i % 2 == 0 ? 0.0019 : i % 4 == 1 ? 6e4 : -6e4);
  const Tensor input = rows::tensor_of(DataType::Float16, sizes, numbers);
  const rows::Numbers sums(3, 12 * rows::numbers_of(input)[0]);
  check_plan_case(reduce_case("SUM", {1}, input, rows::tensor_of(DataType::Float16, {3, 1}, sums)));
}

/// A function of packed rows or columns.
void check_packed(const std::string& function, DataType type, const List& sizes, const Axes& axes,
                  Random& random) {
  CAPTURE(function);
  CAPTURE(sizes);
  const bool is_extreme = function == "MAX" || function == "MIN";
  const Tensor input = packed_numbers(type, sizes, is_extreme, random);
  const rows::Numbers x = rows::numbers_of(input);
  rows::Numbers expected;
  for (const rows::Row& row : rows::rows_of(sizes, axes))
    expected.push_back(rows::reduced(function, x, row));
  const Tensor output = rows::tensor_of(type, rows::reduced_sizes(sizes, axes), expected);
  check_plan_case(reduce_case(function, axes, input, output, tolerance_of(type)));
}

/// Indices in packed rows or columns, of few numbers and some NaN.
void check_packed_indices(DataType type, const List& sizes, const Axes& axes, Random& random) {
  CAPTURE(sizes);
  rows::Numbers numbers;
  for_each_index(sizes, [&](const Index&) {
    numbers.push_back(random.one_in(9) ? nan : static_cast<double>(random.below(30)) - 15);
  });
  const Tensor input = rows::tensor_of(type, sizes, numbers);
  for (const bool is_maximum : {false, true}) {
    for (const bool is_last : {false, true}) {
      std::vector<std::uint32_t> expected;
      for (const rows::Row& row : rows::rows_of(sizes, axes))
        expected.push_back(static_cast<std::uint32_t>(
            rows::index_of_extreme(picked(numbers, row), is_maximum, is_last)));
      check_plan_case(index_case(is_maximum, is_last, axes, input,
                                 indices(rows::reduced_sizes(sizes, axes), expected)));
    }
  }
}

// A GPU reads them by vectors.
TEST_CASE("REDUCE: packed rows of floats, whole and in parts") {
  Random random(60);
  for (const DataType type : {DataType::Float16, DataType::Float32}) {
    check_packed("SUM", type, {3, 24}, {1}, random);
    check_packed("AVERAGE", type, {5, 1032}, {1}, random);
    check_packed("L2", type, {3, 20008}, {1}, random);
    check_packed("MAX", type, {3, 2056}, {1}, random);
  }
}

TEST_CASE("ARGMIN and ARGMAX: packed rows of floats, the first or last of equal ones") {
  Random random(59);
  for (const DataType type : {DataType::Float16, DataType::Float32}) {
    check_packed_indices(type, {20, 40}, {1}, random);
    check_packed_indices(type, {2, 2056}, {1}, random);
  }
  // So small that a device may take them for 0.
  check_plan_case(index_case(true, false, {1}, floats({1, 4}, {1e-40F, 3e-40F, -0.0F, 2e-40F}),
                             indices({1, 1}, {1})));
  check_plan_case(index_case(false, true, {1}, floats({1, 4}, {-0.0F, 0, 1e-40F, 2e-40F}),
                             indices({1, 1}, {1})));
}

// A GPU reads several by vectors: one lane or some for a column, in parts and whole.
TEST_CASE("REDUCE: packed columns of floats") {
  Random random(58);
  constexpr DataType half = DataType::Float16, whole = DataType::Float32;
  check_packed("SUM", half, {3, 17, 32}, {1}, random);
  check_packed("AVERAGE", half, {5, 3, 30, 16}, {0, 2}, random);
  check_packed("MIN", half, {1301, 16}, {0}, random);
  check_packed("L1", whole, {70, 24}, {0}, random);
  check_packed("L2", whole, {1301, 16}, {0}, random);
  check_packed("MAX", whole, {5, 3, 30, 16}, {0, 2}, random);
  check_packed_indices(half, {1301, 16}, {0}, random);
  check_packed_indices(whole, {3, 17, 32}, {1}, random);
}

TEST_CASE("REDUCE: packed columns of numbers of all magnitudes beside each other") {
  constexpr std::size_t length = 90, columns = 16;
  const float values[][2] = {{3e20F, 4e20F}, {3e-25F, 4e-25F}, {3, 4}, {0, 0}};
  std::vector<float> numbers, norms;
  for (std::size_t i = 0; i < length * columns; ++i)
    numbers.push_back(values[i % columns % 4][i / columns % 2]);
  for (std::size_t c = 0; c < columns; ++c) {
    const double a = values[c % 4][0], b = values[c % 4][1];
    norms.push_back(static_cast<float>(std::sqrt(length / 2 * (a * a + b * b))));
  }
  PlanCase a_case =
      reduce_case("L2", {0}, floats({length, columns}, numbers), floats({1, columns}, norms));
  a_case.outputs[0].ulp = 1;
  check_plan_case(a_case);
}

TEST_CASE("REDUCE: integers of all types wrap") {
  Random random(62);
  for (int i = 0; i < 300; ++i) {
    const DataType type = random.one_of<DataType>(
        {DataType::Int64, DataType::Int32, DataType::Int16, DataType::Int8, DataType::UInt64,
         DataType::UInt32, DataType::UInt16, DataType::UInt8});
    const bool is_short = size_of(type) < 4;
    const std::string function =
        is_short
            ? random.one_of<std::string>({"MAX", "MIN"})
            : random.one_of<std::string>({"MAX", "MIN", "SUM", "L1", "SUM_SQUARE", "MULTIPLY"});
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const Axes axes = random_axes(sizes.size(), random);
    const Tensor input = random_tensor(type, sizes, random);
    visit_type(type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {
        const std::vector<T> elements = elements_of<T>(input);
        std::vector<T> expected;
        for (const rows::Row& row : rows::rows_of(sizes, axes))
          expected.push_back(rows::reduced_integers(function, picked(elements, row)));
        check_plan_case(reduce_case(function, axes, input,
                                    Tensor::of(type, rows::reduced_sizes(sizes, axes), expected)));
      }
    });
  }
}

TEST_CASE("ARGMIN, ARGMAX and REDUCE: random elements of all types, many of them equal") {
  Random random(63);
  for (int i = 0; i < 400; ++i) {
    const DataType type = random.one_of<DataType>(
        {DataType::Float32, DataType::Float16, DataType::Int64, DataType::Int32, DataType::Int16,
         DataType::Int8, DataType::UInt64, DataType::UInt32, DataType::UInt16, DataType::UInt8});
    const DataType index_type = random.one_of<DataType>(
        {DataType::UInt32, DataType::Int32, DataType::UInt64, DataType::Int64});
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const Axes axes = random_axes(sizes.size(), random);
    Tensor input = random_tensor(type, sizes, random);
    for (std::size_t at = 0; at < input.bytes.size(); at += input.element_size()) {
      const std::vector<std::byte> some = element(type, static_cast<double>(random.below(4)));
      if (!random.one_in(4)) std::memcpy(&input.bytes[at], some.data(), some.size());
    }
    const bool is_maximum = random.one_in(2), is_last = random.one_in(2);
    const List reduced = rows::reduced_sizes(sizes, axes);
    Tensor output = Tensor::packed(index_type, reduced);
    visit_type(type, [&](auto zero) {
      using T = decltype(zero);
      using Value = std::conditional_t<std::is_integral_v<T>, T, double>;
      std::vector<Value> values;
      if constexpr (std::is_integral_v<T>)
        values = elements_of<T>(input);
      else
        values = rows::numbers_of(input);
      std::byte* to = output.bytes.data();
      for (const rows::Row& row : rows::rows_of(sizes, axes)) {
        const std::uint64_t index =
            rows::index_of_extreme(picked(values, row), is_maximum, is_last);
        std::memcpy(to, &index, size_of(index_type));
        to += size_of(index_type);
      }
    });
    check_plan_case(index_case(is_maximum, is_last, axes, input, output));
    if (!is_last)
      check_plan_case(reduce_case(is_maximum ? "ARGMAX" : "ARGMIN", axes, input, output));
  }
}

TEST_CASE("REDUCE: NaN is no extreme, and its index is found in first place only") {
  const Tensor input = floats({3, 3}, {nan, 1, 2, 1, nan, 2, nan, nan, nan});
  check_plan_case(reduce_case("MAX", {1}, input, floats({3, 1}, {2, 2, -infinity})));
  check_plan_case(reduce_case("MIN", {1}, input, floats({3, 1}, {1, 1, infinity})));
  check_plan_case(reduce_case("ARGMAX", {1}, input, indices({3, 1}, {0, 2, 0})));
  check_plan_case(reduce_case("ARGMIN", {1}, input, indices({3, 1}, {0, 0, 0})));
  check_plan_case(reduce_case("SUM", {1}, input, floats({3, 1}, {nan, nan, nan}), 1e-7));
  const Tensor least = floats({1, 2}, {-infinity, -infinity});
  check_plan_case(reduce_case("MAX", {1}, least, floats({1, 1}, {-infinity})));
  check_plan_case(reduce_case("ARGMAX", {1}, least, indices({1, 1}, {0})));
}

TEST_CASE("REDUCE: what a formula can keep in range does not overflow") {
  check_plan_case(reduce_case(
      "LOG_SUM_EXP", {1},
      floats({5, 2}, {100, 101, -1000, -1001, infinity, 0, -infinity, -infinity, nan, 1}),
      floats({5, 1}, {101.31326F, -999.68674F, infinity, -infinity, nan}), 1e-6));
  check_plan_case(reduce_case("L2", {0}, floats({2}, {3e20F, 4e20F}), floats({1}, {5e20F})));
  check_plan_case(
      reduce_case("SUM", {0}, floats({3}, {3e38F, 3e38F, -3e38F}), floats({1}, {3e38F})));
  // Sums from 2^90 on are kept with a smaller unit.
  const float large = 0x1p50F, square = 0x1p100F;
  check_plan_case(reduce_case("SUM_SQUARE", {0}, floats({2}, {large, 0}), floats({1}, {square})));
  check_plan_case(reduce_case("L2", {0}, floats({2}, {large, 0}), floats({1}, {large})));
}

// Along memory, across it, and with rows or columns of all lengths.
TEST_CASE("REDUCE: sums of many elements are exact to their last place") {
  Random random(64);
  for (const List& sizes : {List{1, 100'003}, List{7, 3000}, List{700, 60}, List{3000, 5}}) {
    const Tensor input = random_factors(DataType::Float32, sizes, false, random);
    const rows::Numbers x = rows::numbers_of(input);
    for (const Axes& axes : {Axes{0}, Axes{1}, Axes{0, 1}}) {
      rows::Numbers means;
      for (const rows::Row& row : rows::rows_of(sizes, axes))
        means.push_back(rows::reduced("AVERAGE", x, row));
      PlanCase a_case =
          reduce_case("AVERAGE", axes, input,
                      rows::tensor_of(DataType::Float32, rows::reduced_sizes(sizes, axes), means));
      a_case.outputs[0].ulp = 1;
      check_plan_case(a_case);
    }
  }
}

/// Whole numbers, few and many of them equal: their sums are exact in any order.
Tensor few_numbers(DataType type, const List& sizes, Random& random) {
  Tensor tensor = random_tensor(type, sizes, random);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += tensor.element_size()) {
    const std::vector<std::byte> some = element(type, static_cast<double>(random.below(4)));
    std::memcpy(&tensor.bytes[at], some.data(), some.size());
  }
  return tensor;
}

void check_of_few_numbers(DataType type, const List& sizes, const Axes& axes, Random& random) {
  const Tensor input = few_numbers(type, sizes, random);
  const List reduced = rows::reduced_sizes(sizes, axes);
  const bool is_maximum = random.one_in(2), is_last = random.one_in(2);
  Tensor places = Tensor::packed(DataType::UInt32, reduced),
         extremes = Tensor::packed(type, reduced), sums = extremes;
  visit_type(type, [&](auto zero) {
    using T = decltype(zero);
    using Value = std::conditional_t<std::is_integral_v<T>, T, double>;
    std::vector<Value> values;
    if constexpr (std::is_integral_v<T>)
      values = elements_of<T>(input);
    else
      values = rows::numbers_of(input);
    std::size_t i = 0;
    for (const rows::Row& row : rows::rows_of(sizes, axes)) {
      const std::vector<Value> of_row = picked(values, row);
      const auto at =
          static_cast<std::uint32_t>(rows::index_of_extreme(of_row, is_maximum, is_last));
      const double sum = std::accumulate(of_row.begin(), of_row.end(), 0.0);
      std::memcpy(&places.bytes[4 * i], &at, sizeof at);
      const auto put = [&](Tensor& to, double value) {
        std::memcpy(&to.bytes[i * size_of(type)], element(type, value).data(), size_of(type));
      };
      put(extremes, static_cast<double>(of_row[at]));
      if (size_of(type) >= 4) put(sums, sum);
      ++i;
    }
  });
  check_plan_case(index_case(is_maximum, is_last, axes, input, places));
  check_plan_case(reduce_case(is_maximum ? "MAX" : "MIN", axes, input, extremes));
  if (size_of(type) >= 4) check_plan_case(reduce_case("SUM", axes, input, sums));
}

// Rows and columns of all lengths, along one axis and several, that a device cuts into parts.
TEST_CASE("REDUCE: long rows of all types along any axes") {
  struct Shape {
    List sizes;
    Axes axes;
  };
  const std::vector<DataType> types{DataType::Float32, DataType::Float16, DataType::Int64,
                                    DataType::Int32,   DataType::UInt16,  DataType::Int8};
  std::size_t next = 0;
  Random random(65);
  for (const Shape& shape :
       {Shape{{3, 50'001}, {1}}, Shape{{50'001, 3}, {0}}, Shape{{20'003, 21}, {0}},
        Shape{{300, 5, 301}, {0, 2}}, Shape{{7, 3, 29, 2, 83}, {0, 2, 4}},
        Shape{{83, 2, 29, 19, 3}, {0, 2}}, Shape{{1001, 65}, {1}}, Shape{{9001, 11}, {1}},
        Shape{{120'011}, {0}}}) {
    CAPTURE(shape.sizes.size());
    // Two types each, as a GPU compiles a kernel for every one; nine shapes have all of them.
    for (int k = 0; k < 2; ++k) {
      const DataType type = types[next++ % types.size()];
      check_of_few_numbers(type, shape.sizes, shape.axes, random);
    }
  }
}

// Rows beside each other, 16 and more of which are read together, or 2048 at most; and rows of
// their own, also short ones of less than 32.
TEST_CASE("REDUCE: either side of what the CPU reads at once, in all types") {
  if (is_gpu_asked_for()) return;
  Random random(66);
  for (const DataType type : {DataType::Float32, DataType::Float16, DataType::Int64,
                              DataType::Int32, DataType::UInt16, DataType::Int8}) {
    for (const std::uint64_t rows : {15, 16, 2048, 2049})
      check_of_few_numbers(type, {2, 33, rows}, {1}, random);
    for (const std::uint64_t length : {15, 16, 17, 31, 32, 33, 63, 64, 65})
      check_of_few_numbers(type, {3, 17, length}, {2}, random);
  }
}

TEST_CASE("REDUCE: numbers of all magnitudes beside each other") {
  const auto check = [](const std::string& function, const std::vector<float>& values,
                        std::uint64_t count) {
    std::vector<float> row(count);
    for (std::size_t i = 0; i < count; ++i) row[i] = values[i % values.size()];
    const Tensor input = floats({count}, row);
    const double expected =
        rows::reduced(function, rows::numbers_of(input), rows::rows_of({count}, {0}).front());
    PlanCase a_case =
        reduce_case(function, {0}, input, floats({1}, {static_cast<float>(expected)}));
    a_case.outputs[0].ulp = 1;
    check_plan_case(a_case);
  };
  check("MULTIPLY", {1e30F, 1e-30F, -3, 1e30F}, 4);
  check("MULTIPLY", {1e30F, 1e30F, 1e-30F, 1e-30F}, 4);
  check("MULTIPLY", {1e-30F, 1e-30F, 1e-30F, infinity, -2}, 5);
  for (const std::uint64_t count : {std::uint64_t{4}, std::uint64_t{100'000}}) {
    CAPTURE(count);
    check("SUM", {3e38F, 3e38F, -3e38F, -3e38F}, count);
    check("SUM", {0x1p40F, 1, -0x1p40F, 1}, count);
    check("L2", {3e20F, 0, 4e20F, 0}, count);
    check("L2", {3e-25F, 0, 4e-25F, 0}, count);
    check("L2", {3e20F, 0, 4e20F, 1e-25F}, count);
    check("SUM_SQUARE", {1e-30F, 2, 1e-25F, 0}, count);
    check("AVERAGE", {3e38F, 3e38F, 3e38F, 3e38F}, count);
    check("AVERAGE", {3e38F, infinity, 1, 1}, count);
  }
}

TEST_CASE("ARGMAX: the index in a long row, along memory and across it") {
  for (const bool is_last : {false, true}) {
    std::vector<float> values(2 * 5000, 1.0F);
    for (const std::size_t at : {1234, 4321, 6000, 9999}) values[at] = 2;
    const std::vector<std::uint32_t> along =
        is_last ? std::vector<std::uint32_t>{4321, 4999} : std::vector<std::uint32_t>{1234, 1000};
    check_plan_case(
        index_case(true, is_last, {1}, floats({2, 5000}, values), indices({2, 1}, along)));
    Tensor across = floats({2, 5000}, values);
    across.sizes = {5000, 2};
    across.strides = {1, 5000};
    check_plan_case(index_case(true, is_last, {0}, across, indices({1, 2}, along)));
  }
}

TEST_CASE("REDUCE: the output has the sizes of the input, and 1 along Axes") {
  const Tensor input = floats({2, 2}, {1, 2, 3, 4});
  nlohmann::ordered_json description =
      reduce_case("SUM", {1}, input, floats({2, 1}, {3, 7})).description();
  CHECK(messages(description) == "");
  description["desc"]["Axes"] = {1, 1};
  CHECK(messages(description) != "");
  description["desc"]["Axes"] = {2};
  CHECK(messages(description) != "");
}

}  // namespace
}  // namespace dmlop::test::reductions_test
