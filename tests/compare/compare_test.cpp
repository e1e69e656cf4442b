// compare/compare.hpp keeps its promises, checked against the definition in
// reference/comparison.hpp.
#include "compare/compare.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <thread>

#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"
#include "folder.hpp"
#include "reference/comparison.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::compare_test {
namespace {

namespace reference = dmlop::test::comparison;

constexpr std::uint64_t ulp_max = std::numeric_limits<std::uint64_t>::max();
constexpr double double_max = std::numeric_limits<double>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

template <typename Number>
std::string optional_text(const std::optional<Number>& number) {
  std::ostringstream text;
  text.precision(17);
  number ? text << *number : text << "none";
  return text.str();
}

std::string text_of(const Comparison& comparison, const ElementDifference& difference) {
  const Deviation& deviation = difference.deviation;
  std::ostringstream text;
  text.precision(17);
  text << "[" << difference.index << "] at byte " << difference.byte_offset << ": "
       << bits_text(comparison, difference.actual) << " "
       << bits_text(comparison, difference.expected);
  if (!deviation.comparable) {
    text << " not comparable\n";
  } else {
    text << " off by " << deviation.absolute << ", " << deviation.relative << ", " << deviation.ulp
         << " ULP\n";
  }
  return text.str();
}

/// Everything that a comparison found, so that two of them can be compared and read.
std::string text_of(const Comparison& comparison) {
  std::ostringstream text;
  text << to_text(comparison.tolerance) << " " << name_of(comparison.data_type) << " "
       << name_of(comparison.verdict()) << " unlike: " << comparison.unlike << "\n"
       << comparison.mismatches << " mismatches, " << comparison.nan_mismatches << " of NaN, of "
       << comparison.elements << "\nfirst:\n";
  for (const auto& difference : comparison.first) text << text_of(comparison, difference);
  text << "worst:\n";
  for (const auto& difference : comparison.worst) text << text_of(comparison, difference);
  for (std::size_t i = 0; i < comparison.histogram.size(); ++i) {
    if (comparison.histogram[i] != 0) text << "place " << i << ": " << comparison.histogram[i];
  }
  const SmallestTolerances& smallest = comparison.smallest;
  text << "\nrtol " << optional_text(smallest.rtol) << " atol " << optional_text(smallest.atol)
       << " ulp " << optional_text(smallest.ulp) << " all NaN " << comparison.all_nan
       << " all zero " << comparison.all_zero;
  return text.str();
}

Elements elements_of(const Tensor& tensor) {
  return Elements(tensor.type, tensor.sizes, tensor.bytes);
}

Comparison compared(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance = {},
                    unsigned threads = 1) {
  return compare(elements_of(actual), elements_of(expected), tolerance, threads);
}

Comparison compared(const std::vector<float>& actual, const std::vector<float>& expected,
                    const Tolerance& tolerance = {}) {
  return compared(floats({actual.size()}, actual), floats({expected.size()}, expected), tolerance);
}

Verdict verdict_of(const std::vector<float>& actual, const std::vector<float>& expected,
                   const Tolerance& tolerance = {}) {
  return compared(actual, expected, tolerance).verdict();
}

/// Elements of any type from the bits of integers.
Tensor tensor_of_bits(DataType type, const List& sizes, const std::vector<std::uint64_t>& bits) {
  Tensor tensor = Tensor::packed(type, sizes);
  REQUIRE(tensor.bytes.size() == bits.size() * size_of(type));
  for (std::size_t i = 0; i < bits.size(); ++i)
    std::memcpy(tensor.bytes.data() + i * size_of(type), &bits[i], size_of(type));
  return tensor;
}

/// Both signs of zeros, denormal numbers and their neighbors, 1 and its neighbors, the largest
/// ones, infinities, and NaN of several payloads.
std::vector<std::uint64_t> special_floating(DataType type) {
  const int width = static_cast<int>(8 * size_of(type));
  const int fraction_bits = type == DataType::Float16 ? 10 : type == DataType::Float32 ? 23 : 52;
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const std::uint64_t power = std::uint64_t{1} << fraction_bits;
  const std::uint64_t inf = sign - power;
  const std::uint64_t one = (inf / power / 2) * power;
  const std::uint64_t quiet = power / 2;
  std::vector<std::uint64_t> bits;
  for (const std::uint64_t magnitude : {std::uint64_t{0},
                                        std::uint64_t{1},
                                        std::uint64_t{2},
                                        std::uint64_t{3},
                                        power - 1,
                                        power,
                                        power + 1,
                                        one - 1,
                                        one,
                                        one + 1,
                                        one + 4,
                                        one + quiet,
                                        one + power / 3,
                                        one + power - 1,
                                        one + power,
                                        one + 5 * power + 7,
                                        inf - power,
                                        inf - 2,
                                        inf - 1,
                                        inf,
                                        inf + 1,
                                        inf + quiet,
                                        inf + quiet + 5}) {
    bits.insert(bits.end(), {magnitude, sign + magnitude});
  }
  return bits;
}

/// Both ends of the type, its middle, small numbers, and where doubles begin to leave gaps.
std::vector<std::uint64_t> special_integers(DataType type) {
  const int width = static_cast<int>(8 * size_of(type));
  const std::uint64_t middle = std::uint64_t{1} << (width - 1);
  std::vector<std::uint64_t> bits{0,          1,      2,          3,          7,
                                  100,        middle, middle - 1, middle - 2, middle + 1,
                                  middle + 2, -1ULL,  -2ULL,      -3ULL,      -100ULL};
  if (width == 64) {
    for (const int exponent : {24, 53, 54, 62}) {
      const std::uint64_t power = std::uint64_t{1} << exponent;
      bits.insert(bits.end(), {power - 1, power, power + 1, power + 3, 0 - power, 0 - power - 1});
    }
  }
  return bits;
}

std::vector<std::uint64_t> special_bits(DataType type) {
  return info(type).kind == NumberKind::floating ? special_floating(type) : special_integers(type);
}

/// Tolerances of every kind and combination, each with both rules for NaN.
std::vector<Tolerance> many_tolerances() {
  std::vector<Tolerance> list{{}};
  for (const std::uint64_t ulp : std::initializer_list<std::uint64_t>{
           0, 1, 2, 4, 199, 1ULL << 23, 1ULL << 53, 1ULL << 63, ulp_max - 1, ulp_max}) {
    list.push_back({.ulp = ulp});
  }
  const std::vector<double> amounts{0,   0x1p-1074, 0x1p-149, 0x1p-24, 1e-5,   0.5,   1,
                                    1.5, 100,       65504,    0x1p53,  0x1p64, 1e300, double_max};
  for (const double amount : amounts) {
    list.push_back({.atol = amount});
    list.push_back({.rtol = amount});
  }
  list.push_back({.rtol = 1e-5, .atol = 1e-8});
  list.push_back({.rtol = 0.5, .atol = 1});
  list.push_back({.rtol = 0, .atol = 0, .ulp = 3});
  list.push_back({.rtol = 1e-3, .ulp = 1});
  list.push_back({.atol = 1, .ulp = 0});
  list.push_back({.rtol = double_max, .atol = double_max, .ulp = ulp_max});
  const std::size_t count = list.size();
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(list[i]);
    list.back().nan_equals_nan = false;
  }
  return list;
}

/// Two tensors of one element for each pair of special values: all are compared with all.
std::pair<Tensor, Tensor> all_pairs(DataType type) {
  const auto bits = special_bits(type);
  std::vector<std::uint64_t> actual, expected;
  for (const std::uint64_t a : bits) {
    for (const std::uint64_t e : bits) {
      actual.push_back(a);
      expected.push_back(e);
    }
  }
  const List sizes{bits.size(), bits.size()};
  return {tensor_of_bits(type, sizes, actual), tensor_of_bits(type, sizes, expected)};
}

Tensor element_at(const Tensor& tensor, std::size_t index) {
  Tensor one = Tensor::packed(tensor.type, {1});
  std::memcpy(one.bytes.data(), tensor.bytes.data() + index * tensor.element_size(),
              tensor.element_size());
  return one;
}

/// `expected` with some of its elements moved a little, a lot, or to anything.
Tensor disturbed(const Tensor& expected, std::uint64_t one_in, Random& random) {
  Tensor tensor = expected;
  const std::size_t size = tensor.element_size();
  const auto special = special_bits(tensor.type);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += size) {
    if (!random.one_in(one_in)) continue;
    std::uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + at, size);
    bits = random.one_in(4) ? random.one_of(special) : bits + random.below(9) - 4;
    std::memcpy(tensor.bytes.data() + at, &bits, size);
  }
  return tensor;
}

Tensor random_specials(DataType type, const List& sizes, Random& random) {
  const auto special = special_bits(type);
  const std::uint64_t count =
      std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
  std::vector<std::uint64_t> bits(count);
  for (std::uint64_t& some : bits)
    some = random.one_in(2) ? random.one_of(special) : random.below(ulp_max);
  return tensor_of_bits(type, sizes, bits);
}

template <typename T>
Comparison compared_integers(DataType type, T actual, T expected, const Tolerance& tolerance) {
  return compared(Tensor::of<T>(type, {1}, {actual}), Tensor::of<T>(type, {1}, {expected}),
                  tolerance);
}

}  // namespace

TEST_CASE("an element passes when any given criterion allows it") {
  const Tolerance atol{.atol = 0.5}, rtol{.rtol = 0.5}, ulp{.ulp = 2};
  CHECK(verdict_of({1.5F}, {1}, atol) == Verdict::passed);
  CHECK(verdict_of({1.625F}, {1}, atol) == Verdict::failed);
  CHECK(verdict_of({15}, {10}, rtol) == Verdict::passed);
  CHECK(verdict_of({16}, {10}, rtol) == Verdict::failed);
  // rtol is a share of the expected element: of 15 they are 7.5, of 10 only 5.
  CHECK(verdict_of({10}, {16}, rtol) == Verdict::passed);
  CHECK(verdict_of({1 + 0x2p-23F}, {1}, ulp) == Verdict::passed);
  CHECK(verdict_of({1 + 0x3p-23F}, {1}, ulp) == Verdict::failed);
  // Below 1 the representable numbers are twice as dense.
  CHECK(verdict_of({1 - 0x1p-23F}, {1}, ulp) == Verdict::passed);
  CHECK(verdict_of({1 - 0x3p-24F}, {1}, ulp) == Verdict::failed);
  // rtol and atol make one bound together; 10 and 1 alone would not allow 11.
  CHECK(verdict_of({111}, {100}, {.rtol = 0.1, .atol = 1}) == Verdict::passed);
  CHECK(verdict_of({112}, {100}, {.rtol = 0.1, .atol = 1}) == Verdict::failed);
  CHECK(verdict_of({112}, {100}, {.rtol = 0.1, .atol = 1, .ulp = 1U << 30}) == Verdict::passed);
  CHECK(verdict_of({111}, {100}, {.rtol = 0.1, .atol = 1, .ulp = 0}) == Verdict::passed);
}

TEST_CASE("without a criterion elements are equal bit for bit") {
  const float other_nan = std::bit_cast<float>(0x7FC00001U);
  CHECK(verdict_of({1, NaN}, {1, NaN}) == Verdict::passed);
  CHECK(verdict_of({1, 0.0F}, {1, -0.0F}) == Verdict::failed);
  CHECK(verdict_of({1, NaN}, {1, other_nan}) == Verdict::failed);
  CHECK(verdict_of({1, NaN}, {1, NaN}, {.nan_equals_nan = false}) == Verdict::failed);
  for (const Tolerance& exact : {Tolerance{.ulp = 0}, {.atol = 0}, {.rtol = 0}}) {
    CHECK(verdict_of({1, 0.0F}, {1, -0.0F}, exact) == Verdict::passed);
    CHECK(verdict_of({1, NaN}, {1, other_nan}, exact) == Verdict::passed);
  }
}

TEST_CASE("NaN equals NaN unless it is to differ, and never a number") {
  for (const Tolerance& all : {Tolerance{.ulp = ulp_max}, {.atol = double_max}}) {
    Tolerance differ = all;
    differ.nan_equals_nan = false;
    CHECK(verdict_of({1, NaN}, {1, NaN}, all) == Verdict::passed);
    CHECK(verdict_of({1, NaN}, {1, NaN}, differ) == Verdict::failed);
    CHECK(verdict_of({1, NaN}, {1, 1}, all) == Verdict::failed);
    CHECK(verdict_of({1, 1}, {1, NaN}, all) == Verdict::failed);
    CHECK(verdict_of({1, NaN}, {1, std::numeric_limits<float>::infinity()}, all) ==
          Verdict::failed);
  }
  const auto found = compared({NaN, 1, NaN}, {NaN, NaN, 2}, {.ulp = 0});
  CHECK(found.mismatches == 2);
  CHECK(found.nan_mismatches == 2);
  CHECK_FALSE(found.smallest.rtol.has_value());
  CHECK_FALSE(found.smallest.atol.has_value());
  CHECK_FALSE(found.smallest.ulp.has_value());
  CHECK(smallest_tolerances_text(found.smallest) == "");
}

TEST_CASE("an infinity is near to itself only; by ULP it follows the largest number") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float most = std::numeric_limits<float>::max();
  for (const Tolerance& wide : {Tolerance{.atol = double_max}, {.rtol = double_max}}) {
    CHECK(verdict_of({inf}, {inf}, wide) == Verdict::passed);
    CHECK(verdict_of({inf}, {-inf}, wide) == Verdict::failed);
    CHECK(verdict_of({inf}, {most}, wide) == Verdict::failed);
    CHECK(verdict_of({most}, {inf}, wide) == Verdict::failed);
  }
  CHECK(verdict_of({inf}, {most}, {.ulp = 1}) == Verdict::passed);
  CHECK(verdict_of({most}, {inf}, {.ulp = 1}) == Verdict::passed);
  CHECK(verdict_of({inf}, {most}, {.ulp = 0}) == Verdict::failed);
  const auto found = compared({1}, {inf});
  CHECK_FALSE(found.smallest.rtol.has_value());
  CHECK_FALSE(found.smallest.atol.has_value());
  CHECK(found.smallest.ulp == 0x7F800000U - 0x3F800000U);
  CHECK(found.worst.at(0).deviation.relative == infinity);
}

TEST_CASE("integers are compared exactly, from one end of their type to the other") {
  using I64 = std::numeric_limits<std::int64_t>;
  const auto ulp_apart = [](DataType type, auto actual, auto expected) {
    const auto found = compared_integers(type, actual, expected, {.ulp = 0});
    return found.worst.empty() ? 0 : found.worst.front().deviation.ulp;
  };
  CHECK(ulp_apart(DataType::Int64, I64::min(), I64::max()) == ulp_max);
  CHECK(ulp_apart(DataType::Int64, I64::max(), I64::min()) == ulp_max);
  CHECK(ulp_apart(DataType::UInt64, ulp_max, std::uint64_t{0}) == ulp_max);
  CHECK(ulp_apart(DataType::UInt64, ulp_max - 1, ulp_max) == 1);
  CHECK(ulp_apart(DataType::Int8, std::int8_t{-128}, std::int8_t{127}) == 255);
  const auto verdict = [](std::int64_t actual, std::int64_t expected, const Tolerance& tolerance) {
    return compared_integers(DataType::Int64, actual, expected, tolerance).verdict();
  };
  // As doubles both numbers are the same.
  constexpr std::int64_t big = std::int64_t{1} << 53;
  CHECK(verdict(big + 1, big, {.atol = 0}) == Verdict::failed);
  CHECK(verdict(big + 1, big, {.ulp = 0}) == Verdict::failed);
  CHECK(verdict(big + 1, big, {.atol = 1}) == Verdict::passed);
  CHECK(verdict(I64::min(), I64::max(), {.atol = 0x1p63}) == Verdict::failed);
  CHECK(verdict(I64::min(), I64::max(), {.atol = 0x1p64}) == Verdict::passed);
  // A tolerance between two integers allows the lower.
  CHECK(verdict(12, 10, {.atol = 2.75}) == Verdict::passed);
  CHECK(verdict(13, 10, {.atol = 2.75}) == Verdict::failed);
}

TEST_CASE("every pair of special values of every type, by every tolerance, as defined") {
  const auto tolerances = many_tolerances();
  for (const DataType type : A11) {
    CAPTURE(name_of(type));
    const auto [actual, expected] = all_pairs(type);
    std::string wrong;
    std::size_t checked = 0;
    const std::size_t count = actual.bytes.size() / size_of(type);
    for (std::size_t i = 0; i < count && wrong.empty(); ++i) {
      const Tensor a = element_at(actual, i), e = element_at(expected, i);
      const Elements expected_element = elements_of(e);
      const reference::Pair pair(type, a.bytes.data(), e.bytes.data());
      for (const Tolerance& tolerance : tolerances) {
        Comparator comparator(expected_element, type, {1}, tolerance);
        comparator.add(0, a.bytes);
        const bool passed = comparator.finish([](auto) { return 0; }).mismatches == 0;
        if (passed == pair.passes(tolerance)) {
          ++checked;
        } else {
          wrong = text_of(compared(a, e, tolerance));
        }
      }
    }
    CHECK(wrong == "");
    CHECK(checked == count * tolerances.size());
  }
}

TEST_CASE("a pair's distances and smallest tolerances are those of the definition") {
  for (const DataType type : A11) {
    const auto [actual, expected] = all_pairs(type);
    std::string wrong;
    const std::size_t count = actual.bytes.size() / size_of(type);
    for (std::size_t i = 0; i < count && wrong.empty(); ++i) {
      const Tensor a = element_at(actual, i), e = element_at(expected, i);
      for (const bool nan_equals_nan : {true, false}) {
        const Tolerance tolerance{.nan_equals_nan = nan_equals_nan};
        const std::string found = text_of(compared(a, e, tolerance));
        const std::string defined = text_of(reference::of(a, e, tolerance));
        if (found != defined) wrong = "found " + found + "\nshould be " + defined;
        const Deviation deviation =
            deviation_of(type, a.bytes.data(), e.bytes.data(), nan_equals_nan);
        const reference::Pair pair(type, a.bytes.data(), e.bytes.data());
        if (deviation.comparable != pair.comparable(nan_equals_nan) ||
            (deviation.comparable && deviation.ulp != pair.ulp()))
          wrong += "deviation_of is wrong for " + found;
      }
    }
    CHECK(wrong == "");
  }
}

TEST_CASE("whole tensors, with all that is found, are compared as defined") {
  Random random(1);
  const auto tolerances = many_tolerances();
  for (const DataType type : A11) {
    const auto [all_actual, all_expected] = all_pairs(type);
    for (const Tolerance& tolerance : tolerances) {
      CHECK(text_of(compared(all_actual, all_expected, tolerance)) ==
            text_of(reference::of(all_actual, all_expected, tolerance)));
      const Tensor expected = random_specials(type, random_sizes(3, random), random);
      const Tensor actual = disturbed(expected, random.from_to(1, 8), random);
      CHECK(text_of(compared(actual, expected, tolerance)) ==
            text_of(reference::of(actual, expected, tolerance)));
    }
  }
}

TEST_CASE("the smallest tolerances pass when given, and nothing smaller does") {
  Random random(2);
  int with_rtol = 0;
  for (const DataType type : A11) {
    for (int i = 0; i < 60; ++i) {
      const Tensor expected = random_specials(type, {random.from_to(1, 6)}, random);
      const Tensor actual = disturbed(expected, 2, random);
      const SmallestTolerances smallest = compared(actual, expected).smallest;
      const auto passes = [&](const Tolerance& tolerance) {
        return compared(actual, expected, tolerance).mismatches == 0;
      };
      CAPTURE(text_of(compared(actual, expected)));
      if (smallest.rtol) {
        ++with_rtol;
        CHECK(passes({.rtol = *smallest.rtol}));
        if (*smallest.rtol > 0) CHECK_FALSE(passes({.rtol = std::nextafter(*smallest.rtol, 0.0)}));
      } else {
        CHECK_FALSE(passes({.rtol = double_max}));
      }
      if (smallest.atol) {
        CHECK(passes({.atol = *smallest.atol}));
        if (*smallest.atol > 0) CHECK_FALSE(passes({.atol = std::nextafter(*smallest.atol, 0.0)}));
      } else {
        CHECK_FALSE(passes({.atol = double_max}));
      }
      if (smallest.ulp) {
        CHECK(passes({.ulp = *smallest.ulp}));
        if (*smallest.ulp > 0) CHECK_FALSE(passes({.ulp = *smallest.ulp - 1}));
      } else {
        CHECK_FALSE(passes({.ulp = ulp_max}));
      }
      // As the text that a user copies.
      if (smallest.rtol) CHECK(std::stod(shortest_text(*smallest.rtol)) == *smallest.rtol);
    }
  }
  CHECK(with_rtol > 200);
}

TEST_CASE("the smallest rtol of ordinary numbers is exact to the last bit") {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const double expected = std::ldexp(1 + static_cast<double>(random.below(1 << 20)) * 0x1p-20, 3);
    const double actual = expected + static_cast<double>(random.from_to(1, 1 << 20)) * 0x1p-17;
    const Tensor a = Tensor::of<double>(DataType::Float64, {1}, {actual});
    const Tensor e = Tensor::of<double>(DataType::Float64, {1}, {expected});
    const double rtol = compared(a, e).smallest.rtol.value_or(-1);
    CAPTURE(actual);
    CAPTURE(expected);
    REQUIRE(rtol > 0);
    REQUIRE(actual - expected <= rtol * expected);
    REQUIRE(actual - expected > std::nextafter(rtol, 0.0) * expected);
  }
}

TEST_CASE("the first five mismatches by index, and the worst five differences by what was asked") {
  // Of the differences 1 and 64 the ULP are 2^23 / 64 and 1; elements that pass are no mismatches,
  // but may be among the worst.
  const float big = 0x1p29F;
  const std::vector<float> expected{1, big, 1, big, 1, 1, 1, big, 1};
  std::vector<float> actual = expected;
  for (const std::size_t i : {1U, 3U, 7U}) actual[i] = big + 64;
  for (const std::size_t i : {0U, 2U, 4U, 5U}) actual[i] = 1.5F + static_cast<float>(i) / 64;
  const auto indices = [](const std::vector<ElementDifference>& list) {
    std::vector<std::uint64_t> found;
    for (const auto& difference : list) found.push_back(difference.index);
    return found;
  };
  const auto by_ulp = compared(actual, expected, {.ulp = 1});
  CHECK(by_ulp.mismatches == 4);
  CHECK(indices(by_ulp.first) == List{0, 2, 4, 5});
  CHECK(indices(by_ulp.worst) == List{5, 4, 2, 0, 1});
  const auto by_atol = compared(actual, expected, {.atol = 0});
  CHECK(by_atol.mismatches == 7);
  CHECK(indices(by_atol.first) == List{0, 1, 2, 3, 4});
  CHECK(indices(by_atol.worst) == List{1, 3, 7, 5, 4});
  CHECK(indices(compared(actual, expected, {.rtol = 0, .ulp = 9}).worst) == List{1, 3, 7, 5, 4});
  // A NaN that cannot be measured is worse than any distance.
  actual[6] = NaN;
  CHECK(indices(compared(actual, expected, {.ulp = 1}).worst) == List{6, 5, 4, 2, 0});
  CHECK(indices(compared(actual, expected, {.atol = 0}).worst) == List{6, 1, 3, 7, 5});
}

TEST_CASE("the worst integers are found exactly, by absolute error too") {
  constexpr std::int64_t big = std::int64_t{1} << 60;
  const Tensor expected = Tensor::of<std::int64_t>(DataType::Int64, {3}, {0, 0, 0});
  const Tensor actual = Tensor::of<std::int64_t>(DataType::Int64, {3}, {big, big + 2, big + 1});
  for (const Tolerance& tolerance : {Tolerance{.atol = 0}, {.ulp = 0}}) {
    const auto worst = compared(actual, expected, tolerance).worst;
    REQUIRE(worst.size() == 3);
    CHECK(worst[0].index == 1);
    CHECK(worst[1].index == 2);
    CHECK(worst[2].index == 0);
  }
}

TEST_CASE("the histogram counts by ULP in ranges that double") {
  CHECK(ulp_range_text(0) == "0");
  CHECK(ulp_range_text(1) == "1");
  CHECK(ulp_range_text(2) == "2");
  CHECK(ulp_range_text(3) == "3..4");
  CHECK(ulp_range_text(4) == "5..8");
  CHECK(ulp_range_text(64) == "4611686018427387905..9223372036854775808");
  CHECK(ulp_range_text(65) == "9223372036854775809..18446744073709551615");
  // Every bound, with a count that is told by its range alone.
  for (std::size_t place = 1; place < 66; ++place) {
    const std::string range = ulp_range_text(place);
    const std::uint64_t low = std::stoull(range);
    const std::uint64_t high = place < 3 ? low : std::stoull(range.substr(range.find("..") + 2));
    const Tensor zeros = Tensor::of<std::uint64_t>(DataType::UInt64, {2}, {0, 0});
    const auto found =
        compared(Tensor::of<std::uint64_t>(DataType::UInt64, {2}, {low, high}), zeros);
    CHECK(found.histogram[place] == 2);
    if (place > 1)
      CHECK(std::stoull(ulp_range_text(place - 1).substr(ulp_range_text(place - 1).rfind('.') +
                                                         1)) == low - 1);
  }
  const auto found = compared({1, 1 + 0x1p-23F, NaN, NaN}, {1, 1, NaN, 1});
  CHECK(found.histogram[0] == 2);
  CHECK(found.histogram[1] == 1);
  CHECK(found.nan_mismatches == 1);
}

TEST_CASE("what would pass and proves nothing is mistrusted, unless that is allowed") {
  struct Row {
    std::vector<float> actual, expected;
    Tolerance tolerance;
    Verdict verdict;
  };
  const Tolerance exact{.ulp = 0}, wide{.atol = 100}, differ{.ulp = 0, .nan_equals_nan = false};
  const std::vector<Row> rows{
      {{NaN, NaN}, {NaN, NaN}, exact, Verdict::mistrusted},
      {{NaN, NaN}, {NaN, NaN}, {}, Verdict::mistrusted},
      {{NaN, NaN}, {NaN, NaN}, differ, Verdict::failed},
      {{NaN, NaN}, {NaN, 1}, exact, Verdict::failed},
      {{NaN, 0}, {NaN, 0}, exact, Verdict::passed},
      {{0, 0}, {1, 2}, wide, Verdict::mistrusted},
      {{0, -0.0F}, {1, 2}, wide, Verdict::mistrusted},
      {{0, 0}, {1, 2}, exact, Verdict::failed},
      {{0, 0}, {2, 2}, wide, Verdict::passed},  // a constant is what was expected
      {{0, 0}, {0, 0}, {}, Verdict::passed},
      {{0, -0.0F}, {0, -0.0F}, {}, Verdict::passed},  // both zeros are one value
      {{0, 1}, {1, 2}, wide, Verdict::passed},
      {{1, 1}, {1, 2}, wide, Verdict::passed},
      {{}, {}, {}, Verdict::mistrusted},
  };
  for (const Row& row : rows) {
    const auto found = compared(row.actual, row.expected, row.tolerance);
    CAPTURE(text_of(found));
    CHECK(found.verdict() == row.verdict);
    Tolerance allowed = row.tolerance;
    allowed.allow_trivial = true;
    const bool failed = row.verdict == Verdict::failed;
    CHECK(verdict_of(row.actual, row.expected, allowed) ==
          (failed ? Verdict::failed : Verdict::passed));
  }
  CHECK(compared({NaN}, {NaN}).summary() == "1 element agrees; every element is NaN");
  CHECK(compared({0, 0}, {1, 2}, wide).summary() ==
        "2 elements agree; every element is 0, and the expected ones are not all the same");
  CHECK(compared(std::vector<float>{}, {}).summary() ==
        "nothing was compared: the tensor has no elements");
}

TEST_CASE("one element that is different in the middle of many is enough for trust") {
  // Longer than what is looked at in one go.
  std::vector<float> expected(20000, 0), actual(20000, 0);
  const Tolerance wide{.atol = 1};
  CHECK(verdict_of(actual, expected, wide) == Verdict::passed);
  expected[12345] = 0.5F;
  CHECK(verdict_of(actual, expected, wide) == Verdict::mistrusted);
  actual[19999] = 0.5F;
  CHECK(verdict_of(actual, expected, wide) == Verdict::passed);
  std::vector<float> all_nan(20000, NaN);
  CHECK(verdict_of(all_nan, all_nan) == Verdict::mistrusted);
  all_nan[12345] = 1;
  CHECK(verdict_of(all_nan, all_nan) == Verdict::passed);
}

TEST_CASE("tensors of another type or other sizes are not compared at all") {
  const Tensor two = floats({2}, {1, 2});
  const Tensor wide = floats({1, 2}, {1, 2});
  const Tensor integers = Tensor::of<std::int32_t>(DataType::Int32, {2}, {1, 2});
  const auto check = [](const Comparison& found, const std::string& summary) {
    CHECK(found.verdict() == Verdict::failed);
    CHECK(found.summary() == summary);
    CHECK(found.elements == 0);
    CHECK(found.mismatches == 0);
    CHECK(found.first.empty());
    CHECK(found.worst.empty());
    CHECK(smallest_tolerances_text(found.smallest) == "");
  };
  const Tolerance all{.atol = double_max, .allow_trivial = true};
  check(compared(two, wide, all), "FLOAT32 [2] instead of FLOAT32 [1, 2]");
  check(compared(wide, two, all), "FLOAT32 [1, 2] instead of FLOAT32 [2]");
  check(compared(integers, two, all), "INT32 [2] instead of FLOAT32 [2]");
  check(compared(floats({3}, {1, 2, 3}), two, all), "FLOAT32 [3] instead of FLOAT32 [2]");
}

TEST_CASE("threads, the order of the parts and their cuts change nothing") {
  Random random(4);
  for (const DataType type : {DataType::UInt8, DataType::Float16, DataType::Float64}) {
    // More elements than one part holds, and no multiple of anything.
    const Tensor expected = random_specials(type, {3, 183457}, random);
    const Tensor actual = disturbed(expected, 5000, random);
    for (const Tolerance& tolerance :
         {Tolerance{}, {.ulp = 2}, {.rtol = 1e-3, .atol = 1}, {.nan_equals_nan = false}}) {
      const std::string whole = text_of(compared(actual, expected, tolerance));
      for (const unsigned threads : {2U, 3U, 16U})
        CHECK(text_of(compared(actual, expected, tolerance, threads)) == whole);
      const Elements expected_elements = elements_of(expected);
      Comparator comparator(expected_elements, type, expected.sizes, tolerance);
      List cuts{0, 3 * 183457};
      for (int i = 0; i < 40; ++i) cuts.push_back(random.below(3 * 183457));
      std::sort(cuts.begin(), cuts.end());
      std::vector<std::size_t> order(cuts.size() - 1);
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
      const std::size_t size = size_of(type);
      const auto add_every_third = [&](std::size_t from) {
        for (std::size_t i = from; i < order.size(); i += 3) {
          const std::uint64_t begin = cuts[order[i]], end = cuts[order[i] + 1];
          comparator.add(begin,
                         std::span(actual.bytes).subspan(begin * size, (end - begin) * size));
        }
      };
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < 3; ++i) threads.emplace_back(add_every_third, i);
      threads.clear();
      const auto byte_offset = [&](std::uint64_t index) { return index * size; };
      CHECK(text_of(comparator.finish(byte_offset)) == whole);
      Comparator at_once(expected_elements, type, expected.sizes, tolerance);
      at_once.add(0, actual.bytes);
      CHECK(text_of(at_once.finish(byte_offset)) == whole);
    }
    CHECK(text_of(compared(actual, expected)) == text_of(reference::of(actual, expected, {})));
  }
}

TEST_CASE("files of any element and byte order compare alike; an offset is the actual element's") {
  Random random(5);
  const Folder folder;
  const List sizes{3, 5, 7};
  for (const DataType type : A11) {
    const Tensor expected = random_specials(type, sizes, random);
    const Tensor actual = disturbed(expected, 3, random);
    const std::size_t size = size_of(type);
    const auto write = [&](const std::string& name, const Tensor& tensor, bool fortran, bool big) {
      std::string bytes;
      const auto append = [&](const std::byte* element) {
        std::string one(reinterpret_cast<const char*>(element), size);
        if (big) std::reverse(one.begin(), one.end());
        bytes += one;
      };
      if (fortran) {
        for_each_index({7, 5, 3}, [&](const Index& i) { append(tensor.at({i[2], i[1], i[0]})); });
      } else {
        for_each_index(sizes, [&](const Index& i) { append(tensor.at(i)); });
      }
      const std::string descr = (big ? ">" : "<") + std::string(info(type).numpy);
      return NpyFile::open(folder.write(name, npy(descr, "(3, 5, 7)", bytes, fortran)));
    };
    std::string usual = text_of(compared(actual, expected, {.ulp = 1}));
    for (int orders = 0; orders < 16; ++orders) {
      CAPTURE(orders);
      const bool big = (orders & 2) != 0;
      const NpyFile a = write("a.npy", actual, (orders & 1) != 0, big);
      const NpyFile e = write("e.npy", expected, (orders & 4) != 0, (orders & 8) != 0);
      Comparison found = compare(Elements(a), Elements(e), {.ulp = 1}, 2);
      CHECK_FALSE(found.worst.empty());
      const std::string bytes = folder.read("a.npy");
      for (auto* list : {&found.first, &found.worst}) {
        for (ElementDifference& difference : *list) {
          std::string there = bytes.substr(difference.byte_offset, size);
          if (big) std::reverse(there.begin(), there.end());
          CHECK(std::memcmp(there.data(), difference.actual.data(), size) == 0);
          // Where it stands differs from file to file; all else must not.
          difference.byte_offset = difference.index * size;
        }
      }
      CHECK(text_of(found) == usual);
    }
  }
}

TEST_CASE("a comparison as text names the tolerance, the elements and what would pass") {
  const auto found =
      compared(floats({2, 2}, {1, 2.375F, 3, NaN}), floats({2, 2}, {1, 2.5F, 3, NaN}),
               {.ulp = 4, .origin = "command line"});
  CHECK(found.summary() == "1 of 4 elements differs (25%)");
  CHECK(to_text(found) ==
        "  tolerance: 4 ULP (command line)\n"
        "  first mismatches:\n"
        "    index   byte  actual  bits        expected  bits        absolute  relative  ULP\n"
        "    [0, 1]  4     2.375   0x40180000  2.5       0x40200000  0.125     0.05      524288\n"
        "  largest differences:\n"
        "    index   byte  actual  bits        expected  bits        absolute  relative  ULP\n"
        "    [0, 1]  4     2.375   0x40180000  2.5       0x40200000  0.125     0.05      524288\n"
        "  elements by ULP: 0: 3, 262145..524288: 1\n"
        "  would pass with --rtol 0.05, --atol 0.125 or --ulp 524288\n");
  const auto same = compared({1, 2}, {1, 2});
  CHECK(same.summary() == "2 elements agree");
  CHECK(to_text(same) == "  tolerance: bit for bit\n");
  const auto near = compared({1, 2 + 0x1p-22F}, {1, 2}, {.ulp = 1});
  CHECK(near.summary() == "2 elements agree");
  CHECK(to_text(near).find("first mismatches") == std::string::npos);
  CHECK(to_text(near).find("elements by ULP: 0: 1, 1: 1\n") != std::string::npos);
  CHECK(to_text(near).find("would pass") == std::string::npos);
  const auto never = compared({NaN}, {1});
  CHECK(to_text(never).find("  elements by ULP: NaN: 1\n  no tolerance would pass\n") !=
        std::string::npos);
  CHECK(to_text(never).find("0x3f800000  -         -         -\n") != std::string::npos);
}

TEST_CASE("a comparison as JSON has the same, and null for what no number can say") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto found = compared(floats({3}, {2, NaN, 1}), floats({3}, {2.5F, 1, inf}), {.ulp = 4});
  const nlohmann::json json = nlohmann::json::parse(to_json(found).dump());
  CHECK(json.at("verdict") == "FAILED");
  CHECK(json.at("summary") == "3 of 3 elements differ (100%)");
  CHECK(json.at("dataType") == "FLOAT32");
  CHECK(json.at("sizes") == nlohmann::json{3});
  CHECK(json.at("tolerance") == "4 ULP");
  CHECK(json.at("elements") == 3);
  CHECK(json.at("mismatches") == 3);
  CHECK(json.at("nanMismatches") == 1);
  CHECK(json.at("smallest") ==
        nlohmann::json{{"rtol", nullptr}, {"atol", nullptr}, {"ulp", nullptr}});
  REQUIRE(json.at("first").size() == 3);
  CHECK(json.at("first").at(0) == nlohmann::json{{"index", {0}},
                                                 {"byteOffset", 0},
                                                 {"actual", "2"},
                                                 {"expected", "2.5"},
                                                 {"actualBits", "0x40000000"},
                                                 {"expectedBits", "0x40200000"},
                                                 {"absolute", 0.5},
                                                 {"relative", 0.2},
                                                 {"ulp", 2097152}});
  const auto& of_nan = json.at("first").at(1);
  CHECK(of_nan.at("actual") == "nan");
  CHECK(of_nan.at("absolute").is_null());
  CHECK(of_nan.at("relative").is_null());
  CHECK(of_nan.at("ulp").is_null());
  const auto& of_infinity = json.at("first").at(2);
  CHECK(of_infinity.at("expected") == "inf");
  CHECK(of_infinity.at("absolute").is_null());
  CHECK(of_infinity.at("relative").is_null());
  CHECK(of_infinity.at("ulp") == 0x40000000);
  CHECK(json.at("worst").at(0).at("index") == nlohmann::json{1});
  CHECK(json.at("region").is_object());
  CHECK(json.at("relation").is_null());
  CHECK(json.at("histogram").at(0) == nlohmann::json{{"ulp", "0"}, {"count", 0}});
  const auto& last = json.at("histogram").back();
  CHECK(last == nlohmann::json{{"ulp", "536870913..1073741824"}, {"count", 1}});
  const auto same = nlohmann::json::parse(to_json(compared({1}, {1})).dump());
  CHECK(same.at("verdict") == "PASSED");
  CHECK(same.at("first") == nlohmann::json::array());
  CHECK(same.at("region").is_null());
  CHECK(same.at("relation").is_null());
  CHECK(same.at("smallest") == nlohmann::json{{"rtol", 0}, {"atol", 0}, {"ulp", 0}});
}

}  // namespace dmlop::test::compare_test
