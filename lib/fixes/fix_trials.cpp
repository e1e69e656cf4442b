#include "fixes/fix_trials.hpp"

#include <algorithm>

#include "fixes/fix_ideas.hpp"
#include "ops/operator.hpp"
#include "spec/broadcast_check.hpp"
#include "spec/fitting_example.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

bool is_of_file(const Field& field) {
  return field.spec->is_input() && !field.is_absent() && field.written == nullptr;
}

}  // namespace

Json json_of(const json::Value& value) {
  switch (value.kind) {
    case json::Value::Kind::null:
      return nullptr;
    case json::Value::Kind::boolean:
      return value.boolean;
    case json::Value::Kind::string:
      return value.text;
    case json::Value::Kind::number:
      return Json::parse(value.text, nullptr, false);
    case json::Value::Kind::array:
    case json::Value::Kind::object:
      break;
  }
  Json json = value.kind == json::Value::Kind::array ? Json::array() : Json::object();
  for (const json::Value& item : value.items) json.push_back(json_of(item));
  for (const json::Member& member : value.members) {
    if (!member.is_left_out) json[member.name] = json_of(member.value);
  }
  return json;
}

bool apply(Json& json, const Replacement& replacement) {
  try {
    const Json::json_pointer pointer(replacement.pointer);
    if (replacement.value != "null") {
      json[pointer] = Json::parse(replacement.value);
    } else if (json.contains(pointer)) {
      json.at(pointer.parent_pointer()).erase(pointer.back());
    }
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

Fix combined(const Fix& begun, const Fix& idea, const Json& json) {
  Fix whole;
  const auto add = [&](const std::string& pointer) {
    const auto covers = [&](const Replacement& other) { return is_below(pointer, other.pointer); };
    if (std::any_of(whole.begin(), whole.end(), covers)) return;
    const Json::json_pointer place(pointer);
    whole.push_back({pointer, json.contains(place) ? text_of(json.at(place)) : "null"});
  };
  for (const Replacement& each : begun) add(each.pointer);
  for (const Replacement& each : idea) add(each.pointer);
  return whole;
}

std::optional<Diagnostics> FixTrials::check(const Json& json,
                                            const std::vector<OtherArray>& arrays) {
  if (++tries_ > tries_max) return std::nullopt;
  Diagnostics found;
  auto description = read(json, arrays, found);
  if (!description) return std::nullopt;
  if (arrays.empty() && !repeats_as_numpy(before_, *description)) return std::nullopt;
  check_description(*description, found);
  return found;
}

std::optional<Description> FixTrials::read(const Json& json, const std::vector<OtherArray>& arrays,
                                           Diagnostics& found) const {
  auto document = json::Document::parse(before_.file(), json.dump(), found);
  if (!document) return std::nullopt;
  auto shared = std::make_shared<const json::Document>(std::move(*document));
  std::shared_ptr<const json::Value> root(shared, &shared->root());
  auto description =
      read_description(std::move(shared), std::move(root), beside_, before_.feature_level, found);
  if (!description) return std::nullopt;
  description->judge = before_.judge;
  if (!take_files(*description, arrays)) return std::nullopt;
  return description;
}

// What the tensors' files said before the description was checked.
bool FixTrials::take_files(Description& description, const std::vector<OtherArray>& arrays) const {
  Description before = before_;
  for (const Field& known : before.fields) {
    Field& field = *description.find(known.spec->name);
    if (is_of_file(known) && field.is_absent() && field.written == nullptr)
      field.value = known.value;
  }
  for (const TensorUse& known : tensors_of(before)) {
    const auto other = std::ranges::find(arrays, known.name(), &OtherArray::tensor);
    if (other != arrays.end()) {
      known.desc->sizes = other->sizes;
      known.desc->strides.reset();
      if (other->data_type) known.desc->data_type = other->data_type;
    }
    TensorDesc* desc = description.find_tensor(known.spec->name, known.element);
    if (desc == nullptr) continue;
    if (other != arrays.end()) *desc = *known.desc;
    if (known.desc->is_broadcast) desc->is_broadcast = true;
    if (!known.desc->has_file) continue;
    desc->has_file = true;
    desc->file = known.desc->file;
    if (desc->sizes.empty()) desc->sizes = known.desc->sizes;
    if (!desc->data_type) desc->data_type = known.desc->data_type;
    if (!desc->strides) desc->strides = known.desc->strides;
    if (desc->sizes != known.desc->sizes || desc->data_type != known.desc->data_type) return false;
  }
  return true;
}

std::vector<Sizes> FixTrials::sizes_by_rules(const Json& json, const std::string& tensor) const {
  Diagnostics found;
  auto description = read(json, {}, found);
  if (!description) return {};
  for (const TensorUse& use : tensors_of(*description)) {
    if (use.name() == tensor) return dmlop::sizes_by_rules(*description, use);
  }
  return {};
}

std::size_t FixTrials::first_dimensions() const {
  Description before = before_;
  for (const TensorUse& use : tensors_of(before)) {
    if (!use.desc->sizes.empty()) return use.desc->sizes.size();
  }
  return 0;
}

bool FixTrials::is_said_by_file(const std::string& pointer) const {
  const std::string name = name_of_place(pointer);
  if (name.ends_with(".Broadcast")) return false;
  const Field* field = before_.find(name.substr(0, name.find_first_of("[.")));
  return field != nullptr && !field->is_misspelt && is_of_file(*field);
}

const TensorDesc* FixTrials::tensor_of_file(const std::string& pointer) const {
  Description before = before_;
  for (const TensorUse& use : tensors_of(before)) {
    if (use.name() == tensor_name_of(pointer) && !use.desc->file.empty())
      return before_.find_tensor(use.spec->name, use.element);
  }
  return nullptr;
}

std::string tensor_name_of(const std::string& pointer) {
  const std::string name = name_of_place(pointer);
  return name.substr(0, name.find('.'));
}

}  // namespace dmlop
