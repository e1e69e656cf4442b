// Powers of integers on the CPU.
#pragma once

namespace dmlop::cpu {

/// A whole number to the power of any, rounded to a double and truncated toward zero. What is NaN
/// is 0, and 2^32 - 1 may stand for larger magnitudes.
double integer_power(double base, double exponent);

}  // namespace dmlop::cpu
