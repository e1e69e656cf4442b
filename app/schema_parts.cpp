#include "schema_parts.hpp"

#include <limits>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::app::schema {
namespace {

constexpr const char* operator_prefix = "DML_OPERATOR_";

template <typename T>
constexpr std::int64_t largest = std::numeric_limits<T>::max();

Json matches(const std::string& pattern) {
  return {{"type", "string"}, {"pattern", pattern}};
}

/// One of the names with this beginning, chosen by the letter that follows it; of another letter,
/// one of `all`.
Json name_by_letter(const Names& names, const std::string& beginning, const Names& all) {
  std::map<char, Names> groups;
  for (const std::string& name : names) groups[name.at(beginning.size())].push_back(name);
  Json choices = Json::array();
  std::string letters;
  for (const auto& [letter, near] : groups) {
    choices.push_back(if_then(matches("^" + beginning + letter), one_of(near)));
    letters += letter;
  }
  choices.push_back(
      if_then({{"pattern", "^" + beginning + "[" + letters + "]"}}, true, one_of(all)));
  return {{"allOf", choices}};
}

/// A misspelt name is told those that begin like it, after the words that many have in common.
Json name_by_beginning(const Names& names, const std::string& prefix) {
  Names all;
  for (const std::string& name : names) all.push_back(prefix + name);
  std::map<std::string, Names> families;
  for (const std::string& name : all) {
    std::string beginning = prefix;
    for (const char* family : {"ELEMENT_WISE_", "ACTIVATION_"}) {
      if (name.starts_with(prefix + family)) beginning = prefix + family;
    }
    families[beginning].push_back(name);
  }
  Json schema =
      families.contains(prefix) ? name_by_letter(families[prefix], prefix, all) : one_of(all);
  for (const auto& [beginning, members] : families) {
    if (beginning == prefix) continue;
    schema = if_then(matches("^" + beginning), name_by_letter(members, beginning, members),
                     std::move(schema));
  }
  return schema;
}

std::string in_any_case(std::string_view name) {
  std::string pattern = "^";
  for (const char c : name) {
    const std::string letter(1, c);
    pattern += "[" + lower_case(letter) + upper_case(letter) + "]";
  }
  return pattern + "$";
}

Json number() {
  constexpr double most = std::numeric_limits<float>::max();
  return {{"type", {"number", "string"}},
          {"minimum", -most},
          {"maximum", most},
          {"pattern", "^(-?[iI][nN][fF]|[nN][aA][nN])$"}};
}

// A number of any type, or an object with one member named by the type.
Json scalar() {
  Json word = number();
  word.erase("minimum");
  word.erase("maximum");
  Json members;
  for (const char* name : {"Float32", "Float64", "UInt8", "UInt16", "UInt32", "UInt64", "Int8",
                           "Int16", "Int32", "Int64"})
    members[name] = word;
  return {{"type", {"number", "string", "object"}},
          {"pattern", word["pattern"]},
          {"properties", members},
          {"additionalProperties", false},
          {"minProperties", 1},
          {"maxProperties", 1}};
}

Json tensor_members() {
  Names types;
  for (const DataTypeInfo& type : data_types) types.emplace_back(type.name);
  Json type_schema = name_of(types, "DML_TENSOR_DATA_TYPE_");
  for (const DataTypeInfo& type : data_types)
    type_schema["enum"].push_back(static_cast<int>(type.type));
  Json strides = list_of(refer_to("uint"));
  strides["type"] = {"array", "null"};
  return {
      {"Type", described("The kind of tensor: there is one.", refer_to("tensor.Type"))},
      {"DataType", described("The type of the elements.", type_schema)},
      {"Flags", described("OWNED_BY_DML: an input that does not change between runs.",
                          one_or_list(name_of({"NONE", "OWNED_BY_DML"}, "DML_TENSOR_FLAG_")))},
      {"DimensionCount", described("The number of dimensions: of Sizes.", integer(1, 8))},
      {"Sizes", described("The number of elements in each dimension.",
                          list_of(integer(1, largest<std::uint32_t>), 1))},
      {"Broadcast", described("Whether an input is stretched to the sizes of others, as by NumPy.",
                              {{"type", "boolean"}})},
      {"Strides",
       described("How many elements lie between neighbors in each dimension; packed if left out.",
                 strides)},
      {"TotalTensorSizeInBytes", described("The bytes of the tensor's buffer.", bytes())},
      {"GuaranteedBaseOffsetAlignment",
       described("The number of bytes of which the tensor's offset is a multiple.", uint())}};
}

}  // namespace

Json refer_to(const std::string& definition) {
  return {{"$ref", "#/definitions/" + definition}};
}

Json titled(const std::string& title, const Json& schema) {
  Json whole{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  whole.update(schema);
  return whole;
}

Json described(const std::string& text, Json schema) {
  Json whole{{"description", text}};
  if (schema.contains("$ref")) {
    whole["allOf"] = Json::array({std::move(schema)});
  } else if (schema.is_object()) {
    whole.update(schema);
  }
  return whole;
}

Json object_like(const std::string& definition) {
  return {{"type", "object"}, {"allOf", Json::array({refer_to(definition)})}};
}

Json if_then(Json condition, Json then) {
  return {{"if", std::move(condition)}, {"then", std::move(then)}};
}

Json if_then(Json condition, Json then, Json otherwise) {
  return {{"if", std::move(condition)}, {"then", std::move(then)}, {"else", std::move(otherwise)}};
}

Json integer(std::int64_t low, std::int64_t high) {
  return {{"type", "integer"}, {"minimum", low}, {"maximum", high}};
}

Json uint() {
  return integer(0, largest<std::uint32_t>);
}

Json int32() {
  return integer(std::numeric_limits<std::int32_t>::min(), largest<std::int32_t>);
}

Json bytes() {
  return integer(0, largest<std::int64_t>);
}

Json text() {
  return {{"type", "string"}, {"minLength", 1}};
}

Json list_of(Json item, std::size_t least) {
  Json list{{"type", "array"}, {"items", std::move(item)}};
  if (least != 0) list["minItems"] = least;
  return list;
}

Json one_or_list(const Json& item) {
  return if_then({{"type", "array"}}, {{"items", item}}, item);
}

Json one_of(const Names& names, const std::string& prefix) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(prefix + name);
  return {{"enum", list}};
}

Json name_of(const Names& names, const std::string& prefix) {
  Json schema = one_of(names);
  for (const std::string& name : names) schema["enum"].push_back(prefix + name);
  return schema;
}

Json operator_name(const Names& names) {
  Json schema{{"type", "string"}, {"examples", Json::array()}};
  for (const std::string& name : names) schema["examples"].push_back(name);
  schema.update(if_then(matches(std::string("^") + operator_prefix),
                        name_by_beginning(names, operator_prefix), name_by_beginning(names, "")));
  return schema;
}

Json name_in_any_case(const Names& names) {
  Names patterns;
  for (const std::string& name : names) patterns.push_back(in_any_case(name));
  Json schema{{"examples", names}};
  schema.update(if_then(matches(join(patterns, "|")), true, one_of(names)));
  return schema;
}

Json needs(Json names, const Names& required) {
  return if_then({{"propertyNames", std::move(names)}}, {{"required", required}});
}

Json object_of(Json members, const Names& required) {
  Json schema{{"type", "object"}};
  if (!required.empty()) schema.update(needs(one_of(names_of(members)), required));
  schema["properties"] = std::move(members);
  schema["additionalProperties"] = false;
  return schema;
}

Json without_type(Json object) {
  object.erase("type");
  return object;
}

Names names_of(const Json& members) {
  Names names;
  for (const auto& member : members.items()) names.push_back(member.key());
  return names;
}

Json has_any(const Names& members) {
  Json any = Json::array();
  for (const std::string& name : members) any.push_back({{"required", {name}}});
  return {{"anyOf", any}};
}

Json input_file() {
  const Json random = without_type(object_of(
      {{"random",
        described("Numbers that are made up: evenly spread over what suits the field, or normal.",
                  one_of({"uniform", "normal"}))},
       {"seed", described("Other numbers for each; 1 if left out.", bytes())}},
      {"random"}));
  return if_then({{"type", "object"}}, random, text());
}

Json shared_definitions(bool complete) {
  const Json fields = object_of(tensor_members(), complete ? Names{"DataType", "Sizes"} : Names{});
  const Json nested =
      object_of({{"Type", refer_to("tensor.Type")}, {"Desc", refer_to("tensor.Desc")}});
  const Json tensor = if_then({{"type", "object"}, {"required", {"Desc"}}}, without_type(nested),
                              without_type(fields));
  return {{"uint", uint()},
          {"int", int32()},
          {"number", number()},
          {"scalar", scalar()},
          {"size_2d",
           without_type(object_of({{"Width", refer_to("uint")}, {"Height", refer_to("uint")}},
                                  {"Width", "Height"}))},
          {"scale_bias",
           without_type(object_of({{"Scale", refer_to("number")}, {"Bias", refer_to("number")}},
                                  {"Scale", "Bias"}))},
          {"tensor.Type", name_of({"BUFFER"}, "DML_TENSOR_TYPE_")},
          {"tensor.Desc", fields},
          {"tensor", tensor}};
}

}  // namespace dmlop::app::schema
