// DML_OPERATOR_PADDING.
#include "reference/padding.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sweep.hpp"
#include "tensor/layout.hpp"
#include "types.hpp"

namespace dmlop::test::padding_test {
namespace {

const std::vector<std::string> modes{"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"};
const float infinity = std::numeric_limits<float>::infinity();

// The example of the operator's page, one literal for each mode.
// clang-format off
const Tensor page_input = floats({1, 1, 4, 4}, {
    1, 2, 3, 4,
    5, 6, 7, 8,
    1, 2, 3, 4,
    5, 6, 7, 8,
});
// clang-format on

Padding page_padding(const std::string& mode) {
  return {.mode = mode, .start = {0, 0, 1, 2}, .end = {0, 0, 3, 4}};
}

TEST_CASE("PADDING: the page's example, CONSTANT 9") {
  Padding padding = page_padding("CONSTANT");
  padding.value = 9;
  // clang-format off
  check_known(padding, {page_input}, floats({1, 1, 8, 10}, {
      9, 9,  9, 9, 9, 9,  9, 9, 9, 9,

      9, 9,  1, 2, 3, 4,  9, 9, 9, 9,
      9, 9,  5, 6, 7, 8,  9, 9, 9, 9,
      9, 9,  1, 2, 3, 4,  9, 9, 9, 9,
      9, 9,  5, 6, 7, 8,  9, 9, 9, 9,

      9, 9,  9, 9, 9, 9,  9, 9, 9, 9,
      9, 9,  9, 9, 9, 9,  9, 9, 9, 9,
      9, 9,  9, 9, 9, 9,  9, 9, 9, 9,
  }));
  // clang-format on
}

TEST_CASE("PADDING: the page's example, EDGE") {
  // clang-format off
  check_known(page_padding("EDGE"), {page_input}, floats({1, 1, 8, 10}, {
      1, 1,  1, 2, 3, 4,  4, 4, 4, 4,

      1, 1,  1, 2, 3, 4,  4, 4, 4, 4,
      5, 5,  5, 6, 7, 8,  8, 8, 8, 8,
      1, 1,  1, 2, 3, 4,  4, 4, 4, 4,
      5, 5,  5, 6, 7, 8,  8, 8, 8, 8,

      5, 5,  5, 6, 7, 8,  8, 8, 8, 8,
      5, 5,  5, 6, 7, 8,  8, 8, 8, 8,
      5, 5,  5, 6, 7, 8,  8, 8, 8, 8,
  }));
  // clang-format on
}

TEST_CASE("PADDING: the page's example, REFLECTION") {
  // clang-format off
  check_known(page_padding("REFLECTION"), {page_input}, floats({1, 1, 8, 10}, {
      7, 6,  5, 6, 7, 8,  7, 6, 5, 6,

      3, 2,  1, 2, 3, 4,  3, 2, 1, 2,
      7, 6,  5, 6, 7, 8,  7, 6, 5, 6,
      3, 2,  1, 2, 3, 4,  3, 2, 1, 2,
      7, 6,  5, 6, 7, 8,  7, 6, 5, 6,

      3, 2,  1, 2, 3, 4,  3, 2, 1, 2,
      7, 6,  5, 6, 7, 8,  7, 6, 5, 6,
      3, 2,  1, 2, 3, 4,  3, 2, 1, 2,
  }));
  // clang-format on
}

TEST_CASE("PADDING: the page's example, SYMMETRIC") {
  // clang-format off
  check_known(page_padding("SYMMETRIC"), {page_input}, floats({1, 1, 8, 10}, {
      2, 1,  1, 2, 3, 4,  4, 3, 2, 1,

      2, 1,  1, 2, 3, 4,  4, 3, 2, 1,
      6, 5,  5, 6, 7, 8,  8, 7, 6, 5,
      2, 1,  1, 2, 3, 4,  4, 3, 2, 1,
      6, 5,  5, 6, 7, 8,  8, 7, 6, 5,

      6, 5,  5, 6, 7, 8,  8, 7, 6, 5,
      2, 1,  1, 2, 3, 4,  4, 3, 2, 1,
      6, 5,  5, 6, 7, 8,  8, 7, 6, 5,
  }));
  // clang-format on
}

TEST_CASE("PADDING: many times the size, every mode repeats its pattern") {
  const Tensor input = floats({3}, {1, 2, 3});
  const auto check = [&](const std::string& mode, const std::vector<float>& expected) {
    check_known(Padding{mode, {7}, {8}, 9}, {input}, floats({18}, expected));
  };
  // clang-format off
  check("CONSTANT",   {9, 9, 9, 9, 9, 9, 9,  1, 2, 3,  9, 9, 9, 9, 9, 9, 9, 9});
  check("EDGE",       {1, 1, 1, 1, 1, 1, 1,  1, 2, 3,  3, 3, 3, 3, 3, 3, 3, 3});
  check("REFLECTION", {2, 3, 2, 1, 2, 3, 2,  1, 2, 3,  2, 1, 2, 3, 2, 1, 2, 3});
  check("SYMMETRIC",  {1, 1, 2, 3, 3, 2, 1,  1, 2, 3,  3, 2, 1, 1, 2, 3, 3, 2});
  check("WRAP",       {3, 1, 2, 3, 1, 2, 3,  1, 2, 3,  1, 2, 3, 1, 2, 3, 1, 2});
  // clang-format on
}

TEST_CASE("PADDING: one element is repeated by every mode but CONSTANT") {
  for (const std::string& mode : modes) {
    const float outside = mode == "CONSTANT" ? -1.0F : 5.0F;
    check_known(Padding{mode, {3}, {2}, -1}, {floats({1}, {5})},
                floats({6}, {outside, outside, outside, 5, outside, outside}));
  }
}

TEST_CASE("PADDING: two elements swing") {
  const Tensor input = floats({2}, {1, 2});
  // clang-format off
  check_known(Padding{"REFLECTION", {3}, {3}}, {input}, floats({8}, {2, 1, 2,  1, 2,  1, 2, 1}));
  check_known(Padding{"SYMMETRIC", {3}, {3}}, {input}, floats({8}, {2, 2, 1,  1, 2,  2, 1, 1}));
  check_known(Padding{"WRAP", {3}, {3}}, {input}, floats({8}, {2, 1, 2,  1, 2,  1, 2, 1}));
  // clang-format on
}

TEST_CASE("PADDING: of nothing is a copy") {
  for (const std::string& mode : modes) {
    check_known(Padding{mode, {0, 0}, {0, 0}, 9}, {floats({2, 2}, {1, 2, 3, 4})},
                floats({2, 2}, {1, 2, 3, 4}));
  }
}

TEST_CASE("PADDING: more pieces in a row than are kept ready") {
  Random random(2);
  for (const std::string& mode : modes) {
    const Padding padding{mode, {1, 9001}, {2, 9002}, 7};
    check_case(case_of(padding, {random_tensor(DataType::UInt16, {2, 3}, random)}), random);
    check_case(case_of(padding, {random_tensor(DataType::Int64, {2, 2}, random)}), random);
  }
}

TEST_CASE("PADDING: copies are bit for bit") {
  // Quiet and signalling NaN with payloads, -0, the smallest denormal, -infinity.
  const std::vector<std::uint32_t> bits{0x7FC12345, 0x7F800001, 0xFFABCDEF,
                                        0x80000000, 0x00000001, 0xFF800000};
  std::vector<std::uint32_t> wrapped = bits;
  wrapped.insert(wrapped.end(), bits.begin(), bits.end());
  check_known(Padding{"WRAP", {0}, {6}}, {Tensor::of(DataType::Float32, {6}, bits)},
              Tensor::of(DataType::Float32, {12}, wrapped));
  const std::vector<std::uint16_t> halves{0x7E01, 0x7C01, 0xFD55, 0x8000, 0x0001};
  check_known(Padding{"EDGE", {0}, {1}}, {Tensor::of(DataType::Float16, {5}, halves)},
              Tensor::of<std::uint16_t>(DataType::Float16, {6},
                                        {0x7E01, 0x7C01, 0xFD55, 0x8000, 0x0001, 0x0001}));
}

/// One element of zero with PaddingValue after it.
template <typename T>
void check_fill(DataType type, double value, T expected) {
  CAPTURE(value);
  CAPTURE(name_of(type));
  check_known(Padding{"CONSTANT", {0}, {1}, value}, {Tensor::of<T>(type, {1}, {T{}})},
              Tensor::of<T>(type, {2}, {T{}, expected}));
}

TEST_CASE("PaddingValue: integers truncate toward zero") {
  check_fill<std::int32_t>(DataType::Int32, 10.6, 10);
  check_fill<std::int32_t>(DataType::Int32, -10.6, -10);
  check_fill<std::int8_t>(DataType::Int8, -128.5, -128);
  check_fill<std::int8_t>(DataType::Int8, 127.5, 127);
  check_fill<std::uint8_t>(DataType::UInt8, 255.5, 255);
  check_fill<std::uint8_t>(DataType::UInt8, -0.5, 0);
  check_fill<std::int16_t>(DataType::Int16, -32768, -32768);
  check_fill<std::uint16_t>(DataType::UInt16, 65535, 65535);
  check_fill<std::uint32_t>(DataType::UInt32, 4294967040.0, 4294967040U);
  check_fill<std::int64_t>(DataType::Int64, -9223372036854775808.0, INT64_MIN);
  check_fill<std::uint64_t>(DataType::UInt64, 18446742974197923840.0, 18446742974197923840ULL);
}

TEST_CASE("PaddingValue: is a FLOAT") {
  // 16777217 is no FLOAT; the nearest is 16777216.
  check_fill<std::int32_t>(DataType::Int32, 16777216, 16777216);
  nlohmann::ordered_json description =
      case_of(Padding{"CONSTANT", {0}, {1}, 16777217}, {Tensor::packed(DataType::Int32, {1})})
          .description;
  const Kernel kernel = kernel_of(description);
  CHECK(std::get<IndexMapKernel>(kernel).fill[0] == std::byte{0});
  check_fill<double>(DataType::Float64, 0.1, static_cast<double>(0.1F));
  check_fill<float>(DataType::Float32, 0.1, 0.1F);
  check_fill<float>(DataType::Float32, -0.0, -0.0F);
}

TEST_CASE("PaddingValue: FLOAT16 rounds to nearest even, beyond 65504 to infinity") {
  const auto check = [](double value, std::uint16_t half) {
    check_fill<std::uint16_t>(DataType::Float16, value, half);
  };
  check(1.5, 0x3E00);
  check(1 + 1.0 / 2048, 0x3C00);  // halfway: to the even neighbor
  check(1 + 3.0 / 2048, 0x3C02);  // halfway: to the even neighbor
  check(-0.0, 0x8000);
  check(0x1p-24, 0x0001);  // the smallest denormal
  check(0x1p-25, 0x0000);  // half of it ties to 0
  check(65504, 0x7BFF);
  check(65519, 0x7BFF);
  check(65520, 0x7C00);
  check(-1e30, 0xFC00);
}

TEST_CASE("PaddingValue: infinity and NaN are values of floating types") {
  for (const DataType type : {DataType::Float32, DataType::Float16, DataType::Float64}) {
    nlohmann::ordered_json description =
        case_of(Padding{"CONSTANT", {0}, {1}, 0}, {Tensor::packed(type, {1})}).description;
    description["desc"]["PaddingValue"] = "-inf";
    auto kernel = std::get<IndexMapKernel>(kernel_of(description));
    const auto expected = element(type, -infinity);
    CHECK(std::equal(expected.begin(), expected.end(), kernel.fill.begin()));
    description["desc"]["PaddingValue"] = "nan";
    kernel = std::get<IndexMapKernel>(kernel_of(description));
    if (type != DataType::Float64) CHECK(std::isnan(number(type, kernel.fill.data())));
  }
}

TEST_CASE("PaddingValue: a number that FLOAT rounds out of the range is told the next that fits") {
  const auto refused = [](DataType type, const std::string& value) {
    nlohmann::ordered_json description =
        case_of(Padding{"CONSTANT", {0}, {1}, 0}, {Tensor::packed(type, {1})}).description;
    description["desc"]["PaddingValue"] = nlohmann::ordered_json::parse(value);
    const Diagnostics found = findings(description);
    return found.empty() ? "" : found.front().message + " | " + found.front().suggestion.text();
  };
  CHECK(refused(DataType::Int32, "2147483647") ==
        "PaddingValue is 2147483647, which is 2147483648 as FLOAT and does not fit INT32 | write "
        "2147483520, the next FLOAT that fits");
  CHECK(refused(DataType::Int32, "2147483520") == "");
  CHECK(refused(DataType::Int64, "9223372036854775807") ==
        "PaddingValue is 9223372036854775807, which is 9223372036854775808 as FLOAT and does not "
        "fit INT64 | write 9223371487098961920, the next FLOAT that fits");
  CHECK(refused(DataType::Int64, "9223371487098961920") == "");
  // What was never in the range is told the range.
  CHECK(refused(DataType::Int32, "2147483648") ==
        "PaddingValue is 2147483648, which does not fit INT32 | write a value from -2147483648 to "
        "2147483647");
}

TEST_CASE("PaddingValue: what an integer type cannot hold is refused, with its range") {
  const auto refused = [](DataType type, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json description =
        case_of(Padding{"CONSTANT", {0}, {1}, 0}, {Tensor::packed(type, {1})}).description;
    description["desc"]["PaddingValue"] = value;
    const Diagnostics found = findings(description);
    return found.empty() ? "" : found.front().message + " | " + found.front().rule;
  };
  const std::string truncated = "; PaddingValue is truncated toward zero";
  CHECK(refused(DataType::UInt8, 300) ==
        "PaddingValue is 300, which does not fit UINT8 | UINT8 holds 0 to 255" + truncated);
  CHECK(refused(DataType::UInt8, 256) != "");
  CHECK(refused(DataType::UInt8, -1) != "");
  CHECK(refused(DataType::Int8, 128) != "");
  CHECK(refused(DataType::Int8, -129) != "");
  CHECK(refused(DataType::Int32, 2147483648.0) != "");
  CHECK(refused(DataType::UInt32, 4294967296.0) != "");
  CHECK(refused(DataType::Int64, 9223372036854775808.0) != "");
  CHECK(refused(DataType::UInt64, 18446744073709551616.0) != "");
  CHECK(refused(DataType::UInt64, -1) != "");
  CHECK(refused(DataType::Int16, "inf") != "");
  CHECK(refused(DataType::Int16, "nan") != "");
  CHECK(refused(DataType::Int16, 32767) == "");
}

TEST_CASE("PaddingValue: is ignored by the other modes") {
  const Padding padding{"EDGE", {0}, {1}, 300};
  check_known(padding, {Tensor::of<std::uint8_t>(DataType::UInt8, {1}, {7})},
              Tensor::of<std::uint8_t>(DataType::UInt8, {2}, {7, 7}));
}

TEST_CASE("PADDING: the output is the input and its paddings, and no other size") {
  nlohmann::ordered_json description =
      case_of(Padding{"EDGE", {1, 2}, {3, 4}}, {floats({1, 1}, {5})}).description;
  description["desc"]["OutputTensor"]["Sizes"] = {5, 8};
  CHECK(messages(description) != "");
  description["desc"]["OutputTensor"]["Sizes"] = {5, 7};
  CHECK(messages(description) == "");
  // In 64 bits: 4294967295 + 4294967295 + 3 is no UINT, and is not 1 either.
  description["desc"]["StartPadding"] = {4294967295, 2};
  description["desc"]["EndPadding"] = {4294967295, 4};
  description["desc"]["OutputTensor"]["Sizes"] = {4294967295, 7};
  CHECK(messages(description) != "");
  description["desc"].erase("OutputTensor");
  CHECK(messages(description) != "");
}

/// Paddings that leave a tensor small, whatever is chosen; `elements` grows to at least its number.
List random_paddings(const List& sizes, std::uint64_t& elements, Random& random) {
  constexpr std::uint64_t elements_max = 20000;
  List paddings;
  for (const std::uint64_t size : sizes) {
    const std::uint64_t wanted = random.one_in(8) ? 3 * size + 2 : sizes.size() <= 4 ? 3 : 1;
    const std::uint64_t longest = std::min(wanted, size * elements_max / elements - size);
    paddings.push_back(random.one_in(3) ? 0 : random.below(longest + 1));
    elements += elements * paddings.back() / size;
  }
  return paddings;
}

Case random_case(DataType type, std::size_t dimensions, const std::string& mode, Random& random) {
  const Tensor input = random_tensor(type, random_sizes(dimensions, random), random);
  std::uint64_t elements = *element_count(input.sizes);
  const List start = random_paddings(input.sizes, elements, random);
  const List end = random_paddings(input.sizes, elements, random);
  const Padding padding{mode, start, end, static_cast<double>(random.below(127))};
  Case a_case = case_of(padding, {input});
  if (random.one_in(4)) a_case.description["desc"].erase("OutputTensor");
  return a_case;
}

const RandomOperator random_padding("PADDING", [](Random& random) {
  return random_case(random.one_of(A11), random.from_to(1, 8), random.one_of(modes), random);
});

// A type for each size of an element.
const Types sizes_of_elements{DataType::UInt8, DataType::Float16, DataType::Int32,
                              DataType::UInt64};

TEST_CASE("PADDING: rows that are long, of odd sizes, within whole vectors and at their ends") {
  Random random(21);
  for (const DataType type : sizes_of_elements) {
    for (const std::string& mode : modes) {
      for (const List& start : {List{1, 3}, List{0, 40}}) {
        Tensor input = Tensor::packed(type, {3, 1019});
        random.fill(input.bytes);
        check_one_of_many(case_of(Padding{mode, start, {2, 8}, 7}, {input}), random);
      }
    }
  }
}

TEST_CASE("PADDING: elements that stand apart, in few and in many dimensions") {
  Random random(22);
  for (const DataType type : sizes_of_elements) {
    for (const std::string& mode : modes) {
      for (std::size_t dimensions = 1; dimensions <= 6; ++dimensions) {
        const List sizes(dimensions, 3);
        List strides = packed_strides(sizes);
        for (std::uint64_t& stride : strides) stride *= 2;
        Tensor input = Tensor::strided(type, sizes, strides);
        random.fill(input.bytes);
        check_case(case_of(Padding{mode, List(dimensions, 1), List(dimensions, 1), 7}, {input}),
                   random);
      }
    }
  }
}

TEST_CASE("PADDING: sweep over types, dimensions and modes") {
  Random random(20);
  for (const DataType type : A11) {
    for (std::size_t dimensions = 1; dimensions <= 8; ++dimensions) {
      for (const std::string& mode : modes) {
        for (int repeat = 0; repeat < 10; ++repeat)
          check_one_of_many(random_case(type, dimensions, mode, random), random);
      }
    }
  }
}

}  // namespace
}  // namespace dmlop::test::padding_test
