// The elementary functions in double, with the operators that compute them and the numbers that
// they are tried with.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace dmlop::test {

/// A function that is neither exact nor made of sums and products, through an operator on
/// one-dimensional tensors.
struct ElementaryFunction {
  const char* name;  // of the operator
  double (*exact)(double x, double y);
  double low, high;  // beyond them only the special values are tried
  std::vector<const char*> inputs = {"InputTensor"};
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
};

inline constexpr double largest = std::numeric_limits<float>::max();
#ifdef _WIN32
// The C library of mingw-w64 reduces angles with 66 bits of pi: too few for the sine of larger
// ones.
inline constexpr double largest_angle = 1e5;
#else
inline constexpr double largest_angle = largest;
#endif

inline double exact_sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
inline double exact_softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

inline const std::vector<ElementaryFunction>& elementary_functions() {
  static const std::vector<const char*> two{"ATensor", "BTensor"};
  static const std::vector<ElementaryFunction> all{
      {"ACTIVATION_CELU",
       [](double x, double) { return std::max(0.0, x) + std::min(0.0, std::expm1(x)); },
       -largest,
       largest,
       {"InputTensor"},
       {{"Alpha", 1}}},
      {"ACTIVATION_ELU",
       [](double x, double) { return x < 0 ? std::expm1(x) : x; },
       -largest,
       largest,
       {"InputTensor"},
       {{"Alpha", 1}}},
      {"ACTIVATION_GELU", [](double x, double) { return 0.5 * x * std::erfc(x * -std::sqrt(0.5)); },
       -largest, largest},
      {"ACTIVATION_PARAMETRIC_SOFTPLUS",
       [](double x, double) { return 2 * exact_softplus(0.5 * x); },
       -largest,
       largest / 2,
       {"InputTensor"},
       {{"Alpha", 2}, {"Beta", 0.5}}},
      {"ACTIVATION_SCALED_ELU",
       [](double x, double) { return x > 0 ? 1.25 * x : 1.25 * 1.5 * std::expm1(x); },
       -largest,
       largest,
       {"InputTensor"},
       {{"Alpha", 1.5}, {"Gamma", 1.25}}},
      {"ACTIVATION_SCALED_TANH",
       [](double x, double) { return 1.5 * std::tanh(0.5 * x); },
       -largest,
       largest,
       {"InputTensor"},
       {{"Alpha", 1.5}, {"Beta", 0.5}}},
      {"ACTIVATION_SIGMOID", [](double x, double) { return exact_sigmoid(x); }, -100, 100},
      {"ACTIVATION_SOFTPLUS",
       [](double x, double) { return exact_softplus(x); },
       -largest,
       largest,
       {"InputTensor"},
       {{"Steepness", 1}}},
      {"ACTIVATION_SOFTSIGN", [](double x, double) { return x / (1 + std::abs(x)); }, -largest,
       largest},
      {"ACTIVATION_SWISH",
       [](double x, double) { return x * exact_sigmoid(x); },
       -largest,
       largest,
       {"InputTensor"},
       {{"SigmoidInputScale", 1}}},
      {"ACTIVATION_TANH", [](double x, double) { return std::tanh(x); }, -largest, largest},
      {"ELEMENT_WISE_ACOS", [](double x, double) { return std::acos(x); }, -1, 1},
      {"ELEMENT_WISE_ACOSH", [](double x, double) { return std::acosh(x); }, 1, largest},
      {"ELEMENT_WISE_ASIN", [](double x, double) { return std::asin(x); }, -1, 1},
      {"ELEMENT_WISE_ASINH", [](double x, double) { return std::asinh(x); }, -largest, largest},
      {"ELEMENT_WISE_ATAN", [](double x, double) { return std::atan(x); }, -largest, largest},
      {"ELEMENT_WISE_ATANH", [](double x, double) { return std::atanh(x); }, -1, 1},
      {"ELEMENT_WISE_ATAN_YX", [](double y, double x) { return std::atan2(y, x); }, -largest,
       largest, two},
      {"ELEMENT_WISE_CONSTANT_POW",
       [](double x, double) { return std::pow(x, 2.5); },
       0,
       largest,
       {"InputTensor"},
       {{"Exponent", 2.5}}},
      {"ELEMENT_WISE_COS", [](double x, double) { return std::cos(x); }, -largest_angle,
       largest_angle},
      {"ELEMENT_WISE_COSH", [](double x, double) { return std::cosh(x); }, -100, 100},
      {"ELEMENT_WISE_DIVIDE", [](double x, double y) { return x / y; }, -largest, largest, two},
      {"ELEMENT_WISE_ERF", [](double x, double) { return std::erf(x); }, -largest, largest},
      {"ELEMENT_WISE_EXP", [](double x, double) { return std::exp(x); }, -110, 90},
      {"ELEMENT_WISE_LOG", [](double x, double) { return std::log(x); }, 0, largest},
      {"ELEMENT_WISE_POW",
       [](double x, double y) { return std::pow(x, y); },
       -largest,
       largest,
       {"InputTensor", "ExponentTensor"}},
      {"ELEMENT_WISE_RECIP", [](double x, double) { return 1 / x; }, -largest, largest},
      {"ELEMENT_WISE_SIN", [](double x, double) { return std::sin(x); }, -largest_angle,
       largest_angle},
      {"ELEMENT_WISE_SINH", [](double x, double) { return std::sinh(x); }, -100, 100},
      {"ELEMENT_WISE_SQRT", [](double x, double) { return std::sqrt(x); }, 0, largest},
      {"ELEMENT_WISE_TAN", [](double x, double) { return std::tan(x); }, -largest_angle,
       largest_angle},
      {"ELEMENT_WISE_TANH", [](double x, double) { return std::tanh(x); }, -largest, largest},
  };
  return all;
}

}  // namespace dmlop::test
