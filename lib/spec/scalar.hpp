// DML_SCALAR_UNION: a number whose type is given by a sibling field.
#pragma once

#include "spec/description.hpp"

namespace dmlop {

/// Whether a data type is written as DML_TENSOR_DATA_TYPE_UNKNOWN. A field that is has the value 0
/// until open_unknown_types().
bool is_unknown_type(const json::Value& value);

/// Leaves open what is written as UNKNOWN, so that a rule gives the tensor's type, and says so: as
/// the page says this is an error, and as DirectML a warning.
void open_unknown_types(Description& description, Diagnostics& diagnostics);

/// Gives the description's scalars the type of their sibling field and reads them as that type.
/// Adds a finding for each number that does not fit.
void type_scalars(FieldSet& fields, Diagnostics& diagnostics);

}  // namespace dmlop
