#include "spec/fields_reader.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "spec/scalar.hpp"
#include "spec/settings.hpp"
#include "spec/tensor_reader.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

constexpr const char* tensor_example = "{\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}";

// The members of a DML_SCALAR_UNION, as DxDispatch spells them.
const std::vector<std::string> scalar_members{"Float32", "Float64", "UInt8", "UInt16", "UInt32",
                                              "UInt64",  "Int8",    "Int16", "Int32",  "Int64"};

// The operator that a value names, with or without ACTIVATION_, unless it is one of `names`.
const OperatorSpec* operator_called(const json::Value& value,
                                    const std::vector<std::string>& names) {
  if (value.kind != Kind::string) return nullptr;
  const std::string name(without_operator_prefix(value.text));
  const bool may_be_fused = std::find(names.begin(), names.end(), name) != names.end();
  if (may_be_fused || std::find(names.begin(), names.end(), "ACTIVATION_" + name) != names.end())
    return nullptr;
  const OperatorSpec* found = find_spec(name);
  return found != nullptr ? found : find_spec("ACTIVATION_" + name);
}

// The operator that is fused under a name, with or without ACTIVATION_, or under the nearest one;
// "" where there is none.
std::string fused_called(const OperatorSpec& owner, const std::string& text) {
  std::vector<std::string> names;
  for (const FusedActivation& activation : activations_fused_into(owner.name))
    names.push_back(activation.name);
  const std::string name(without_operator_prefix(text));
  for (const std::string& full : {name, "ACTIVATION_" + name}) {
    if (std::find(names.begin(), names.end(), full) != names.end()) return full;
  }
  return operator_called({.kind = Kind::string, .text = name}, names) != nullptr
             ? ""
             : nearest_name(name, names);
}

// JSON of the nested operator that a string names, with the numbers of its example; "" where it
// names none.
std::string nested_operator_called(const OperatorSpec& owner, const json::Value& value) {
  const OperatorSpec* spec =
      value.kind == Kind::string ? find_spec(fused_called(owner, value.text)) : nullptr;
  if (spec == nullptr) return "";
  std::vector<std::string> fields;
  for (const FieldSpec& field : spec->fields) {
    if (!field.is_tensor() && !field.optional && !field.optional_when &&
        !spec->is_count(field.name))
      fields.push_back('"' + field.name + "\": " + example_value(*spec, field.name));
  }
  return R"({"Type": ")" + spec->name + R"(", "Desc": {)" + join(fields) + "}}";
}

bool is_list_of_objects(const json::Value& value) {
  const auto is_object = [](const json::Value& item) { return item.kind == Kind::object; };
  return value.kind == Kind::array &&
         std::all_of(value.items.begin(), value.items.end(), is_object);
}

// Whether the value has the type of an operator that can be fused.
bool is_fused(const OperatorSpec& owner, const json::Value& value) {
  const json::Value* type = find_either(value, "Type", "type");
  return type != nullptr && type->kind == Kind::string &&
         fused_called(owner, type->text) == without_operator_prefix(type->text);
}

FieldValue value_or_nothing(auto read) {
  return read ? FieldValue(std::move(*read)) : FieldValue();
}

}  // namespace

const json::Value* find_either(const json::Value& object, const char* name, const char* other) {
  const json::Value* found = object.find(name);
  return found != nullptr ? found : object.find(other);
}

bool follows_from_rule(const OperatorSpec& spec, std::string_view field) {
  const auto gives = [&](const Rule& rule) {
    const auto& equation = rule.formula.equation();
    if (!equation || !equation->exact) return false;
    const Reference& target = *rule.formula.reference_at(equation->target);
    return target.field == field && target.attribute.empty();
  };
  return std::any_of(spec.rules.begin(), spec.rules.end(), gives);
}

void FieldsReader::read(FieldSet& target, const json::Value& object,
                        const std::vector<std::string>& meant) {
  target.document_ = document_;
  target.fields_object_ = &object;
  for (const FieldSpec& field : target.spec->fields) read_field(target, field, meant);
  require_fields(target, /*is_nested=*/false);
}

void FieldsReader::read_field(FieldSet& target, const FieldSpec& spec,
                              const std::vector<std::string>& meant) {
  Field& field = target.fields.emplace_back(Field{.spec = &spec, .value = {}});
  const bool is_tensor = spec.is_tensor() && !spec.is_tensor_array();
  if (is_tensor && !spec.optional) field.value = TensorDesc{};
  field.is_misspelt = std::find(meant.begin(), meant.end(), spec.name) != meant.end();
  field.written = target.fields_object().find(spec.name);
  if (field.written == nullptr) return;
  if (spec.optional && field.written->kind == Kind::null) {
    field.written = nullptr;  // treated as left out
    return;
  }
  const ShownField outer = reader_.show({target.spec, spec.name, field.written});
  FieldValue value = read_value(*target.spec, spec, *field.written);
  reader_.show(outer);
  if (is_tensor && std::holds_alternative<std::monostate>(value)) value = TensorDesc{};
  field.value = std::move(value);
}

FieldValue FieldsReader::read_value(const OperatorSpec& owner, const FieldSpec& spec,
                                    const json::Value& value) {
  switch (spec.kind) {
    case FieldKind::input_tensor:
    case FieldKind::output_tensor:
      return value_or_nothing(read_one_tensor(spec, value, spec.name));
    case FieldKind::input_tensor_array:
    case FieldKind::output_tensor_array:
      return read_tensors(spec, value);
    case FieldKind::enumeration:
      return read_enum(spec, value);
    case FieldKind::uint:
      return value_or_nothing(reader_.uint(value, spec.name));
    case FieldKind::int32:
      return value_or_nothing(reader_.int32(value, spec.name));
    case FieldKind::float32:
      return value_or_nothing(reader_.float32(value, spec.name));
    case FieldKind::boolean:
      return value_or_nothing(reader_.flag(value, spec.name));
    case FieldKind::uint_array:
      return value_or_nothing(reader_.uint_array(value, spec.name));
    case FieldKind::int_array:
      return value_or_nothing(reader_.int_array(value, spec.name));
    case FieldKind::float_array:
      return value_or_nothing(reader_.float_array(value, spec.name));
    case FieldKind::scalar_union:
      return read_scalar(spec, value);
    case FieldKind::size_2d:
      return read_size(spec, value);
    case FieldKind::scale_bias:
      return read_scale_bias(spec, value);
    case FieldKind::fused_activation:
    case FieldKind::activation_array:
      return read_nested_operators(owner, spec, value);
  }
  return {};
}

FieldValue FieldsReader::read_tensors(const FieldSpec& spec, const json::Value& value) {
  const std::string example = "[" + std::string(tensor_example) + "]";
  if (!reader_.is_list(value, spec.name,
                       {"an array of tensor descs", Form::tensors, example, is_list_of_objects}))
    return {};
  std::vector<TensorDesc> tensors;
  for (std::size_t j = 0; j < value.items.size(); ++j) {
    const std::string name = spec.name + "[" + std::to_string(j) + "]";
    tensors.push_back(read_one_tensor(spec, value.items[j], name).value_or(TensorDesc{}));
  }
  return tensors;
}

// A path is no tensor desc: files stand in `bindings`.
std::optional<TensorDesc> FieldsReader::read_one_tensor(const FieldSpec& spec,
                                                        const json::Value& value,
                                                        const std::string& name) {
  const bool is_path = value.kind == Kind::string &&
                       (value.text.ends_with(".npy") || value.text.find('/') != std::string::npos);
  if (!is_path || complete_) return read_tensor(reader_, value, name);
  const std::string path = printable(value.text);
  const bool is_typed = !document_->at(value, "").argument.empty();
  const std::string option = spec.is_input() ? "-i " : "-o ";
  const std::string binding =
      "\"bindings\": {\"" + spec.name +
      "\": " + (spec.is_tensor_array() ? "[\"" + path + "\"]" : '"' + path + '"') + "}";
  reader_.expected(value, name, "a tensor desc, or be left out where a file gives it",
                   is_typed ? "write " + option + shell_quoted(name + "=" + value.text) +
                                  " instead of this --set"
                            : "leave it out, and write " + binding + " beside \"type\"");
  return std::nullopt;
}

// DxDispatch knows names only.
FieldValue FieldsReader::read_enum(const FieldSpec& spec, const json::Value& value) {
  const std::vector<EnumValue>& values = enum_values(spec.enum_name);
  if (spec.enum_name == "DML_TENSOR_DATA_TYPE" && is_unknown_type(value)) return std::int64_t{0};
  if (!complete_)
    return value_or_nothing(reader_.enumeration(value, spec.name, spec.enum_name, values));
  std::vector<std::string> names;
  for (const EnumValue& entry : values) names.push_back(entry.name);
  const auto index = reader_.name_of(value, spec.name, names, spec.enum_name + "_");
  return index ? FieldValue(values[*index].value) : FieldValue();
}

// Reads a number, or an object with one member named after its type. The type is not known yet.
FieldValue FieldsReader::read_scalar(const FieldSpec& spec, const json::Value& value) {
  const json::Value* number = &value;
  std::string member;
  if (value.kind == Kind::object) {
    reader_.refuse_unknown(value, scalar_members, "a DML_SCALAR_UNION");
    if (value.members.size() == 1) {
      number = &value.members.front().value;
      member = value.members.front().name;
    }
  }
  const bool is_word = number->kind == Kind::string;
  if (number->kind != Kind::number && !is_word) {
    const auto takes = [](const json::Value& other) { return other.kind == Kind::number; };
    reader_.expected(
        value, spec.name,
        {"a number of the type that " + spec.type_field + " says", Form::number, "1", takes});
    return {};
  }
  return Scalar{.written = number, .member = std::move(member)};
}

// Reads an object of two numbers, both required. Returns nothing if one could not be read.
template <typename Number, typename Read>
std::optional<std::pair<Number, Number>> FieldsReader::read_pair(const FieldSpec& spec,
                                                                 const json::Value& value,
                                                                 const PairForm& form,
                                                                 Read&& read) {
  if (value.kind != Kind::object) {
    const auto takes = [&](const json::Value& other) {
      return other.find(form.first) != nullptr && other.find(form.second) != nullptr;
    };
    reader_.expected(value, spec.name,
                     {std::string("an object such as ") + form.example, form_of(spec.kind),
                      form.example, takes});
    return std::nullopt;
  }
  reader_.refuse_unknown(value, {form.first, form.second}, form.type);
  const auto read_member = [&](const char* name) -> std::optional<Number> {
    const json::Value* member = value.find(name);
    if (member != nullptr) return read(*member, spec.name + "." + name);
    require(value, name, std::string(form.type) + " has both", form.number, spec.name + ".");
    return std::nullopt;
  };
  const auto first = read_member(form.first), second = read_member(form.second);
  return first && second ? std::optional(std::pair(*first, *second)) : std::nullopt;
}

FieldValue FieldsReader::read_size(const FieldSpec& spec, const json::Value& value) {
  const PairForm form{"a DML_SIZE_2D", "Width", "Height", "{\"Width\": 2, \"Height\": 2}", "2"};
  const auto size = read_pair<std::int64_t>(
      spec, value, form, [&](const json::Value& member, const std::string& name) {
        return reader_.uint(member, name);
      });
  return size ? FieldValue(Size2d{size->first, size->second}) : FieldValue();
}

FieldValue FieldsReader::read_scale_bias(const FieldSpec& spec, const json::Value& value) {
  const PairForm form{"a DML_SCALE_BIAS", "Scale", "Bias", "{\"Scale\": 2, \"Bias\": 0.5}", "0.5"};
  const auto both =
      read_pair<double>(spec, value, form, [&](const json::Value& member, const std::string& name) {
        return reader_.float32(member, name);
      });
  return both ? FieldValue(ScaleBias{both->first, both->second}) : FieldValue();
}

FieldValue FieldsReader::read_nested_operators(const OperatorSpec& owner, const FieldSpec& spec,
                                               const json::Value& value) {
  std::vector<NestedOperator> operators;
  if (spec.kind == FieldKind::fused_activation) {
    auto nested = read_nested(owner, value, spec.name);
    if (nested) operators.push_back(std::move(*nested));
    return operators;
  }
  const std::string example = R"([{"Type": "ACTIVATION_TANH", "Desc": {}}])";
  const std::string meant = nested_operator_called(owner, value);
  if (!reader_.is_list(value, spec.name,
                       {"an array of activations", Form::activations, example, is_list_of_objects,
                        meant.empty() ? "" : "[" + meant + "]"}))
    return {};
  bool is_whole = true;
  for (std::size_t j = 0; j < value.items.size(); ++j) {
    auto nested = read_nested(owner, value.items[j], spec.name + "[" + std::to_string(j) + "]");
    is_whole = is_whole && nested;
    if (nested) operators.push_back(std::move(*nested));
  }
  return is_whole ? FieldValue(std::move(operators)) : FieldValue();
}

std::optional<NestedOperator> FieldsReader::read_nested(const OperatorSpec& owner,
                                                        const json::Value& value,
                                                        const std::string& name) {
  if (value.kind != Kind::object) {
    const std::string example = R"({"Type": "ACTIVATION_RELU", "Desc": {}})";
    const auto takes = [&](const json::Value& other) { return is_fused(owner, other); };
    reader_.expected(value, name,
                     {"an object such as " + example, Form::activation, example, takes,
                      nested_operator_called(owner, value)});
    return std::nullopt;
  }
  NestedOperator nested;
  nested.written = &value;
  nested.spec = nested_spec(owner, value, name);
  if (nested.spec == nullptr) return std::nullopt;
  const json::Value* object = find_either(value, "Desc", "desc");
  const std::vector<std::string> fields = nested.spec->field_names();
  std::vector<std::string> known{"Type", "type", "Desc", "desc"};
  if (object == nullptr) known.insert(known.end(), fields.begin(), fields.end());
  auto meant = reader_.refuse_unknown(value, known, name);
  if (object == nullptr) {
    object = &value;
  } else if (object->kind == Kind::object) {
    meant = reader_.refuse_unknown(*object, fields, "DML_OPERATOR_" + nested.spec->name);
  } else {
    reader_.expected(*object, name + ".Desc", "an object with the activation's fields",
                     "write {}, with what `dmlop ops " + nested.spec->name + "` lists in it");
    return std::nullopt;
  }
  nested.document_ = document_;
  nested.fields_object_ = object;
  for (const FieldSpec& field : nested.spec->fields) {
    if (field.is_tensor()) {
      refuse_tensor_of_nested(*object, field, name);
      continue;
    }
    read_field(nested, field, meant);
  }
  require_fields(nested, /*is_nested=*/true);
  return nested;
}

void FieldsReader::refuse_tensor_of_nested(const json::Value& object, const FieldSpec& field,
                                           const std::string& name) {
  const json::Value* tensor = object.find(field.name);
  if (tensor == nullptr || tensor->kind == Kind::null) return;
  reader_.expected(*tensor, name + "." + field.name, "null: a fused activation has no tensors",
                   Alternative::leave_out());
}

const OperatorSpec* FieldsReader::nested_spec(const OperatorSpec& owner, const json::Value& object,
                                              const std::string& name) {
  const json::Value* type = find_either(object, "Type", "type");
  if (type == nullptr) {
    require(object, "Type", "a nested operator has a Type", "\"ACTIVATION_RELU\"", name + ".");
    return nullptr;
  }
  std::vector<std::string> names;
  for (const FusedActivation& activation : activations_fused_into(owner.name))
    names.push_back(activation.name);
  if (const OperatorSpec* other = operator_called(*type, names)) {
    reader_.refuse(*type,
                   name + ".Type is " + other->name + ", which cannot be fused into " + owner.name,
                   "these can be fused into it: " + join(names),
                   "leave " + name + " out and run " + other->name + " on the output");
    return nullptr;
  }
  const auto index = reader_.name_of(*type, name + ".Type", names, "DML_OPERATOR_");
  return index ? find_spec(names[*index]) : nullptr;
}

// Tensors come from files or inference, and counts from their arrays, unless the description must
// be complete. Everything else must be written or follow from a rule.
void FieldsReader::require_fields(FieldSet& target, bool is_nested) {
  for (const Field& field : target.fields) {
    const FieldSpec& spec = *field.spec;
    const bool is_count = target.spec->is_count(spec.name);
    if (complete_ && spec.is_tensor()) require_type_and_sizes(field);
    if (field.written != nullptr || field.is_misspelt || spec.optional) continue;
    const bool may_be_left_out = spec.is_tensor() || is_count || spec.optional_when ||
                                 follows_from_rule(*target.spec, spec.name);
    if (!complete_ && may_be_left_out) continue;
    const std::string example = spec.is_tensor() ? tensor_example
                                : is_count       ? std::string("4")
                                                 : example_value(*target.spec, spec.name);
    reader_.missing(target.fields_object(), spec.name,
                    "DML_OPERATOR_" + target.spec->name + " needs it: " + spec.text,
                    how_to_write(*document_, target.fields_object(), spec.name, example),
                    is_nested ? example : "");
  }
}

void FieldsReader::require_type_and_sizes(const Field& field) {
  if (field.written == nullptr) return;
  const auto require_both = [&](const json::Value& value, const std::string& name) {
    if (value.kind != Kind::object) return;
    const json::Value* nested = value.find("Desc");
    const json::Value& object = nested != nullptr ? *nested : value;
    const std::string rule = "a tensor desc has a DataType and Sizes";
    if (object.find("DataType") == nullptr)
      require(object, "DataType", rule, "\"FLOAT32\"", name + ".");
    if (object.find("Sizes") == nullptr) require(object, "Sizes", rule, "[1, 1, 4, 4]", name + ".");
  };
  require_both(*field.written, field.spec->name);
  for (std::size_t j = 0; j < field.written->items.size(); ++j)
    require_both(field.written->items[j], field.spec->name + "[" + std::to_string(j) + "]");
}

void FieldsReader::require(const json::Value& object, const std::string& name, std::string rule,
                           const std::string& example, const std::string& prefix) {
  reader_.missing(object, prefix + name, std::move(rule),
                  how_to_write(*document_, object, name, example));
}

}  // namespace dmlop
