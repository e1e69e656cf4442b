// FILL_VALUE_CONSTANT, FILL_VALUE_SEQUENCE, DIAGONAL_MATRIX(1), RANDOM_GENERATOR,
// CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT.
#include "reference/filling.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "cpu/execute.hpp"
#include "described.hpp"
#include "ops/operator.hpp"
#include "plan_case.hpp"
#include "reference/number.hpp"
#include "reference/scanning.hpp"
#include "simd_targets.hpp"
#include "small_numbers.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::filling_test {
namespace {

using Json = nlohmann::ordered_json;

PlanCase made_up(const std::string& name, Json fields, const Tensor& output) {
  return {"DML_OPERATOR_" + name, std::move(fields), {}, {{"OutputTensor", output}}};
}

template <typename T>
Tensor values(DataType type, const std::vector<T>& elements) {
  return Tensor::of(type, {elements.size()}, elements);
}

// --- constants and sequences

TEST_CASE("FILL_VALUE_CONSTANT: every element has the value, all of its bits") {
  const auto fill = [](const char* type, const Json& value, const Tensor& output) {
    check_plan_case(
        made_up("FILL_VALUE_CONSTANT", {{"ValueDataType", type}, {"Value", value}}, output));
  };
  fill("FLOAT32", 0.5, floats({2, 3}, {0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F}));
  fill("FLOAT32", -0.0, floats({2}, {-0.0F, -0.0F}));
  fill("FLOAT64", 0.1, values<double>(DataType::Float64, {0.1, 0.1}));
  fill("FLOAT16", 1, values<std::uint16_t>(DataType::Float16, {0x3c00, 0x3c00, 0x3c00}));
  fill("INT8", -128, values<std::int8_t>(DataType::Int8, {-128, -128, -128}));
  fill("UINT64", 18446744073709551615U,
       values<std::uint64_t>(DataType::UInt64, {~std::uint64_t{0}, ~std::uint64_t{0}}));
  fill("INT64", -9007199254740993, values<std::int64_t>(DataType::Int64, {-9007199254740993}));
  // More than a group of threads stores, up to within a vector.
  fill("UINT8", 7, values(DataType::UInt8, std::vector<std::uint8_t>(40'003, 7)));
  fill("UINT32", 7, values(DataType::UInt32, std::vector<std::uint32_t>(10'003, 7)));
  fill("UINT64", 7, values(DataType::UInt64, std::vector<std::uint64_t>(5'003, 7)));
}

TEST_CASE("FILL_VALUE_SEQUENCE: values lie evenly, and integers wrap") {
  const auto fill = [](const char* type, const Json& start, const Json& delta, const Tensor& output,
                       std::uint64_t ulp = 0) {
    PlanCase a_case =
        made_up("FILL_VALUE_SEQUENCE",
                {{"ValueDataType", type}, {"ValueStart", start}, {"ValueDelta", delta}}, output);
    a_case.outputs[0].ulp = ulp;
    check_plan_case(a_case);
  };
  fill("FLOAT32", 1.5, 0.25, floats({2, 3}, {1.5F, 1.75F, 2, 2.25F, 2.5F, 2.75F}));
  fill("INT8", 126, 1, values<std::int8_t>(DataType::Int8, {126, 127, -128, -127}));
  fill("UINT16", 1, 65535, values<std::uint16_t>(DataType::UInt16, {1, 0, 65535, 65534}));
  fill("INT64", 9007199254740993, -1,
       values<std::int64_t>(DataType::Int64, {9007199254740993, 9007199254740992}));
  fill("UINT64", 1, 1ULL << 63, values<std::uint64_t>(DataType::UInt64, {1, (1ULL << 63) + 1, 1}));
  fill("FLOAT16", 0, 1, values<std::uint16_t>(DataType::Float16, {0, 0x3c00, 0x4000}));
  // Steps are not added up: their errors would be.
  std::vector<float> long_sequence(300000);
  for (std::size_t i = 0; i < long_sequence.size(); ++i)
    long_sequence[i] = static_cast<float>(3 + static_cast<double>(i) * double{0.1F});
  fill("FLOAT32", 3, 0.1F, values(DataType::Float32, long_sequence), 1);
}

// --- diagonals

TEST_CASE("DIAGONAL_MATRIX: the offset moves the diagonal to the right or down") {
  const auto diagonal = [](int offset, const std::vector<float>& elements) {
    check_plan_case(
        made_up("DIAGONAL_MATRIX", {{"Offset", offset}, {"Value", 0.5}}, floats({2, 3}, elements)));
  };
  diagonal(0, {0.5F, 0, 0, 0, 0.5F, 0});
  diagonal(1, {0, 0.5F, 0, 0, 0, 0.5F});
  diagonal(-1, {0, 0, 0, 0.5F, 0, 0});
  diagonal(3, {0, 0, 0, 0, 0, 0});
  diagonal(2147483647, {0, 0, 0, 0, 0, 0});
  diagonal(-2147483648LL, {0, 0, 0, 0, 0, 0});
}

TEST_CASE("DIAGONAL_MATRIX: the value is truncated to an integer, which must hold it") {
  PlanCase a_case = made_up("DIAGONAL_MATRIX", {{"Offset", 0}, {"Value", -2.75}},
                            Tensor::of<std::int8_t>(DataType::Int8, {2, 2}, {-2, 0, 0, -2}));
  check_plan_case(a_case);
  a_case.fields["Value"] = 128;
  CHECK(messages(a_case.description()) == "Value is 128, which does not fit INT8");
}

TEST_CASE("DIAGONAL_MATRIX and DIAGONAL_MATRIX1: random bands of batches of all types") {
  Random random(70);
  for (int i = 0; i < 300; ++i) {
    const DataType type = random.one_of(A11);
    const List sizes = random_sizes(random.from_to(2, 4), random);
    const auto near = [&] { return static_cast<std::int64_t>(random.below(24)) - 12; };
    std::int64_t begin = near(), end = random.one_in(3) ? near() : begin + 1;
    const bool has_input = random.one_in(2);
    const Tensor input =
        has_input ? random_tensor(type, sizes, random) : Tensor::packed(type, sizes);
    const std::vector<std::byte> value = element(type, 7);
    PlanCase a_case = made_up("DIAGONAL_MATRIX1",
                              {{"ValueDataType", name_of(type)},
                               {"Value", 7},
                               {"DiagonalFillBegin", begin},
                               {"DiagonalFillEnd", end}},
                              banded(input, value.data(), begin, end));
    if (has_input) {
      a_case.inputs.push_back({"InputTensor", input});
    } else if (end == begin + 1) {
      a_case.type = "DML_OPERATOR_DIAGONAL_MATRIX";
      a_case.fields = {{"Offset", begin}, {"Value", 7}};
    }
    check_plan_case(a_case);
  }
}

// --- random bits

PlanCase random_case(const std::array<std::uint32_t, 6>& state, std::uint64_t count,
                     bool has_state) {
  const RandomBits result = RandomBits::of(state, count);
  const auto state_tensor = [](const std::array<std::uint32_t, 6>& words) {
    return values(DataType::UInt32, std::vector<std::uint32_t>(words.begin(), words.end()));
  };
  PlanCase a_case{"DML_OPERATOR_RANDOM_GENERATOR",
                  {{"Type", "PHILOX_4X32_10"}},
                  {{"InputStateTensor", state_tensor(state)}},
                  {{"OutputTensor", values(DataType::UInt32, result.bits)}}};
  if (has_state) a_case.outputs.push_back({"OutputStateTensor", state_tensor(result.state)});
  return a_case;
}

TEST_CASE("RANDOM_GENERATOR: the known answers of Random123") {
  struct Row {
    std::array<std::uint32_t, 6> state;
    std::vector<std::uint32_t> bits;
  };
  constexpr std::uint32_t ones = 0xffffffff;
  for (const Row& row :
       {Row{{0, 0, 0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        Row{{ones, ones, ones, ones, ones, ones}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        Row{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0},
            {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}) {
    const PlanCase a_case = random_case(row.state, 4, true);
    CHECK(a_case.outputs[0].tensor == values(DataType::UInt32, row.bits));
    check_plan_case(a_case);
  }
}

TEST_CASE("RANDOM_GENERATOR: the counter has 128 bits, and the state goes on behind the output") {
  constexpr std::uint32_t ones = 0xffffffff;
  for (const std::uint64_t count : {1, 4, 5, 30, 1000}) {
    for (const bool has_state : {false, true}) {
      check_plan_case(random_case({ones - 1, 0, 0, 0, 1, 2}, count, has_state));
      check_plan_case(random_case({ones - 1, ones, ones, 5, 1, 2}, count, has_state));
      check_plan_case(random_case({ones, ones, ones, ones, 1, 2}, count, has_state));
    }
  }
}

// --- running sums and products

PlanCase scan_case(const Scan& scan, const Tensor& input, std::uint64_t ulp = 0) {
  return {scan.is_product ? "DML_OPERATOR_CUMULATIVE_PRODUCT" : "DML_OPERATOR_CUMULATIVE_SUMMATION",
          {{"Axis", scan.axis},
           {"AxisDirection", scan.is_decreasing ? "DECREASING" : "INCREASING"},
           {scan.is_product ? "HasExclusiveProduct" : "HasExclusiveSum", scan.is_exclusive}},
          {{"InputTensor", input}},
          {{"OutputTensor", scan.result(input), {}, ulp}}};
}

TEST_CASE("CUMULATIVE_SUMMATION: the page's examples") {
  const Tensor input = floats({1, 1, 3, 4}, {2, 1, 3, 5, 3, 8, 7, 3, 9, 6, 2, 4});
  const auto check = [&](const Scan& scan, const std::vector<float>& expected) {
    const PlanCase a_case = scan_case(scan, input);
    CHECK(a_case.outputs[0].tensor == floats({1, 1, 3, 4}, expected));
    check_plan_case(a_case);
  };
  check({.axis = 3}, {2, 3, 6, 11, 3, 11, 18, 21, 9, 15, 17, 21});
  check({.axis = 3, .is_exclusive = true}, {0, 2, 3, 6, 0, 3, 11, 18, 0, 9, 15, 17});
  check({.axis = 2, .is_decreasing = true}, {14, 15, 12, 12, 12, 14, 9, 7, 9, 6, 2, 4});
  check({.axis = 3, .is_product = true}, {2, 2, 6, 30, 3, 24, 168, 504, 9, 54, 108, 432});
  check({.axis = 3, .is_product = true, .is_decreasing = true, .is_exclusive = true},
        {15, 15, 5, 1, 168, 21, 3, 1, 48, 8, 4, 1});
}

TEST_CASE("CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT: random tensors along every axis") {
  Random random(71);
  for (int i = 0; i < 400; ++i) {
    const DataType type =
        random.one_of<DataType>({DataType::Float32, DataType::Float16, DataType::Int64,
                                 DataType::Int32, DataType::UInt64, DataType::UInt32});
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const Scan scan{random.below(sizes.size()), random.one_in(2), random.one_in(2),
                    random.one_in(2)};
    const bool is_float = info(type).kind == NumberKind::floating;
    const Tensor input = is_float ? random_numbers(type, sizes, random.one_in(4), random)
                                  : random_tensor(type, sizes, random);
    check_plan_case(scan_case(scan, input, is_float ? 1 : 0));
  }
}

TEST_CASE("CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT: long sequences of all types") {
  Random random(72);
  const auto check = [&](const List& sizes, std::size_t axis, DataType type) {
    Scan scan{axis, random.one_in(2), random.one_in(2), random.one_in(2)};
    Tensor input = random_tensor(type, sizes, random);
    const bool is_float = info(type).kind == NumberKind::floating;
    for (std::size_t at = 0; is_float && at < input.bytes.size(); at += input.element_size()) {
      const double value =
          scan.is_product ? std::ldexp(random.one_in(2) ? -1 : 1, static_cast<int>(at / 4 % 3) - 1)
                          : static_cast<double>(random.below(9)) - 4;
      std::memcpy(&input.bytes[at], element(type, value).data(), input.element_size());
    }
    CAPTURE(scan.is_product);
    check_plan_case(scan_case(scan, input));
  };
  for (const DataType type : {DataType::Float32, DataType::Float16, DataType::Int64,
                              DataType::Int32, DataType::UInt64, DataType::UInt32}) {
    check({2, 700, 3}, 1, type);
    check({3, 701}, 1, type);
    check({33, 5}, 0, type);
    check({2, 520}, 1, type);
  }
  on_every_target([&] {
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::Int32}) {
      check({5, 301}, 1, type);
      check({2, 6, 1100}, 1, type);
    }
  });
  check({4201}, 0, DataType::Float32);
  check({4201}, 0, DataType::Int64);
}

TEST_CASE("CUMULATIVE_SUMMATION: either side of what the CPU computes together, in all types") {
  if (is_gpu_asked_for()) return;
  Random random(77);
  for (const DataType type : {DataType::Float32, DataType::Float16, DataType::Int64,
                              DataType::Int32, DataType::UInt64, DataType::UInt32}) {
    for (const List& sizes :
         {List{7, 256}, {8, 256}, {9, 257}, {2, 3, 1024}, {2, 5, 1025}, {1, 4, 2049}}) {
      const Scan scan{1, false, random.one_in(2), random.one_in(2)};
      Tensor input = small_numbers(type, sizes, random);
      check_plan_case(scan_case(scan, input));
    }
  }
}

/// The same as check_plan_case, from inputs and to outputs that are aligned.
void check_in_memory(const PlanCase& a_case) {
  const NamedTensor& expected = a_case.outputs.front();
  const nlohmann::ordered_json description = a_case.description();
  const Checked checked = check_desc(description["type"], description["desc"]);
  REQUIRE(checked.description);
  const Plan plan = make_plan(*checked.description);
  const std::span<const std::byte> input(a_case.inputs.front().tensor.bytes);
  Tensor found = expected.tensor;
  cpu::execute_all(plan.passes.front().kernel, {&input, 1}, 2, found.bytes.data());
  int wrong = 0;
  for (std::size_t at = 0; at < found.bytes.size(); at += found.element_size()) {
    const double is = number(found.type, &found.bytes[at]);
    const double must_be = number(found.type, &expected.tensor.bytes[at]);
    wrong += (std::isnan(must_be) ? std::isnan(is) : is == must_be) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

/// Numbers of 24 digits, of which a sum loses some. The last row ends with infinity and NaN.
Tensor packed_numbers(DataType type, const List& sizes, bool has_special, Random& random) {
  Tensor tensor = Tensor::packed(type, sizes);
  const std::size_t size = tensor.element_size();
  for (std::size_t at = 0; at < tensor.bytes.size(); at += size) {
    const int exponent = static_cast<int>(random.below(16)) - 12;
    double value = std::ldexp(static_cast<double>(random.below(1 << 24)), exponent - 24);
    if (has_special && at + 2 * size == tensor.bytes.size())
      value = std::numeric_limits<double>::infinity();
    if (has_special && at + size == tensor.bytes.size()) value = std::nan("");
    std::memcpy(&tensor.bytes[at], element(type, random.one_in(2) ? -value : value).data(), size);
  }
  return tensor;
}

// Eight of them are added up by vectors, others by themselves.
TEST_CASE("CUMULATIVE_SUMMATION: sequences by eights, rounded once on every instruction set") {
  Random random(76);
  const std::vector<List> shapes{{8, 1}, {9, 3}, {17, 37}, {8, 258}, {19, 131}, {16, 523}};
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const List& sizes : shapes) {
      for (int direction = 0; direction < 4; ++direction) {
        const Tensor input = packed_numbers(type, sizes, direction == 0, random);
        const Scan scan{1, false, direction / 2 == 1, direction % 2 == 1};
        PlanCase a_case = scan_case(scan, input);
        a_case.outputs.front().has_any_nan = true;
        on_every_target([&] {
          check_plan_case(a_case);
          check_in_memory(a_case);
        });
      }
    }
  }
}

TEST_CASE(
    "CUMULATIVE_SUMMATION: packed rows of some lanes and of a group, once and several times") {
  Random random(73);
  for (const std::uint64_t length : {4U, 20U, 136U, 1024U, 9000U}) {
    std::vector<float> elements, sums;
    for (int row = 0; row < 3; ++row) {
      float sum = 0;
      for (std::uint64_t i = 0; i < length; ++i) {
        elements.push_back(static_cast<float>(random.below(9)) - 4);
        sums.push_back(sum += elements.back());
      }
    }
    PlanCase a_case = scan_case({.axis = 0}, floats({1}, {0}));
    a_case.fields["Axis"] = 1;
    a_case.inputs[0].tensor = floats({3, length}, elements);
    a_case.outputs[0].tensor = floats({3, length}, sums);
    check_plan_case(a_case);
  }
}

// In one tile of lanes and in several, with and without products.
TEST_CASE("CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT: packed columns of vectors") {
  Random random(74);
  for (const bool is_product : {false, true}) {
    for (const DataType type : {DataType::Float16, DataType::Float32, DataType::Int64}) {
      for (const std::uint64_t length : {5U, 300U}) {
        const List sizes{2, length, 16};
        const Scan scan{1, is_product, length == 300, type == DataType::Float32};
        Tensor input = random_tensor(type, sizes, random);
        for (std::size_t at = 0; at < input.bytes.size(); at += input.element_size()) {
          const double value =
              is_product ? (random.one_in(2) ? -1 : 1) : static_cast<double>(random.below(9)) - 4;
          std::memcpy(&input.bytes[at], element(type, value).data(), input.element_size());
        }
        check_plan_case(scan_case(scan, input));
      }
    }
  }
}

// So many that a thread has some of its own. One column has numbers that no simple sum takes, and
// one has them from its second tile on.
TEST_CASE("CUMULATIVE_SUMMATION: very many packed columns") {
  constexpr std::uint64_t length = 11, width = std::uint64_t{1} << 16;
  Random random(75);
  std::vector<float> elements(2 * length * width);
  for (float& element : elements) element = static_cast<float>(random.below(9)) - 4;
  for (std::uint64_t i = 0; i < length; ++i) elements[i * width + 5] = i % 2 == 0 ? 3e38F : -2e38F;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  elements[9 * width + 11] = infinity;
  const auto rounded = [&](double sum) {
    const bool is_in_range = std::abs(sum) <= double{std::numeric_limits<float>::max()};
    return is_in_range ? static_cast<float>(sum) : sum < 0 ? -infinity : infinity;
  };
  for (const bool is_other : {false, true}) {
    std::vector<float> sums(elements.size());
    for (std::uint64_t column = 0; column < 2 * width; ++column) {
      double sum = 0;
      for (std::uint64_t i = 0; i < length; ++i) {
        const std::uint64_t row = is_other ? length - 1 - i : i;
        const std::uint64_t at = (column / width * length + row) * width + column % width;
        const double before = sum;
        sum += static_cast<double>(elements[at]);
        sums[at] = rounded(is_other ? before : sum);
      }
    }
    PlanCase a_case = scan_case({.axis = 0}, floats({1}, {0}));
    a_case.fields = {{"Axis", 1},
                     {"AxisDirection", is_other ? "DECREASING" : "INCREASING"},
                     {"HasExclusiveSum", is_other}};
    a_case.inputs[0].tensor = floats({2, length, width}, elements);
    a_case.outputs[0].tensor = floats({2, length, width}, sums);
    check_plan_case(a_case);
  }
}

// Sums of some elements leave the range of FLOAT32, and those of all before do not.
TEST_CASE("CUMULATIVE_SUMMATION: running sums that are in range, although others are not") {
  constexpr float large = 3e38F;
  for (const List& sizes : {List{1, 80}, List{80, 4}, List{1, 81}}) {
    const bool is_row = sizes[0] == 1;
    const std::uint64_t length = is_row ? sizes[1] : sizes[0], width = is_row ? 1 : sizes[1];
    std::vector<float> elements(length * width, 0);
    for (std::uint64_t i = 0; i < length; ++i) {
      const std::uint64_t turn = i % 40;
      const bool is_positive = turn == 16 || turn == 17, is_negative = turn == 15 || turn == 33;
      const float of_turn = is_positive ? large : is_negative ? -large : 0;
      std::fill_n(elements.begin() + static_cast<std::ptrdiff_t>(i * width), width, of_turn);
    }
    for (const bool is_decreasing : {false, true}) {
      const Scan scan{is_row ? std::size_t{1} : std::size_t{0}, false, is_decreasing};
      check_plan_case(scan_case(scan, floats(sizes, elements), 1));
    }
  }
}

TEST_CASE("CUMULATIVE_SUMMATION: long sums of FLOAT16 and FLOAT32 keep their precision") {
  constexpr std::uint64_t count = 3001;  // FLOAT16 knows even numbers only from 2048 on
  const Tensor ones = values(DataType::Float16, std::vector<std::uint16_t>(count, 0x3c00));
  check_plan_case(scan_case({.axis = 0}, ones));
  // 2^24 + 1 + 1 + ... would stay 2^24 in FLOAT32.
  std::vector<float> elements(count, 1);
  elements[0] = 16777216;
  const PlanCase a_case = scan_case({.axis = 0}, values(DataType::Float32, elements));
  check_plan_case(a_case);
  const Tensor& output = a_case.outputs[0].tensor;
  CHECK(number(output.type, output.at({count - 1})) == 16777216 + count - 1);
}

// 60000 + 0.0019 is no float, so that a sum of two halves may lose what is left in the end.
TEST_CASE("CUMULATIVE_SUMMATION: what is left of halves that cancel each other") {
  Tensor input = Tensor::packed(DataType::Float16, {2, 136});
  for (std::size_t i = 0; i < 272; ++i) {
    const double value = i % 8 >= 4 ? 0.0019 : i % 2 == 0 ? 6e4 : -6e4;
    std::memcpy(&input.bytes[2 * i], element(input.type, value).data(), 2);
  }
  check_plan_case(scan_case({.axis = 1}, input, 1));
  check_plan_case(scan_case({.axis = 1, .is_decreasing = true, .is_exclusive = true}, input, 1));
}

TEST_CASE("CUMULATIVE_PRODUCT: what lies beyond a double's range on the way does no harm") {
  // Exponents of factors: the product gets as large as 2^2480 and as small as 2^-2686.
  std::vector<int> exponents(20, 124);
  exponents.insert(exponents.end(), 41, -126);
  exponents.insert(exponents.end(), 21, 126);
  const std::uint64_t count = exponents.size();
  const auto check = [&](const List& sizes, std::size_t axis, bool is_decreasing) {
    Tensor input = Tensor::packed(DataType::Float32, sizes), output = input;
    const std::uint64_t inner = axis + 1 == sizes.size() ? 1 : sizes.back();
    for (std::uint64_t i = 0; i < input.bytes.size() / 4; ++i) {
      const std::uint64_t place = i / inner % count;
      const std::uint64_t k = is_decreasing ? count - 1 - place : place;
      const auto factors = exponents.begin() + static_cast<std::ptrdiff_t>(k);
      const int beside = static_cast<int>(i % inner % 3);  // sequences differ in their first factor
      const auto put = [&](Tensor& tensor, double sign, int exponent) {
        const auto number = static_cast<float>(std::ldexp(sign, exponent));
        std::memcpy(&tensor.bytes[i * 4], &number, sizeof number);
      };
      put(input, k == 0 ? -1 : 1, *factors + (k == 0 ? beside : 0));
      put(output, -1, std::accumulate(exponents.begin(), factors + 1, beside));
    }
    PlanCase a_case = scan_case({axis, true, is_decreasing}, input);
    a_case.outputs[0].tensor = output;
    check_plan_case(a_case);
  };
  check({count}, 0, false);
  check({5, count}, 1, true);
  check({9, count}, 1, true);
  check({2, count, 3}, 1, false);
  check({2, count, 70}, 1, true);
}

}  // namespace
}  // namespace dmlop::test::filling_test
