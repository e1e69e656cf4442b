// Random data for a benchmark's inputs: numbers that an operator can work with, and indices,
// lengths and regions that lie within what they point into.
#pragma once

#include <vector>

#include "job/bench_runs.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// From low to high; integers may be both.
struct NumberRange {
  double low, high;
};

/// What an input holds: element i of its buffer is from range i modulo their number. Without any,
/// floats are from -1 to 1, and integers any bits.
std::vector<NumberRange> bench_ranges(const Description& description, const FieldSpec& field,
                                      std::optional<std::size_t> element);

/// The bytes of an input's buffer. Errors: run_failed without memory for them.
Bytes bench_input(const Description& description, const FieldSpec& field,
                  std::optional<std::size_t> element, std::uint64_t seed, unsigned threads);

}  // namespace dmlop
