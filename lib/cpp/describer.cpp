#include "cpp/describer.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/text.hpp"
#include "cpp/layouts.hpp"
#include "spec/facts.hpp"
#include "spec/scalar.hpp"

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;
using Json = nlohmann::ordered_json;

std::string struct_name(const OperatorSpec& spec) {
  return "DML_" + spec.name + "_OPERATOR_DESC";
}

std::string without(std::string_view text, std::string_view prefix) {
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return std::string(text);
}

std::vector<std::string> names_of(const std::vector<Member>& members) {
  std::vector<std::string> names;
  for (const Member& member : members) names.push_back(member.name);
  return names;
}

// The member of DML_SCALAR_UNION that holds a number of a data type; "" where it is no type.
std::string member_for(const std::string& type) {
  const auto known = data_type_named(type);
  return known ? union_member(stored_as(*known)) : "";
}

bool is_written_as_bits(const std::string& type) {
  const auto known = data_type_named(type);
  return known && is_held_as_bits(*known);
}

}  // namespace

Json Describer::flags(const Value& value, const std::string& name) {
  const auto is_flag = [](const Value& flag, const char* word, std::int64_t number) {
    return flag.kind == Kind::word ? flag.word == word
                                   : flag.kind == Kind::number && flag.number.is_integer() &&
                                         flag.number.integer == number;
  };
  std::vector<const Value*> all{&value};
  if (value.kind == Kind::list) all.clear();
  for (const Entry& entry : value.entries) all.push_back(&entry.value);
  Json json;
  for (const Value* flag : all) {
    if (is_flag(*flag, "DML_TENSOR_FLAG_OWNED_BY_DML", 1)) {
      json = "DML_TENSOR_FLAG_OWNED_BY_DML";
    } else if (!is_flag(*flag, "DML_TENSOR_FLAG_NONE", 0)) {
      if (flag->kind != Kind::word && flag->kind != Kind::number) return refuse(*flag, name), json;
      refuse(flag->written, name, "it is no DML_TENSOR_FLAGS",
             "write DML_TENSOR_FLAG_NONE or DML_TENSOR_FLAG_OWNED_BY_DML");
    }
  }
  return json;
}

// A description may leave out what follows from the rest of it. C++ may not.
void Describer::warn_of_absence(const Value& value, const std::string& what,
                                const std::string& remedy) {
  Diagnostic warning = at(value.written, what +
                                             ", which DirectML refuses; the description leaves "
                                             "it out");
  warning.suggestion = "in C++, " + remedy;
  warnings_.push_back(std::move(warning));
}

Json Describer::buffer(const Value& desc, const std::string& name) {
  const std::vector<std::string> known = names_of(*members_of("DML_BUFFER_TENSOR_DESC"));
  refuse_unknown_members(desc, known, "DML_BUFFER_TENSOR_DESC", name);
  Json json = Json::object();
  for (const Entry& entry : desc.entries)
    remember_place(name + "." + entry.name, entry.value.written);
  const auto part = [&](const char* member_name) { return name + "." + member_name; };
  json["DataType"] =
      enumeration(member(desc, "DataType"), "DML_TENSOR_DATA_TYPE", part("DataType"));
  if (Json set = flags(member(desc, "Flags"), part("Flags")); !set.is_null()) json["Flags"] = set;
  const Value count = member(desc, "DimensionCount");
  json["DimensionCount"] = integer(count, part("DimensionCount"));
  const auto read = [&](const Value& element, const std::string& element_name) {
    return integer(element, element_name);
  };
  // Where the count is 0 and the array's length is not known, the finding is about the count.
  if (Json sizes = array(member(desc, "Sizes"), count, "DimensionCount", part("Sizes"), read);
      !sizes.empty() || !is_null(count))
    json["Sizes"] = std::move(sizes);
  if (const Value strides = member(desc, "Strides"); !is_null(strides))
    json["Strides"] = array(strides, count, "DimensionCount", part("Strides"), read);
  const Value bytes = member(desc, "TotalTensorSizeInBytes");
  if (is_null(bytes)) {
    warn_of_absence(bytes, part("TotalTensorSizeInBytes") + " is 0",
                    "set it to what DMLCalcBufferTensorSize returns");
  } else if (bytes.kind == Kind::number) {
    json["TotalTensorSizeInBytes"] = integer(bytes, part("TotalTensorSizeInBytes"));
  } else {
    warnings_.push_back(at(bytes.written, part("TotalTensorSizeInBytes") +
                                              " is left out: it follows from DataType, Sizes and "
                                              "Strides, and this expression is not evaluated"));
  }
  const Value alignment = member(desc, "GuaranteedBaseOffsetAlignment");
  if (!is_null(alignment))
    json["GuaranteedBaseOffsetAlignment"] =
        integer(alignment, part("GuaranteedBaseOffsetAlignment"));
  return json;
}

Json Describer::tensor_desc(const Value& desc, const std::string& name) {
  if (desc.kind != Kind::list) return refuse(desc, name), Json();
  refuse_unknown_members(desc, {"Type", "Desc"}, "DML_TENSOR_DESC", name);
  const Value type = member(desc, "Type");
  enumeration(type, "DML_TENSOR_TYPE", name + ".Type");
  const Value* inner = struct_at(member(desc, "Desc"), name + ".Desc");
  return inner == nullptr ? Json() : buffer(*inner, name);
}

Json Describer::tensor(const Value& pointer, const std::string& name) {
  const Value* desc = struct_at(pointer, name);
  return desc == nullptr ? Json() : tensor_desc(*desc, name);
}

Json Describer::pair(const Value& both, const char* first, const char* second, bool is_float,
                     const std::string& name) {
  Json json = Json::object();
  const bool is_zero = both.kind == Kind::number;
  if (both.kind != Kind::list && !is_zero) return refuse(both, name), json;
  Value whole = both;
  whole.is_zeroed |= is_zero;
  for (const char* part : {first, second}) {
    const Value value = member(whole, part);
    const std::string part_name = name + "." + part;
    remember_place(part_name, value.written);
    json[part] = is_float ? real(value, part_name) : integer(value, part_name);
  }
  return json;
}

Json Describer::nested_desc(const Value& desc, const std::string& name) {
  if (desc.kind != Kind::list) return refuse(desc, name), Json();
  refuse_unknown_members(desc, {"Type", "Desc"}, "DML_OPERATOR_DESC", name);
  const Value type = member(desc, "Type");
  remember_place(name + ".Type", type.written);
  if (type.kind != Kind::word) return refuse(type, name + ".Type"), Json();
  const OperatorSpec* spec = find_spec(without(type.word, "DML_OPERATOR_"));
  if (spec == nullptr || !is_activation(spec->name)) {
    refuse(type.written, name + ".Type", "it is not an activation of DirectML",
           "write a type such as DML_OPERATOR_ACTIVATION_RELU");
    return Json();
  }
  const Value* fields = struct_at(member(desc, "Desc"), name + ".Desc");
  if (fields == nullptr) return Json();
  if (!fields->type.empty() && operator_of(fields->type) != spec)
    refuse(type.written, name + ".Type", "its Desc is a " + fields->type,
           "make both of the same operator");
  return {{"Type", "DML_OPERATOR_" + spec->name},
          {"Desc", operator_fields(*fields, *spec, name + ".")}};
}

Json Describer::nested(const Value& pointer, const std::string& name) {
  const Value* desc = struct_at(pointer, name);
  return desc == nullptr ? Json() : nested_desc(*desc, name);
}

// The eight bytes of a DML_SCALAR_UNION, the lowest first.
Json Describer::scalar_of_bytes(const Value& bytes, const std::string& type,
                                const std::string& name) {
  std::uint64_t bits = 0;
  if (bytes.kind != Kind::list || bytes.entries.size() > 8) return refuse(bytes, name), Json();
  for (std::size_t i = 0; i < bytes.entries.size(); ++i) {
    const auto byte = number(bytes.entries[i].value, name);
    if (!byte) return Json();
    bits |= static_cast<std::uint64_t>(byte->integer & 0xFF) << (8 * i);
  }
  const auto low = static_cast<std::uint32_t>(bits);
  if (type == "FLOAT32") {
    float value = 0;
    std::memcpy(&value, &low, sizeof value);
    return json_of(real_number(value, Number::Type::single));
  }
  if (type == "FLOAT64") {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return json_of(real_number(value));
  }
  const std::string member_name = member_for(type);
  const std::string type_name = upper_case(member_name);
  const auto value =
      converted(integer_number(static_cast<std::int64_t>(bits), Number::Type::uint64), type_name);
  return is_written_as_bits(type) ? Json{{member_name, json_of(*value)}} : json_of(*value);
}

Json Describer::scalar(const Value& desc, const Value& both, const FieldSpec& field,
                       const std::string& name) {
  if (both.kind == Kind::number) return json_of(both.number);  // zero: the struct leaves it out
  if (both.kind != Kind::list) return refuse(both, name), Json();
  refuse_unknown_members(both, names_of(*members_of("DML_SCALAR_UNION")), "DML_SCALAR_UNION", name);
  const Value type_value = member(desc, field.type_field);
  const std::size_t before = findings_.size();
  Json type_name = enumeration(type_value, "DML_TENSOR_DATA_TYPE", field.type_field);
  findings_.resize(before);  // they are the type's own
  if (type_name.is_null()) return Json();
  const std::string type = without(type_name.get<std::string>(), "DML_TENSOR_DATA_TYPE_");
  if (both.entries.empty()) return both.is_zeroed ? Json(0) : (refuse(both, name), Json());
  const Entry* entry = &both.entries.front();
  if (both.entries.size() > 1) {
    entry = both.find(member_for(type));
    // A debugger shows the same bytes as every member; C++ that sets several is unclear.
    if (both.type == "DML_SCALAR_UNION" || entry == nullptr) {
      refuse(both.entries[1].value.written, name, "several members of the union are set",
             "set only " + member_for(type));
      return Json();
    }
  }
  if (entry->name == "Bytes") return scalar_of_bytes(entry->value, type, name);
  const auto value = number(entry->value, name + "." + entry->name);
  if (!value) return Json();
  const bool is_plain = entry->name == member_for(type) && !is_written_as_bits(type);
  return is_plain ? json_of(*value) : Json{{entry->name, json_of(*value)}};
}

Json Describer::field(const Value& desc, const FieldSpec& field, const std::string& name) {
  const Value value = member(desc, field.name);
  remember_place(name, value.written);
  const Value count = field.count_field.empty() ? Value{} : member(desc, field.count_field);
  const auto elements = [&](const ReadElement& read) {
    return array(value, count, field.count_field, name, read);
  };
  const auto integers = [&](const Value& v, const std::string& n) { return integer(v, n); };
  switch (field.kind) {
    case FieldKind::input_tensor:
    case FieldKind::output_tensor:
      if (!is_null(value)) return tensor(value, name);
      if (!field.optional)
        warn_of_absence(value, name + " is null", "point it to a DML_TENSOR_DESC");
      return {};
    case FieldKind::input_tensor_array:
    case FieldKind::output_tensor_array:
      if (is_null(value) && is_null(count)) return {};
      return elements([&](const Value& v, const std::string& n) { return tensor_desc(v, n); });
    case FieldKind::enumeration:
      return enumeration(value, field.enum_name, name);
    case FieldKind::uint:
    case FieldKind::int32:
      return integer(value, name);
    case FieldKind::float32:
      return real(value, name);
    case FieldKind::boolean: {
      const auto found = number(value, name);
      return found ? Json(found->as_double() != 0) : Json();
    }
    case FieldKind::uint_array:
    case FieldKind::int_array:
      if (field.optional && is_null(value)) return {};
      return elements(integers);
    case FieldKind::float_array:
      if (field.optional && is_null(value)) return {};
      return elements([&](const Value& v, const std::string& n) { return real(v, n); });
    case FieldKind::scalar_union:
      return scalar(desc, value, field, name);
    case FieldKind::size_2d:
      return pair(value, "Width", "Height", false, name);
    case FieldKind::scale_bias: {
      if (is_null(value)) return {};
      const Value* both = struct_at(value, name);
      return both == nullptr ? Json() : pair(*both, "Scale", "Bias", true, name);
    }
    case FieldKind::fused_activation:
      return is_null(value) ? Json() : nested(value, name);
    case FieldKind::activation_array:
      if (is_null(value) && is_null(count)) return {};
      return elements([&](const Value& v, const std::string& n) { return nested_desc(v, n); });
  }
  return {};
}

Json Describer::operator_fields(const Value& desc, const OperatorSpec& spec,
                                const std::string& prefix) {
  refuse_unknown_members(desc, spec.field_names(), struct_name(spec), prefix);
  Json json = Json::object();
  for (const FieldSpec& each : spec.fields) {
    // An activation that is part of another operator has no tensors, whatever its struct says.
    if (!prefix.empty() && each.is_tensor()) {
      const Value tensor_value = member(desc, each.name);
      if (tensor_value.kind != Kind::unset && !is_null(tensor_value))
        refuse(tensor_value.written, prefix + each.name, "a fused activation has no tensors",
               "write nullptr");
      continue;
    }
    Json value = field(desc, each, prefix + each.name);
    if (!value.is_null()) json[each.name] = std::move(value);
  }
  return json;
}

namespace {

// The struct of the operator with the most similar name, "" without one. What all structs share
// does not count, whether or not it is misspelt.
std::string nearest_struct(std::string_view name) {
  name = name.substr(0, name.rfind(name.find("_OPER") != name.npos ? "_OPER" : "_DESC"));
  const std::string nearest = nearest_name(without(name, "DML_"), specified_operators());
  return nearest.empty() ? "" : "DML_" + nearest + "_OPERATOR_DESC";
}

// A word that looks like an operator's struct. Of the names in DirectML.h that end like this, only
// DML_OPERATOR_DESC and those of tensors are something else.
bool is_unknown_struct(const Token& token) {
  if (!token.is_word() || !token.text.starts_with("DML_") || !token.text.ends_with("_DESC"))
    return false;
  return token.text != "DML_OPERATOR_DESC" && !token.text.ends_with("TENSOR_DESC") &&
         !token.text.starts_with("DML_GRAPH_") && !token.text.ends_with("_GRAPH_EDGE_DESC") &&
         !token.text.ends_with("BINDING_DESC") && operator_of(token.text) == nullptr;
}

// The variables that a value points to, directly.
void add_targets(const Value& value, std::vector<std::size_t>& targets) {
  if (value.kind == Kind::pointer) targets.push_back(value.target.variable);
  for (const Entry& entry : value.entries) add_targets(entry.value, targets);
}

}  // namespace

std::set<std::size_t> Describer::used_by(std::size_t user) const {
  std::set<std::size_t> used;
  std::vector<std::size_t> open;
  add_targets(memory_.variables()[user].value, open);
  while (!open.empty()) {
    const std::size_t next = open.back();
    open.pop_back();
    if (used.insert(next).second) add_targets(memory_.variables()[next].value, open);
  }
  used.erase(user);
  return used;
}

// The text may have what is nearly such a variable.
Diagnostic Describer::no_operator() const {
  const std::vector<Token> tokens = tokens_of(text_);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_unknown_struct(tokens[i])) {
      const std::string name(tokens[i].text);
      Diagnostic unknown = at(tokens[i].span, name + " is not an operator's struct in DirectML.h");
      const std::string nearest = nearest_struct(name);
      unknown.suggestion =
          nearest.empty() ? "`dmlop ops` lists the operators" : "did you mean \"" + nearest + "\"?";
      return unknown;
    }
    if (tokens[i].text == "dml" && i + 1 < tokens.size() && tokens[i + 1].text == "::") {
      Diagnostic extension = at(tokens[i].span, "DirectMLX (dml::) is not read");
      extension.suggestion =
          "stop in DirectMLX.h where it calls CreateOperator, and paste what the debugger shows "
          "of the DML_..._OPERATOR_DESC; or give the fields with dmlop check NAME --set";
      return extension;
    }
  }
  Diagnostic diagnostic{.file = file_};
  diagnostic.message = "the text has no variable of a type DML_..._OPERATOR_DESC";
  diagnostic.suggestion =
      "paste its declaration, too: DML_PADDING_OPERATOR_DESC desc = {...}; and before a "
      "debugger's text write the same type and =";
  return diagnostic;
}

// The variables of operators that no other one uses.
std::vector<std::size_t> Describer::roots() const {
  constexpr std::size_t candidates_max = 32;
  const auto& variables = memory_.variables();
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < variables.size() && candidates.size() < candidates_max; ++i) {
    const Variable& variable = variables[i];
    if (operator_of(variable.type) != nullptr && !variable.is_array && !variable.is_superseded)
      candidates.push_back(i);
  }
  std::set<std::size_t> used;
  for (const std::size_t candidate : candidates) used.merge(used_by(candidate));
  std::erase_if(candidates, [&](std::size_t i) { return variables[i].refers || used.contains(i); });
  return candidates;
}

// Calls of one function may describe the same operator several times.
void Describer::keep_different(std::vector<std::size_t>& roots) const {
  std::set<std::pair<std::size_t, std::string>> known;
  std::erase_if(roots, [&](std::size_t i) {
    const Variable& variable = memory_.variables()[i];
    Diagnostics findings, warnings;
    Describer describer(file_, text_, memory_, findings, warnings);
    const std::string json = describer.described(variable).dump();
    return findings.empty() && !known.emplace(variable.declared.begin, json).second;
  });
}

void Describer::refuse_several(const std::vector<std::size_t>& roots) {
  const auto& variables = memory_.variables();
  std::vector<std::string> names;
  for (const std::size_t i : roots)
    names.push_back(variables[i].type + " " + printable(variables[i].name) + " in line " +
                    std::to_string(position_of(text_, variables[i].declared.begin).line));
  const bool is_of_calls = std::ranges::all_of(roots, [&](std::size_t i) {
    return variables[i].declared.begin == variables[roots[0]].declared.begin;
  });
  Diagnostic diagnostic =
      at(variables[roots[1]].declared,
         is_of_calls ? "calls make different operators of " + names.front()
                     : "the text describes several operators: " + names_of_list(names));
  const bool is_conditional =
      std::ranges::any_of(roots, [&](std::size_t i) { return variables[i].conditions > 0; });
  if (is_conditional)
    diagnostic.message += "; an if, and an #if that the text does not decide, may go either way";
  diagnostic.suggestion = is_of_calls ? "leave the call of one of them"
                                      : "leave one of them, with the variables that it uses";
  findings_.push_back(std::move(diagnostic));
}

const Variable* Describer::root() {
  std::vector<std::size_t> found = roots();
  if (found.size() > 1) keep_different(found);
  if (found.size() == 1) return &memory_.variables()[found[0]];
  if (!found.empty()) return refuse_several(found), nullptr;
  for (const Token& token : tokens_of(text_)) {
    if (!token.is_word() || operator_of(token.text) == nullptr) continue;
    Diagnostic unread = at(
        token.span, std::string(token.text) + " stands here, and the code around it is not read");
    unread.suggestion = "paste the variable and the statements that fill it alone";
    findings_.push_back(std::move(unread));
    return nullptr;
  }
  findings_.push_back(no_operator());
  return nullptr;
}

// A DML_OPERATOR_DESC of the variable says the operator once more.
void Describer::check_type_of(const Variable& root, const OperatorSpec& spec) {
  for (const Variable& variable : memory_.variables()) {
    if (variable.type != "DML_OPERATOR_DESC") continue;
    const Entry* desc = variable.value.find("Desc");
    const Entry* type = variable.value.find("Type");
    if (desc == nullptr || type == nullptr || desc->value.kind != Kind::pointer) continue;
    if (&memory_.variables()[desc->value.target.variable] != &root) continue;
    const bool is_same = type->value.kind != Kind::word ||
                         find_spec(without(type->value.word, "DML_OPERATOR_")) == &spec;
    if (!is_same)
      refuse(type->value.written, variable.name + ".Type", "its Desc is a " + struct_name(spec),
             "write DML_OPERATOR_" + spec.name);
  }
}

Json Describer::described(const Variable& variable) {
  const OperatorSpec& spec = *operator_of(variable.type);
  call_ = variable.call;
  variable_ = variable.name;
  operator_ = spec.name;
  check_type_of(variable, spec);
  remember_place("", variable.declared);
  Json json{{"type", "DML_OPERATOR_" + spec.name}};
  if (variable.value.kind == Kind::list) {
    json["desc"] = operator_fields(variable.value, spec, "");
  } else {
    refuse(variable.value, variable.name);
  }
  return json;
}

Json Describer::describe() {
  const Variable* variable = root();
  return variable == nullptr ? Json() : described(*variable);
}

}  // namespace dmlop::cpp
