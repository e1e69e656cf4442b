// Expressions for other kernels, which need each result before they go on.
#pragma once

#include <span>

#include "ops/kernels/element_wise.hpp"

namespace dmlop::cpu {

/// Replaces each number by the function of it.
void apply(const NumberFunction& function, std::span<float> numbers);

}  // namespace dmlop::cpu
