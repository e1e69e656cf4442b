#include "schema_operators.hpp"

#include <algorithm>

#include "schema_fields.hpp"
#include "spec/feature_level.hpp"
#include "spec/fields_reader.hpp"

namespace dmlop::app::schema {
namespace {

std::string suffix_of(const Surroundings& around) {
  return around.place == Place::nested ? ".nested" : "";
}

// DxDispatch takes both spellings of a name. A model's dispatchable has type only.
Names type_members(const Surroundings& around) {
  if (around.place == Place::model) return {"type"};
  return around.place == Place::nested ? Names{"Type", "type"} : Names{"type", "Type"};
}

Names desc_members(const Surroundings& around) {
  return around.place == Place::nested ? Names{"Desc", "desc"} : Names{"desc", "Desc"};
}

/// All that may stand in a description but fields.
Names members_beside_fields(const Surroundings& around) {
  Names members = type_members(around);
  for (const std::string& name : desc_members(around)) members.push_back(name);
  for (const std::string& name : names_of(around.options)) members.push_back(name);
  return members;
}

Json any_value(const Names& members) {
  Json properties = Json::object();
  for (const std::string& name : members) properties[name] = true;
  return properties;
}

/// A schema for each of the members.
Json each(const Names& members, const Json& schema) {
  Json properties = Json::object();
  for (const std::string& name : members) properties[name] = schema;
  return properties;
}

/// Refuses the second of two names of one thing beside the first.
Json not_both(const Names& members) {
  return if_then({{"required", members}}, {{"properties", {{members.back(), false}}}});
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Names required_fields(const OperatorSpec& spec, const Surroundings& around) {
  Names required;
  for (const FieldSpec& field : spec.fields) {
    const bool may_be_left_out = field.is_tensor() || field.optional_when ||
                                 spec.is_count(field.name) || follows_from_rule(spec, field.name);
    const bool is_read = around.place != Place::nested || !field.is_tensor();
    const bool is_needed = around.place == Place::model || !may_be_left_out;
    if (is_read && is_needed && !field.optional) required.push_back(field.name);
  }
  return required;
}

// The files, or a model's resources, of the operator's tensors.
Json bindings_schema(const OperatorSpec& spec, const Surroundings& around) {
  Json tensors = Json::object();
  for (const FieldSpec& field : spec.fields) {
    if (!field.is_tensor()) continue;
    if (around.place == Place::model) {
      tensors[field.name] = refer_to("binding");
    } else {
      const bool is_input_file = field.is_input() && !around.has_edges;
      const Json one = is_input_file ? refer_to("input_file") : text();
      tensors[field.name] = field.is_tensor_array() ? list_of(one) : one;
    }
  }
  return object_of(tensors);
}

Json operator_form(const OperatorSpec& spec, const Surroundings& around) {
  const std::string desc = spec.name + suffix_of(around) + ".desc";
  const Names beside = members_beside_fields(around);
  Json members{{type_members(around).front(), {{"description", spec.summary}}}};
  members.update(each(desc_members(around), refer_to(desc)));
  if (around.options.contains("bindings")) members["bindings"] = bindings_schema(spec, around);
  Json all = any_value(beside);
  for (const FieldSpec& field : spec.fields) {
    if (!has(beside, field.name)) all[field.name] = refer_to(desc + "/properties/" + field.name);
  }
  Json form{{"properties", members}};
  form.update(if_then(refer_to("has_desc"), refer_to("beside_desc" + suffix_of(around)),
                      {{"properties", all}, {"additionalProperties", false}}));
  return form;
}

Json operator_needs(const OperatorSpec& spec, const Surroundings& around) {
  const std::string suffix = suffix_of(around);
  const Names desc = desc_members(around);
  const Json names{{"anyOf", {refer_to("beside_fields" + suffix), one_of(spec.field_names())}}};
  return if_then(refer_to("has_desc"),
                 {{"properties", each(desc, refer_to(spec.name + suffix + ".desc.needs"))}},
                 if_then(refer_to("beside_desc" + suffix), {{"required", {desc.front()}}},
                         needs(names, required_fields(spec, around))));
}

/// `then` gives the schema of a description whose type is the operator; null: any is right.
template <typename Then>
Json chosen_by_type(const Names& operators, const Surroundings& around, Then&& then) {
  Json choices = Json::array();
  for (const std::string& name : operators) {
    Json schema = then(name);
    if (!schema.is_null()) choices.push_back(if_then(is_operator(name, around), std::move(schema)));
  }
  return choices.empty() ? Json(true) : Json{{"allOf", choices}};
}

void define_operator(Json& definitions, const OperatorSpec& spec, const Surroundings& around) {
  const std::string name = spec.name + suffix_of(around);
  definitions[name + ".desc"] = fields_schema(spec, around.place == Place::nested);
  definitions[name] = operator_form(spec, around);
  const Names required = required_fields(spec, around);
  if (required.empty()) return;
  definitions[name + ".needs"] = operator_needs(spec, around);
  definitions[name + ".desc.needs"] = needs(one_of(spec.field_names()), required);
}

void define_surroundings(Json& definitions, const Surroundings& around) {
  const Names members = members_beside_fields(around);
  definitions["beside_fields" + suffix_of(around)] = one_of(members);
  definitions["beside_desc" + suffix_of(around)] = {{"properties", any_value(members)},
                                                    {"additionalProperties", false}};
}

void define_activations(Json& definitions, const OperatorSpec& owner) {
  const std::string name = activation_definition(owner);
  if (definitions.contains(name)) return;
  const Names operators = activations_of(owner);
  const Surroundings nested{.place = Place::nested, .type = name + ".type"};
  for (const std::string& activation : operators) {
    if (!definitions.contains(activation + ".nested"))
      define_operator(definitions, *find_spec(activation), nested);
  }
  define_surroundings(definitions, nested);
  definitions[nested.type] = operator_name(operators);
  definitions[name] = {
      {"allOf", {description_form(operators, nested), description_needs(operators, nested)}}};
}

Names feature_level_names() {
  Names names;
  for (const std::string prefix : {"", "DML_FEATURE_LEVEL_"}) {
    for (const char separator : {'_', '.'}) {
      for (auto level = feature_levels.rbegin(); level != feature_levels.rend(); ++level) {
        std::string name = to_text(*level);
        std::replace(name.begin(), name.end(), '_', separator);
        names.push_back(prefix + name);
      }
    }
  }
  return names;
}

}  // namespace

Json has_type(const Surroundings& around) {
  return has_any(type_members(around));
}

Json is_operator(const std::string& name, const Surroundings& around) {
  Names names = aliases_of(name);
  names.insert(names.begin(), name);
  return {{"properties", each(type_members(around), name_of(names, "DML_OPERATOR_"))}};
}

void define_operators(Json& definitions, const Names& operators, const Surroundings& around) {
  Names names = operators;
  for (const std::string& name : operators) {
    for (const std::string& alias : aliases_of(name)) names.push_back(alias);
  }
  definitions["operator"] = operator_name(names);
  definitions["has_desc"] = has_any(desc_members(around));
  define_surroundings(definitions, around);
  for (const std::string& name : operators) {
    const OperatorSpec& spec = *find_spec(name);
    define_operator(definitions, spec, around);
    for (const FieldSpec& field : spec.fields) {
      if (!field.enum_name.empty())
        definitions[field.enum_name] = enum_schema(field.enum_name, around.place);
      if (field.is_nested_operator()) define_activations(definitions, spec);
    }
  }
}

Json description_form(const Names& operators, const Surroundings& around) {
  const Names type = type_members(around);
  Json chosen = chosen_by_type(operators, around, [&](const std::string& name) {
    return refer_to(name + suffix_of(around));
  });
  Json members =
      each(type, described("The operator, with or without DML_OPERATOR_.", refer_to(around.type)));
  members.update(each(desc_members(around), described("The operator's fields.", true)));
  members.update(around.options);
  Json form{{"properties", members}, {"allOf", Json::array()}};
  form["allOf"].push_back(if_then(has_type(around), std::move(chosen)));
  if (around.place != Place::file) return form;
  form["allOf"].push_back(not_both(desc_members(around)));
  // Of two types none chooses.
  Json both = not_both(type);
  both["else"] = std::move(form);
  return both;
}

Json description_needs(const Names& operators, const Surroundings& around) {
  const Names type = type_members(around);
  Json chosen = chosen_by_type(operators, around, [&](const std::string& name) {
    return required_fields(*find_spec(name), around).empty()
               ? Json()
               : refer_to(name + suffix_of(around) + ".needs");
  });
  Json needed = if_then(has_type(around), std::move(chosen), {{"required", {type.front()}}});
  if (around.place != Place::file) return needed;
  return if_then({{"required", desc_members(around)}}, true, std::move(needed));
}

Json description_options() {
  const Json flags = name_of(
      {"NONE", "ALLOW_HALF_PRECISION_COMPUTATION", "DISABLE_META_COMMANDS", "DESCRIPTORS_VOLATILE"},
      "DML_EXECUTION_FLAG_");
  return {
      {"$schema",
       described("The schema that an editor checks the file with.", {{"type", "string"}})},
      {"featureLevel",
       described("The feature level that decides what is valid: the newest if left out.",
                 {{"enum", feature_level_names()}})},
      {"as",
       described("Who decides what is valid if they disagree: Microsoft's page of the operator, "
                 "which is the default, or DirectML 1.15.4.",
                 {{"enum", judge_names()}})},
      {"bindings",
       described("The .npy files of the tensors, by field name. A raw file is FILE:raw, or "
                 "FILE:TYPE:SIZES as x.bin:FLOAT16:1,3,8,8.",
                 {{"type", "object"}})},
      {"dmlCompileType", described("How DxDispatch compiles the operator; nothing changes here.",
                                   {{"enum", {"DmlCompileOp", "DmlCompileGraph"}}})},
      {"executionFlags",
       described("How DirectML may compute; nothing changes here.", one_or_list(flags))}};
}

}  // namespace dmlop::app::schema
