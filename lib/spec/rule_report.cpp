// What a RuleChecker says of a statement that does not hold: the message, the rule with its
// numbers, and what to write instead.
#include <algorithm>

#include "base/text.hpp"
#include "spec/facts.hpp"
#include "spec/ideas.hpp"
#include "spec/remedy.hpp"
#include "spec/rule_checker.hpp"
#include "tensor/layout.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {

Diagnostic RuleChecker::at_first_written(const Statement& statement, Formula::NodeIndex first,
                                         std::string message) const {
  for (const Place& place : statement.formula().places(scope_, statement.variables, first)) {
    if (fields_.is_written(place)) return fields_.at(place, std::move(message));
  }
  return fields_.at(Place{}, std::move(message));
}

std::string RuleChecker::message_of(const Statement& statement,
                                    const Formula::Violation& violation) const {
  const Formula& formula = statement.formula();
  if (auto sentence = formula.show_presence(violation, scope_, statement.variables))
    return *sentence;
  const std::string subject = formula.show_subject(violation.subject, scope_, statement.variables);
  const auto value = formula.evaluate(violation.subject, scope_, statement.variables);
  if (!violation.bound) {
    const bool shows_value = violation.words.starts_with("must be one of") && value;
    return subject + " " +
           (shows_value ? "is " + formula.show_value(violation.subject, scope_, *value) + ", "
                        : "") +
           violation.words;
  }
  const auto bound = formula.evaluate(*violation.bound, scope_, statement.variables);
  const Reference* named = formula.reference_at(violation.subject);
  if (named != nullptr && named->attribute == "DimensionCount" &&
      (violation.words == "must be" || formula.equation())) {
    const auto place = formula.place_at(violation.subject, scope_, statement.variables);
    return to_text(Place{{named->field}, place->element}) + " has " +
           counted(as_unsigned(value->integer()), "dimension") + ", " +
           (violation.words == "must be" ? "must have " : violation.words + " ") + to_text(*bound);
  }
  return subject + " is " +
         formula.show_value_like(violation.subject, *violation.bound, scope_, *value) + ", " +
         violation.words + " " +
         formula.show_value_like(violation.subject, *violation.bound, scope_, *bound);
}

// Which fields that choose the sizes of a rule could have another value, with which it would hold,
// and all other rules about the field as well.
std::vector<Alternative> RuleChecker::other_choices(const Statement& statement) {
  std::map<std::string, std::vector<std::string>> fitting;
  for (const Reference& reference : statement.formula().references()) {
    Field* field = fields_.find(reference.field);
    if (field == nullptr || field->spec->kind != FieldKind::enumeration) continue;
    const FieldValue chosen = field->value;
    std::vector<std::string>& names = fitting[field->spec->name];
    names.clear();
    for (const EnumValue& other : enum_values(field->spec->enum_name)) {
      field->value = other.value;
      if (!statement.formula().check(scope_, statement.variables) &&
          obeys_rules(fields_, scope_, field->spec->name))
        names.push_back(other.name);
    }
    field->value = chosen;
  }
  std::vector<Alternative> choices;
  for (const auto& [field, names] : fitting) {
    if (names.size() == 1)
      choices.push_back(Alternative::write_for(field, '"' + names.front() + '"'));
    if (names.size() > 1) choices.push_back(Alternative::sentence("change " + field));
  }
  return choices;
}

void RuleChecker::suggest(const Statement& statement, const Formula::Violation& violation,
                          Diagnostic& diagnostic) {
  const Formula& formula = statement.formula();
  const auto& equation = formula.equation();
  if (!violation.bound || !equation || !equation->exact || equation->target != violation.subject)
    return;
  const auto bound = formula.evaluate(*violation.bound, scope_, statement.variables);
  const Reference& target = *formula.reference_at(equation->target);
  const std::string right = scope_.show(target, *bound);
  const bool is_name = target.attribute == "DataType" ||
                       fields_.find(target.field)->spec->kind == FieldKind::enumeration;
  const std::string written = is_name ? '"' + right + '"' : right;
  const auto place = target_of(statement);
  diagnostic.suggestion =
      target.attribute == "DataType" ? Alternative::write_type(right) : Alternative::write(written);
  if (place && target.attribute != "DimensionCount")
    diagnostic.ideas = {{replacement(fields_, *place, written)}};
  if (target.attribute == "Sizes" && place &&
      (suggest_count(statement, written, diagnostic) ||
       suggest_last_dimensions(statement, diagnostic)))
    return;
  if (target.attribute == "Sizes") {
    if (repeats(statement)) note_repetition(statement);
    for (Alternative& choice : other_choices(statement))
      diagnostic.suggestion.add(std::move(choice));
    // The sizes of a file cannot be written.
    const TensorDesc* tensor = place ? fields_.find_tensor(target.field, place->element) : nullptr;
    Advice stretch = tensor != nullptr && !tensor->file.empty()
                         ? how_to_stretch({stretched_by(statement)}, *place)
                         : "";
    if (!stretch.empty()) {
      stretch.add({.kind = Alternative::Kind::save, .value = "an array of other sizes"});
      diagnostic.suggestion = std::move(stretch);
    }
  }
  if (target.attribute != "DimensionCount") return;
  const TensorDesc* tensor = fields_.find_tensor(target.field, place->element);
  const auto subject = formula.evaluate(violation.subject, scope_, statement.variables);
  if (tensor == nullptr ||
      scope_.length({{target.field, "Sizes"}, place->element}) != as_unsigned(subject->integer()))
    return;
  const std::uint64_t count = as_unsigned(bound->integer());
  // The Sizes that a file has cannot be written.
  constexpr std::uint64_t most_dimensions = 8;
  const bool is_possible = count > 0 && count <= most_dimensions;
  if (!tensor->file.empty() && is_possible && element_count(tensor->sizes)) {
    const Sizes sizes = with_dimensions(tensor->sizes, count);
    diagnostic.suggestion = how_to_stretch({stretched_by(statement)}, *place);
    diagnostic.suggestion.add(reshaping(sizes));
    diagnostic.ideas = {
        {replacement(fields_, {{target.field, "Sizes"}, place->element}, list_of(sizes))}};
    wrong_dimensions_[tensor_of(*place)] = diagnostics_.size();
    return;
  }
  diagnostic.suggestion = how_to_stretch({stretched_by(statement)}, *place);
  diagnostic.suggestion.add(Alternative::write_sizes(counted(count, "dimension")));
  wrong_dimensions_[tensor_of(*place)] = diagnostics_.size();
}

void RuleChecker::report(const Statement& statement, const Formula::Violation& violation) {
  const Formula& formula = statement.formula();
  Diagnostic diagnostic =
      at_first_written(statement, violation.subject, message_of(statement, violation));
  diagnostic.rule = formula.show_symbols(scope_, statement.variables);
  std::vector<std::string> sums;
  for (const auto& operand : {std::optional(violation.subject), violation.bound}) {
    if (!operand || !violation.bound || !formula.is_computed(*operand)) continue;
    const std::string numbers = formula.show_numbers(*operand, scope_, statement.variables);
    if (numbers.find(" = ") != std::string::npos) sums.push_back(numbers);
  }
  if (!sums.empty()) diagnostic.rule += ", where " + join(sums, " and ");
  diagnostic.note = statement.rule.text;
  const auto add_note = [&](const std::string& text) {
    diagnostic.note += (diagnostic.note.empty() ? "" : " ") + text;
  };
  for (const std::string& layout : layouts(formula)) add_note(layout);
  if (!is_kept(statement.rule)) {
    add_note(judge_ == Judge::page ? directml_refuses_note
                                   : page_refuses_note(statement.rule.evidence));
    warnings_.push_back(std::move(diagnostic));
    return;
  }
  if (statement.rule.by == Authority::page)
    add_note(directml_accepts_note(statement.rule.evidence));
  if (statement.rule.by == Authority::directml) add_note(page_accepts_note());
  suggest(statement, violation, diagnostic);
  if (diagnostic.suggestion.empty()) {
    diagnostic.suggestion = remedy_of(formula, violation, fields_, scope_, statement.variables);
    for (const std::string& value :
         nearest_values(formula, violation, fields_, scope_, statement.variables))
      diagnostic.ideas.push_back({{diagnostic.pointer, value}});
    suggest_dimensions(statement, violation, diagnostic);
  }
  if (const auto equal = tensors_made_equal(statement.rule))
    size_findings_[diagnostics_.size()] = {equal->first, formula.text(), diagnostic.note};
  diagnostics_.push_back(std::move(diagnostic));
}

void RuleChecker::report_out_of_range(const Statement& statement, const Number& value) {
  const Formula& formula = statement.formula();
  const Formula::Equation& equation = *formula.equation();
  const auto target = target_of(statement);
  if (!target) return;
  const std::string name = to_text(*target);
  Diagnostic diagnostic =
      at_first_written(statement, equation.value,
                       name + " would be " + to_text(value) + ", must be from 1 to " +
                           std::to_string(uint_max) + " (UINT)");
  std::vector<std::string> causes;
  for (const Place& place : formula.places(scope_, statement.variables, equation.value)) {
    const FieldKind kind = fields_.find(place.reference.field)->spec->kind;
    const bool is_number = kind != FieldKind::enumeration && kind != FieldKind::boolean;
    if (place.reference != target->reference && is_number) causes.push_back(to_text(place));
  }
  diagnostic.suggestion = "change one of " + join(causes);
  diagnostic.rule = formula.show_symbols(scope_, statement.variables) + ", where " +
                    formula.show_numbers(equation.value, scope_, statement.variables);
  diagnostic.note = statement.rule.text;
  diagnostics_.push_back(std::move(diagnostic));
  scope_.refuse(*target);
}

}  // namespace dmlop
