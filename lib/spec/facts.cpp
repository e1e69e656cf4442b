#include "spec/facts.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>

#include "base/per_process.hpp"
#include "base/text.hpp"
#include "spec/embedded_facts.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

/// The row of this name.
std::optional<Json> find_row(std::string_view section, std::string_view name) {
  for (const EmbeddedFact& fact : embedded_facts()) {
    if (fact.name == name && fact.section == section) return Json::parse(fact.text);
  }
  return std::nullopt;
}

FeatureLevel level_of(const Json& json) {
  const auto level = feature_level_named(json.get_ref<const std::string&>());
  if (!level) throw std::logic_error("specs: unknown feature level " + json.dump());
  return *level;
}

/// Each alias with the operator that it stands for.
const std::vector<std::pair<std::string, std::string>>& aliases() {
  return made_once([] {
    std::vector<std::pair<std::string, std::string>> rows;
    for_each_row("aliases", [&](const Json& row) { rows.emplace_back(row.at(0), row.at(1)); });
    return rows;
  });
}

std::vector<EnumValue> data_type_values() {
  std::vector<EnumValue> values;
  for (const DataTypeInfo& type : data_types) {
    const FeatureLevel level = has_4_bits(type.type) ? FeatureLevel{6, 3} : FeatureLevel{1, 0};
    values.push_back({std::string(type.name), static_cast<std::int64_t>(type.type), level});
  }
  return values;
}

}  // namespace

const std::vector<std::string>& known_operators() {
  return made_once([] {
    std::vector<std::string> list;
    for (const EmbeddedFact& fact : embedded_facts()) {
      if (fact.section == "operators") list.emplace_back(fact.name);
    }
    return list;
  });
}

std::optional<FeatureLevel> operator_introduced(std::string_view name) {
  const auto row = find_row("operators", name);
  return row ? std::optional(level_of(row->at(2))) : std::nullopt;
}

std::optional<std::int64_t> operator_value(std::string_view name) {
  const auto row = find_row("operators", name);
  return row ? std::optional(row->at(1).get<std::int64_t>()) : std::nullopt;
}

std::string_view without_alias(std::string_view name) {
  for (const auto& [alias, meant] : aliases()) {
    if (alias == name) return meant;
  }
  return name;
}

std::vector<std::string> aliases_of(std::string_view name) {
  std::vector<std::string> list;
  for (const auto& [alias, meant] : aliases()) {
    if (meant == name) list.push_back(alias);
  }
  return list;
}

const std::vector<EnumValue>& enum_values(std::string_view enum_name) {
  struct Parsed {
    std::mutex mutex;
    std::map<std::string, std::vector<EnumValue>, std::less<>> values;
  };
  static constinit KeptPerProcess<Parsed> of_process;
  auto& [mutex, parsed] = of_process.get();
  const std::scoped_lock lock(mutex);
  if (const auto found = parsed.find(enum_name); found != parsed.end()) return found->second;
  std::vector<EnumValue> values;
  if (enum_name == "DML_TENSOR_DATA_TYPE") {
    values = data_type_values();
  } else {
    const auto row = find_row("enums", enum_name);
    if (!row) throw std::logic_error("specs: DirectML.h has no " + std::string(enum_name));
    for (const Json& value : row->at(1))
      values.push_back({value.at(0), value.at(1), level_of(value.at(2))});
  }
  return parsed.emplace(enum_name, std::move(values)).first->second;
}

const std::vector<FusedActivation>& fused_activations() {
  return made_once([] {
    std::vector<FusedActivation> rows;
    for_each_row("fused_activations", [&](const Json& row) {
      rows.push_back({row.at(0), level_of(row.at(1)), {}});
      if (row.size() > 2) rows.back().into = row.at(2);
    });
    return rows;
  });
}

std::vector<FusedActivation> activations_fused_into(std::string_view operator_name) {
  std::vector<FusedActivation> fitting = fused_activations();
  std::erase_if(fitting, [&](const FusedActivation& activation) {
    const auto& into = activation.into;
    return !into.empty() && std::find(into.begin(), into.end(), operator_name) == into.end();
  });
  return fitting;
}

bool is_activation(std::string_view operator_name) {
  return operator_name.starts_with("ACTIVATION_") ||
         std::ranges::find(fused_activations(), operator_name, &FusedActivation::name) !=
             fused_activations().end();
}

const std::vector<Family>& families() {
  return made_once([] {
    std::vector<Family> rows;
    for_each_row("families", [&](const Json& row) {
      rows.push_back({row.at(0), row.at(1), row.at(2)});
    });
    return rows;
  });
}

std::string_view sample_of(std::string_view operator_name, std::string_view family) {
  const auto& samples = std::ranges::find(families(), family, &Family::name)->samples;
  const auto without_version = [](std::string_view name) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    return name;
  };
  const std::string name = lower_case(std::string(operator_name));
  const auto is_older_or_newer = [&](std::string_view sample) {
    return without_version(sample) == without_version(name);
  };
  auto found = std::ranges::find(samples, name);
  if (found == samples.end()) found = std::ranges::find_if(samples, is_older_or_newer);
  return found == samples.end() ? samples.front() : *found;
}

}  // namespace dmlop
