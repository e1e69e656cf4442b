// One row per implemented operator (operators.def). An operator's file turns a validated
// description into a plan, and checks what no formula of its spec can say.
#pragma once

#include <string_view>

#include "base/diagnostic.hpp"
#include "ops/plan.hpp"
#include "spec/description.hpp"

namespace dmlop {

struct Operator {
  std::string_view name;  // "PADDING"
  Plan (*plan)(const Description& description);
  void (*check)(const Description& description, Diagnostics& diagnostics);
};

/// The row of an operator named without DML_OPERATOR_; null for other names.
const Operator* find_operator(std::string_view name);

/// For operators whose formulas say everything.
inline void no_more_checks(const Description&, Diagnostics&) {}

/// Completes and checks a description: the spec's rules, then the operator's own check.
void check_description(Description& description, Diagnostics& diagnostics);

/// The plan of a description that was checked without findings. Errors: unavailable where the
/// operator has a spec, but no row.
Plan make_plan(const Description& description);

/// An input's strides: as described, or packed.
Strides input_strides(const TensorDesc& tensor);

/// The axes of an input: sequences along the one that the field Axis names.
SequenceAxes sequences_of(const Description& description, const TensorDesc& input);

}  // namespace dmlop
