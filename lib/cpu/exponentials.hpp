// Exponentials of rows: the SIMD part of softmax.
#pragma once

#include <span>

namespace dmlop::cpu {

/// The largest number, minus infinity if there is none. NaN is never the largest.
float largest_of(std::span<const float> numbers);

/// Replaces each number by exp(number - largest); their sum.
double exponentials(std::span<float> numbers, float largest);

}  // namespace dmlop::cpu
