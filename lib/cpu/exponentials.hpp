// Exponentials of rows: the SIMD part of softmax.
#pragma once

#include <span>

namespace dmlop::cpu {

/// Replaces each number by exp(number - largest); their sum.
double exponentials(std::span<float> numbers, float largest);

}  // namespace dmlop::cpu
