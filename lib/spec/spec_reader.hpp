// Reads a file of specs/. A file that breaks its own format is a mistake of ours, found by tests.
#pragma once

#include "spec/embedded_specs.hpp"
#include "spec/spec.hpp"

namespace dmlop {

/// Errors: std::logic_error that names the file and what is wrong.
OperatorSpec read_spec(const EmbeddedSpec& file);

}  // namespace dmlop
