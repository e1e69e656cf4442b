#include "schema_fields.hpp"

#include <algorithm>

namespace dmlop::app::schema {
namespace {

bool takes(const OperatorSpec& owner, const FusedActivation& activation) {
  const Names& into = activation.into;
  return into.empty() || std::find(into.begin(), into.end(), owner.name) != into.end();
}

Json value_schema(const OperatorSpec& spec, const FieldSpec& field) {
  switch (field.kind) {
    case FieldKind::input_tensor:
    case FieldKind::output_tensor:
      return object_like("tensor");
    case FieldKind::input_tensor_array:
    case FieldKind::output_tensor_array:
      return list_of(object_like("tensor"));
    case FieldKind::enumeration:
      return refer_to(field.enum_name);
    case FieldKind::uint:
      return refer_to("uint");
    case FieldKind::int32:
      return refer_to("int");
    case FieldKind::float32:
      return refer_to("number");
    case FieldKind::boolean:
      return {{"enum", {true, false, 0, 1}}};
    case FieldKind::uint_array:
      return list_of(refer_to("uint"));
    case FieldKind::int_array:
      return list_of(refer_to("int"));
    case FieldKind::float_array:
      return list_of(refer_to("number"));
    case FieldKind::scalar_union:
      return refer_to("scalar");
    case FieldKind::size_2d:
      return object_like("size_2d");
    case FieldKind::scale_bias:
      return object_like("scale_bias");
    case FieldKind::fused_activation:
      return object_like(activation_definition(spec));
    case FieldKind::activation_array:
      return list_of(object_like(activation_definition(spec)));
  }
  return {};
}

// What is left out may be null, too.
Json or_null(Json schema) {
  if (schema.at("type").is_string()) schema["type"] = {schema["type"], "null"};
  return schema;
}

Json field_schema(const OperatorSpec& spec, const FieldSpec& field) {
  Json schema = value_schema(spec, field);
  if (field.optional && schema.contains("$ref")) {
    schema = if_then({{"type", "null"}}, true, std::move(schema));
  } else if (field.optional) {
    schema = or_null(std::move(schema));
  }
  return described(field.text, std::move(schema));
}

}  // namespace

Json fields_schema(const OperatorSpec& spec, bool is_nested) {
  Json members = Json::object();
  for (const FieldSpec& field : spec.fields) {
    const bool is_ignored = is_nested && field.is_tensor();
    members[field.name] =
        is_ignored
            ? described("Not read: the operator that it is fused into has the tensors.", true)
            : field_schema(spec, field);
  }
  return described(spec.summary, object_of(std::move(members)));
}

Json enum_schema(const std::string& enum_name, Place place) {
  Names names;
  for (const EnumValue& value : enum_values(enum_name)) names.push_back(value.name);
  Json schema = name_of(names, enum_name + "_");
  if (place == Place::model) return schema;  // DxDispatch knows names only
  for (const EnumValue& value : enum_values(enum_name)) schema["enum"].push_back(value.value);
  return schema;
}

Names activations_of(const OperatorSpec& owner) {
  Names names;
  for (const FusedActivation& activation : fused_activations()) {
    if (takes(owner, activation)) names.push_back(activation.name);
  }
  return names;
}

std::string activation_definition(const OperatorSpec& owner) {
  const auto& all = fused_activations();
  const bool has_own = std::any_of(all.begin(), all.end(), [&](const FusedActivation& activation) {
    return !activation.into.empty() && takes(owner, activation);
  });
  return has_own ? "activation." + owner.name : "activation";
}

}  // namespace dmlop::app::schema
