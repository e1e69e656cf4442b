// Cases of operators with any number of inputs and outputs, executed as whole plans. The CPU runs
// them on several threads, in parts of all sizes and with small blocks of long rows, from inputs of
// exact size at odd addresses and at the end of a page, once more with another layout of each
// input, and in tiles where there are any; a GPU as the program does, and a few of each test with
// other layouts. Every byte of an output must be handed out exactly once.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference/tensor.hpp"
#include "spec/judge.hpp"

namespace dmlop::test {

/// A tensor of a case, by its field.
struct NamedTensor {
  std::string field;
  Tensor tensor;
  std::optional<std::size_t> element = {};  // of an array of tensors
  std::uint64_t ulp = 0;                    // of an output: how far it may be off
  double tolerance = 0;                     // or else: relative to 1 + its magnitude
  bool has_any_nan = false;                 // its NaN may have any bits
};

struct PlanCase {
  std::string type;               // "DML_OPERATOR_JOIN"
  nlohmann::ordered_json fields;  // without the tensors
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> outputs;  // packed, as they must be
  Judge judge = Judge::page;
  bool is_for_every_gpu = false;  // of most tests, a GPU runs some cases only

  nlohmann::ordered_json description() const;
  /// Adds an optional input where there is one.
  void add_if(const char* field, const std::optional<Tensor>& tensor) {
    if (tensor) inputs.push_back({field, *tensor});
  }
};

/// Runs a case on every backend that DMLOP_TEST_BACKENDS asks for ("gpu"; the CPU by default) and
/// checks its outputs. What a GPU refuses is not checked there.
void check_plan_case(const PlanCase& a_case);

/// Whether DMLOP_TEST_BACKENDS asks for a GPU. Cases that are only about how the CPU computes, such
/// as those that cross one of its block sizes, are left out then.
bool is_gpu_asked_for();

}  // namespace dmlop::test
