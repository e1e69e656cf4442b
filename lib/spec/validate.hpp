// Completes a description and checks it against its operator's spec, without files or devices.
#pragma once

#include "base/diagnostic.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// Infers what the rules determine (an output's desc, DimensionCount) and adds a finding for every
/// violation of the spec's rules, of the support at the feature level, and of the rules for all
/// tensors (DML_BUFFER_TENSOR_DESC). If it adds none, every tensor's type and sizes are known.
void validate(Description& description, Diagnostics& diagnostics);

}  // namespace dmlop
