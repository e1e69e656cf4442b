#include "spec/rule_checker.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "spec/ideas.hpp"
#include "spec/remedy.hpp"
#include "spec/settings.hpp"

namespace dmlop {
namespace {

// After this many findings about one rule, the rest are not listed.
constexpr int rule_findings_listed = 8;

}  // namespace

void RuleChecker::apply(const Rule& rule) {
  // A nested operator has no tensors, so rules about tensors do not apply to it.
  const auto is_missing = [&](const Reference& reference) {
    return fields_.find(reference.field) == nullptr;
  };
  const auto references = rule.formula.references();
  if (std::any_of(references.begin(), references.end(), is_missing)) return;
  // The rule that determines the count has been applied by now.
  for (const Reference& reference : references) check_array_length(*fields_.find(reference.field));
  int findings = 0;
  rule.formula.for_each(scope_, [&](const Variables& variables) {
    const std::size_t before = diagnostics_.size();
    if (apply_to({rule, variables}) && ++findings > rule_findings_listed &&
        diagnostics_.size() > before) {
      diagnostics_.pop_back();
      ++diagnostics_.back().more;
      // Nothing can join a finding that is not listed, or add to it.
      const auto is_dropped = [&](std::size_t finding) { return finding >= diagnostics_.size(); };
      std::erase_if(causes_, [&](const auto& cause) { return is_dropped(cause.second.finding); });
      std::erase_if(wrong_dimensions_, [&](const auto& wrong) { return is_dropped(wrong.second); });
      std::erase_if(repetitions_, [&](const auto& each) { return is_dropped(each.finding); });
      std::erase_if(size_findings_, [&](const auto& each) { return is_dropped(each.first); });
    }
    return true;
  });
}

bool RuleChecker::apply_to(const Statement& statement) {
  const Formula& formula = statement.formula();
  const std::size_t before = diagnostics_.size();
  if (infer(statement)) return diagnostics_.size() > before;
  const auto violation = formula.check(scope_, statement.variables);
  if (!violation || counts_below_zero(statement)) return false;
  if (follows_from_finding(statement, *violation)) return false;
  if (!is_kept(statement.rule)) {
    report(statement, *violation);
    return true;
  }
  if (const auto expected = size_out_of_range(statement)) {
    report_out_of_range(statement, *expected);
    return true;
  }
  const bool is_new =
      !joins_repetition(statement, *violation) && !joins_finding(statement, *violation);
  if (is_new) report(statement, *violation);
  after_violation(statement, *violation);
  return is_new;
}

namespace {

bool is_size(const Place& place) {
  return place.reference.attribute == "Sizes";
}

}  // namespace

// The values that say what the violation's subject must be.
std::vector<Place> RuleChecker::causes_of(const Statement& statement,
                                          const Formula::Violation& violation) const {
  const Formula& formula = statement.formula();
  const auto subject = formula.place_at(violation.subject, scope_, statement.variables);
  std::vector<Place> causes;
  for (const Place& place : formula.places(scope_, statement.variables)) {
    if (!subject || !(place == *subject)) causes.push_back(place);
  }
  return causes;
}

// A size that must agree with another tensor of which a size is wrong: perhaps that is the mistake,
// as where it is transposed, and it has its finding. Nothing else can be said about this one, nor
// about what must agree with it.
bool RuleChecker::follows_from_finding(const Statement& statement,
                                       const Formula::Violation& violation) const {
  const auto subject = statement.formula().place_at(violation.subject, scope_, statement.variables);
  if (!subject || !is_size(*subject)) return false;
  const auto causes = causes_of(statement, violation);
  return std::any_of(causes.begin(), causes.end(), [&](const Place& cause) {
    return is_size(cause) && tensor_of(cause) != tensor_of(*subject) &&
           doubtful_.contains(tensor_of(cause));
  });
}

// One mistake, such as a direction or the size of the first input, makes several sizes differ in
// the same way. They are one finding.
bool RuleChecker::joins_finding(const Statement& statement, const Formula::Violation& violation) {
  const Formula& formula = statement.formula();
  const auto subject = formula.place_at(violation.subject, scope_, statement.variables);
  if (!subject || !is_size(*subject) || !violation.bound || violation.words != "must be")
    return false;
  const auto causes = causes_of(statement, violation);
  const auto value = formula.evaluate(violation.subject, scope_, statement.variables);
  const auto bound = formula.evaluate(*violation.bound, scope_, statement.variables);
  if (causes.empty() || !value || !bound || statement.rule.by != Authority::both) return false;
  std::string key = to_text(*value) + " " + to_text(*bound);
  for (const Place& cause : causes) key += " " + to_text(cause);
  const auto [same, is_new] =
      causes_.try_emplace(key, SameCause{diagnostics_.size(), statement.rule.text, {}});
  if (is_new) return false;
  same->second.others.push_back(to_text(*subject));
  for (Fix& idea : diagnostics_[same->second.finding].ideas)
    idea.push_back(replacement(fields_, *subject, to_text(*bound)));
  const auto& others = same->second.others;
  std::vector<std::string> names;
  for (const Place& cause : causes) names.push_back(to_text(cause));
  Diagnostic& finding = diagnostics_[same->second.finding];
  const std::string& note = same->second.note;
  finding.note = note + (note.empty() ? "" : " ") + join(others) +
                 (others.size() == 1 ? " is " : " are ") + to_text(*value) + ", too.";
  finding.suggestion = {
      Alternative::write_for(others.size() == 1 ? "both" : "each", to_text(*bound)),
      Alternative::sentence("change " + join(names, " or "))};
  return true;
}

// Gives the place that broke the rule its right value, or hides it from later rules.
void RuleChecker::after_violation(const Statement& statement, const Formula::Violation& violation) {
  const Formula& formula = statement.formula();
  const auto& equation = formula.equation();
  const auto place = formula.place_at(violation.subject, scope_, statement.variables);
  if (place && is_size(*place)) doubtful_.insert(tensor_of(*place));
  if (equation && equation->exact && equation->target == violation.subject) {
    correct(statement);
    return;
  }
  if (const Reference* subject = formula.reference_at(violation.subject)) {
    // Sizes of another length do not describe the dimensions that there should be.
    if (subject->attribute == "DimensionCount") scope_.refuse_field(tensor_of(*place));
    if (subject->attribute == "DimensionCount" || subject->attribute == "DataType") return;
  }
  for (const Place& named : formula.places(scope_, statement.variables, violation.subject)) {
    const Field* field = fields_.find(named.reference.field);
    const bool is_input_size = named.reference.attribute == "Sizes" && field->spec->is_input();
    const bool is_structure = named.reference.attribute == "DimensionCount" ||
                              named.reference.attribute == "DataType" ||
                              field->spec->kind == FieldKind::enumeration;
    if (!is_input_size && !is_structure) scope_.refuse(named);
  }
}

std::optional<Place> RuleChecker::target_of(const Statement& statement) const {
  const Formula& formula = statement.formula();
  return formula.place_at(formula.equation()->target, scope_, statement.variables);
}

std::optional<Number> RuleChecker::equation_value(const Statement& statement) const {
  const Formula& formula = statement.formula();
  if (!formula.equation() || !formula.equation_applies(scope_, statement.variables))
    return std::nullopt;
  return formula.evaluate(formula.equation()->value, scope_, statement.variables);
}

// Whether a count could only be negative. The tensor that determines it then has too few
// dimensions, which is a finding of its own.
bool RuleChecker::counts_below_zero(const Statement& statement) const {
  const auto& equation = statement.formula().equation();
  if (!equation || statement.formula().reference_at(equation->target)->attribute == "Sizes")
    return false;
  const auto value = equation_value(statement);
  if (!value || value->is_real() || value->integer() >= 0) return false;
  const FieldKind kind =
      fields_.find(statement.formula().reference_at(equation->target)->field)->spec->kind;
  return kind != FieldKind::int32 && kind != FieldKind::int_array;
}

// The number that the rule's equation gives for a size, if it is out of range for one.
std::optional<Number> RuleChecker::size_out_of_range(const Statement& statement) const {
  const auto& equation = statement.formula().equation();
  if (!equation || statement.formula().reference_at(equation->target)->attribute != "Sizes")
    return std::nullopt;
  const auto size = equation_value(statement);
  if (!size) return std::nullopt;
  const bool is_size = !(*size < 1) && !(Number(uint_max) < *size);
  return is_size ? std::nullopt : size;
}

// Gives the equation's target its value if it has none yet. Returns true if it did.
bool RuleChecker::infer(const Statement& statement) {
  if (!statement.formula().equation() ||
      !statement.formula().equation_applies(scope_, statement.variables))
    return false;
  const auto target = target_of(statement);
  if (!target) return false;
  if (scope_.is_refused(*target)) return true;
  if (scope_.value(*target)) return false;
  const Field& field = *fields_.find(target->reference.field);
  const bool is_tensor = field.spec->is_tensor();
  if (is_tensor && fields_.find_tensor(field.spec->name, target->element) == nullptr) return false;
  // A value that is written but could not be read has its own finding.
  if (!is_tensor && (fields_.is_written(*target) || field.spec->optional)) return false;
  const auto expected = equation_value(statement);
  if (!expected) return false;
  if (size_out_of_range(statement)) {
    report_out_of_range(statement, *expected);
    return true;
  }
  if (expected->is_real()) return false;
  if (counts_below_zero(statement)) return true;
  set(*target, expected->integer());
  return true;
}

void RuleChecker::set(const Place& target, std::int64_t value) {
  Field& field = *fields_.find(target.reference.field);
  if (!field.spec->is_tensor()) {
    auto* list = std::get_if<std::vector<std::int64_t>>(&field.value);
    if (list != nullptr && target.subscript && *target.subscript < list->size())
      (*list)[*target.subscript] = value;
    if (target.reference.attribute.empty() && !target.subscript) field.value = value;
    return;
  }
  TensorDesc& tensor = *fields_.find_tensor(target.reference.field, target.element);
  if (target.reference.attribute == "DataType") {
    const auto type = static_cast<DataType>(value);
    // It counts the bytes of elements of the other type.
    if (tensor.data_type && *tensor.data_type != type) tensor.total_size_in_bytes.reset();
    tensor.data_type = type;
  } else if (target.reference.attribute == "DimensionCount") {
    if (value < 1 || value > 8) return;  // the other side of the rule has its own finding
    tensor.dimension_count = static_cast<std::size_t>(value);
    // Sizes of another length do not describe the dimensions that there should be.
    if (tensor.sizes.size() != *tensor.dimension_count) {
      note_given_sizes(target, tensor);
      tensor.sizes.clear();
    }
  } else {
    set_size(target, tensor, value);
  }
}

void RuleChecker::set_size(const Place& target, TensorDesc& tensor, std::int64_t value) {
  if (!target.subscript) return;
  if (!tensor.sizes.empty()) {
    // The rule may mention a dimension that Sizes, being too short, does not have.
    if (*target.subscript >= tensor.sizes.size()) return;
    note_given_sizes(target, tensor);
    tensor.sizes[*target.subscript] = as_unsigned(value);
    return;
  }
  if (!tensor.dimension_count || *target.subscript >= *tensor.dimension_count) return;
  auto& sizes = inferred_sizes_[to_text(Place{{target.reference.field}, target.element})];
  sizes.resize(*tensor.dimension_count);
  sizes[*target.subscript] = as_unsigned(value);
  const auto known = [](const auto& size) { return size.has_value(); };
  if (!std::all_of(sizes.begin(), sizes.end(), known)) return;
  for (const auto& size : sizes) tensor.sizes.push_back(*size);
}

void RuleChecker::correct(const Statement& statement) {
  const auto target = target_of(statement);
  const auto expected = equation_value(statement);
  if (!target || !expected || expected->is_real() || expected->integer() < 0) return;
  set(*target, expected->integer());
  scope_.note_correction(*target);
}

void RuleChecker::check_optional_fields() {
  for (const Field& field : fields_.fields) {
    if (field.written != nullptr || field.is_misspelt || !field.spec->optional_when) continue;
    const Formula& condition = *field.spec->optional_when;
    if (!condition.check(scope_, Variables{})) continue;
    Diagnostic diagnostic =
        fields_.at(Place{{field.spec->name}}, "the field \"" + field.spec->name + "\" is missing");
    diagnostic.rule = "it may be left out only where " + field.spec->optional_words();
    diagnostic.suggestion =
        how_to_write(fields_.document(), fields_.fields_object(), field.spec->name,
                     example_value(*fields_.spec, field.spec->name));
    diagnostics_.push_back(std::move(diagnostic));
  }
}

}  // namespace dmlop
