// FLOAT16 from and to numbers, a row at a time: the SIMD part of kernels that are not compiled for
// every instruction set.
#pragma once

#include <cstddef>
#include <span>

namespace dmlop::cpu {

void floats_of_halves(const std::byte* from, std::span<float> to);

/// Each rounded once, as half_from_double() does.
void halves_of_doubles(std::span<const double> from, std::byte* to);

}  // namespace dmlop::cpu
