// Reads a file of specs/. A file that breaks the format is a bug in dmlop, and tests find it.
#pragma once

#include "spec/embedded_specs.hpp"
#include "spec/spec.hpp"

namespace dmlop {

/// Errors: std::logic_error that names the file and the mistake.
OperatorSpec read_spec(const EmbeddedSpec& file);

}  // namespace dmlop
