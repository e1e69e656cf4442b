// Element-wise operators by their definitions: on numbers as doubles, and on integers of any width.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

/// A function of one or two inputs and of FLOAT fields.
struct RealFunction {
  const char* name;  // without DML_OPERATOR_
  std::vector<const char*> inputs;
  nlohmann::ordered_json fields;
  double (*value)(double a, double b);
  std::uint64_t ulp = 2;  // of FLOAT32; FLOAT16 is within 1
};

/// The sign of a zero is open.
inline double skip_nan(double a, double b, bool larger) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return larger ? std::max(a, b) : std::min(a, b);
}
inline double softplus(double a) {
  return a > 40 ? a : std::log1p(std::exp(a));
}
/// As a float: the fields of an operator are FLOAT.
inline double f(double value) {
  return static_cast<double>(static_cast<float>(value));
}

inline const std::vector<RealFunction>& real_functions() {
  using Names = std::vector<const char*>;
  static const Names one{"InputTensor"}, two{"ATensor", "BTensor"};
  static const std::vector<RealFunction> all{
      {"ELEMENT_WISE_ABS", one, {}, [](double a, double) { return std::abs(a); }, 0},
      {"ELEMENT_WISE_ACOS", one, {}, [](double a, double) { return std::acos(a); }},
      {"ELEMENT_WISE_ACOSH", one, {}, [](double a, double) { return std::acosh(a); }},
      {"ELEMENT_WISE_ASIN", one, {}, [](double a, double) { return std::asin(a); }},
      {"ELEMENT_WISE_ASINH", one, {}, [](double a, double) { return std::asinh(a); }},
      {"ELEMENT_WISE_ATAN", one, {}, [](double a, double) { return std::atan(a); }},
      {"ELEMENT_WISE_ATANH", one, {}, [](double a, double) { return std::atanh(a); }},
      {"ELEMENT_WISE_CEIL", one, {}, [](double a, double) { return std::ceil(a); }, 0},
      {"ELEMENT_WISE_CLIP", one, {{"Min", -0.5}, {"Max", 2}},
       [](double a, double) { return std::isnan(a) ? 2 : std::clamp(a, -0.5, 2.0); }, 0},
      {"ELEMENT_WISE_CONSTANT_POW", one, {{"Exponent", 2.5}},
       [](double a, double) { return std::pow(a, 2.5); }},
      {"ELEMENT_WISE_COS", one, {}, [](double a, double) { return std::cos(a); }},
      {"ELEMENT_WISE_COSH", one, {}, [](double a, double) { return std::cosh(a); }},
      {"ELEMENT_WISE_ERF", one, {}, [](double a, double) { return std::erf(a); }},
      {"ELEMENT_WISE_EXP", one, {}, [](double a, double) { return std::exp(a); }},
      {"ELEMENT_WISE_FLOOR", one, {}, [](double a, double) { return std::floor(a); }, 0},
      {"ELEMENT_WISE_IDENTITY", one, {}, [](double a, double) { return a; }, 0},
      {"ELEMENT_WISE_LOG", one, {}, [](double a, double) { return std::log(a); }},
      {"ELEMENT_WISE_NEGATE", one, {}, [](double a, double) { return -a; }, 0},
      {"ELEMENT_WISE_RECIP", one, {}, [](double a, double) { return 1 / a; }, 0},
      {"ELEMENT_WISE_ROUND", one, {{"RoundingMode", "HALVES_TO_NEAREST_EVEN"}},
       [](double a, double) { return std::nearbyint(a); }, 0},
      {"ELEMENT_WISE_ROUND", one, {{"RoundingMode", "TOWARD_ZERO"}},
       [](double a, double) { return std::trunc(a); }, 0},
      {"ELEMENT_WISE_ROUND", one, {{"RoundingMode", "TOWARD_INFINITY"}},
       [](double a, double) { return std::round(a); }, 0},
      {"ELEMENT_WISE_SIGN", one, {}, [](double a, double) { return double(a > 0) - double(a < 0); },
       0},
      {"ELEMENT_WISE_SIN", one, {}, [](double a, double) { return std::sin(a); }},
      {"ELEMENT_WISE_SINH", one, {}, [](double a, double) { return std::sinh(a); }},
      {"ELEMENT_WISE_SQRT", one, {}, [](double a, double) { return std::sqrt(a); }, 0},
      {"ELEMENT_WISE_TAN", one, {}, [](double a, double) { return std::tan(a); }},
      {"ELEMENT_WISE_TANH", one, {}, [](double a, double) { return std::tanh(a); }},
      {"ELEMENT_WISE_THRESHOLD", one, {{"Min", 0.25}},
       [](double a, double) { return std::isnan(a) ? 0.25 : std::max(a, 0.25); }, 0},
      {"ELEMENT_WISE_ADD", two, {}, [](double a, double b) { return a + b; }, 0},
      {"ELEMENT_WISE_ATAN_YX", two, {}, [](double a, double b) { return std::atan2(a, b); }},
      {"ELEMENT_WISE_DIFFERENCE_SQUARE", two, {},
       [](double a, double b) { return f(a - b) * f(a - b); }, 1},
      {"ELEMENT_WISE_DIVIDE", two, {}, [](double a, double b) { return a / b; }, 0},
      {"ELEMENT_WISE_MAX", two, {}, [](double a, double b) { return skip_nan(a, b, true); }, 1},
      {"ELEMENT_WISE_MIN", two, {}, [](double a, double b) { return skip_nan(a, b, false); }, 1},
      {"ELEMENT_WISE_MEAN", two, {}, [](double a, double b) { return (a + b) / 2; }, 1},
      {"ELEMENT_WISE_MULTIPLY", two, {}, [](double a, double b) { return a * b; }, 0},
      {"ELEMENT_WISE_POW", {"InputTensor", "ExponentTensor"}, {},
       [](double a, double b) { return std::pow(a, b); }},
      {"ELEMENT_WISE_SUBTRACT", two, {}, [](double a, double b) { return a - b; }, 0},
      {"ACTIVATION_CELU", one, {{"Alpha", 1.5}},
       [](double a, double) {
         return std::isnan(a) ? 0 : std::max(a, 0.0) + std::min(1.5 * std::expm1(a / 1.5), 0.0);
       },
       4},
      {"ACTIVATION_ELU", one, {{"Alpha", 1.5}},
       [](double a, double) { return a < 0 ? 1.5 * std::expm1(a) : a; }, 4},
      {"ACTIVATION_GELU", one, {},
       [](double a, double) { return 0.5 * a * std::erfc(-a / std::sqrt(2.0)); }, 200},
      {"ACTIVATION_HARD_SIGMOID", one, {{"Alpha", 0.25}, {"Beta", 0.5}},
       [](double a, double) { return std::isnan(a) ? 0 : std::clamp(0.25 * a + 0.5, 0.0, 1.0); },
       1},
      {"ACTIVATION_HARD_SWISH", one, {{"Alpha", 0.25}, {"Beta", 0.5}},
       [](double a, double) { return a * std::clamp(0.25 * a + 0.5, 0.0, 1.0); }, 2},
      {"ACTIVATION_IDENTITY", one, {}, [](double a, double) { return a; }, 0},
      {"ACTIVATION_LEAKY_RELU", one, {{"Alpha", 0.125}},
       [](double a, double) { return a < 0 ? 0.125 * a : a; }, 1},
      {"ACTIVATION_LINEAR", one, {{"Alpha", 0.5}, {"Beta", 4}},
       [](double a, double) { return 0.5 * a + 4; }, 1},
      {"ACTIVATION_PARAMETERIZED_RELU", {"InputTensor", "SlopeTensor"}, {},
       [](double a, double b) { return a < 0 ? b * a : a; }, 0},
      {"ACTIVATION_PARAMETRIC_SOFTPLUS", one, {{"Alpha", 2}, {"Beta", 0.5}},
       [](double a, double) { return 2 * softplus(0.5 * a); }, 4},
      {"ACTIVATION_RELU", one, {}, [](double a, double) { return a > 0 ? a : 0; }, 0},
      {"ACTIVATION_SCALED_ELU", one, {{"Alpha", 1.5}, {"Gamma", 1.25}},
       [](double a, double) { return a > 0 ? 1.25 * a : 1.25 * 1.5 * std::expm1(a); }, 4},
      {"ACTIVATION_SCALED_TANH", one, {{"Alpha", 1.5}, {"Beta", 0.5}},
       [](double a, double) { return 1.5 * std::tanh(0.5 * a); }, 4},
      {"ACTIVATION_SHRINK", one, {{"Bias", 0.5}, {"Threshold", 1}},
       [](double a, double) { return a > 1 ? a - 0.5 : a < -1 ? a + 0.5 : 0; }, 0},
      {"ACTIVATION_SIGMOID", one, {},
       [](double a, double) { return 1 / (1 + std::exp(-a)); }, 4},
      {"ACTIVATION_SOFTPLUS", one, {{"Steepness", 2}},
       [](double a, double) { return softplus(2 * a) / 2; }, 4},
      {"ACTIVATION_SOFTSIGN", one, {}, [](double a, double) { return a / (1 + std::abs(a)); }, 2},
      {"ACTIVATION_SWISH", one, {{"SigmoidInputScale", 1.5}},
       [](double a, double) { return a / (1 + std::exp(-1.5 * a)); }, 200},
      {"ACTIVATION_TANH", one, {}, [](double a, double) { return std::tanh(a); }},
      {"ACTIVATION_THRESHOLDED_RELU", one, {{"Alpha", 0.5}},
       [](double a, double) { return a > 0.5 ? a : 0; }, 0},
  };
  return all;
}

/// An integer of a type, as 128 bits: no operation here overflows but a product of two UINT64.
using Wide = __int128;

inline Wide integer(DataType type, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size_of(type));
  const std::size_t width = size_of(type) * 8;
  const bool is_negative = info(type).kind == NumberKind::signed_integer && (bits >> (width - 1)) != 0;
  return is_negative ? static_cast<Wide>(bits) - (static_cast<Wide>(1) << width)
                     : static_cast<Wide>(bits);
}

/// The low 128 bits of a product.
inline Wide low_product(Wide a, Wide b) {
  using Unsigned = unsigned __int128;
  return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}

inline Wide floor_divided(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// What an integer operation of two inputs gives, before its low bits are kept.
struct IntegerFunction {
  const char* name;
  std::vector<const char*> inputs;
  Wide (*value)(Wide a, Wide b);
  bool is_predicate = false;  // the output is UINT8
};

inline const std::vector<IntegerFunction>& integer_functions() {
  using Names = std::vector<const char*>;
  static const Names one{"InputTensor"}, two{"ATensor", "BTensor"};
  static const std::vector<IntegerFunction> all{
      {"ELEMENT_WISE_ADD", two, [](Wide a, Wide b) { return a + b; }},
      {"ELEMENT_WISE_SUBTRACT", two, [](Wide a, Wide b) { return a - b; }},
      {"ELEMENT_WISE_MULTIPLY", two, [](Wide a, Wide b) { return low_product(a, b); }},
      {"ELEMENT_WISE_DIVIDE", two, [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a / b; }},
      {"ELEMENT_WISE_MODULUS_TRUNCATE", two,
       [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a % b; }},
      {"ELEMENT_WISE_MODULUS_FLOOR", two,
       [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a - b * floor_divided(a, b); }},
      {"ELEMENT_WISE_MAX", two, [](Wide a, Wide b) { return std::max(a, b); }},
      {"ELEMENT_WISE_MIN", two, [](Wide a, Wide b) { return std::min(a, b); }},
      {"ELEMENT_WISE_BIT_AND", two, [](Wide a, Wide b) { return a & b; }},
      {"ELEMENT_WISE_BIT_OR", two, [](Wide a, Wide b) { return a | b; }},
      {"ELEMENT_WISE_BIT_XOR", two, [](Wide a, Wide b) { return a ^ b; }},
      {"ELEMENT_WISE_BIT_NOT", one, [](Wide a, Wide) { return -1 - a; }},
      {"ELEMENT_WISE_SIGN", one, [](Wide a, Wide) { return Wide(a > 0) - Wide(a < 0); }},
      {"ELEMENT_WISE_LOGICAL_EQUALS", two, [](Wide a, Wide b) { return Wide(a == b); }, true},
      {"ELEMENT_WISE_LOGICAL_GREATER_THAN", two, [](Wide a, Wide b) { return Wide(a > b); }, true},
      {"ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", two,
       [](Wide a, Wide b) { return Wide(a >= b); }, true},
      {"ELEMENT_WISE_LOGICAL_LESS_THAN", two, [](Wide a, Wide b) { return Wide(a < b); }, true},
      {"ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", two,
       [](Wide a, Wide b) { return Wide(a <= b); }, true},
  };
  return all;
}

}  // namespace dmlop::test
