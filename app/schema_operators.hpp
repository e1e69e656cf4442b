// Descriptions of operators in a JSON schema: the operator is chosen by type, then its fields stand
// under desc or beside type.
#pragma once

#include "schema_parts.hpp"

namespace dmlop::app::schema {

/// Where a description stands.
enum class Place {
  file,    // an op description, or a job
  model,   // a dispatchable of DxDispatch: every field must be there
  nested,  // a fused activation
};

struct Surroundings {
  Place place = Place::file;
  Json options = Json::object();  // what may stand beside type and desc, with its schemas
  std::string type = "operator";  // the definition of the operators' names
};

/// Adds the definitions that the descriptions of these operators need.
void define_operators(Json& definitions, const Names& operators, const Surroundings& around);

/// What may stand in a description, without what must.
Json description_form(const Names& operators, const Surroundings& around);
/// What must stand in a description.
Json description_needs(const Names& operators, const Surroundings& around);

/// Whether a description says of which operator it is; and, where it does, whether of this one.
Json has_type(const Surroundings& around);
Json is_operator(const std::string& name, const Surroundings& around);

/// The members of an op description beside type and desc.
Json description_options();

}  // namespace dmlop::app::schema
