// Where dmlop gives something else than the real DirectML on purpose: which elements of a recorded
// case, so that all others are compared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "job/job.hpp"

namespace dmlop::test {

/// An element of an output that is not what DirectML gives.
struct GoldenElement {
  const Job& job;
  const OutputInMemory& output;
  std::uint64_t index;  // into the output as it is stored
  double found;
  double expected;

  DataType type() const { return *output.desc->data_type; }
  /// The element of input `i` that stands at the same place, or for a whole axis where that input
  /// has one element along it; NaN where the inputs' sizes are others.
  double input(std::size_t i) const;
  /// Element `place` of a packed input.
  double input_at(std::size_t i, double place) const;
};

/// A row of golden_exceptions.inc or golden_denormals.inc.
struct GoldenException {
  const char* name;        // "REDUCE/012"
  const char* difference;  // of specs/differences.json; differences_test.cpp looks it up
  /// "": those that the difference's rule is about. Otherwise an output and what must deviate of
  /// it, "OutputTensor 2 5", or "refused" (as its page says).
  const char* elements = "";

  bool is_refusal() const { return elements == std::string_view("refused"); }
  /// The indices that `elements` lists, of output `name`.
  std::vector<std::uint64_t> listed(std::string_view output) const;
  /// The fewest elements that deviate; otherwise the exception is not needed.
  std::size_t fewest() const;
  bool allows(const GoldenElement& at) const;
};

/// Whether a difference has a rule, which says by values what DirectML and dmlop give.
bool has_golden_rule(std::string_view difference);

}  // namespace dmlop::test
