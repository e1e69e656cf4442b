// Completes a description and checks it against its operator's spec. Pure: no files, no device.
#pragma once

#include "base/diagnostic.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// Infers what the rules determine (an output's desc, DimensionCount) and adds a finding for every
/// violation: the spec's rules, support at the feature level, and the rules common to all tensors
/// (DML_BUFFER_TENSOR_DESC). After a call that adds none, every tensor's type and sizes are known.
void validate(Description& description, Diagnostics& diagnostics);

}  // namespace dmlop
