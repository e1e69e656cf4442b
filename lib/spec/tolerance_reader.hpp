// Reads a tolerance written in JSON: a job's "tolerance", or a file tol.json.
#pragma once

#include "spec/field_reader.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop {

/// An object with any of rtol, atol, ulp, nan ("equal" or "differ") and allowTrivial; `name` is
/// what messages call it and becomes the tolerance's origin. Adds a finding for everything else.
Tolerance read_tolerance(FieldReader& reader, const json::Value& value, const std::string& name);

}  // namespace dmlop
