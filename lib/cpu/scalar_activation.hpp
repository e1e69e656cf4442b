// Activations of single numbers on the CPU.
#pragma once

#include <span>

#include "ops/kernels/scalar_activation.hpp"

namespace dmlop::cpu {

/// Replaces each number by its activation.
void activate(const ScalarActivation& activation, std::span<float> numbers);

}  // namespace dmlop::cpu
