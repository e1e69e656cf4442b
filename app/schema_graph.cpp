// Graphs as JSON.
#include "schema_files.hpp"
#include "schema_operators.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::app::schema {
namespace {

Json type_and_sizes() {
  Names names;
  for (const DataTypeInfo& type : data_types) names.emplace_back(type.name);
  return {
      {"DataType", described("The type of its elements.", name_of(names, "DML_TENSOR_DATA_TYPE_"))},
      {"Sizes",
       described("The number of elements in each dimension.", list_of(integer(1, 4294967295), 1))}};
}

// Or a name alone, or null for an input that no node reads.
Json input() {
  Json members{{"name", described("The name of the edge.", text())}};
  members.update(type_and_sizes());
  Json input{{"type", {"object", "string", "null"}}, {"minLength", 1}};
  input.update(without_type(object_of(std::move(members), {"name"})));
  return input;
}

// A file, or numbers.
Json constant() {
  Json members = type_and_sizes();
  members["Values"] =
      described("The elements in row-major order.", list_of({{"type", {"number", "string"}}}));
  Json constant{{"type", {"string", "object"}}, {"minLength", 1}};
  constant.update(without_type(object_of(std::move(members), {"DataType", "Sizes", "Values"})));
  return constant;
}

Json node_options() {
  // One for each tensor of an array.
  Json edge{{"type", {"string", "array"}}, {"minLength", 1}};
  edge["items"] = {{"type", {"string", "null"}}};
  edge["description"] = "An input, a constant, or an edge that an earlier node writes.";
  return {{"name", described("Names the node in findings.", text())},
          {"bindings", described("The edge of each tensor, by field name.",
                                 {{"type", "object"}, {"additionalProperties", edge}})}};
}

}  // namespace

Json graph_schema(const Names& operators) {
  const Surroundings around{.has_edges = true, .options = node_options()};
  Json definitions = shared_definitions(false);
  define_operators(definitions, operators, around);
  definitions["node"] = {
      {"type", "object"},
      {"allOf", {description_form(operators, around), description_needs(operators, around)}}};
  Json members{{"$schema", description_options()["$schema"]},
               {"inputs", described("What files are bound to.", list_of(input()))},
               {"constants", described("By name: a .npy file, a file of raw bytes, or numbers.",
                                       {{"type", "object"}, {"additionalProperties", constant()}})},
               {"nodes", described("The operators, in the order in which they run.",
                                   list_of(refer_to("node"), 1))},
               {"outputs", described("The names of edges; without them, whatever no node reads.",
                                     list_of(text()))}};
  Json schema =
      titled("A graph of DirectML operators for dmlop", object_of(std::move(members), {"nodes"}));
  schema["definitions"] = std::move(definitions);
  return schema;
}

}  // namespace dmlop::app::schema
