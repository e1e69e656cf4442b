// What a model says of its outputs, compared with what they are.
#pragma once

#include <optional>

#include "onnx/mapping.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// A warning if the output has another type or other sizes than the model says. ONNX Runtime
/// refuses another type, and warns of other sizes.
std::optional<Diagnostic> warning_of_declaration(const ValueInfo& output, const Value& value);

}  // namespace dmlop::onnx
