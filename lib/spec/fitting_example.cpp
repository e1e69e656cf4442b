#include "spec/fitting_example.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "spec/field_scope.hpp"
#include "spec/remedy.hpp"
#include "spec/rule_checker.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;
using Integers = std::vector<std::int64_t>;

// Trying takes time. The elements of an array are alike.
constexpr std::size_t tensors_of_array_max = 8;
constexpr std::size_t given_max = 4;

bool fits(const Description& description, const Field& field, FieldValue value) {
  Description tried = description;
  tried.find(field.spec->name)->value = std::move(value);
  return obeys_rules(tried, FieldScope(tried), field.spec->name);
}

constexpr std::size_t broken_max = 64;    // more need not be told apart
constexpr std::int64_t value_max = 64;    // of an element that is tried
constexpr std::size_t adjusted_max = 24;  // sizes, of all lists together

// Changes one number after the other to the first that breaks the fewest rules. `count` says how
// many a list breaks.
template <typename List, typename Count>
List adjusted(List list, std::int64_t lowest, const Count& count) {
  std::size_t least = count(list);
  for (std::size_t i = 0; i < list.size() && least > 0; ++i) {
    List tried = list;
    for (std::int64_t value = lowest; value <= value_max; ++value) {
      tried[i] = static_cast<typename List::value_type>(value);
      const std::size_t broken = count(tried);
      if (broken >= least) continue;
      list = tried;
      least = broken;
      if (least == 0) return list;
    }
  }
  return list;
}

// An array of another length: its last values are those of the last dimensions.
Integers resized(const Integers& values, std::size_t length) {
  Integers list(length, values.empty() ? 0 : values.front());
  for (std::size_t i = 0; i < std::min(length, values.size()); ++i)
    list[length - 1 - i] = values[values.size() - 1 - i];
  return list;
}

// What a field says that changes nothing, which is likelier to be meant than the example's value:
// an example shows what a field does.
struct NeutralValue {
  std::string_view field;
  std::int64_t value;
  std::string_view beside;  // of operators that have this field, too
};

constexpr std::array neutral_values{NeutralValue{"Dilations", 1, "Strides"},
                                    NeutralValue{"Strides", 1, "StartPadding"},
                                    NeutralValue{"StartPadding", 0, "Strides"},
                                    NeutralValue{"EndPadding", 0, "Strides"},
                                    NeutralValue{"OutputPadding", 0, "Strides"},
                                    NeutralValue{"PaddingValue", 0, "PaddingMode"},
                                    NeutralValue{"UseClipThreshold", 0, "ClipThreshold"}};

std::optional<std::int64_t> neutral_value(const OperatorSpec& spec, std::string_view field) {
  for (const NeutralValue& neutral : neutral_values) {
    if (neutral.field == field && spec.find_field(neutral.beside) != nullptr) return neutral.value;
  }
  return std::nullopt;
}

std::string fitting_integers(const Description& description, const Field& field,
                             const Json& example) {
  const FieldSpec& spec = *field.spec;
  const auto values = example.get<Integers>();
  const auto count = FieldScope(description).value({{spec.count_field}});
  const std::size_t length =
      count && !count->is_real() ? static_cast<std::size_t>(count->integer()) : values.size();
  if (length > 8) return example.dump();
  if (const auto neutral = neutral_value(*description.spec, spec.name)) {
    const Integers list(length, *neutral);
    if (fits(description, field, list)) return Json(list).dump();
  }
  for (const Integers& list : {resized(values, length), Integers(length, 1), Integers(length, 0)}) {
    if (fits(description, field, list)) return Json(list).dump();
  }
  const auto count_broken = [&](const Integers& list) {
    Description tried = description;
    tried.find(spec.name)->value = list;
    return broken_rules(tried, FieldScope(tried), spec.name, broken_max);
  };
  return Json(adjusted(resized(values, length), 0, count_broken)).dump();
}

std::string fitting_integer(const Description& description, const Field& field,
                            const Json& example) {
  constexpr std::int64_t most = 8;
  if (fits(description, field, example.get<std::int64_t>())) return example.dump();
  for (std::int64_t value = 0; value <= most; ++value) {
    if (fits(description, field, value)) return std::to_string(value);
  }
  return example.dump();
}

bool are_integers(const Json& list) {
  return std::all_of(list.begin(), list.end(),
                     [](const Json& item) { return item.is_number_integer(); });
}

// The input's sizes times the operator's Scales: no rule demands them, but they show all of the
// input.
std::optional<Sizes> scaled_sizes(const Description& description) {
  const Field* scales = description.find("Scales");
  const TensorDesc* input = description.find_tensor("InputTensor");
  if (scales == nullptr || input == nullptr) return std::nullopt;
  const auto* factors = std::get_if<std::vector<double>>(&scales->value);
  if (factors == nullptr || factors->size() != input->sizes.size()) return std::nullopt;
  constexpr double size_max = 0xFFFFFFFF;
  Sizes sizes;
  for (std::size_t i = 0; i < factors->size(); ++i) {
    const double size = std::floor(static_cast<double>(input->sizes[i]) * (*factors)[i]);
    if (!(size >= 1 && size <= size_max)) return std::nullopt;
    sizes.push_back(static_cast<std::uint64_t>(size));
  }
  return sizes;
}

// Sizes that an input beside others may have.
std::vector<Sizes> candidates(const Description& description, const TensorUse& use) {
  std::vector<Sizes> list;
  const Json example = Json::parse(example_value(*description.spec, use.spec->name));
  const auto of_example = example.contains("Sizes") ? example["Sizes"].get<Sizes>() : Sizes{};
  if (!of_example.empty()) list.push_back(of_example);
  std::vector<Sizes> given;
  Description copy = description;
  for (const TensorUse& other : tensors_of(copy)) {
    const bool is_new = !other.desc->sizes.empty() && given.size() < given_max &&
                        std::find(given.begin(), given.end(), other.desc->sizes) == given.end();
    if (is_new) given.push_back(other.desc->sizes);
  }
  // Most outputs have as many dimensions as the operator's first input.
  const auto place = use.spec->is_output() ? list.begin() : list.end();
  list.insert(place, given.begin(), given.end());
  if (use.spec->is_output()) {
    if (auto scaled = scaled_sizes(description)) list.insert(list.begin(), *std::move(scaled));
  }
  for (Sizes sizes : given) {
    if (sizes.size() < 2) continue;
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    list.push_back(sizes);
  }
  list.push_back(Sizes(use.desc->dimension_count.value_or(4), 1));
  // The last sizes of the example, for fewer dimensions.
  for (std::size_t count = of_example.size(); count > 1; --count)
    list.emplace_back(of_example.end() - static_cast<std::ptrdiff_t>(count - 1), of_example.end());
  return list;
}

}  // namespace

std::string fitting_example(const Description& description, const Field& field) {
  const std::string text = example_value(*description.spec, field.spec->name);
  const Json example = Json::parse(text);
  const FieldKind kind = field.spec->kind;
  const bool is_list = kind == FieldKind::uint_array || kind == FieldKind::int_array;
  if (is_list && example.is_array() && are_integers(example))
    return fitting_integers(description, field, example);
  const bool is_number = kind == FieldKind::uint || kind == FieldKind::int32;
  if (is_number && example.is_number_integer()) return fitting_integer(description, field, example);
  const auto neutral = neutral_value(*description.spec, field.spec->name);
  if (neutral && kind == FieldKind::boolean) return *neutral != 0 ? "true" : "false";
  if (neutral && (kind == FieldKind::float32 || kind == FieldKind::scalar_union))
    return std::to_string(*neutral);
  return text;
}

Sizes fitting_sizes(const Description& description, const TensorUse& use) {
  std::vector<Sizes> list = candidates(description, use);
  if (tensors_of_array_max < use.element.value_or(0)) return list.front();
  const auto ruled = sizes_by_rules(description, use);
  list.insert(list.end(), ruled.begin(), ruled.end());
  Description tried = description;
  TensorDesc& desc = *tried.find_tensor(use.spec->name, use.element);
  const auto count_broken = [&](const Sizes& sizes) {
    desc.sizes = sizes;
    desc.dimension_count = sizes.size();
    return broken_rules(tried, FieldScope(tried), use.spec->name, broken_max);
  };
  for (const Sizes& sizes : list) {
    if (count_broken(sizes) == 0) return sizes;
  }
  std::size_t adjusted_sizes = 0;
  for (const Sizes& sizes : list) {
    if ((adjusted_sizes += sizes.size()) > adjusted_max) break;
    const Sizes other = adjusted(sizes, 1, count_broken);
    if (count_broken(other) == 0) return other;
  }
  return list.front();
}

Sizes sizes_by_rules(const FieldSet& fields, Judge judge, const std::string& tensor,
                     std::optional<std::size_t> element, std::optional<std::size_t> dimensions) {
  FieldSet tried = fields;
  for (const TensorUse& each : tensors_of(tried)) {
    if (!each.desc->sizes.empty()) each.desc->dimension_count = each.desc->sizes.size();
  }
  TensorDesc& desc = *tried.find_tensor(tensor, element);
  desc.sizes.clear();
  desc.strides.reset();
  desc.dimension_count = dimensions;
  Diagnostics findings, warnings;
  RuleChecker rules(tried, judge, findings, warnings);
  rules.infer_counts();
  for (const Rule& rule : tried.spec->rules) rules.apply(rule);
  return desc.sizes;
}

std::vector<Sizes> sizes_by_rules(const Description& description, const TensorUse& use) {
  constexpr std::size_t dimensions_max = 8;
  std::vector<Sizes> list;
  for (std::size_t count = 1; count <= dimensions_max; ++count) {
    const Sizes sizes =
        sizes_by_rules(description, description.judge, use.spec->name, use.element, count);
    const bool is_new = std::find(list.begin(), list.end(), sizes) == list.end();
    if (!sizes.empty() && is_new) list.push_back(sizes);
  }
  return list;
}

}  // namespace dmlop
