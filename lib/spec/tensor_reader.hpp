// Reads a tensor desc: {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}, or the same inside "Type"
// and "Desc", as DxDispatch writes it.
#pragma once

#include <array>

#include "spec/field_reader.hpp"
#include "spec/fields.hpp"

namespace dmlop {

/// The members of a tensor desc.
inline constexpr std::array tensor_desc_members{"Type",
                                                "DataType",
                                                "Flags",
                                                "DimensionCount",
                                                "Sizes",
                                                "Strides",
                                                "Broadcast",
                                                "TotalTensorSizeInBytes",
                                                "GuaranteedBaseOffsetAlignment"};

/// Adds findings for mistakes. Returns nothing if the value is not an object. Messages call the
/// tensor `name`.
std::optional<TensorDesc> read_tensor(FieldReader& reader, const json::Value& value,
                                      const std::string& name);

}  // namespace dmlop
