// Numbers that are made up for inputs without files: those that an operator can work with, and
// indices, lengths and regions that lie within what they point into.
#pragma once

#include <span>
#include <vector>

#include "base/diagnostic.hpp"
#include "job/bench_runs.hpp"
#include "npy/npy.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// From low to high; integers may be both.
struct NumberRange {
  double low, high;
};

/// What an input holds: element i of its buffer is from range i modulo their number. Without any,
/// floats are from -1 to 1, and integers any bits.
std::vector<NumberRange> random_ranges(const Description& description, const FieldSpec& field,
                                       std::optional<std::size_t> element);

/// Elements of an input of a checked description, or of another tensor of the same type and sizes.
/// The same seed gives the same numbers on every machine, others for each field. Errors:
/// invalid_input for numbers that the field cannot have, or more than 2^30 bytes.
NpyFile random_file(const Description& description, const FieldSpec& field,
                    std::optional<std::size_t> element, const RandomNumbers& numbers);

/// The bytes of an input's buffer for a benchmark. Errors: run_failed without memory for them.
Bytes bench_input(const Description& description, const FieldSpec& field,
                  std::optional<std::size_t> element, std::uint64_t seed, unsigned threads);

}  // namespace dmlop
