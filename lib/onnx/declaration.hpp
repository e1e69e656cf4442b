// What a model says of its inputs and outputs, compared with what they are.
#pragma once

#include <optional>
#include <string>

#include "onnx/mapping.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// A warning if an output, or an input with an initializer, has another type or other sizes than
/// the model says. The role is "input" or "output". ONNX Runtime refuses another type, and warns of
/// other sizes.
std::optional<Diagnostic> warning_of_declaration(const std::string& role, const ValueInfo& declared,
                                                 const Value& value);

}  // namespace dmlop::onnx
