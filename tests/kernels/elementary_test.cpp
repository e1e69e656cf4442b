// The errors of elementary functions against double, in units of the last place of FLOAT32: over
// numbers of every exponent, both signs, and numbers near those where a function is split. What is
// larger than stated fails.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "cpu/execute.hpp"
#include "ops/kernel.hpp"

namespace dmlop::test {
namespace {

struct Function {
  Expression expression;
  double (*exact)(double x);
  double low, high;  // beyond them only the special values are tried
  double error;      // the most, in ULP
};

constexpr double largest = 3.4028234e38;

const std::vector<Function>& functions() {
  static const std::vector<Function> all{
      {Expression::acos, [](double x) { return std::acos(x); }, -1, 1, 2},
      {Expression::acosh, [](double x) { return std::acosh(x); }, 1, largest, 2},
      {Expression::asin, [](double x) { return std::asin(x); }, -1, 1, 2},
      {Expression::asinh, [](double x) { return std::asinh(x); }, -largest, largest, 2},
      {Expression::atan, [](double x) { return std::atan(x); }, -largest, largest, 2},
      {Expression::atanh, [](double x) { return std::atanh(x); }, -1, 1, 2},
      {Expression::cos, [](double x) { return std::cos(x); }, -largest, largest, 1},
      {Expression::cosh, [](double x) { return std::cosh(x); }, -100, 100, 2},
      {Expression::erf, [](double x) { return std::erf(x); }, -largest, largest, 1},
      {Expression::exp, [](double x) { return std::exp(x); }, -110, 90, 1},
      {Expression::log, [](double x) { return std::log(x); }, 0, largest, 1},
      {Expression::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -100, 100, 2.5},
      {Expression::sin, [](double x) { return std::sin(x); }, -largest, largest, 1},
      {Expression::sinh, [](double x) { return std::sinh(x); }, -100, 100, 2},
      {Expression::tan, [](double x) { return std::tan(x); }, -largest, largest, 1},
      {Expression::tanh, [](double x) { return std::tanh(x); }, -largest, largest, 2},
  };
  return all;
}

/// Numbers of every exponent within the function's range, and evenly spread ones.
std::vector<float> arguments_of(const Function& function) {
  std::mt19937_64 random(61);  // NOLINT(cert-msc51-cpp): every time the same
  std::vector<float> arguments{0.0F, -0.0F, 1.0F, -1.0F, 0.5F, -0.5F, 1e-45F, 1.17549435e-38F};
  const float low = static_cast<float>(function.low), high = static_cast<float>(function.high);
  while (arguments.size() < 400'000) {
    const float any = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (any >= low && any <= high) arguments.push_back(any);
    const float width = std::min(high - low, 200.0F);
    const float even =
        std::max(low, -100.0F) + width * static_cast<float>(random() >> 40) * 0x1p-24F;
    if (even >= low && even <= high) arguments.push_back(even);
  }
  std::erase_if(arguments, [&](float x) { return x < low || x > high; });
  return arguments;
}

std::vector<float> computed(Expression expression, const std::vector<float>& arguments) {
  const Kernel kernel = ElementWiseKernel{.expression = expression,
                                          .extents = {arguments.size()},
                                          .inputs = {{DataType::Float32, {1}}}};
  std::vector<float> results(arguments.size());
  const std::span<const std::byte> input = std::as_bytes(std::span(arguments));
  cpu::execute(kernel, {&input, 1}, 0, arguments.size(),
               reinterpret_cast<std::byte*>(results.data()));
  return results;
}

/// In units of the last place of the exact result, which are no smaller than the least denormal.
double error_of(float found, double exact) {
  if (std::isnan(exact)) return std::isnan(found) ? 0 : 1e9;
  if (std::abs(exact) > largest) return std::isinf(found) == (std::abs(exact) > 3.4028236e38) ? 0 : 1;
  if (std::isnan(found) || std::isinf(found)) return 1e9;
  const int exponent = std::max(exact == 0 ? -126 : std::ilogb(exact), -126);
  return std::abs(static_cast<double>(found) - exact) / std::ldexp(1, exponent - 23);
}

TEST_CASE("elementary functions: none errs by more than is stated") {
  for (const Function& function : functions()) {
    CAPTURE(std::string(info(function.expression).name));
    const std::vector<float> arguments = arguments_of(function);
    const std::vector<float> results = computed(function.expression, arguments);
    double worst = 0;
    float at = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const double error =
          error_of(results[i], function.exact(static_cast<double>(arguments[i])));
      if (error > worst) worst = error, at = arguments[i];
    }
    MESSAGE(std::string(info(function.expression).name)
            << ": at most " << worst << " ULP, at " << at);
    CAPTURE(at);
    CHECK(worst <= function.error);
    CHECK(worst > 0);  // a float is never exact throughout
  }
}

TEST_CASE("elementary functions: infinities and NaN") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> arguments{infinity, -infinity, std::nanf("")};
  for (const Function& function : functions()) {
    CAPTURE(std::string(info(function.expression).name));
    const std::vector<float> results = computed(function.expression, arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      CAPTURE(arguments[i]);
      const double exact = function.exact(static_cast<double>(arguments[i]));
      const bool is_right = std::isnan(exact) ? std::isnan(results[i])
                                              : error_of(results[i], exact) <= 1 ||
                                                    static_cast<double>(results[i]) == exact;
      CHECK(is_right);
    }
  }
}

}  // namespace
}  // namespace dmlop::test
