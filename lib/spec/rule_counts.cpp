// Counts of a RuleChecker: fields that say how many elements an array has, or how many groups.
#include <algorithm>

#include "base/text.hpp"
#include "spec/ideas.hpp"
#include "spec/remedy.hpp"
#include "spec/rule_checker.hpp"
#include "spec/settings.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

const char* word_of_element(const FieldSpec& spec) {
  return spec.is_tensor() ? "tensor" : spec.is_nested_operator() ? "activation" : "value";
}

// The first elements of an array in the operator's example, as JSON; "" where it has fewer.
std::string example_elements(const FieldSet& fields, const FieldSpec& array, std::size_t count) {
  Diagnostics none;
  const auto example = json::Document::parse("", example_value(*fields.spec, array.name), none);
  const auto& items = example->root().items;
  if (items.size() < count) return "";
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < count; ++i) parts.emplace_back(example->source(items[i]));
  return "[" + join(parts) + "]";
}

}  // namespace

void RuleChecker::infer_counts() {
  for (const Field& field : fields_.fields) {
    if (field.spec->count_field.empty()) continue;
    Field& count = *fields_.find(field.spec->count_field);
    const auto length = scope_.length({{field.spec->name}});
    const bool is_open = std::holds_alternative<std::monostate>(count.value) &&
                         count.written == nullptr && !count.is_misspelt &&
                         !follows_from_rule(*fields_.spec, count.spec->name);
    if (is_open && length) count.value = static_cast<std::int64_t>(*length);
    if (field.written != nullptr && length == 0) refuse_empty(field, count);
  }
}

// An array without elements is the mistake, not the count that follows from it.
void RuleChecker::refuse_empty(const Field& array, Field& count) {
  constexpr std::int64_t most = 8;
  const FieldValue found = count.value;
  if (scope_.value({{count.spec->name}}) != Number(0)) return;
  std::int64_t least = 0;
  while (least <= most && !obeys_rules(fields_, scope_, count.spec->name)) count.value = ++least;
  count.value = found;
  if (least == 0 || least > most) return;
  const std::string elements = counted(as_unsigned(least), word_of_element(*array.spec));
  Diagnostic diagnostic =
      fields_.at(Place{{array.spec->name}},
                 array.spec->name + " is an empty array, must have at least " + elements);
  diagnostic.rule = count.spec->name + " >= " + std::to_string(least);
  diagnostic.note = array.spec->text;
  diagnostic.suggestion = Alternative::write(elements, " or more" + such_as(*array.spec));
  diagnostics_.push_back(std::move(diagnostic));
  scope_.refuse_field(array.spec->name);
  scope_.refuse({{count.spec->name}});
}

// What the elements of an array look like; "" where the operator's example has none.
std::string RuleChecker::such_as(const FieldSpec& array) const {
  const std::string example = example_value(*fields_.spec, array.name);
  return example.starts_with("[{") ? ", such as " + example : "";
}

void RuleChecker::check_array_lengths() {
  for (const Field& field : fields_.fields) check_array_length(field);
}

void RuleChecker::check_array_length(const Field& field) {
  if (field.spec->count_field.empty()) return;
  const Place array{{field.spec->name}};
  const auto length = scope_.length(array);
  const auto count = scope_.value({{field.spec->count_field}});
  if (!length || !count || *count == static_cast<std::int64_t>(*length)) return;
  scope_.refuse_field(field.spec->name);  // its elements are for other dimensions
  // The mistake is the file's count, which has its finding.
  if (scope_.is_corrected({{field.spec->count_field}})) return;
  const char* what = word_of_element(*field.spec);
  // Arrays that agree with each other, such as two paddings, are one mistake.
  const std::string key = field.spec->count_field + " " + std::to_string(*length) + " " + what;
  const auto [same, is_new] = lengths_.try_emplace(key, SameCause{diagnostics_.size(), "", {}});
  same->second.others.push_back(field.spec->name);
  const std::string must_have = counted(*length, what) + ", must have " + to_text(*count);
  if (!is_new) {
    diagnostics_[same->second.finding].message =
        join(same->second.others, " and ") + " have " + must_have;
    return;
  }
  Diagnostic diagnostic = fields_.at(array, field.spec->name + " has " + must_have);
  const bool is_dimensions = field.spec->count_field == "DimensionCount";
  diagnostic.rule = (is_dimensions ? "one value for each dimension: " : "") +
                    field.spec->count_field + " is " + to_text(*count);
  const std::uint64_t wanted = as_unsigned(count->integer());
  diagnostic.suggestion =
      Alternative::write(counted(wanted, what), *length == 0 ? such_as(*field.spec) : "");
  if (*length == 0 && wanted != 0) {
    const std::string example = example_elements(fields_, *field.spec, wanted);
    if (!example.empty()) {
      diagnostic.suggestion = Alternative::write(counted(wanted, what), ", such as " + example);
      diagnostic.ideas = {{replacement(fields_, array, example)}};
    }
  } else if (!is_dimensions && fields_.find(field.spec->count_field)->written != nullptr) {
    diagnostic.suggestion.add(
        {.kind = Alternative::Kind::leave_out, .place = field.spec->count_field});
    diagnostic.ideas = {{replacement(fields_, {{field.spec->count_field}}, "null")}};
  }
  if (is_dimensions) blame_file(diagnostic, *length, wanted);
  diagnostics_.push_back(std::move(diagnostic));
}

// Where the dimensions are those of a file, that may be the one that is wrong.
void RuleChecker::blame_file(Diagnostic& diagnostic, std::size_t length, std::size_t count) const {
  for (const TensorUse& use : tensors_of(fields_)) {
    if (use.desc->file.empty()) continue;
    const Sizes& sizes = use.desc->sizes;
    diagnostic.rule += ", as " + use.name() + " has in " + use.desc->file + ": " + list_of(sizes);
    diagnostic.suggestion = Alternative::write(counted(count, "value"));
    const std::size_t wanted = sizes.size() + length - std::min(count, sizes.size() + length);
    if (wanted == 0 || !element_count(sizes)) return;
    const Sizes others = with_dimensions(sizes, wanted);
    diagnostic.ideas = {{replacement(fields_, use.place("Sizes"), list_of(others))}};
    return;
  }
}

// A number of groups with which a rule about sizes would hold, and all other rules about it.
std::optional<Replacement> RuleChecker::other_count(const Statement& statement) {
  constexpr std::int64_t most = 4096;
  for (const Reference& reference : statement.formula().references()) {
    Field* field = fields_.find(reference.field);
    if (field == nullptr || field->spec->name != "GroupCount" ||
        !std::holds_alternative<std::int64_t>(field->value))
      continue;
    const FieldValue chosen = field->value;
    std::int64_t count = 2;
    const auto fits = [&] {
      field->value = count;
      return !statement.formula().check(scope_, statement.variables) &&
             obeys_rules(fields_, scope_, field->spec->name);
    };
    while (count <= most && !fits()) ++count;
    field->value = chosen;
    if (count <= most)
      return replacement(fields_, Place{{field->spec->name}}, std::to_string(count));
  }
  return std::nullopt;
}

// The groups explain sizes that differ better than the sizes themselves, or another direction.
bool RuleChecker::suggest_count(const Statement& statement, const std::string& size,
                                Diagnostic& diagnostic) {
  const auto count = other_count(statement);
  if (!count) return false;
  const Place place = *target_of(statement);
  diagnostic.suggestion = Alternative::write_for("GroupCount", count->value);
  diagnostic.ideas.insert(diagnostic.ideas.begin(), {*count});
  if (fields_.is_written(place))
    diagnostic.suggestion.add(Alternative::write_for(to_text(place), size));
  return true;
}

}  // namespace dmlop
