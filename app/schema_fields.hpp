// The fields of an operator in a JSON schema, each according to its kind.
#pragma once

#include "schema_operators.hpp"
#include "schema_parts.hpp"
#include "spec/spec.hpp"

namespace dmlop::app::schema {

/// The object of an operator's fields, without required members. An operator that is nested in
/// another one has no tensors; a nested description may contain them, but they are not read.
Json fields_schema(const OperatorSpec& spec, bool is_nested);

/// The names of an enumeration's values and, but for models, their numbers.
Json enum_schema(const std::string& enum_name, Place place);

/// The operators that may be fused into this one, and the definition of their descriptions.
Names activations_of(const OperatorSpec& owner);
std::string activation_definition(const OperatorSpec& owner);

}  // namespace dmlop::app::schema
