// DML_SCALAR_UNION: a number whose type a sibling field says.
#pragma once

#include "spec/fields.hpp"

namespace dmlop {

/// Gives the description's scalars the type that their sibling has by now and reads them in it. Adds a
/// finding for a number that does not fit.
void type_scalars(FieldSet& fields, Diagnostics& diagnostics);

}  // namespace dmlop
