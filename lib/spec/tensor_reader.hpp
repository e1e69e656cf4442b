// Reads a tensor desc: {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}, or with "Type" and "Desc"
// around it, as DxDispatch has it.
#pragma once

#include "spec/field_reader.hpp"
#include "spec/fields.hpp"

namespace dmlop {

/// Adds a finding for what is wrong; returns nothing where the value is no object. `name` is what
/// messages call the tensor.
std::optional<TensorDesc> read_tensor(FieldReader& reader, const json::Value& value,
                                      const std::string& name);

}  // namespace dmlop
