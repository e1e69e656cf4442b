// DML_OPERATOR_TOP_K1.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "plan_case.hpp"
#include "reference/sorting.hpp"
#include "sweep.hpp"

namespace dmlop::test::top_k1_test {
namespace {

PlanCase top_k_case(const TopK& top, const Tensor& input, const Tensor& values,
                    const Tensor& indices) {
  return {"DML_OPERATOR_TOP_K1",
          {{"Axis", top.axis},
           {"K", top.k},
           {"AxisDirection", top.is_decreasing ? "DECREASING" : "INCREASING"}},
          {{"InputTensor", input}},
          {{"OutputValueTensor", values}, {"OutputIndexTensor", indices}}};
}

Tensor indices(const List& sizes, const std::vector<std::uint32_t>& values) {
  return Tensor::of(DataType::UInt32, sizes, values);
}

TEST_CASE("TOP_K1: the largest or the smallest come first, with where they stood") {
  const Tensor input = floats({2, 4}, {3, 1, 4, 2, 5, 9, 2, 6});
  check_plan_case(
      top_k_case({1, 2, true}, input, floats({2, 2}, {4, 3, 9, 6}), indices({2, 2}, {2, 0, 1, 3})));
  check_plan_case(top_k_case({1, 2, false}, input, floats({2, 2}, {1, 2, 2, 5}),
                             indices({2, 2}, {1, 3, 2, 0})));
  check_plan_case(
      top_k_case({0, 1, true}, input, floats({1, 4}, {5, 9, 4, 6}), indices({1, 4}, {1, 1, 0, 1})));
}

TEST_CASE("TOP_K1: equal elements, also 0 and -0, keep their order, and NaN is the largest") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor input = floats({6}, {0.0F, nan, -0.0F, infinity, -infinity, -nan});
  check_plan_case(top_k_case({0, 6, true}, input,
                             floats({6}, {nan, -nan, infinity, 0.0F, -0.0F, -infinity}),
                             indices({6}, {1, 5, 3, 0, 2, 4})));
  check_plan_case(top_k_case({0, 6, false}, input,
                             floats({6}, {-infinity, 0.0F, -0.0F, infinity, nan, -nan}),
                             indices({6}, {4, 0, 2, 3, 1, 5})));
}

// Small random tensors, and those whose sequences are long enough for each way to sort.
void check_random(Random& random, const List& sizes, std::size_t axis, std::uint64_t k) {
  const DataType type = random.one_of<DataType>(
      {DataType::Float32, DataType::Float16, DataType::Int64, DataType::Int32, DataType::Int16,
       DataType::Int8, DataType::UInt64, DataType::UInt32, DataType::UInt16, DataType::UInt8});
  const bool is_float = info(type).kind == NumberKind::floating;
  const Tensor input =
      is_float ? random_numbers(type, sizes, true, random) : random_tensor(type, sizes, random);
  const TopK top{axis, k, random.one_in(2)};
  const auto [values, where] =
      top.result(input, random.one_in(2) ? DataType::UInt32 : DataType::UInt64);
  check_plan_case(top_k_case(top, input, values, where));
}

TEST_CASE("TOP_K1: random tensors of all types and strides along every axis") {
  Random random(43);
  for (int i = 0; i < 400; ++i) {
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const std::size_t axis = random.below(sizes.size());
    check_random(random, sizes, axis, random.from_to(1, sizes[axis]));
  }
}

TEST_CASE("TOP_K1: long sequences, few and many of their elements") {
  Random random(44);
  for (const std::uint64_t k :
       {std::uint64_t{1}, std::uint64_t{32}, std::uint64_t{33}, std::uint64_t{300}})
    check_random(random, {3, 300, 5}, 1, k);
  // As many as a group sorts, and one more; as many as are selected from it, and more.
  for (const std::uint64_t k : {1, 512, 513, 1024}) {
    check_random(random, {1024, 3}, 0, k);
    check_random(random, {3, 1025 + 1024 * random.below(5)}, 1, k);
  }
  // Few of one, of two and of many blocks, also where there are fewer elements than a block has.
  for (const std::uint64_t k : {1, 2, 15, 16, 17}) {
    for (const List& sizes : {List{3, 513}, {2, 1024, 3}, {9, 1025}, {2, 70'000}})
      check_random(random, sizes, 1, k);
  }
}

/// The first k of one sequence, by a stable sort.
template <typename T>
void check_first(DataType type, const std::vector<T>& numbers, std::size_t k, bool is_decreasing) {
  std::vector<std::uint64_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
    return is_decreasing ? numbers[b] < numbers[a] : numbers[a] < numbers[b];
  });
  order.resize(k);
  std::vector<T> first;
  for (const std::uint64_t place : order) first.push_back(numbers[place]);
  check_plan_case(top_k_case({0, k, is_decreasing}, Tensor::of(type, {numbers.size()}, numbers),
                             Tensor::of(type, {k}, first),
                             Tensor::of(DataType::UInt64, {k}, order)));
}

/// A sequence of numbers that differ in every byte of their type, with some that are equal.
template <typename T>
void check_long(DataType type, std::size_t count, std::size_t k, bool is_decreasing,
                Random& random) {
  CAPTURE(name_of(type));
  std::vector<T> numbers(count);
  random.fill(std::as_writable_bytes(std::span(numbers)));
  for (T& number : numbers) {
    if constexpr (std::is_floating_point_v<T>)
      number = static_cast<T>(static_cast<double>(random.below(1 << 30)) / 7 - (1 << 26));
    if (random.one_in(4)) number = numbers.front();
  }
  check_first(type, numbers, k, is_decreasing);
}

// Of small k, the CPU keeps the best so far, and compares 2048 elements with these at a time. It
// keeps 512, or twice k.
TEST_CASE("TOP_K1: a few of long rows, of random elements and of those that rise, fall or repeat") {
  if (is_gpu_asked_for()) return;
  Random random(47);
  for (const std::size_t k : {1, 63, 64, 65, 256, 257, 600}) {
    CAPTURE(k);
    for (const bool is_decreasing : {false, true}) {
      check_long<float>(DataType::Float32, 7000, k, is_decreasing, random);
      check_long<std::uint8_t>(DataType::UInt8, 7000, k, is_decreasing, random);
      check_long<std::int64_t>(DataType::Int64, 2049, k, is_decreasing, random);
      const auto check_order = [&](auto element_at) {
        std::vector<std::uint16_t> numbers(7000);
        for (std::size_t i = 0; i < numbers.size(); ++i)
          numbers[i] = static_cast<std::uint16_t>(element_at(i));
        check_first(DataType::UInt16, numbers, k, is_decreasing);
      };
      check_order([](std::size_t i) { return i; });
      check_order([](std::size_t i) { return 7000 - i; });
      check_order([](std::size_t i) { return i / 500; });
      check_order([](std::size_t i) { return i < 3000 ? 0xFFFF : 0; });
    }
  }
}

// More than 2^18 are sorted by their digits, one byte after the other.
TEST_CASE("TOP_K1: as many elements as the CPU sorts at once, and more, of every width") {
  if (is_gpu_asked_for()) return;
  Random random(45);
  constexpr std::size_t most = std::size_t{1} << 18;
  for (const std::size_t count : {most, most + 1}) {
    CAPTURE(count);
    const std::size_t half = count / 2;
    check_long<std::uint64_t>(DataType::UInt64, count, half, true, random);
    check_long<std::int64_t>(DataType::Int64, count, count, false, random);
    check_long<float>(DataType::Float32, count, half, false, random);
    check_long<std::int32_t>(DataType::Int32, count, half, true, random);
    check_long<std::uint16_t>(DataType::UInt16, count, half, false, random);
    check_long<std::int8_t>(DataType::Int8, count, half, true, random);
  }
}

TEST_CASE("TOP_K1: K is at most the size along Axis") {
  const Tensor input = floats({1, 2}, {1, 2});
  nlohmann::ordered_json description =
      top_k_case({1, 2, true}, input, input, indices({1, 2}, {1, 0})).description();
  CHECK(messages(description) == "");
  description["desc"]["K"] = 3;
  CHECK(messages(description) != "");
}

}  // namespace
}  // namespace dmlop::test::top_k1_test
