// Reads a tolerance written in JSON: a job's "tolerance", or a file tol.json.
#pragma once

#include "spec/field_reader.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop {

/// Reads an object with any of rtol, atol, ulp, nan ("equal" or "differ") and allowTrivial;
/// anything else is a finding. Messages call it `name`, which also becomes the tolerance's origin.
Tolerance read_tolerance(FieldReader& reader, const json::Value& value, const std::string& name);

}  // namespace dmlop
