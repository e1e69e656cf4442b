// Descriptions of operators in a JSON schema. The type chooses the operator; its fields are under
// desc or beside type.
#pragma once

#include "schema_parts.hpp"

namespace dmlop::app::schema {

/// Where a description is written.
enum class Place {
  file,    // an op description, or a job
  model,   // a dispatchable of DxDispatch, which needs every field
  nested,  // a fused activation
};

struct Surroundings {
  Place place = Place::file;
  bool has_edges = false;         // bindings name edges of a graph, not files
  Json options = Json::object();  // members that may be beside type and desc, with their schemas
  std::string type = "operator";  // the definition of the operators' names
};

/// Adds the definitions that the descriptions of these operators need.
void define_operators(Json& definitions, const Names& operators, const Surroundings& around);

/// What a description may contain, without what it must contain.
Json description_form(const Names& operators, const Surroundings& around);
/// What a description must contain.
Json description_needs(const Names& operators, const Surroundings& around);

/// Whether a description names an operator and, if so, whether it is this one.
Json has_type(const Surroundings& around);
Json is_operator(const std::string& name, const Surroundings& around);

/// The members of an op description beside type and desc.
Json description_options();

}  // namespace dmlop::app::schema
