// Numbers that become elements of another type, many at a time: what products compute in double.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dmlop::cpu {

/// Converts binary16, at any address, to float.
void widen_halves(const std::byte* from, std::uint64_t count, float* to);

/// Rounds products with a factor to float, at any address.
void narrow_doubles(const double* from, double factor, std::uint64_t count, std::byte* to);

/// Divides by the scale, rounds to the nearest whole number, the even one of two, and adds the zero
/// point. NaN becomes 0.
void quantize_doubles(double* numbers, double scale, double zero_point, std::uint64_t count);

/// The nearest bytes to numbers, which are truncated.
void saturate_doubles(const double* from, std::uint64_t count, bool is_signed, std::byte* to);

/// The low 32 bits of whole numbers, at any address.
void wrap_doubles(const double* from, std::uint64_t count, std::byte* to);

}  // namespace dmlop::cpu
