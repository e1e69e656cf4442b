#include "fixes/fix_ideas.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <sstream>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "fixes/array_changes.hpp"
#include "spec/settings.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t dimensions_max = 8;

// The steps of "/desc/InputTensor/Sizes/1" below the fields: "InputTensor", "Sizes", "1".
std::vector<std::string> steps_of(const std::string& pointer) {
  std::vector<std::string> steps;
  std::istringstream text(pointer);
  for (std::string step; std::getline(text, step, '/');) {
    if (!step.empty() && step != "desc" && step != "Desc") steps.push_back(step);
  }
  return steps;
}

const Json& fields_of(const Json& root) {
  for (const char* name : {"Desc", "desc"}) {
    if (root.contains(name)) return root.at(name);
  }
  return root;
}

std::string pointer_of_fields(const Json& root) {
  return root.contains("Desc") ? "/Desc" : root.contains("desc") ? "/desc" : "";
}

// All lists of `length` numbers that are these from `used` on, in their order, and ones.
void add_with_ones(const Json& numbers, std::size_t used, std::size_t length, const Json& begun,
                   std::vector<Json>& lists) {
  if (begun.size() == length) {
    if (used == numbers.size()) lists.push_back(begun);
    return;
  }
  const std::size_t left = length - begun.size(), wanted = numbers.size() - used;
  if (left > wanted) {
    Json with_one = begun;
    with_one.push_back(1);
    add_with_ones(numbers, used, length, with_one, lists);
  }
  if (wanted == 0) return;
  Json with_number = begun;
  with_number.push_back(numbers.at(used));
  add_with_ones(numbers, used + 1, length, with_number, lists);
}

class Ideas {
 public:
  Ideas(const Diagnostic& finding, const Json& root, const OperatorSpec& spec,
        std::size_t dimensions)
      : finding_(finding),
        root_(root),
        spec_(spec),
        dimensions_(dimensions),
        ideas_(finding.ideas) {
    const auto steps = steps_of(finding.pointer);
    if (!steps.empty()) field_ = spec.find_field(steps.front());
    try {
      const Json::json_pointer place(finding.pointer);
      value_ = root.contains(place) ? root.at(place) : Json();
    } catch (const Json::exception&) {  // the names in it were cut
    }
  }

  std::vector<Fix> all() {
    if (finding_.pointer == pointer_of_fields(root_)) add_missing();
    if (field_ == nullptr) return ideas_;
    if (value_.is_string()) add_words();
    const bool is_of_field = steps_of(finding_.pointer).size() == 1;
    if (is_of_field && finding_.ideas.size() == 1 && !is_meant(finding_)) add_enumerators();
    if (value_.is_number()) add_numbers();
    if (finding_.pointer.ends_with("/Sizes") && value_.is_array()) add_dimensions();
    return ideas_;
  }

 private:
  void add(const Json& json) { ideas_.push_back({{finding_.pointer, text_of(json)}}); }

  // One of the fields that are not there.
  void add_missing() {
    for (const FieldSpec& field : spec_.fields) {
      if (fields_of(root_).contains(field.name) || field.is_output()) continue;
      const std::string pointer = pointer_of_fields(root_) + "/" + field.name;
      const Json example = Json::parse(example_value(spec_, field.name), nullptr, false);
      if (example.is_null() || example.is_discarded()) continue;
      const auto propose = [&](const Json& json) { ideas_.push_back({{pointer, text_of(json)}}); };
      propose(example);
      if (field.kind == FieldKind::enumeration) {
        for (const EnumValue& value : enum_values(field.enum_name)) propose(value.name);
      }
      const bool is_list = example.is_array() && !example.empty() && example.front().is_number();
      for (std::size_t length = 1; is_list && length <= dimensions_max; ++length)
        propose(Json(std::vector<Json>(length, example.back())));
    }
  }

  // A number in quotes, or a word for another one.
  void add_words() {
    const Json number = Json::parse(value_.get<std::string>(), nullptr, false);
    if (number.is_number()) add(number);
    const bool is_type = finding_.pointer.ends_with("/DataType");
    std::vector<std::string> names;
    if (is_type || field_->kind == FieldKind::enumeration) {
      for (const EnumValue& value :
           enum_values(is_type ? "DML_TENSOR_DATA_TYPE" : field_->enum_name))
        names.push_back(value.name);
    } else if (field_->kind == FieldKind::float32 || field_->kind == FieldKind::float_array) {
      names = {"inf", "-inf", "nan"};
    }
    const std::string nearest = nearest_name(value_.get<std::string>(), names);
    if (!nearest.empty()) add(nearest);
  }

  // All names of an enumeration, behind the one that its finding proposes.
  void add_enumerators() {
    if (field_->kind != FieldKind::enumeration || field_->enum_name == "DML_TENSOR_DATA_TYPE")
      return;
    for (const EnumValue& value : enum_values(field_->enum_name)) add(value.name);
  }

  // One number where there is one for each dimension, and an axis that is counted from the end.
  void add_numbers() {
    const bool is_whole_field = steps_of(finding_.pointer).size() == 1;
    const bool is_list = field_->kind == FieldKind::uint_array ||
                         field_->kind == FieldKind::int_array ||
                         field_->kind == FieldKind::float_array;
    if (is_whole_field && is_list) {
      for (std::size_t length = 1; length <= dimensions_max; ++length)
        add(Json(std::vector<Json>(length, value_)));
    }
    if (value_.is_number_integer() && value_ < 0 && dimensions_ > 0 &&
        field_->name.starts_with("Ax"))
      add(value_.get<std::int64_t>() + static_cast<std::int64_t>(dimensions_));
  }

  // Dimensions of size 1 between those that there are, or without some of them.
  void add_dimensions() {
    const std::size_t count = value_.size();
    std::vector<Json> lists;
    const bool are_sizes = std::all_of(value_.begin(), value_.end(),
                                       [](const Json& size) { return size.is_number_unsigned(); });
    const auto channels = are_sizes && count < dimensions_
                              ? channel_sizes(value_.get<Sizes>(), dimensions_)
                              : std::nullopt;
    if (channels) lists.push_back(Json(*channels));
    for (std::size_t more = 1; count + more <= dimensions_max; ++more)
      add_with_ones(value_, 0, count + more, Json::array(), lists);
    for (const Json& list : lists) add(list);
    Json fewer = value_;
    while (!fewer.empty() && fewer.front() == 1) {
      fewer.erase(0);
      if (!fewer.empty()) add(fewer);
    }
  }

  const Diagnostic& finding_;
  const Json& root_;
  const OperatorSpec& spec_;
  std::size_t dimensions_;
  const FieldSpec* field_ = nullptr;
  Json value_;
  std::vector<Fix> ideas_;
};

}  // namespace

bool is_meant(const Diagnostic& finding) {
  const auto& alternatives = finding.suggestion.alternatives;
  return !finding.ideas.empty() && !alternatives.empty() &&
         alternatives.front().kind == Alternative::Kind::mean;
}

std::vector<Fix> ideas_for(const Diagnostic& finding, const Json& root, const OperatorSpec& spec,
                           std::size_t dimensions) {
  return Ideas(finding, root, spec, dimensions).all();
}

std::vector<Replacement> choices(const Json& root, const OperatorSpec& spec) {
  std::vector<Replacement> list;
  for (const FieldSpec& field : spec.fields) {
    const bool is_there = fields_of(root).is_object() && fields_of(root).contains(field.name);
    if (!is_there) continue;
    const std::string pointer = pointer_of_fields(root) + "/" + field.name;
    if (field.kind == FieldKind::enumeration && field.enum_name != "DML_TENSOR_DATA_TYPE") {
      for (const EnumValue& value : enum_values(field.enum_name))
        list.push_back({pointer, text_of(value.name)});
    } else if (field.kind == FieldKind::uint || field.kind == FieldKind::int32) {
      for (std::size_t value = 0; value < dimensions_max; ++value)
        list.push_back({pointer, std::to_string(value)});
    } else if (field.kind == FieldKind::boolean) {
      for (const char* value : {"true", "false"}) list.push_back({pointer, value});
    }
  }
  return list;
}

namespace {

// The fields that a finding names. For one that is not written, those that it follows from.
std::set<std::string> fields_named_by(const Diagnostic& finding, const Json& root,
                                      const OperatorSpec& spec) {
  const std::string words = finding.message + " " + finding.rule;
  std::set<std::string> names;
  for (const FieldSpec& field : spec.fields) {
    if (words.find(field.name) == words.npos) continue;
    names.insert(field.name);
    if (fields_of(root).contains(field.name)) continue;
    for (const Rule& rule : spec.rules) {
      const auto references = rule.formula.references();
      if (std::ranges::count(references, field.name, &Reference::field) == 0) continue;
      for (const Reference& reference : references) names.insert(reference.field);
    }
  }
  return names;
}

}  // namespace

std::vector<Replacement> other_numbers(const Diagnostic& finding, const Json& root,
                                       const OperatorSpec& spec) {
  if (!fields_of(root).is_object()) return {};
  std::vector<std::string> at_finding, others;
  const auto named = fields_named_by(finding, root, spec);
  for (const FieldSpec& field : spec.fields) {
    if (!fields_of(root).contains(field.name)) continue;
    std::string pointer = pointer_of_fields(root) + "/" + field.name;
    const bool is_here = (finding.pointer + "/").starts_with(pointer + "/");
    if (!is_here && !named.contains(field.name)) continue;
    const Json* value = &fields_of(root).at(field.name);
    if (value->is_object() && value->contains("Sizes")) {
      pointer += "/Sizes";
      value = &value->at("Sizes");
    }
    std::vector<std::string>& places = is_here ? at_finding : others;
    if (value->is_number_integer()) places.push_back(pointer);
    for (std::size_t i = 0; value->is_array() && i < value->size(); ++i) {
      if (value->at(i).is_number_integer()) places.push_back(pointer + "/" + std::to_string(i));
    }
  }
  at_finding.insert(at_finding.end(), others.begin(), others.end());
  std::vector<Replacement> list;
  for (const std::string& pointer : at_finding) {
    const auto there = root.at(Json::json_pointer(pointer)).get<std::int64_t>();
    std::vector<std::int64_t> numbers(dimensions_max + 1);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::ranges::stable_sort(numbers, {}, [&](std::int64_t n) { return std::abs(n - there); });
    for (const std::int64_t number : numbers) {
      if (number != there) list.push_back({pointer, std::to_string(number)});
    }
  }
  return list;
}

bool says_which(const OperatorSpec& spec, const Replacement& choice) {
  const FieldSpec* field = spec.find_field(name_of_place(choice.pointer));
  return field != nullptr &&
         (field->kind == FieldKind::enumeration || field->name.starts_with("Axis"));
}

std::vector<Sizes> shapes_for(const Sizes& sizes, const Replacement& proposed,
                              const std::vector<Sizes>& ruled) {
  std::vector<Sizes> shapes;
  const auto add = [&](const Sizes& shape) {
    const bool is_known =
        shape == sizes || std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
    // Dimensions in another order and others of size 1 are more than one call.
    const bool is_scrambled = shape.size() != sizes.size() && is_transposed(sizes, shape);
    if (!is_known && !is_scrambled && element_count(shape) == element_count(sizes))
      shapes.push_back(shape);
  };
  const Json first = Json::parse(proposed.value, nullptr, false);
  if (first.is_array()) add(first.get<Sizes>());
  for (const Sizes& shape : ruled) add(shape);
  const Json numbers = without_ones(sizes);
  std::vector<Json> lists;
  for (std::size_t count = std::max<std::size_t>(1, numbers.size()); count <= dimensions_max;
       ++count)
    add_with_ones(numbers, 0, count, Json::array(), lists);
  // Those with as many dimensions as were proposed come first.
  std::stable_partition(lists.begin(), lists.end(), [&](const Json& list) {
    return list.size() == (first.is_array() ? first.size() : sizes.size());
  });
  for (const Json& list : lists) add(list.get<Sizes>());
  // As few are merged as will do.
  for (std::size_t count = numbers.size(); count-- > 1;) add(with_dimensions(sizes, count));
  return shapes;
}

std::string name_of_place(const std::string& pointer) {
  std::string name;
  for (const std::string& step : steps_of(pointer)) {
    const bool is_number = step.find_first_not_of("0123456789") == step.npos;
    name += is_number ? "[" + step + "]" : (name.empty() ? "" : ".") + step;
  }
  return name;
}

std::string text_of(const Json& json) {
  std::vector<std::string> parts;
  if (json.is_array()) {
    for (const Json& item : json) parts.push_back(text_of(item));
    return "[" + join(parts) + "]";
  }
  if (!json.is_object()) return json.dump();
  for (const auto& [name, value] : json.items())
    parts.push_back(Json(name).dump() + ": " + text_of(value));
  return "{" + join(parts) + "}";
}

}  // namespace dmlop
