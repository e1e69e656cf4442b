#include "spec/spec.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "spec/embedded_specs.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view operator_prefix = "DML_OPERATOR_";

// A spec file that breaks its own format is a mistake of ours, found when the program is built.
[[noreturn]] void fail(const std::string& what) {
  throw std::logic_error("specs: " + what);
}

FeatureLevel level_of(const Json& json) {
  const auto level = feature_level_named(json.get<std::string>());
  if (!level) fail("unknown feature level " + json.dump());
  return *level;
}

void allow_only(const Json& object, const std::set<std::string>& names, const std::string& where) {
  for (const auto& [name, value] : object.items()) {
    if (!names.contains(name)) fail(where + " has an unknown member " + name);
  }
}

const Json& facts() {
  static const Json json = Json::parse(embedded_spec("directml"));
  return json;
}

FieldKind kind_named(const std::string& name) {
  static const std::map<std::string, FieldKind> kinds{{"input_tensor", FieldKind::input_tensor},
                                                      {"output_tensor", FieldKind::output_tensor},
                                                      {"enum", FieldKind::enumeration},
                                                      {"uint", FieldKind::uint},
                                                      {"float", FieldKind::float32},
                                                      {"uint_array", FieldKind::uint_array},
                                                      {"int_array", FieldKind::int_array}};
  const auto found = kinds.find(name);
  if (found == kinds.end()) fail("unknown field kind " + name);
  return found->second;
}

class SpecReader {
 public:
  explicit SpecReader(const Json& json) : json_(json) {}

  OperatorSpec read() {
    allow_only(json_,
               {"name", "summary", "source", "in_place", "fields", "rules", "support", "tolerances",
                "example"},
               "an operator");
    spec_.name = json_.at("name").get<std::string>().substr(operator_prefix.size());
    spec_.summary = json_.at("summary");
    spec_.in_place = json_.value("in_place", false);
    spec_.source = json_.at("source");
    const auto introduced = operator_introduced(spec_.name);
    if (!introduced) fail(spec_.name + " is not an operator of DirectML.h");
    spec_.introduced = *introduced;
    for (const Json& field : json_.at("fields")) read_field(field);
    for (std::size_t i = 0; i < spec_.fields.size(); ++i) {
      const Json& field = json_.at("fields")[i];
      if (field.contains("optional_when")) {
        spec_.fields[i].optional_when = formula(field.at("optional_when").get<std::string>());
      }
    }
    for (const Json& rule : json_.at("rules")) spec_.rules.push_back(formula(rule));
    for (const Json& row : json_.at("support")) read_support(row);
    read_tolerances(json_.value("tolerances", Json::object()));
    spec_.example = json_.at("example").dump(2);
    return std::move(spec_);
  }

 private:
  void read_field(const Json& json) {
    allow_only(json, {"name", "kind", "enum", "count", "optional_when", "text"}, "a field");
    FieldSpec field{.name = json.at("name"),
                    .kind = kind_named(json.at("kind")),
                    .enum_name = json.value("enum", ""),
                    .count_field = json.value("count", ""),
                    .optional_when = std::nullopt,
                    .text = json.at("text")};
    if (!field.enum_name.empty()) enum_values(field.enum_name);
    spec_.fields.push_back(std::move(field));
  }

  void read_support(const Json& json) {
    allow_only(json, {"from", "tensors", "dimensions", "types"}, "a support row");
    SupportRow row{.from = level_of(json.at("from")),
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
    if (!spec_.support.empty() && spec_.support.back().from < row.from) {
      fail("support rows of " + spec_.name + " must start with the newest level");
    }
    spec_.support.push_back(std::move(row));
  }

  void read_tolerances(const Json& json) {
    for (const auto& [name, values] : json.items()) {
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
        Formula::parse(text, [this](std::string_view name) { return enum_value_named(name); });
    struct NoScope : Scope {
      std::optional<std::int64_t> value(const Reference&,
                                        std::optional<std::size_t>) const override {
        return std::nullopt;
      }
      std::optional<std::size_t> length(const Reference&) const override { return std::nullopt; }
      std::string show(const Reference&, std::int64_t) const override { return ""; }
    };
    for (const auto& [reference, subscript] : parsed.references(NoScope{}, 0)) {
      check_reference(reference, text);
    }
    return parsed;
  }

  void check_reference(const Reference& reference, const std::string& text) const {
    const FieldSpec* field = spec_.find_field(reference.field);
    if (field == nullptr) fail("rule \"" + text + "\": no field " + reference.field);
    const bool known_attribute = reference.attribute == "DataType" ||
                                 reference.attribute == "DimensionCount" ||
                                 reference.attribute == "Sizes";
    if (field->is_tensor() ? !known_attribute : !reference.attribute.empty()) {
      fail("rule \"" + text + "\": " + reference.field + " has no " + reference.attribute);
    }
  }

  std::optional<std::int64_t> enum_value_named(std::string_view name) const {
    for (const FieldSpec& field : spec_.fields) {
      if (field.kind != FieldKind::enumeration) continue;
      for (const EnumValue& value : enum_values(field.enum_name)) {
        if (value.name == name) return value.value;
      }
    }
    return std::nullopt;
  }

  const Json& json_;
  OperatorSpec spec_;
};

// "PADDING" -> "padding", the base name of its files.
std::string base_name(std::string_view name) {
  std::string base(name);
  std::transform(base.begin(), base.end(), base.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return base;
}

}  // namespace

bool SupportRow::has(DataType type) const {
  return std::find(types.begin(), types.end(), type) != types.end();
}

const FieldSpec* OperatorSpec::find_field(std::string_view field) const {
  for (const FieldSpec& candidate : fields) {
    if (candidate.name == field) return &candidate;
  }
  return nullptr;
}

std::vector<std::string> OperatorSpec::field_names() const {
  std::vector<std::string> names;
  for (const FieldSpec& field : fields) names.push_back(field.name);
  return names;
}

const SupportRow* OperatorSpec::support_at(std::string_view tensor, FeatureLevel level) const {
  for (const SupportRow& row : support) {
    const bool covers =
        std::find(row.tensors.begin(), row.tensors.end(), tensor) != row.tensors.end();
    if (covers && row.from <= level) return &row;
  }
  return nullptr;
}

Tolerance OperatorSpec::default_tolerance(DataType type) const {
  const auto found = tolerances.find(type);
  if (found != tolerances.end()) return found->second;
  return {.origin = "default of " + name};
}

const std::vector<std::string>& specified_operators() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const EmbeddedSpec& spec : embedded_specs()) {
      if (spec.name == "directml") continue;
      list.emplace_back(spec.name);
      std::transform(list.back().begin(), list.back().end(), list.back().begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    }
    std::sort(list.begin(), list.end());
    return list;
  }();
  return names;
}

const OperatorSpec* find_spec(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const OperatorSpec>, std::less<>> parsed;
  const std::scoped_lock lock(mutex);
  if (const auto found = parsed.find(name); found != parsed.end()) return found->second.get();
  const auto& names = specified_operators();
  if (std::find(names.begin(), names.end(), name) == names.end()) return nullptr;
  const std::string_view text = embedded_spec(base_name(name));
  try {
    auto spec = std::make_unique<const OperatorSpec>(SpecReader(Json::parse(text)).read());
    return parsed.emplace(name, std::move(spec)).first->second.get();
  } catch (const nlohmann::json::exception& error) {
    fail(std::string(name) + ": " + error.what());
  }
}

std::string example_value(const OperatorSpec& spec, std::string_view field) {
  const std::string text = Json::parse(spec.example).value(std::string(field), Json()).dump();
  std::string spaced;
  bool in_string = false;
  for (const char c : text) {
    spaced += c;
    if (c == '"') in_string = !in_string;
    if (!in_string && (c == ',' || c == ':')) spaced += ' ';
  }
  return spaced;
}

std::string to_text(FeatureLevel level) {
  return std::to_string(level.major) + "_" + std::to_string(level.minor);
}

std::optional<FeatureLevel> feature_level_named(std::string_view name) {
  constexpr std::string_view prefix = "DML_FEATURE_LEVEL_";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (name.size() != 3 || (name[1] != '_' && name[1] != '.')) return std::nullopt;
  const FeatureLevel level{name[0] - '0', name[2] - '0'};
  static const std::set<FeatureLevel> levels{{1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1},
                                             {4, 0}, {4, 1}, {5, 0}, {5, 1}, {5, 2},
                                             {6, 0}, {6, 1}, {6, 2}, {6, 3}, {6, 4}};
  return levels.contains(level) ? std::optional(level) : std::nullopt;
}

const std::vector<std::string>& known_operators() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Json& row : facts().at("operators")) list.push_back(row.at(0));
    return list;
  }();
  return names;
}

std::optional<FeatureLevel> operator_introduced(std::string_view name) {
  for (const Json& row : facts().at("operators")) {
    if (row.at(0).get_ref<const std::string&>() == name) return level_of(row.at(2));
  }
  return std::nullopt;
}

const std::vector<EnumValue>& enum_values(std::string_view enum_name) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<EnumValue>, std::less<>> parsed;
  const std::scoped_lock lock(mutex);
  if (const auto found = parsed.find(enum_name); found != parsed.end()) return found->second;
  std::vector<EnumValue> values;
  for (const Json& row : facts().at("enums").at(std::string(enum_name))) {
    values.push_back({row.at(0), row.at(1), level_of(row.at(2))});
  }
  return parsed.emplace(enum_name, std::move(values)).first->second;
}

}  // namespace dmlop
