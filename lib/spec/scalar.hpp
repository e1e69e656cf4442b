// DML_SCALAR_UNION: a number whose type is given by a sibling field.
#pragma once

#include <string>

#include "spec/description.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// How DML_SCALAR_UNION calls numbers of a type: "Float32". Where it is_held_as_bits(), an integer
/// has the bits of the number, as UInt16 those of a FLOAT16.
std::string union_member(DataType type);
constexpr bool is_held_as_bits(DataType type) {
  return is_floating(type) && size_of(type) < sizeof(float);
}

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
