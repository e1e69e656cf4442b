#include "cpu/scalar_activation.hpp"

#include <algorithm>
#include <cmath>

namespace dmlop::cpu {
namespace {

template <typename Function>
void apply(std::span<float> numbers, Function&& function) {
  for (float& number : numbers) number = function(number);
}

/// ln(1 + exp(x)), also where exp(x) is infinite.
float softplus(float x) {
  return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace

// The names of the operators' fields are in ops/scalar_activation.cpp.
void activate(const ScalarActivation& activation, std::span<float> numbers) {
  const float a = activation.first, b = activation.second;
  switch (activation.kind) {
    case ActivationKind::celu:
      return apply(numbers, [=](float x) {
        return std::max(0.0F, x) + std::min(0.0F, a * std::expm1(x / a));
      });
    case ActivationKind::elu:
      return apply(numbers, [=](float x) { return x < 0 ? a * std::expm1(x) : x; });
    case ActivationKind::gelu:
      return apply(numbers, [](float x) {
        return x / 2 * (1 + std::erf(x * static_cast<float>(0.70710678118654752440)));
      });
    case ActivationKind::hard_sigmoid:
      return apply(numbers, [=](float x) { return std::min(1.0F, std::max(0.0F, a * x + b)); });
    case ActivationKind::identity:
      return;
    case ActivationKind::leaky_relu:
      return apply(numbers, [=](float x) { return x < 0 ? a * x : x; });
    case ActivationKind::linear:
      return apply(numbers, [=](float x) { return a * x + b; });
    case ActivationKind::parametric_softplus:
      return apply(numbers, [=](float x) { return a * softplus(b * x); });
    case ActivationKind::relu:
      return apply(numbers, [](float x) { return x > 0 ? x : 0; });
    case ActivationKind::scaled_elu:
      return apply(numbers, [=](float x) { return b * (x > 0 ? x : a * std::expm1(x)); });
    case ActivationKind::scaled_tanh:
      return apply(numbers, [=](float x) { return a * std::tanh(b * x); });
    case ActivationKind::shrink:
      return apply(numbers, [=](float x) { return x < -b ? x + a : x > b ? x - a : 0; });
    case ActivationKind::sigmoid:
      return apply(numbers, [](float x) { return 1 / (1 + std::exp(-x)); });
    case ActivationKind::softplus:
      return apply(numbers, [=](float x) { return softplus(a * x) / a; });
    case ActivationKind::softsign:
      return apply(numbers, [](float x) { return x / (1 + std::abs(x)); });
    case ActivationKind::tanh:
      return apply(numbers, [](float x) { return std::tanh(x); });
    case ActivationKind::thresholded_relu:
      return apply(numbers, [=](float x) { return x > a ? x : 0; });
  }
}

}  // namespace dmlop::cpu
