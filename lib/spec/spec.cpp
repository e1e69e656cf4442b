#include "spec/spec.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/per_process.hpp"
#include "base/text.hpp"
#include "spec/embedded_specs.hpp"
#include "spec/spec_reader.hpp"

namespace dmlop {

std::string FieldSpec::optional_words() const {
  constexpr std::string_view absent = "!present(";
  const std::string condition = optional_when->text();
  if (!condition.starts_with(absent)) return condition;
  return condition.substr(absent.size(), condition.size() - absent.size() - 1) + " is left out";
}

std::string FieldSpec::layout_words() const {
  constexpr std::string_view sign = ": ";
  const std::size_t colon = text.find(std::string(sign) + "{");
  return colon == std::string::npos ? "" : name + " is " + text.substr(colon + sign.size());
}

bool SupportRow::has(DataType type) const {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool SupportRow::covers(std::string_view tensor) const {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
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

bool OperatorSpec::is_count(std::string_view field) const {
  const auto counts = [&](const FieldSpec& other) { return other.count_field == field; };
  return std::any_of(fields.begin(), fields.end(), counts);
}

Tolerance OperatorSpec::default_tolerance(DataType type) const {
  const auto found = tolerances.find(type);
  if (found != tolerances.end()) return found->second;
  return {.origin = "default of " + name};
}

const std::vector<std::string>& specified_operators() {
  return made_once([] {
    std::vector<std::string> list;
    for (const EmbeddedSpec& spec : embedded_specs())
      list.push_back(upper_case(std::string(spec.name)));
    std::sort(list.begin(), list.end());
    return list;
  });
}

const OperatorSpec* find_spec(std::string_view name) {
  struct Parsed {
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<const OperatorSpec>, std::less<>> specs;
  };
  static constinit KeptPerProcess<Parsed> of_process;
  auto& [mutex, parsed] = of_process.get();
  const std::scoped_lock lock(mutex);
  name = without_alias(name);
  if (const auto found = parsed.find(name); found != parsed.end()) return found->second.get();
  // The file is named after the operator, in lower case.
  const EmbeddedSpec* file = find_embedded_spec(lower_case(std::string(name)));
  if (file == nullptr || upper_case(std::string(file->name)) != name) return nullptr;
  auto spec = std::make_unique<const OperatorSpec>(read_spec(*file));
  return parsed.emplace(name, std::move(spec)).first->second.get();
}

std::string_view family_of(std::string_view name) {
  const EmbeddedSpec* file = find_embedded_spec(lower_case(std::string(name)));
  return file != nullptr ? file->family : std::string_view();
}

std::string example_value(const OperatorSpec& spec, std::string_view field) {
  using Json = nlohmann::ordered_json;
  Json value = Json::parse(spec.example).value(std::string(field), Json());
  const FieldSpec* known = spec.find_field(field);
  const bool is_type = known != nullptr && known->kind == FieldKind::enumeration &&
                       known->enum_name == "DML_TENSOR_DATA_TYPE";
  if (value.is_null() && is_type) value = "FLOAT32";  // examples leave it to inference
  const std::string text = value.dump();
  std::string spaced;
  bool in_string = false;
  for (const char c : text) {
    spaced += c;
    if (c == '"') in_string = !in_string;
    if (!in_string && (c == ',' || c == ':')) spaced += ' ';
  }
  return spaced;
}

}  // namespace dmlop
