// dmlop schema: the JSON schema (draft 7) of op descriptions, from the specs. It says what a file
// may contain; rules between fields are left to dmlop check.
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "spec/spec.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t uint_max = std::numeric_limits<std::uint32_t>::max();

Json integer(std::int64_t low, std::int64_t high) {
  return {{"type", "integer"}, {"minimum", low}, {"maximum", high}};
}

/// Names with and without their prefix.
Json names_with_prefix(const std::vector<std::string>& names, const std::string& prefix) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(name);
  if (!prefix.empty()) {
    for (const std::string& name : names) list.push_back(prefix + name);
  }
  return {{"enum", list}};
}

Json one_or_list(const Json& item) {
  return {{"anyOf", {item, {{"type", "array"}, {"items", item}}}}};
}

Json tensor_fields() {
  std::vector<std::string> types;
  for (const DataTypeInfo& type : data_types) types.emplace_back(type.name);
  const Json uints{{"type", "array"}, {"items", integer(0, uint_max)}};
  return {{"Type", names_with_prefix({"BUFFER"}, "DML_TENSOR_TYPE_")},
          {"DataType", names_with_prefix(types, "DML_TENSOR_DATA_TYPE_")},
          {"Flags", one_or_list(names_with_prefix({"NONE", "OWNED_BY_DML"}, "DML_TENSOR_FLAG_"))},
          {"DimensionCount", integer(1, 8)},
          {"Sizes", {{"type", "array"}, {"items", integer(1, uint_max)}, {"minItems", 1}}},
          {"Strides", {{"anyOf", {uints, {{"type", "null"}}}}}},
          {"TotalTensorSizeInBytes", integer(0, std::numeric_limits<std::int64_t>::max())},
          {"GuaranteedBaseOffsetAlignment", integer(0, uint_max)}};
}

Json tensor_schema() {
  const Json plain{
      {"type", "object"}, {"properties", tensor_fields()}, {"additionalProperties", false}};
  const Json nested{{"type", "object"},
                    {"properties", {{"Type", tensor_fields()["Type"]}, {"Desc", plain}}},
                    {"required", {"Desc"}},
                    {"additionalProperties", false}};
  return {{"anyOf", {plain, nested}}};
}

Json number_schema() {
  constexpr double largest = std::numeric_limits<float>::max();
  return {{"anyOf",
           {{{"type", "number"}, {"minimum", -largest}, {"maximum", largest}},
            {{"type", "string"}, {"pattern", "^([iI][nN][fF]|-[iI][nN][fF]|[nN][aA][nN])$"}}}}};
}

Json list_of(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

Json object_of(const std::vector<std::string>& names, const Json& member) {
  Json schema{{"type", "object"}, {"properties", Json::object()}, {"required", names}};
  for (const std::string& name : names) schema["properties"][name] = member;
  schema["additionalProperties"] = false;
  return schema;
}

Json field_schema(const FieldSpec& field) {
  constexpr std::int64_t int_min = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t int_max = std::numeric_limits<std::int32_t>::max();
  switch (field.kind) {
    case FieldKind::input_tensor:
    case FieldKind::output_tensor:
      return {{"$ref", "#/definitions/tensor"}};
    case FieldKind::input_tensor_array:
    case FieldKind::output_tensor_array:
      return list_of({{"$ref", "#/definitions/tensor"}});
    case FieldKind::enumeration: {
      std::vector<std::string> names;
      for (const EnumValue& value : enum_values(field.enum_name)) names.push_back(value.name);
      return names_with_prefix(names, field.enum_name + "_");
    }
    case FieldKind::uint:
      return integer(0, uint_max);
    case FieldKind::int32:
      return integer(int_min, int_max);
    case FieldKind::float32:
      return number_schema();
    case FieldKind::boolean:
      return {{"enum", {true, false, 0, 1}}};
    case FieldKind::uint_array:
      return list_of(integer(0, uint_max));
    case FieldKind::int_array:
      return list_of(integer(int_min, int_max));
    case FieldKind::float_array:
      return list_of(number_schema());
    case FieldKind::scalar_union:
      return {{"type", {"number", "string", "object"}}};
    case FieldKind::size_2d:
      return object_of({"Width", "Height"}, integer(0, uint_max));
    case FieldKind::scale_bias:
      return object_of({"Scale", "Bias"}, number_schema());
    case FieldKind::fused_activation:
      return {{"type", {"object", "null"}}};
    case FieldKind::activation_array:
      return list_of({{"type", "object"}});
  }
  return {};
}

Json described_field_schema(const FieldSpec& field) {
  Json schema = field_schema(field);
  if (!schema.contains("$ref")) schema["description"] = field.text;
  return schema;
}

Json fields_schema(const OperatorSpec& spec) {
  Json properties = Json::object(), required = Json::array();
  for (const FieldSpec& field : spec.fields) {
    properties[field.name] = described_field_schema(field);
    const bool may_be_left_out = field.is_tensor() || field.optional || field.optional_when ||
                                 spec.is_count(field.name) || follows_from_rule(spec, field.name);
    if (!may_be_left_out) required.push_back(field.name);
  }
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

Json option_fields(const OperatorSpec& spec) {
  Json files = Json::object();
  for (const FieldSpec& field : spec.fields) {
    if (field.is_tensor()) files[field.name] = {{"type", "string"}, {"minLength", 1}};
  }
  const Json flags = names_with_prefix(
      {"NONE", "ALLOW_HALF_PRECISION_COMPUTATION", "DISABLE_META_COMMANDS", "DESCRIPTORS_VOLATILE"},
      "DML_EXECUTION_FLAG_");
  return {
      {"$schema", {{"type", "string"}}},
      {"featureLevel",
       {{"type", "string"},
        {"pattern",
         "^(DML_FEATURE_LEVEL_)?(1[._]0|2[._][01]|3[._][01]|4[._][01]|5[._][0-2]|6[._][0-4])$"}}},
      {"bindings", {{"type", "object"}, {"properties", files}, {"additionalProperties", false}}},
      {"dmlCompileType", {{"enum", {"DmlCompileOp", "DmlCompileGraph"}}}},
      {"executionFlags", one_or_list(flags)}};
}

/// One operator: its fields under desc or Desc, or beside type.
Json operator_schema(const OperatorSpec& spec) {
  const Json type = names_with_prefix({spec.name}, "DML_OPERATOR_");
  Json variants = Json::array();
  for (const char* type_name : {"type", "Type"}) {
    for (const char* desc_name : {"desc", "Desc"}) {
      Json properties = option_fields(spec);
      properties[type_name] = type;
      properties[desc_name] = {{"$ref", "#/definitions/" + spec.name}};
      variants.push_back({{"type", "object"},
                          {"properties", properties},
                          {"required", {type_name, desc_name}},
                          {"additionalProperties", false}});
    }
    Json properties = option_fields(spec);
    properties[type_name] = type;
    const Json fields = fields_schema(spec);
    properties.update(fields["properties"]);
    Json required = fields["required"];
    required.push_back(type_name);
    variants.push_back({{"type", "object"},
                        {"properties", properties},
                        {"required", required},
                        {"additionalProperties", false}});
  }
  return {{"description", spec.summary}, {"anyOf", variants}};
}

int print_schema(const std::string& chosen) {
  std::vector<std::string> names = specified_operators();
  if (!chosen.empty()) {
    std::string_view name = chosen;
    constexpr std::string_view prefix = "DML_OPERATOR_";
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    if (find_spec(name) == nullptr) {
      throw Error(ErrorKind::usage,
                  "no schema for \"" + chosen + "\"; operators here: " + join(names));
    }
    names = {std::string(name)};
  }
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "DirectML op description for dmlop"},
              {"definitions", {{"tensor", tensor_schema()}}},
              {"anyOf", Json::array()}};
  for (const std::string& name : names) {
    const OperatorSpec& spec = *find_spec(name);
    schema["definitions"][name] = fields_schema(spec);
    schema["anyOf"].push_back(operator_schema(spec));
  }
  print_json(schema);
  return exit_done;
}

}  // namespace

Action add_schema(CLI::App& command) {
  const auto name = std::make_shared<std::string>();
  CLI::Option* option = command.add_option("NAME", *name, "Only this operator");
  set_choices(*option, specified_operators());
  return [name] { return print_schema(*name); };
}

}  // namespace dmlop::app
