#include "spec/rule_checker.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"

namespace dmlop {
namespace {

constexpr std::int64_t uint_max = std::numeric_limits<std::uint32_t>::max();

std::uint64_t as_unsigned(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

// After this many findings about one rule the rest are not listed.
constexpr int findings_listed = 8;

}  // namespace

std::optional<std::int64_t> RuleChecker::value(const Reference& reference,
                                               Subscript subscript) const {
  const Field* field = description_.find(reference.field);
  if (field == nullptr) return std::nullopt;
  if (!refused_.empty() && refused_.contains(to_text(reference, subscript))) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&field->value)) return *number;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&field->value)) {
    if (!subscript || *subscript >= list->size()) return std::nullopt;
    return (*list)[*subscript];
  }
  const auto* tensor = std::get_if<TensorDesc>(&field->value);
  if (tensor == nullptr) return std::nullopt;
  if (reference.attribute == "DataType") {
    if (!tensor->data_type) return std::nullopt;
    return static_cast<std::int64_t>(*tensor->data_type);
  }
  if (reference.attribute == "DimensionCount") {
    if (!tensor->dimension_count) return std::nullopt;
    return static_cast<std::int64_t>(*tensor->dimension_count);
  }
  if (!subscript || *subscript >= tensor->sizes.size()) return std::nullopt;
  return static_cast<std::int64_t>(tensor->sizes[*subscript]);
}

std::optional<std::size_t> RuleChecker::length(const Reference& reference) const {
  const Field* field = description_.find(reference.field);
  if (field == nullptr) return std::nullopt;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&field->value)) return list->size();
  const auto* tensor = std::get_if<TensorDesc>(&field->value);
  if (tensor == nullptr) return std::nullopt;
  return tensor->sizes.empty() ? tensor->dimension_count : std::optional(tensor->sizes.size());
}

std::string RuleChecker::show(const Reference& reference, std::int64_t value) const {
  if (reference.attribute == "DataType") return std::string(name_of(static_cast<DataType>(value)));
  const Field* field = description_.find(reference.field);
  if (field != nullptr && field->spec->kind == FieldKind::enumeration) {
    for (const EnumValue& entry : enum_values(field->spec->enum_name)) {
      if (entry.value == value) return entry.name;
    }
  }
  return std::to_string(value);
}

bool RuleChecker::refuse(const Reference& reference, std::size_t subscript) {
  return refused_.insert(to_text(reference, subscript)).second;
}

void RuleChecker::apply(const Formula& rule) {
  const std::size_t count = rule.index_count(*this);
  int findings = 0;
  for (std::size_t i = 0; i < count && findings < findings_listed; ++i) {
    if (apply_at(rule, i)) ++findings;
  }
}

bool RuleChecker::apply_at(const Formula& rule, std::size_t i) {
  const std::size_t before = diagnostics_.size();
  if (infer(rule, i)) return diagnostics_.size() > before;
  const auto violation = rule.check(*this, i);
  if (!violation || counts_below_zero(rule, i)) return false;
  if (const auto expected = size_out_of_range(rule, i)) {
    report_out_of_range(rule, i, *expected);
    return true;
  }
  report(rule, i, *violation);
  const auto& equation = rule.equation();
  if (equation && equation->exact) {
    correct(rule, i);
    return true;
  }
  if (const Reference* subject = rule.reference_at(violation->subject)) {
    if (subject->attribute == "DimensionCount" || subject->attribute == "DataType") return true;
  }
  for (const auto& [reference, subscript] : rule.references(*this, i, violation->subject)) {
    const bool is_input_size =
        reference.attribute == "Sizes" &&
        description_.find(reference.field)->spec->kind == FieldKind::input_tensor;
    if (!is_input_size) refused_.insert(to_text(reference, subscript));
  }
  return true;
}

// A count that could only be negative: the tensor it follows from has too few dimensions, which is
// a finding of its own.
bool RuleChecker::counts_below_zero(const Formula& rule, std::size_t i) const {
  const auto& equation = rule.equation();
  if (!equation || equation->target.attribute == "Sizes") return false;
  return rule.evaluate(equation->value, *this, i).value_or(0) < 0;
}

// What the rule's equation gives for a size, where that can be no size.
std::optional<std::int64_t> RuleChecker::size_out_of_range(const Formula& rule,
                                                           std::size_t i) const {
  const auto& equation = rule.equation();
  if (!equation || equation->target.attribute != "Sizes") return std::nullopt;
  const auto size = rule.evaluate(equation->value, *this, i);
  return size && (*size < 1 || *size > uint_max) ? size : std::nullopt;
}

// Gives the equation's target its value where it has none yet. True when it did.
bool RuleChecker::infer(const Formula& rule, std::size_t i) {
  const auto& equation = rule.equation();
  if (!equation) return false;
  Subscript subscript;
  if (equation->subscript) {
    const auto at = rule.evaluate(*equation->subscript, *this, i);
    if (!at) return false;
    subscript = static_cast<std::size_t>(*at);
  }
  if (!refused_.empty() && refused_.contains(to_text(equation->target, subscript))) return true;
  if (value(equation->target, subscript)) return false;
  const Field* field = description_.find(equation->target.field);
  // What is written but could not be read has its own finding.
  if (description_.is_written(equation->target) && field->spec->is_tensor() == false) return false;
  const auto expected = rule.evaluate(equation->value, *this, i);
  if (!expected) return false;
  if (counts_below_zero(rule, i)) return true;
  if (size_out_of_range(rule, i)) {
    report_out_of_range(rule, i, *expected);
    return true;
  }
  set(equation->target, subscript, *expected);
  return true;
}

void RuleChecker::set(const Reference& target, Subscript subscript, std::int64_t value) {
  Field& field = *description_.find(target.field);
  if (target.attribute.empty()) {
    if (!subscript) field.value = value;
    return;
  }
  TensorDesc& tensor = std::get<TensorDesc>(field.value);
  if (target.attribute == "DataType") {
    tensor.data_type = static_cast<DataType>(value);
  } else if (target.attribute == "DimensionCount") {
    tensor.dimension_count = static_cast<std::size_t>(value);
    // Sizes of another length say nothing about the dimensions there should be.
    if (tensor.sizes.size() != *tensor.dimension_count) tensor.sizes.clear();
  } else if (!tensor.sizes.empty()) {
    tensor.sizes[*subscript] = static_cast<std::uint64_t>(value);
  } else if (tensor.dimension_count && *subscript < *tensor.dimension_count) {
    auto& sizes = inferred_sizes_[target.field];
    sizes.resize(*tensor.dimension_count);
    sizes[*subscript] = static_cast<std::uint64_t>(value);
    const auto known = [](const auto& size) { return size.has_value(); };
    if (!std::all_of(sizes.begin(), sizes.end(), known)) return;
    for (const auto& size : sizes) tensor.sizes.push_back(*size);
  }
}

void RuleChecker::correct(const Formula& rule, std::size_t i) {
  const Formula::Equation& equation = *rule.equation();
  Subscript subscript;
  if (equation.subscript) {
    subscript = static_cast<std::size_t>(*rule.evaluate(*equation.subscript, *this, i));
  }
  const auto expected = rule.evaluate(equation.value, *this, i);
  if (expected && *expected >= 0) set(equation.target, subscript, *expected);
}

Diagnostic RuleChecker::at_first_written(const Formula& rule, std::size_t i,
                                         Formula::NodeIndex first, std::string message) const {
  const auto references = rule.references(*this, i, first);
  for (const auto& [reference, subscript] : references) {
    if (description_.is_written(reference)) {
      return description_.at(reference, subscript, std::move(message));
    }
  }
  return description_.at({"", ""}, std::nullopt, std::move(message));
}

void RuleChecker::report(const Formula& rule, std::size_t i, const Formula::Violation& violation) {
  const auto subject = rule.evaluate(violation.subject, *this, i);
  const auto bound = rule.evaluate(violation.bound, *this, i);
  const bool is_chain = violation.subject != violation.bound;
  std::string message = rule.show_symbols(violation.subject, *this, i);
  if (is_chain) {
    const Reference* named = rule.reference_at(violation.subject);
    message += " is " + rule.show_value(violation.subject, *this, *subject) + ", " +
               std::string(violation.comparison) + " " +
               (named != nullptr ? show(*named, *bound) : std::to_string(*bound));
  } else {
    message += " does not hold";
  }
  Diagnostic diagnostic = at_first_written(rule, i, violation.subject, std::move(message));
  diagnostic.rule = rule.show_symbols(*this, i);
  std::vector<std::string> sums;
  for (const Formula::NodeIndex operand : {violation.subject, violation.bound}) {
    const std::string numbers = rule.show_numbers(operand, *this, i);
    if (numbers.find(" = ") != std::string::npos) sums.push_back(numbers);
  }
  if (!sums.empty()) diagnostic.rule += ", where " + join(sums, " and ");
  const auto& equation = rule.equation();
  if (equation && equation->exact) {
    const std::string right = show(equation->target, *bound);
    diagnostic.suggestion =
        equation->target.attribute == "DataType" ? "write \"" + right + "\"" : "write " + right;
  }
  const Reference* named = rule.reference_at(violation.subject);
  if (named != nullptr && named->attribute == "DimensionCount") {
    diagnostic.message = named->field + " has " + counted(as_unsigned(*subject), "dimension") +
                         ", must have " + std::to_string(*bound);
    if (length({named->field, "Sizes"}) == as_unsigned(*subject)) {
      diagnostic.suggestion = "write " + counted(as_unsigned(*bound), "size");
      wrong_dimensions_[named->field] = diagnostics_.size();
    }
  }
  diagnostics_.push_back(std::move(diagnostic));
}

void RuleChecker::report_out_of_range(const Formula& rule, std::size_t i, std::int64_t value) {
  const Formula::Equation& equation = *rule.equation();
  Subscript subscript;
  if (equation.subscript) {
    subscript = static_cast<std::size_t>(*rule.evaluate(*equation.subscript, *this, i));
  }
  const std::string name = to_text(equation.target, subscript);
  Diagnostic diagnostic =
      at_first_written(rule, i, equation.value,
                       name + " would be " + std::to_string(value) + ", must be from 1 to " +
                           std::to_string(uint_max) + " (UINT)");
  std::vector<std::string> causes;
  for (const auto& [reference, at] : rule.references(*this, i, equation.value)) {
    if (reference != equation.target) causes.push_back(to_text(reference, at));
  }
  diagnostic.suggestion = "change one of " + join(causes);
  diagnostic.rule =
      rule.show_symbols(*this, i) + ", where " + rule.show_numbers(equation.value, *this, i);
  diagnostics_.push_back(std::move(diagnostic));
  refused_.insert(name);
}

void RuleChecker::check_array_lengths() {
  for (const Field& field : description_.fields) {
    const auto* list = std::get_if<std::vector<std::int64_t>>(&field.value);
    if (list == nullptr || field.spec->count_field.empty()) continue;
    const auto count = value({field.spec->count_field, ""}, std::nullopt);
    if (!count || static_cast<std::uint64_t>(*count) == list->size()) continue;
    Diagnostic diagnostic =
        description_.at({field.spec->name, ""}, std::nullopt,
                        field.spec->name + " has " + counted(list->size(), "value") +
                            ", must have " + std::to_string(*count));
    diagnostic.rule = "one value for each dimension: " + field.spec->count_field + " is " +
                      std::to_string(*count);
    diagnostics_.push_back(std::move(diagnostic));
  }
}

void RuleChecker::suggest_sizes() {
  for (const auto& [tensor, finding] : wrong_dimensions_) {
    const auto& desc = std::get<TensorDesc>(description_.find(tensor)->value);
    if (!desc.sizes.empty())
      diagnostics_[finding].suggestion = "write " + list_of(desc.sizes) + " for its Sizes";
  }
}

void RuleChecker::check_optional_fields() {
  for (const Field& field : description_.fields) {
    if (field.written != nullptr || field.is_misspelt || !field.spec->optional_when) continue;
    const Formula& condition = *field.spec->optional_when;
    const auto violation = condition.check(*this, 0);
    if (!violation) continue;
    Diagnostic diagnostic = description_.at({field.spec->name, ""}, std::nullopt,
                                            "the field \"" + field.spec->name + "\" is missing");
    diagnostic.rule = "it may be left out only where " + condition.text();
    diagnostic.suggestion = "write \"" + field.spec->name +
                            "\": " + example_value(*description_.spec, field.spec->name) +
                            ", for example";
    diagnostics_.push_back(std::move(diagnostic));
  }
}

}  // namespace dmlop
