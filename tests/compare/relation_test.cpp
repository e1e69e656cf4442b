// compare/relation.hpp: what the actual elements are in terms of the expected ones, for tensors
// that were changed in a known way; and nothing where that is not so.
#include "compare/relation.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "random.hpp"
#include "reference/tensor.hpp"
#include "tensor/half.hpp"

namespace dmlop::test::relation_test {
namespace {

constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
using Floats = std::vector<float>;

Elements elements_of(const Tensor& tensor) {
  return Elements(tensor.type, tensor.sizes, tensor.bytes);
}

/// The relation that both ways of comparing find: whole tensors, and elements in parts.
std::string relation(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  const Elements expected_elements = elements_of(expected);
  const std::string whole = compare(elements_of(actual), expected_elements, tolerance, 2).relation;
  Comparator comparator(expected_elements, actual.type, actual.sizes, tolerance);
  const std::size_t part = actual.bytes.size() / actual.element_size() / 3 * actual.element_size();
  const std::span<const std::byte> bytes = actual.bytes;
  comparator.add(part / actual.element_size(), bytes.subspan(part));
  comparator.add(0, bytes.first(part));
  CHECK(comparator.finish([](std::uint64_t) { return 0; }).relation == whole);
  return whole;
}

std::string relation(const List& sizes, const Floats& actual, const Floats& expected,
                     const Tolerance& tolerance = {}) {
  return relation(floats(sizes, actual), floats(sizes, expected), tolerance);
}

/// Random elements without a pattern, none of which is 0.
Tensor random_values(DataType type, const List& sizes, Random& random) {
  Tensor tensor = Tensor::packed(type, sizes);
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += size) {
    const double number = 1 + static_cast<double>(random.below(100000)) / 997;
    std::array<std::byte, 8> element{};
    const auto set = [&](auto value) { std::memcpy(element.data(), &value, sizeof value); };
    if (type == DataType::Float32) set(static_cast<float>(number));
    if (type == DataType::Float16) set(half_from_double(number));
    if (type == DataType::Float64) set(number);
    if (type == DataType::Int32) set(static_cast<std::int32_t>(number * 1000));
    if (type == DataType::UInt8) set(static_cast<std::uint8_t>(number));
    std::memcpy(tensor.bytes.data() + at, element.data(), size);
  }
  return tensor;
}

/// A tensor of `sizes` whose element at `index` is the one of `from` at source(index).
Tensor gathered(const Tensor& from, const List& sizes,
                const std::function<Index(const Index&)>& source) {
  Tensor to = Tensor::packed(from.type, sizes);
  for_each_index(sizes, [&](const Index& index) {
    std::memcpy(to.at(index), from.at(source(index)), from.element_size());
  });
  return to;
}

/// The same elements in C order, with other sizes.
Tensor resized(Tensor tensor, const List& sizes) {
  tensor.sizes = sizes;
  tensor.strides = Tensor::packed_strides(sizes);
  return tensor;
}

const std::vector<DataType> tried_types{DataType::Float32, DataType::Float16, DataType::Float64,
                                        DataType::Int32, DataType::UInt8};

}  // namespace

TEST_CASE("elements at other places are found for every type: transposed, reversed, shifted") {
  Random random(1);
  const List sizes{2, 5, 6, 6};
  for (const DataType type : tried_types) {
    CAPTURE(name_of(type));
    const Tensor expected = random_values(type, sizes, random);
    const auto moved = [&](const std::function<Index(const Index&)>& source) {
      return relation(gathered(expected, sizes, source), expected, {.ulp = 0});
    };
    CHECK(moved([](const Index& i) {
            return Index{i[0], i[1], i[3], i[2]};
          }) == "actual is expected with axes 2 and 3 transposed");
    CHECK(moved([](const Index& i) {
            return Index{i[0], 4 - i[1], i[2], i[3]};
          }) == "actual is expected reversed along axis 1");
    CHECK(moved([](const Index& i) {
            return Index{i[0], i[1], i[2], (i[3] + 5) % 6};
          }) == "actual is expected shifted by 1 along axis 3");
    CHECK(moved([](const Index& i) {
            return Index{i[0], (i[1] + 2) % 5, i[2], i[3]};
          }) == "actual is expected shifted by -2 along axis 1");
  }
}

TEST_CASE("elements in the order of other axes are found although the sizes are the same") {
  Random random(2);
  for (const List& sizes : {List{2, 3, 4, 5}, {1, 3, 4, 5}}) {
    const Tensor expected = random_values(DataType::Float32, sizes, random);
    const auto in_order = [&](const std::vector<std::size_t>& order) {
      List moved;
      for (const std::size_t axis : order) moved.push_back(sizes[axis]);
      const Tensor transposed = gathered(expected, moved, [&](const Index& i) {
        Index source(4);
        for (std::size_t k = 0; k < 4; ++k) source[order[k]] = i[k];
        return source;
      });
      return relation(resized(transposed, sizes), expected, {});
    };
    CHECK(in_order({0, 2, 3, 1}) ==
          "actual is expected with its axes in the order [0, 2, 3, 1] (NHWC instead of NCHW)");
    CHECK(in_order({0, 3, 1, 2}) ==
          "actual is expected with its axes in the order [0, 3, 1, 2] (NCHW instead of NHWC)");
    CHECK(in_order({0, 1, 3, 2}) == "actual is expected with axes 2 and 3 transposed");
    if (sizes[0] > 1)
      CHECK(in_order({3, 1, 0, 2}) == "actual is expected with its axes in the order [3, 1, 0, 2]");
  }
}

TEST_CASE("what differing elements have in common is found, whatever the others are") {
  const Floats expected{1, 2, 3, 4, -5, 6.5F, 7, 8};
  const auto changed = [&](const std::function<float(float)>& change) {
    Floats actual = expected;
    for (const std::size_t i : {1U, 2U, 4U, 5U, 7U}) actual[i] = change(expected[i]);
    return relation({2, 4}, actual, expected);
  };
  CHECK(changed([](float) { return 0.0F; }) == "actual is 0 where it differs");
  CHECK(changed([](float) { return NaN; }) == "actual is NaN where it differs");
  CHECK(changed([](float) { return 9.5F; }) == "actual is 9.5 where it differs");
  CHECK(changed([](float x) { return -x; }) ==
        "actual is the negative of expected where it differs");
  CHECK(changed([](float x) { return x * 0.3F; }) ==
        "actual is expected times 0.3 where it differs");
  CHECK(changed([](float x) { return x - 0.7F; }) == "actual is expected - 0.7 where it differs");
  CHECK(changed([](float x) { return x + 12; }) == "actual is expected + 12 where it differs");
  CHECK(relation(Tensor::of<std::uint16_t>(DataType::UInt16, {3}, {0x0100, 0x0403, 7}),
                 Tensor::of<std::uint16_t>(DataType::UInt16, {3}, {0x0001, 0x0304, 7}),
                 {}) == "actual is expected with its bytes in reverse order where it differs");
}

TEST_CASE("a value with other bits is no 0 or NaN that was not expected") {
  const auto bits = [](std::uint32_t value) { return std::bit_cast<float>(value); };
  CHECK(relation({3}, {0, -0.0F, 2}, {-0.0F, 0, 2}) ==
        "actual is 0 with the other sign where it differs");
  CHECK(relation({3}, {0, 0, 2}, {-0.0F, 1, 2}) == "actual is 0 where it differs");
  CHECK(relation({2}, {bits(0x7FC00000), 2}, {bits(0xFFC00001), 2}) ==
        "actual is NaN with other bits where it differs");
  CHECK(relation({2}, {bits(0x7FC00000), NaN}, {bits(0xFFC00001), 1}) ==
        "actual is NaN where it differs");
}

TEST_CASE("infinities alone do not show that elements were rounded to another type") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(relation({3}, {-infinity, -infinity, 1}, {-1e30F, -3e38F, 1}) == "");
  CHECK(relation({3}, {-infinity, 0.333251953125F, 1}, {-1e30F, 0.3333F, 1}) ==
        "actual is expected rounded to FLOAT16 where it differs");
}

TEST_CASE("elements that were rounded to a type of fewer digits are found") {
  const Floats expected{0.1F, 0.2F, 3.14159F, 1e-6F, 70000, 1};
  Floats half = expected, bfloat = expected;
  for (float& value : half) value = half_to_float(half_from_double(value));
  for (float& value : bfloat) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    // To the nearest; none of these is in the middle of two.
    value = std::bit_cast<float>((bits + 0x8000U) & 0xFFFF0000U);
  }
  CHECK(relation({6}, half, expected) == "actual is expected rounded to FLOAT16 where it differs");
  CHECK(relation({6}, bfloat, expected) ==
        "actual is expected rounded to BFLOAT16 where it differs");
  // In the middle of two, to the even one.
  CHECK(relation({3}, {1, 1 + 0x1p-9F, 1}, {1 + 0x1p-11F, 1 + 0x3p-11F, 1}) ==
        "actual is expected rounded to FLOAT16 where it differs");
  CHECK(relation({3}, {1, 1 + 0x1p-6F, 1}, {1 + 0x1p-8F, 1 + 0x3p-8F, 1}) ==
        "actual is expected rounded to BFLOAT16 where it differs");
  const std::vector<double> doubles{0.1, 0.2, 3};
  const std::vector<double> singles{0.1F, 0.2F, 3};
  CHECK(relation(Tensor::of(DataType::Float64, {3}, singles),
                 Tensor::of(DataType::Float64, {3}, doubles),
                 {}) == "actual is expected rounded to FLOAT32 where it differs");
}

TEST_CASE("of tensors with other sizes the same elements are found, in order or transposed") {
  Random random(4);
  const Tensor expected = random_values(DataType::Float32, {1, 3, 4, 5}, random);
  const auto of_sizes = [&](const Tensor& actual) {
    return compare(elements_of(actual), elements_of(expected), {}, 1).relation;
  };
  CHECK(of_sizes(resized(expected, {3, 20})) ==
        "actual has the elements of expected in the same order, but other sizes");
  CHECK(of_sizes(gathered(expected, {1, 4, 5, 3}, [](const Index& i) {
          return Index{i[0], i[3], i[1], i[2]};
        })) == "actual is expected with its axes in the order [0, 2, 3, 1] (NHWC instead of NCHW)");
  CHECK(of_sizes(gathered(expected, {1, 3, 5, 4}, [](const Index& i) {
          return Index{i[0], i[1], i[3], i[2]};
        })) == "actual is expected with axes 2 and 3 transposed");
  Tensor changed = resized(expected, {3, 20});
  changed.bytes.back() ^= std::byte{1};
  CHECK(of_sizes(changed) == "");
  CHECK(of_sizes(random_values(DataType::Float32, {60}, random)) == "");
  CHECK(of_sizes(random_values(DataType::Float32, {61}, random)) == "");
  CHECK(of_sizes(random_values(DataType::Int32, {60}, random)) == "");
}

TEST_CASE("a relation of places holds within the tolerance") {
  const Floats expected{1, 2, 3, 4, 5, 6, 7, 80, 9};
  const Floats transposed{1, 4.001F, 7, 2, 5, 80, 3, 6, 9};
  CHECK(relation({3, 3}, transposed, expected, {.rtol = 1e-3}) ==
        "actual is expected with axes 0 and 1 transposed");
  CHECK(relation({3, 3}, transposed, expected, {.rtol = 1e-5}) == "");
}

TEST_CASE("nothing is said that may be chance, or that does not hold for every element") {
  // Only the element at the border differs, which a shift leaves out.
  CHECK(relation({4}, {9, 3, 3, 3}, {3, 3, 3, 3}) == "");
  CHECK(relation({4}, {9, 3, 3, 3}, {3, 3, 3, 7}) == "");
  // Half of the elements do not show a shift.
  CHECK(relation({4}, {9, 8, 1, 2}, {1, 2, 7, 6}) == "");
  // Two points are always on a line; equal ones on many.
  CHECK(relation({3}, {2, 4, 7}, {1, 2, 7}) == "");
  CHECK(relation({4}, {2, 2, 2, 7}, {1, 1, 1, 7}) == "");
  // A difference that rounding explains has no factor and no term.
  CHECK(relation({4}, {1 + 0x1p-23F, 2 + 0x1p-22F, 4 + 0x1p-21F, 1}, {1, 2, 4, 1}) == "");
  // All but one.
  CHECK(relation({5}, {-1, -2, -3, -4, 6}, {1, 2, 3, 4, 5}) == "");
  CHECK(relation({5}, {0, 0, 0, 0, 6}, {1, 2, 3, 4, 5}) == "");
  Random random(3);
  for (const DataType type : tried_types)
    CHECK(relation(random_values(type, {3, 4, 4}, random), random_values(type, {3, 4, 4}, random),
                   {}) == "");
}

TEST_CASE("integers are related exactly, and not where doubles leave gaps") {
  const auto compared = [](const std::vector<std::int64_t>& actual,
                           const std::vector<std::int64_t>& expected) {
    return relation(Tensor::of(DataType::Int64, {expected.size()}, actual),
                    Tensor::of(DataType::Int64, {expected.size()}, expected), {});
  };
  CHECK(compared({6, 9, 30, 7}, {2, 3, 10, 7}) == "actual is expected times 3 where it differs");
  CHECK(compared({5, 6, 13, 7}, {2, 3, 10, 7}) == "actual is expected + 3 where it differs");
  CHECK(compared({6, 9, 31, 7}, {2, 3, 10, 7}) == "");
  constexpr std::int64_t big = std::int64_t{1} << 60;
  CHECK(compared({big + 3, big + 5, big + 9}, {big + 2, big + 3, big + 10}) == "");
}

TEST_CASE("tensors are related up to a number of elements, and kept up to a number of bytes") {
  const auto count = Comparator::kept_bytes_max / sizeof(float);
  for (const std::uint64_t elements : {count, count + 1}) {
    Floats expected(elements, 1), actual(elements, 1);
    expected[5] = 3;
    actual[5] = 0;
    const Tensor a = floats({elements}, actual), e = floats({elements}, expected);
    const Elements expected_elements = elements_of(e);
    Comparator comparator(expected_elements, a.type, a.sizes, {});
    comparator.add(0, a.bytes);
    CHECK(comparator.finish([](std::uint64_t) { return 0; }).relation ==
          (elements == count ? "actual is 0 where it differs" : ""));
    CHECK(compare(elements_of(a), expected_elements, {}, 1).relation ==
          "actual is 0 where it differs");
  }
  for (const std::uint64_t elements : {related_max, related_max + 1}) {
    std::vector<std::uint8_t> expected(elements, 1), actual(elements, 1);
    actual[elements - 1] = 0;
    const Tensor a = Tensor::of(DataType::UInt8, {elements}, actual);
    const Tensor e = Tensor::of(DataType::UInt8, {elements}, expected);
    CHECK(compare(elements_of(a), elements_of(e), {}, 2).relation ==
          (elements == related_max ? "actual is 0 where it differs" : ""));
  }
}

}  // namespace dmlop::test::relation_test
