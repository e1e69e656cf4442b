#include "spec/facts.hpp"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "spec/embedded_specs.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

const Json& facts() {
  static const Json json = Json::parse(embedded_spec("directml"));
  return json;
}

FeatureLevel level_of(const Json& json) {
  const auto level = feature_level_named(json.get_ref<const std::string&>());
  if (!level) throw std::logic_error("specs: unknown feature level " + json.dump());
  return *level;
}

const Json* operator_row(std::string_view name) {
  for (const Json& row : facts().at("operators")) {
    if (row.at(0).get_ref<const std::string&>() == name) return &row;
  }
  return nullptr;
}

std::vector<EnumValue> data_type_values() {
  std::vector<EnumValue> values;
  for (const DataTypeInfo& type : data_types) {
    const FeatureLevel level = type.bits == 4 ? FeatureLevel{6, 3} : FeatureLevel{1, 0};
    values.push_back({std::string(type.name), static_cast<std::int64_t>(type.type), level});
  }
  return values;
}

}  // namespace

const std::vector<std::string>& known_operators() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Json& row : facts().at("operators")) list.push_back(row.at(0));
    return list;
  }();
  return names;
}

std::optional<FeatureLevel> operator_introduced(std::string_view name) {
  const Json* row = operator_row(name);
  return row != nullptr ? std::optional(level_of(row->at(2))) : std::nullopt;
}

std::optional<std::int64_t> operator_value(std::string_view name) {
  const Json* row = operator_row(name);
  return row != nullptr ? std::optional(row->at(1).get<std::int64_t>()) : std::nullopt;
}

std::string_view without_alias(std::string_view name) {
  const auto& aliases = facts().at("aliases");
  const auto found = aliases.find(std::string(name));
  return found == aliases.end() ? name : std::string_view(found->get_ref<const std::string&>());
}

std::vector<std::string> aliases_of(std::string_view name) {
  std::vector<std::string> list;
  for (const auto& [alias, meant] : facts().at("aliases").items()) {
    if (meant.get_ref<const std::string&>() == name) list.push_back(alias);
  }
  return list;
}

const std::vector<EnumValue>& enum_values(std::string_view enum_name) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<EnumValue>, std::less<>> parsed;
  const std::scoped_lock lock(mutex);
  if (const auto found = parsed.find(enum_name); found != parsed.end()) return found->second;
  std::vector<EnumValue> values;
  if (enum_name == "DML_TENSOR_DATA_TYPE") {
    values = data_type_values();
  } else {
    const auto& enums = facts().at("enums");
    const auto rows = enums.find(std::string(enum_name));
    if (rows == enums.end())
      throw std::logic_error("specs: DirectML.h has no " + std::string(enum_name));
    for (const Json& row : *rows) values.push_back({row.at(0), row.at(1), level_of(row.at(2))});
  }
  return parsed.emplace(enum_name, std::move(values)).first->second;
}

const std::vector<FusedActivation>& fused_activations() {
  static const std::vector<FusedActivation> list = [] {
    std::vector<FusedActivation> rows;
    for (const auto& [name, row] : facts().at("fused_activations").items())
      rows.push_back(
          {name, level_of(row.at("from")), row.value("into", std::vector<std::string>())});
    return rows;
  }();
  return list;
}

const std::vector<Family>& families() {
  static const std::vector<Family> list = [] {
    std::vector<Family> rows;
    for (const auto& [name, title] : facts().at("families").items()) rows.push_back({name, title});
    return rows;
  }();
  return list;
}

}  // namespace dmlop
