// Quotients that become integers: quantization and remainders. A quotient that is a half or a whole
// number must be just that on every device, because a device that divides less exactly would give
// the next integer.
#include <doctest/doctest.h>

#include <cmath>

#include "plan_case.hpp"
#include "random.hpp"

namespace dmlop::test::rounded_quotients_test {
namespace {

using Json = nlohmann::ordered_json;

Tensor floats(const std::vector<float>& values) {
  return Tensor::of(DataType::Float32, {values.size()}, values);
}

/// Dividends and divisors whose quotients are exact: `halves` / 2. All have few enough bits.
struct ExactQuotients {
  std::vector<float> dividends, divisors;
  std::vector<int> halves;
};
ExactQuotients exact_quotients(int most_halves, std::size_t count) {
  Random random(7);
  ExactQuotients made;
  for (std::size_t i = 0; i < count; ++i) {
    const int halves =
        static_cast<int>(random.from_to(0, 2 * static_cast<unsigned>(most_halves))) - most_halves;
    const int exponent = static_cast<int>(random.from_to(0, 20)) - 10;
    const auto divisor = static_cast<float>(random.from_to(2049, 4095));  // 12 bits
    made.halves.push_back(halves);
    made.divisors.push_back(std::ldexp(divisor, exponent));
    made.dividends.push_back(std::ldexp(divisor * static_cast<float>(halves), exponent - 1));
  }
  return made;
}

/// The integer nearest to halves / 2; of two, the even one.
int nearest_even(int halves) {
  if (halves % 2 == 0) return halves / 2;
  const int below = (halves - 1) / 2;  // exact: halves - 1 is even
  return below % 2 == 0 ? below : below + 1;
}

constexpr std::size_t many = 20'000;

TEST_CASE("rounded quotients: quantized halves go to the even integer") {
  const ExactQuotients exact = exact_quotients(254, many);
  std::vector<std::int8_t> expected;
  for (const int halves : exact.halves)
    expected.push_back(static_cast<std::int8_t>(nearest_even(halves)));
  const Tensor output = Tensor::of(DataType::Int8, {many}, expected);
  const Tensor zeros = Tensor::packed(DataType::Int8, {many});
  check_plan_case({"DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR",
                   Json::object(),
                   {{"InputTensor", floats(exact.dividends)},
                    {"ScaleTensor", floats(exact.divisors)},
                    {"ZeroPointTensor", zeros}},
                   {{"OutputTensor", output}}});
  check_plan_case({"DML_OPERATOR_QUANTIZE",
                   {{"QuantizationType", "SCALE_ZERO_POINT"}, {"QuantizationTensorCount", 2}},
                   {{"InputTensor", floats(exact.dividends)},
                    {"QuantizationTensors", floats(exact.divisors), 0},
                    {"QuantizationTensors", zeros, 1}},
                   {{"OutputTensor", output}}});
}

TEST_CASE("rounded quotients: a multiple leaves nothing") {
  const ExactQuotients exact = exact_quotients(4094, many);
  std::vector<float> truncated, floored;
  for (std::size_t i = 0; i < many; ++i) {
    const float half = exact.divisors[i] / 2;
    const int rest = exact.halves[i] % 2;  // of halves, with their sign
    truncated.push_back(static_cast<float>(rest) * half);
    floored.push_back(rest != 0 ? half : 0);
  }
  const auto check = [&](const char* name, const std::vector<float>& expected) {
    check_plan_case({name,
                     Json::object(),
                     {{"ATensor", floats(exact.dividends)}, {"BTensor", floats(exact.divisors)}},
                     {{"OutputTensor", floats(expected), std::nullopt, 0, 1e-6}}});
  };
  check("DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE", truncated);
  check("DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR", floored);
}

// The tests of ONNX for its operator of this name
// (onnx/backend/test/case/node/dynamicquantizelinear.py).
TEST_CASE("rounded quotients: DYNAMIC_QUANTIZE_LINEAR gives what ONNX says") {
  const auto check = [](const List& sizes, const std::vector<float>& values, float scale,
                        std::uint8_t zero_point, const std::vector<std::uint8_t>& expected) {
    const List one(sizes.size(), 1);
    check_plan_case({"DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR",
                     Json::object(),
                     {{"InputTensor", Tensor::of(DataType::Float32, sizes, values)}},
                     {{"OutputTensor", Tensor::of(DataType::UInt8, sizes, expected)},
                      {"OutputScaleTensor", Tensor::of<float>(DataType::Float32, one, {scale})},
                      {"OutputZeroPointTensor",
                       Tensor::of<std::uint8_t>(DataType::UInt8, one, {zero_point})}}});
  };
  check({6}, {0, 2, -3, -2.5F, 1.34F, 0.5F}, 5.0F / 255, 153, {153, 255, 0, 26, 221, 179});
  check({6}, {-1, -2.1F, -1.3F, -2.5F, -3.34F, -4}, 4.0F / 255, 255, {191, 121, 172, 96, 42, 0});
  check({3, 4}, {1, 2.1F, 1.3F, 2.5F, 3.34F, 4, 1.5F, 2, 2.6F, 3.9F, 4, 3}, 4.0F / 255, 0,
        {64, 134, 83, 159, 213, 255, 96, 127, 166, 249, 255, 191});
}

}  // namespace
}  // namespace dmlop::test::rounded_quotients_test
