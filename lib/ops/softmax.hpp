// Softmax as the last pass of another operator.
#pragma once

#include <string_view>

#include "ops/element_wise.hpp"

namespace dmlop {

/// Adds ACTIVATION_SOFTMAX or ACTIVATION_SOFTMAX1, as its fields say, of values with the sizes of
/// an output.
void add_softmax(PlanBuilder& plan, const Description& description, const FieldSet& fields,
                 const ElementWiseOperand& values, std::string_view output);

}  // namespace dmlop
