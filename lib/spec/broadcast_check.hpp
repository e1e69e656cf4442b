// Whether a proposed change of tensors broadcasts as NumPy does.
#pragma once

#include "spec/fields.hpp"

namespace dmlop {

/// Whether a change of fields repeats elements of inputs as NumPy does, and drops none, where
/// broadcasting is meant. Tensors may stay as they were.
bool repeats_as_numpy(const FieldSet& given, const FieldSet& changed);

}  // namespace dmlop
