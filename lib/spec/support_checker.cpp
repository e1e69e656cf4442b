#include "spec/support_checker.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/caller.hpp"
#include "base/text.hpp"
#include "spec/ideas.hpp"
#include "spec/remedy.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

std::string range_text(const SupportRow& row) {
  if (row.min_dimensions == row.max_dimensions) return std::to_string(row.min_dimensions);
  return std::to_string(row.min_dimensions) + " to " + std::to_string(row.max_dimensions);
}

std::string ranges_text(const std::vector<const SupportRow*>& rows) {
  std::vector<std::string> ranges;
  for (const SupportRow* row : rows) {
    const std::string range = range_text(*row);
    if (std::find(ranges.begin(), ranges.end(), range) == ranges.end()) ranges.push_back(range);
  }
  return join(ranges, " or ");
}

std::string type_list(const std::vector<const SupportRow*>& rows) {
  std::vector<std::string> names;
  for (const SupportRow* row : rows) {
    for (const DataType type : row->types) {
      const std::string name(name_of(type));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return join(names);
}

Advice raise_to(FeatureLevel level) {
  return {{.kind = Alternative::Kind::state_level, .value = to_text(level)},
          Alternative::sentence("run with " + option_text("--feature-level", to_text(level)))};
}

// The type that keeps most of another one: of its kind, and as large; else of 32 bits.
DataType closest_type(const std::vector<DataType>& types, DataType wanted) {
  const auto is_closer = [&](DataType a, DataType b) {
    const auto rank = [&](DataType type) {
      const int bits = static_cast<int>(info(type).bits);
      const int wanted_bits = static_cast<int>(info(wanted).bits);
      if (info(type).kind != info(wanted).kind) return 1000 + std::abs(bits - 32);
      return bits >= wanted_bits ? bits - wanted_bits : 100 + wanted_bits - bits;
    };
    return rank(a) < rank(b);
  };
  return *std::min_element(types.begin(), types.end(), is_closer);
}

// What to do with a tensor of another type: NumPy's words, where a file has it.
Advice other_type(const TensorUse& use, const SupportRow& row) {
  const DataType type = closest_type(row.types, *use.desc->data_type);
  if (!use.desc->file.empty() && use.spec->is_input()) return casting(type);
  Alternative write = Alternative::write_type(std::string(name_of(type)));
  if (use.spec->is_input()) write.reason = Advice(casting(type)).text() + " and ";
  return write;
}

// As many as the row allows; of those, as many as another input of the row has.
std::size_t fitting_count(const TensorUse& use, const SupportRow& row,
                          const std::vector<TensorUse>& tensors) {
  for (const TensorUse& other : tensors) {
    const std::size_t count = other.desc->sizes.size();
    if (other.spec->is_input() && other.name() != use.name() && row.covers(other.spec->name) &&
        row.has(count))
      return count;
  }
  return std::clamp(use.desc->sizes.size(), row.min_dimensions, row.max_dimensions);
}

// The sizes with another number of dimensions; none where they cannot have it.
Sizes other_sizes(const Sizes& sizes, std::size_t count) {
  return sizes.empty() || !element_count(sizes) ? Sizes{} : with_dimensions(sizes, count);
}

Advice other_dimensions(const TensorUse& use, std::size_t count) {
  const Sizes& sizes = use.desc->sizes;
  const Sizes fitting = other_sizes(sizes, count);
  if (fitting.empty()) return Alternative::write_sizes(counted(count, "dimension"));
  return how_to_reshape(*use.desc, fitting);
}

std::string one_of(const std::string& list) {
  return (list.find(',') == std::string::npos ? "must be " : "must be one of ") + list;
}

}  // namespace

void SupportChecker::add(Diagnostic diagnostic, std::string rule, Advice suggestion) {
  diagnostic.feature_level = to_text(description_.feature_level);
  diagnostic.rule = std::move(rule);
  diagnostic.suggestion = std::move(suggestion);
  diagnostics_.push_back(std::move(diagnostic));
}

std::string SupportChecker::this_run() const {
  return "this run has " + to_text(description_.feature_level);
}

bool SupportChecker::check_operator() {
  const OperatorSpec& spec = *description_.spec;
  if (spec.introduced <= description_.feature_level) return true;
  const json::Value& root = description_.root();
  const json::Value* type = root.find("Type") != nullptr ? root.find("Type") : root.find("type");
  add(description_.document().at(*type, "DML_OPERATOR_" + spec.name + " needs feature level " +
                                            to_text(spec.introduced) + ", " + this_run()),
      "the operator was introduced in " + to_text(spec.introduced), raise_to(spec.introduced));
  return false;
}

void SupportChecker::check_enums(const FieldSet& fields) {
  for (const Field& field : fields.fields) {
    const auto* number = std::get_if<std::int64_t>(&field.value);
    if (field.spec->kind != FieldKind::enumeration || number == nullptr) continue;
    std::vector<std::string> at_level;
    for (const EnumValue& entry : enum_values(field.spec->enum_name)) {
      if (entry.introduced <= description_.feature_level) at_level.push_back(entry.name);
    }
    for (const EnumValue& entry : enum_values(field.spec->enum_name)) {
      if (entry.value != *number || entry.introduced <= description_.feature_level) continue;
      Advice advice = raise_to(entry.introduced);
      advice.add(Alternative::sentence("use " + join(at_level)));
      add(fields.at(Place{{field.spec->name}}, field.spec->name + " " + entry.name +
                                                   " needs feature level " +
                                                   to_text(entry.introduced) + ", " + this_run()),
          field.spec->enum_name + "_" + entry.name + " was introduced in " +
              to_text(entry.introduced),
          std::move(advice));
    }
  }
}

void SupportChecker::check_activations() {
  for (const Field& field : description_.fields) {
    const auto* nested = std::get_if<std::vector<NestedOperator>>(&field.value);
    for (std::size_t j = 0; nested != nullptr && j < nested->size(); ++j) {
      const NestedOperator& one = (*nested)[j];
      check_enums(one);
      for (const FusedActivation& activation : fused_activations()) {
        if (activation.name != one.spec->name || activation.from <= description_.feature_level)
          continue;
        const bool is_list = field.spec->kind == FieldKind::activation_array;
        const Place place{{field.spec->name, "Type"}, is_list ? std::optional(j) : std::nullopt};
        add(description_.at(place, to_text(place) + " " + activation.name +
                                       " needs feature level " + to_text(activation.from) + ", " +
                                       this_run()),
            "DML_OPERATOR_" + activation.name + " can be fused from " + to_text(activation.from),
            raise_to(activation.from));
      }
    }
  }
}

bool SupportChecker::has_type_rule(const TensorUse& use) const {
  const auto gives_type = [&](const Rule& rule) {
    const auto& equation = rule.formula.equation();
    return equation &&
           *rule.formula.reference_at(equation->target) == Reference{use.spec->name, "DataType"};
  };
  const auto& rules = description_.spec->rules;
  return std::any_of(rules.begin(), rules.end(), gives_type);
}

void SupportChecker::infer_types() {
  for (const TensorUse& use : tensors_of(description_)) {
    if (use.desc->data_type || use.desc->has_file || has_type_rule(use)) continue;
    const Rows rows = page_rows(use.spec->name);
    if (rows.size() == 1 && rows.front()->types.size() == 1)
      use.desc->data_type = rows.front()->types.front();
  }
}

void SupportChecker::check_inputs(FieldScope& scope) {
  for (const TensorUse& use : tensors_of(description_)) {
    if (!use.spec->is_input() || !use.desc->data_type || !use.desc->dimension_count) continue;
    checked_.insert(use.name());
    const std::size_t before = wrong_types_.size();
    if (!check_tensor(use)) scope.refuse_field(use.name());
    // The types of other tensors must not be inferred from a wrong one.
    if (wrong_types_.size() > before) scope.refuse(use.place("DataType"));
  }
}

void SupportChecker::check_tensors() {
  for (const TensorUse& use : tensors_of(description_)) {
    if (!use.desc->data_type || !use.desc->dimension_count) continue;
    if (scope_.is_corrected(use.place("DataType"))) continue;
    if (checked_.insert(use.name()).second) check_tensor(use);
  }
}

// Of the rows that apply to a tensor now, those of the highest level.
SupportChecker::Rows SupportChecker::rows_for(const std::vector<SupportRow>& rows,
                                              const std::string& tensor) const {
  Rows found;
  for (const SupportRow& row : rows) {
    if (!row.covers(tensor) || row.from > description_.feature_level) continue;
    if (row.when && row.when->check(scope_, Variables{})) continue;
    if (!found.empty() && found.front()->from != row.from) break;
    found.push_back(&row);
  }
  return found;
}

SupportChecker::Rows SupportChecker::page_rows(const std::string& tensor) const {
  return rows_for(description_.spec->support, tensor);
}

SupportChecker::Rows SupportChecker::directml_rows(const std::string& tensor) const {
  return rows_for(description_.spec->support_directml, tensor);
}

// The row of the lowest level that satisfies `accepts`, for the message "needs feature level".
template <typename Accepts>
const SupportRow* SupportChecker::lowest_row(const std::string& tensor, Accepts&& accepts) const {
  const SupportRow* lowest = nullptr;
  for (const SupportRow& row : description_.spec->support) {
    if (row.when && row.when->check(scope_, Variables{})) continue;
    if (row.from <= description_.feature_level) continue;
    if (row.covers(tensor) && accepts(row)) lowest = &row;
  }
  return lowest;
}

// Returns false if the tensor has a wrong number of dimensions.
bool SupportChecker::check_tensor(const TensorUse& use) {
  const Rows of_directml = directml_rows(use.spec->name);
  const bool directml_decides = description_.judge == Judge::directml && !of_directml.empty();
  const Rows rows = directml_decides ? of_directml : page_rows(use.spec->name);
  if (rows.empty()) return !needs_later_level(use);
  const bool has_type = check_type(use, rows);
  // Rows for other types may have other dimension counts.
  Rows of_type;
  for (const SupportRow* row : rows) {
    if (row->has(*use.desc->data_type)) of_type.push_back(row);
  }
  const bool has_dimensions = check_dimensions(use, of_type.empty() ? rows : of_type);
  if (!of_directml.empty()) note_other_judge(use, has_type && has_dimensions);
  return has_dimensions;
}

// Reports a tensor that this level does not support, or not in this combination.
bool SupportChecker::needs_later_level(const TensorUse& use) {
  const SupportRow* later = lowest_row(use.spec->name, [](const SupportRow&) { return true; });
  if (later == nullptr) return false;
  add(description_.at(use.place(), use.name() + " needs feature level " + to_text(later->from) +
                                       " here, " + this_run()),
      use.name() + " takes " + type_list({later}) + " from " + to_text(later->from) +
          (later->when ? ", where " + later->when->text() : ""),
      raise_to(later->from));
  return true;
}

namespace {

bool accept(const std::vector<const SupportRow*>& rows, const TensorUse& use) {
  return std::ranges::any_of(rows, [&](const SupportRow* row) {
    return (!use.desc->data_type || row->has(*use.desc->data_type)) &&
           (!use.desc->dimension_count || row->has(*use.desc->dimension_count));
  });
}

}  // namespace

// Says what the judge that did not decide thinks of the tensor, where it thinks otherwise.
void SupportChecker::note_other_judge(const TensorUse& use, bool is_valid) {
  const bool is_page = description_.judge == Judge::page;
  const Rows others = is_page ? directml_rows(use.spec->name) : page_rows(use.spec->name);
  if (is_valid == accept(others, use)) return;
  if (!is_valid) {
    diagnostics_.back().note =
        is_page ? directml_accepts_note(others.front()->evidence) : page_accepts_note();
    return;
  }
  // One mistake is one warning.
  if (use.desc->data_type && was_reported(use, *use.desc->data_type, noted_types_)) return;
  const std::string type = use.desc->data_type ? std::string(name_of(*use.desc->data_type)) : "";
  Diagnostic warning = description_.at(
      use.place("DataType"), use.name() + " is " + type + " with " +
                                 counted(use.desc->dimension_count.value_or(0), "dimension"));
  warning.rule = is_page ? "the operator's page allows it: " + description_.spec->source
                         : use.name() + " takes " + type_list(others) + " of " +
                               ranges_text(others) + " dimensions";
  warning.note = is_page ? directml_refuses_note
                         : page_refuses_note(directml_rows(use.spec->name).front()->evidence);
  description_.warnings.push_back(std::move(warning));
}

// Whether a tensor of the same row had the same fault. Rules tie tensors together, and one mistake
// should give one finding.
bool SupportChecker::was_reported(const TensorUse& use, DataType type,
                                  std::vector<TensorType>& reported_before) {
  const auto is_same = [&](const auto& reported) {
    if (reported.second != type) return false;
    const auto ties = [&](const SupportRow& row) {
      return row.covers(use.spec->name) && row.covers(reported.first);
    };
    const auto& rows = description_.spec->support;
    return std::any_of(rows.begin(), rows.end(), ties);
  };
  if (std::ranges::any_of(reported_before, is_same)) return true;
  reported_before.emplace_back(use.spec->name, type);
  return false;
}

bool SupportChecker::check_type(const TensorUse& use, const Rows& rows) {
  const DataType type = *use.desc->data_type;
  const auto has = [type](const SupportRow* row) { return row->has(type); };
  if (std::any_of(rows.begin(), rows.end(), has)) return true;
  const std::string name(name_of(type));
  if (was_reported(use, type, wrong_types_)) return true;
  const SupportRow* other =
      lowest_row(use.spec->name, [&](const SupportRow& row) { return row.has(type); });
  const std::string types = type_list(rows);
  add(description_.at(use.place("DataType"),
                      other != nullptr
                          ? use.name() + ".DataType " + name + " needs feature level " +
                                to_text(other->from) + ", " + this_run()
                          : use.name() + ".DataType is " + name + ", " + one_of(types)),
      "at " + to_text(description_.feature_level) + " " + use.name() + " takes " + types,
      other != nullptr ? raise_to(other->from) : other_type(use, *rows.front()));
  if (other == nullptr)
    diagnostics_.back().ideas = {
        {replacement(description_, use.place("DataType"),
                     '"' + std::string(name_of(closest_type(rows.front()->types, type))) + '"')}};
  return false;
}

bool SupportChecker::check_dimensions(const TensorUse& use, const Rows& rows) {
  const std::size_t count = *use.desc->dimension_count;
  const auto has = [count](const SupportRow* row) { return row->has(count); };
  if (std::any_of(rows.begin(), rows.end(), has)) return true;
  const SupportRow* other =
      lowest_row(use.spec->name, [&](const SupportRow& row) { return row.has(count); });
  const auto [same, is_new] = wrong_dimensions_.try_emplace(count, diagnostics_.size());
  if (!is_new) {
    // A higher level is for all tensors.
    std::string& note = diagnostics_[same->second].note;
    if (other == nullptr)
      note +=
          (note.empty() ? "" : " ") + use.name() + " has " + counted(count, "dimension") + ", too.";
    return false;
  }
  const std::string ranges = ranges_text(rows);
  const std::string file = use.desc->file.empty() ? "" : " (" + use.desc->file + ")";
  const std::string finding = use.name() + file + " has " + counted(count, "dimension");
  const std::size_t fitting = fitting_count(use, *rows.front(), tensors_of(description_));
  add(description_.at(use.place("DimensionCount"),
                      other != nullptr ? finding + ", which needs feature level " +
                                             to_text(other->from) + ", " + this_run()
                                       : finding + ", must have " + ranges),
      "at " + to_text(description_.feature_level) + " " + use.name() + " takes " + ranges +
          " dimensions",
      other != nullptr ? raise_to(other->from) : other_dimensions(use, fitting));
  if (other == nullptr) diagnostics_.back().note = use.spec->layout_words();
  const Sizes sizes = other_sizes(use.desc->sizes, fitting);
  if (other == nullptr && !sizes.empty())
    diagnostics_.back().ideas = {{replacement(description_, use.place("Sizes"), list_of(sizes))}};
  return false;
}

}  // namespace dmlop
