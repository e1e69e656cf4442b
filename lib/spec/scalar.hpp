// DML_SCALAR_UNION: a number whose type is given by a sibling field.
#pragma once

#include "spec/fields.hpp"

namespace dmlop {

/// Gives the description's scalars the type of their sibling field and reads them as that type.
/// Adds a finding for each number that does not fit.
void type_scalars(FieldSet& fields, Diagnostics& diagnostics);

}  // namespace dmlop
