// DxDispatch models.
#include "schema_files.hpp"
#include "schema_operators.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::app::schema {
namespace {

constexpr const char* type_prefix = "DML_TENSOR_DATA_TYPE_";

Names data_type_names() {
  Names names;
  for (const DataTypeInfo& type : data_types) names.emplace_back(type.name);
  return names;
}

// One number, or a number with its own type where the resource has none.
Json listed_value() {
  Json value{{"type", {"number", "string", "object"}},
             {"pattern", "^(-?[iI][nN][fF]|[nN][aA][nN])$"}};
  Json members{
      {"type", described("The type of this value.", name_of(data_type_names(), type_prefix))},
      {"value", described("The value.", refer_to("value"))},
      {"name", described("A word for the reader.", {{"type", "string"}})}};
  value.update(without_type(object_of(std::move(members), {"type", "value"})));
  return value;
}

Json generator() {
  Json members{{"valueCount", described("How many values the buffer has.", integer(1, 4294967295))},
               {"value", described("The value of all elements.", refer_to("value"))},
               {"valueStart", described("The first of a sequence of values.", refer_to("value"))},
               {"valueDelta",
                described("How much each value is larger than the one before.", refer_to("value"))},
               {"sourcePath",
                described("A .npy file, or one of raw bytes, relative to the model.", text())}};
  const Json names = one_of(names_of(members));
  Json sequence = if_then({{"required", {"valueStart"}}},
                          needs(names, {"valueCount", "valueDelta"}), needs(names, {"value"}));
  Json without_value = if_then({{"required", {"sourcePath"}}}, true, std::move(sequence));
  Json with_value{{"properties", {{"valueStart", false}, {"sourcePath", false}}}};
  with_value.update(needs(names, {"valueCount"}));
  Json schema = without_type(object_of(std::move(members)));
  schema.update(
      if_then({{"required", {"value"}}}, std::move(with_value), std::move(without_value)));
  return schema;
}

Json initial_values() {
  return if_then(
      {{"type", "string"}}, {{"enum", {"deferred"}}},
      if_then({{"type", "array"}}, {{"items", refer_to("listed_value")}, {"minItems", 1}},
              object_like("generator")));
}

Json resource() {
  Names types = data_type_names();
  types.push_back("UNKNOWN");
  Json members{
      {"initialValues",
       described("What the buffer holds at first: values, how to make them, a file.",
                 initial_values())},
      {"initialValuesDataType", described("The type of the values.", name_of(types, type_prefix))},
      {"initialValuesOffsetInBytes", described("Where in the buffer the values start.", bytes())},
      {"sizeInBytes",
       described("The size of the buffer: that of the values if left out.", bytes())},
      {"resampleSize",
       described("The size of a picture; pictures are not read here.", list_of(refer_to("uint")))},
      {"resampleMode",
       described("How a picture is scaled; pictures are not read here.", {{"type", "string"}})},
      {"type", described("The kind of resource: \"buffer\".", {{"type", "string"}})}};
  const Json names = one_of(names_of(members));
  Json schema = object_of(std::move(members), {"initialValues"});
  Json made{{"type", "object"}};
  made.update(has_any({"value", "valueStart"}));
  schema["allOf"] = Json::array();
  schema["allOf"].push_back(
      if_then({{"required", {"initialValues"}}, {"properties", {{"initialValues", made}}}},
              needs(names, {"initialValuesDataType"})));
  return schema;
}

Json binding() {
  Json members{
      {"name", described("The resource.", text())},
      {"elementCount",
       described("How many elements are bound; operators have no use for it.", bytes())},
      {"elementSizeInBytes",
       described("The size of the elements that elementOffset counts.", bytes())},
      {"elementOffset", described("The element of the resource where the tensor starts.", bytes())},
      {"format", described("A DXGI format; operators have no use for it.", {{"type", "string"}})},
      {"counter", described("A resource; operators have no use for it.", text())},
      {"counterOffsetBytes", described("An offset; operators have no use for it.", bytes())},
      {"shape", described("Sizes; operators have no use for them.", {{"type", "array"}})}};
  Json source{{"type", {"string", "object"}}, {"minLength", 1}};
  source.update(without_type(object_of(std::move(members), {"name"})));
  return one_or_list(source);
}

Json command_members(const std::string& kind) {
  Json members{{"type", true}};
  if (kind == "dispatch") {
    members["dispatchable"] = described("The operator to run: a name in dispatchables.", text());
    members["bindings"] =
        described("The resource of each tensor, by field name.",
                  {{"type", "object"}, {"additionalProperties", refer_to("binding")}});
    members["threadGroupCount"] =
        described("For shaders; operators have no use for it.", list_of(refer_to("uint")));
    return members;
  }
  members["resource"] = described("A name in resources.", text());
  if (kind == "print") {
    members["verbose"] =
        described("Whether each value has a line of its own.", {{"type", "boolean"}});
  } else {
    members["targetPath"] = described("The file to write: .npy, or raw bytes.", text());
    members["dimensions"] =
        described("The sizes that a .npy file says it has.", list_of(refer_to("uint")));
  }
  return members;
}

Json command() {
  const Names kinds{"dispatch", "print", "writeFile"};
  Json schema{{"type", "object"}, {"allOf", Json::array()}};
  for (const std::string& kind : kinds) {
    Names required{kind == "dispatch" ? "dispatchable" : "resource"};
    if (kind == "dispatch") required.push_back("bindings");
    if (kind == "writeFile") required.push_back("targetPath");
    const Json is_kind{{"required", {"type"}},
                       {"properties", {{"type", name_in_any_case({kind})["if"]}}}};
    schema["allOf"].push_back(
        if_then(is_kind, without_type(object_of(command_members(kind), required))));
  }
  schema["properties"] = {{"type", described("What to do.", name_in_any_case(kinds))}};
  schema["required"] = {"type"};
  return schema;
}

Json dispatchable_options() {
  Json options = description_options();
  options.erase("$schema");
  options.erase("featureLevel");
  options.erase("as");
  options["bindings"] = described("The resources of the tensors that have the flag OWNED_BY_DML.",
                                  {{"type", "object"}});
  return options;
}

Json graph_dispatchable() {
  Json members{
      {"type", described("A graph of operators.", {{"type", "string"}})},
      {"sourcePath",
       described("The Partition_N.bin, relative to the model; its constants lie beside it.",
                 text())},
      {"executionFlags", described("Not used here.", true)},
      {"bindings", described("Not used here.", {{"type", "object"}})}};
  return without_type(object_of(std::move(members), {"type", "sourcePath"}));
}

}  // namespace

Json model_schema(const Names& operators) {
  const Surroundings around{.place = Place::model, .options = dispatchable_options()};
  Json definitions = shared_definitions(true);
  define_operators(definitions, operators, around);
  definitions["value"] = {{"type", {"number", "string"}},
                          {"pattern", definitions["number"]["pattern"]}};
  definitions["listed_value"] = listed_value();
  definitions["generator"] = generator();
  definitions["resource"] = resource();
  definitions["binding"] = binding();
  definitions["operator_dispatchable"] = {
      {"allOf", {description_form(operators, around), description_needs(operators, around)}}};
  definitions["graph_dispatchable"] = graph_dispatchable();
  const Json is_graph{{"required", {"type"}},
                      {"properties", {{"type", name_in_any_case({"dmlSerializedGraph"})["if"]}}}};
  definitions["dispatchable"] =
      if_then(is_graph, refer_to("graph_dispatchable"), refer_to("operator_dispatchable"));
  definitions["dispatchable"]["type"] = "object";
  definitions["command"] = command();
  const auto by_name = [](const std::string& what) {
    return Json{{"type", "object"}, {"additionalProperties", refer_to(what)}};
  };
  Json members{{"$schema", description_options()["$schema"]},
               {"resources", described("The buffers, by name.", by_name("resource"))},
               {"dispatchables", described("The operators, by name.", by_name("dispatchable"))},
               {"commands", described("What to do, in order.", list_of(refer_to("command")))}};
  Json schema = titled("A DxDispatch model",
                       object_of(std::move(members), {"resources", "dispatchables", "commands"}));
  schema["definitions"] = std::move(definitions);
  return schema;
}

}  // namespace dmlop::app::schema
