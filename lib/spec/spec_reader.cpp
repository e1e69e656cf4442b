#include "spec/spec_reader.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

struct KindName {
  FieldKind kind;
  std::string_view name;
};

constexpr std::array kind_names{
    KindName{FieldKind::input_tensor, "input_tensor"},
    KindName{FieldKind::output_tensor, "output_tensor"},
    KindName{FieldKind::input_tensor_array, "input_tensor_array"},
    KindName{FieldKind::output_tensor_array, "output_tensor_array"},
    KindName{FieldKind::enumeration, "enum"},
    KindName{FieldKind::uint, "uint"},
    KindName{FieldKind::int32, "int"},
    KindName{FieldKind::float32, "float"},
    KindName{FieldKind::boolean, "bool"},
    KindName{FieldKind::uint_array, "uint_array"},
    KindName{FieldKind::int_array, "int_array"},
    KindName{FieldKind::float_array, "float_array"},
    KindName{FieldKind::scalar_union, "scalar_union"},
    KindName{FieldKind::size_2d, "size_2d"},
    KindName{FieldKind::scale_bias, "scale_bias"},
    KindName{FieldKind::fused_activation, "fused_activation"},
    KindName{FieldKind::activation_array, "activation_array"},
};

// The attributes that formulas may name.
std::set<std::string> attributes_of(const FieldSpec& field) {
  if (field.is_tensor()) return {"DataType", "DimensionCount", "Sizes"};
  if (field.is_nested_operator()) return {"Type"};
  if (field.kind == FieldKind::size_2d) return {"Width", "Height"};
  if (field.kind == FieldKind::scale_bias) return {"Scale", "Bias"};
  return {};
}

class SpecReader {
 public:
  explicit SpecReader(const EmbeddedSpec& file) : file_(file) {}

  OperatorSpec read() {
    const Json json = Json::parse(file_.text);
    allow_only(json,
               {"name", "summary", "source", "in_place", "fields", "rules", "support",
                "support_directml", "tolerances", "example"},
               "an operator");
    spec_.name = json.at("name").get<std::string>().substr(operator_prefix.size());
    spec_.family = file_.family;
    spec_.summary = json.at("summary");
    spec_.in_place = json.value("in_place", false);
    spec_.source = json.at("source");
    const auto introduced = operator_introduced(spec_.name);
    if (!introduced) fail(spec_.name + " is not an operator of DirectML.h");
    spec_.introduced = *introduced;
    for (const Json& field : json.at("fields")) read_field(field);
    check_fields();
    for (std::size_t i = 0; i < spec_.fields.size(); ++i) {
      const Json& field = json.at("fields")[i];
      if (field.contains("optional_when"))
        spec_.fields[i].optional_when = formula(field.at("optional_when"));
    }
    for (const Json& rule : json.at("rules")) spec_.rules.push_back(read_rule(rule));
    for (const Json& row : json.at("support")) read_support(row, spec_.support);
    for (const Json& row : json.value("support_directml", Json::array()))
      read_support(row, spec_.support_directml);
    read_tolerances(json.value("tolerances", Json::object()));
    spec_.example = json.at("example").dump(2);
    return std::move(spec_);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::logic_error("specs/" + std::string(file_.family) + "/" + std::string(file_.name) +
                           ".json: " + what);
  }

 private:
  void allow_only(const Json& object, const std::set<std::string>& names,
                  const std::string& where) const {
    for (const auto& [name, value] : object.items()) {
      if (!names.contains(name)) fail(where + " has an unknown member " + name);
    }
  }

  FieldKind kind_named(const std::string& name) const {
    for (const auto& [kind, kind_name] : kind_names) {
      if (kind_name == name) return kind;
    }
    fail("unknown field kind " + name);
  }

  void read_field(const Json& json) {
    allow_only(json,
               {"name", "kind", "enum", "count", "type_field", "optional", "optional_when", "text",
                "usual_dimensions"},
               "a field");
    FieldSpec field{.name = json.at("name"),
                    .kind = kind_named(json.at("kind")),
                    .enum_name = json.value("enum", ""),
                    .count_field = json.value("count", ""),
                    .type_field = json.value("type_field", ""),
                    .optional = json.value("optional", false),
                    .optional_when = std::nullopt,
                    .text = json.at("text")};
    if (json.contains("usual_dimensions")) field.usual_dimensions = json.at("usual_dimensions");
    if (field.usual_dimensions && field.kind != FieldKind::output_tensor)
      fail(field.name + " has usual_dimensions, which are for outputs");
    if (!field.enum_name.empty()) enum_values(field.enum_name);
    if (field.kind == FieldKind::scale_bias || field.kind == FieldKind::fused_activation)
      field.optional = true;
    spec_.fields.push_back(std::move(field));
  }

  void check_fields() const {
    for (const FieldSpec& field : spec_.fields) {
      for (const std::string& other : {field.count_field, field.type_field}) {
        if (!other.empty() && spec_.find_field(other) == nullptr) fail("no field " + other);
      }
      if ((field.kind == FieldKind::enumeration) != !field.enum_name.empty())
        fail(field.name + " needs the name of its enumeration, and no other field has one");
      if ((field.kind == FieldKind::scalar_union) != !field.type_field.empty())
        fail(field.name + " needs a type_field, and no other field has one");
    }
  }

  Evidence evidence_of(const Json& json) const {
    const std::string name = json.value("evidence", "none");
    for (const Evidence evidence : {Evidence::none, Evidence::verdict, Evidence::results}) {
      if (name == name_of(evidence)) return evidence;
    }
    fail("unknown evidence " + name);
  }

  Rule read_rule(const Json& json) const {
    if (json.is_string()) return {formula(json)};
    allow_only(json, {"rule", "text", "by", "difference", "evidence"}, "a rule");
    Rule rule{.formula = formula(json.at("rule")),
              .text = json.value("text", ""),
              .difference = json.value("difference", ""),
              .evidence = evidence_of(json)};
    const std::string by = json.value("by", "");
    if (by == "page") rule.by = Authority::page;
    if (by == "directml") rule.by = Authority::directml;
    if (!by.empty() && rule.by == Authority::both) fail("unknown authority " + by);
    if ((rule.by == Authority::page) == rule.difference.empty())
      fail("a rule by the page alone names its difference, and no other rule does");
    return rule;
  }

  void read_support(const Json& json, std::vector<SupportRow>& rows) const {
    allow_only(json, {"from", "tensors", "dimensions", "types", "when", "evidence"},
               "a support row");
    const auto from = feature_level_named(json.at("from").get<std::string>());
    if (!from) fail("unknown feature level " + json.at("from").dump());
    SupportRow row{.from = *from,
                   .tensors = json.at("tensors"),
                   .min_dimensions = json.at("dimensions").at(0),
                   .max_dimensions = json.at("dimensions").at(1),
                   .types = {}};
    for (const std::string& tensor : row.tensors) {
      const FieldSpec* field = spec_.find_field(tensor);
      if (field == nullptr || !field->is_tensor()) fail("no tensor is called " + tensor);
    }
    for (const Json& type : json.at("types")) {
      const auto named = data_type_named(type.get<std::string>());
      if (!named) fail("unknown type " + type.dump());
      row.types.push_back(*named);
    }
    if (json.contains("when")) row.when = formula(json.at("when"));
    row.evidence = evidence_of(json);
    if (!rows.empty() && rows.back().from < row.from)
      fail("support rows must start with the newest level");
    rows.push_back(std::move(row));
  }

  void read_tolerances(const Json& json) {
    for (const auto& [name, values] : json.items()) {
      if (name == "reason") {
        spec_.tolerance_reason = values;
        continue;
      }
      if (name == "terms") {
        spec_.tolerance_terms = formula(values);
        continue;
      }
      const auto type = data_type_named(name);
      if (!type) fail("unknown type " + name);
      allow_only(values, {"rtol", "atol", "ulp"}, "a tolerance");
      Tolerance tolerance{.origin = "default of " + spec_.name + " for " + name};
      if (values.contains("rtol")) tolerance.rtol = values.at("rtol");
      if (values.contains("atol")) tolerance.atol = values.at("atol");
      if (values.contains("ulp")) tolerance.ulp = values.at("ulp");
      spec_.tolerances.emplace(*type, std::move(tolerance));
    }
  }

  Formula formula(const std::string& text) const {
    Formula parsed =
        Formula::parse(text, [this](std::string_view name) { return constant_named(name); });
    for (const Reference& reference : parsed.references()) check_reference(reference, text);
    return parsed;
  }

  void check_reference(const Reference& reference, const std::string& text) const {
    const FieldSpec* field = spec_.find_field(reference.field);
    if (field == nullptr) fail("rule \"" + text + "\": no field " + reference.field);
    if (!reference.attribute.empty() && !attributes_of(*field).contains(reference.attribute))
      fail("rule \"" + text + "\": " + reference.field + " has no " + reference.attribute);
  }

  std::optional<std::int64_t> constant_named(std::string_view name) const {
    for (const FieldSpec& field : spec_.fields) {
      if (field.name == name) return std::nullopt;
      if (field.kind != FieldKind::enumeration) continue;
      for (const EnumValue& value : enum_values(field.enum_name)) {
        if (value.name == name) return value.value;
      }
    }
    if (const auto type = data_type_named(name)) return static_cast<std::int64_t>(*type);
    return operator_value(name);
  }

  const EmbeddedSpec& file_;
  OperatorSpec spec_;
};

}  // namespace

std::string_view name_of(FieldKind kind) {
  for (const auto& [candidate, name] : kind_names) {
    if (candidate == kind) return name;
  }
  return "";
}

OperatorSpec read_spec(const EmbeddedSpec& file) {
  SpecReader reader(file);
  try {
    return reader.read();
  } catch (const nlohmann::json::exception& error) {
    reader.fail(error.what());
  } catch (const std::invalid_argument& error) {
    reader.fail(error.what());
  }
}

}  // namespace dmlop
