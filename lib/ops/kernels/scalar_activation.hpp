// Activations of single numbers, inside of kernels that need each result before the next one.
#pragma once

#include <cstdint>

namespace dmlop {

enum class ActivationKind : std::uint8_t {
  celu,
  elu,
  gelu,
  hard_sigmoid,
  identity,
  leaky_relu,
  linear,
  parametric_softplus,
  relu,
  scaled_elu,
  scaled_tanh,
  shrink,
  sigmoid,
  softplus,
  softsign,
  tanh,
  thresholded_relu,
};

/// An activation and its parameters in the order of its fields: Alpha and Beta or Gamma, Bias and
/// Threshold, or Steepness.
struct ScalarActivation {
  ActivationKind kind = ActivationKind::identity;
  float first = 0;
  float second = 0;
};

}  // namespace dmlop
