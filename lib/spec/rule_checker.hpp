// Applies a spec's formulas to fields: infers what is missing and checks what is given. After a
// violation it continues with the value that would have been right, so that one mistake gives one
// finding.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "spec/description.hpp"
#include "spec/equal_tensors.hpp"
#include "spec/field_scope.hpp"

namespace dmlop {

class RuleChecker {
 public:
  /// Findings about rules that the judge does not keep go to `warnings`.
  RuleChecker(FieldSet& fields, Judge judge, Diagnostics& diagnostics, Diagnostics& warnings)
      : fields_(fields),
        judge_(judge),
        diagnostics_(diagnostics),
        warnings_(warnings),
        scope_(fields) {}

  void apply(const Rule& rule);
  /// Gives a count that nobody wrote the number of elements of its array.
  void infer_counts();
  /// Every array must have as many elements as its count field says. One that has not is hidden
  /// from rules.
  void check_array_lengths();
  /// Checks fields that may be left out only under a condition.
  void check_optional_fields();
  /// Completes findings about wrong sizes after the rules have found the right ones.
  void suggest_sizes();

  FieldScope& scope() { return scope_; }

 private:
  using Subscript = std::optional<std::size_t>;

  /// One statement of a rule: the rule with values for its variables.
  struct Statement {
    const Rule& rule;
    const Variables& variables;
    const Formula& formula() const { return rule.formula; }
  };

  /// Returns true if it added a finding.
  bool apply_to(const Statement& statement);
  bool infer(const Statement& statement);
  std::optional<Place> target_of(const Statement& statement) const;
  std::optional<Number> equation_value(const Statement& statement) const;
  std::optional<Number> size_out_of_range(const Statement& statement) const;
  bool counts_below_zero(const Statement& statement) const;
  void set(const Place& target, std::int64_t value);
  void set_size(const Place& target, TensorDesc& tensor, std::int64_t value);
  void correct(const Statement& statement);
  void after_violation(const Statement& statement, const Formula::Violation& violation);
  bool follows_from_finding(const Statement& statement, const Formula::Violation& violation) const;
  bool joins_finding(const Statement& statement, const Formula::Violation& violation);
  std::vector<Place> causes_of(const Statement& statement,
                               const Formula::Violation& violation) const;
  static std::string tensor_of(const Place& place) {
    return to_text(Place{{place.reference.field}, place.element});
  }
  static std::uint64_t as_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }
  bool is_kept(const Rule& rule) const {
    return rule.by == Authority::both || (rule.by == Authority::page) == (judge_ == Judge::page);
  }

  // In rule_report.cpp.
  void report(const Statement& statement, const Formula::Violation& violation);
  void report_out_of_range(const Statement& statement, const Number& value);
  Diagnostic at_first_written(const Statement& statement, Formula::NodeIndex first,
                              std::string message) const;
  std::string message_of(const Statement& statement, const Formula::Violation& violation) const;
  void suggest(const Statement& statement, const Formula::Violation& violation,
               Diagnostic& diagnostic);
  std::vector<Alternative> other_choices(const Statement& statement);

  // In rule_repetitions.cpp, with suggest_sizes().
  /// Inputs with sizes of 1 that must be those of another tensor: strides of 0 repeat them. They
  /// are one finding.
  struct Repetition {
    std::size_t finding;
    std::string rule;                    // its formula, with variables
    std::vector<Place> sizes;            // the first that repeats of each of them
    std::set<std::size_t> dimensions;    // that repeat
    std::vector<std::string> stretched;  // what "Broadcast": true stretches
  };
  bool repeats(const Statement& statement) const;
  void note_repetition(const Statement& statement);
  bool joins_repetition(const Statement& statement, const Formula::Violation& violation);
  void suggest_strides(const Repetition& repetition);
  static std::string cause_of(const Repetition& repetition);
  void show_whole_sizes(const Repetition& repetition, const Sizes& wanted,
                        Diagnostic& finding) const;
  /// Makes a finding about one size one about all sizes of the tensor.
  void show_sizes(const Place& sizes, const Sizes& given, const Sizes& wanted,
                  const std::string& rule, Diagnostic& finding) const;
  std::optional<Strides> strides_of_fewer(const TensorUse& use) const;
  void suggest_reshaping(const TensorUse& use, const Strides& strides,
                         Diagnostic& diagnostic) const;
  void note_given_sizes(const Place& target, const TensorDesc& tensor);
  const Sizes& given_sizes(const Place& tensor) const;
  /// The tensor that is to be stretched so that the statement holds; "" where that does not help.
  std::string stretched_by(const Statement& statement) const;
  /// "add --broadcast to stretch it as NumPy does"; nothing where nothing is to be stretched.
  Advice how_to_stretch(const std::vector<std::string>& stretched, const Place& subject) const;

  // In rule_broadcasts.cpp.
  /// A finding that says that a tensor must have the sizes, or as many, of another one.
  struct SizeFinding {
    std::string tensor;
    std::string rule;  // its formula, with variables
    std::string note;
  };
  FieldSet given_fields() const;
  void suggest_broadcasts();
  bool is_told_by_rules(const FieldSet& given, const EqualTensors& group) const;
  void suggest_stretching_files(const FieldSet& given, const EqualTensors& group);
  void suggest_broadcast(const FieldSet& given, const EqualTensors& group, const SizeFinding& about,
                         Diagnostic& finding);
  void suggest_equal_sizes(const FieldSet& given, const EqualTensors& group, Diagnostic& finding);
  Alternative how_to_broadcast(const FieldSet& given, const EqualTensors& group,
                               const std::string& subject,
                               const std::vector<std::string>& stretched,
                               const std::vector<std::string>& outputs) const;
  Fix broadcasting_fix(const FieldSet& given, const Sizes& sizes,
                       const std::vector<std::string>& stretched) const;

  // In rule_dimensions.cpp.
  std::vector<std::string> layouts(const Formula& formula) const;
  void suggest_dimensions(const Statement& statement, const Formula::Violation& violation,
                          Diagnostic& diagnostic) const;
  bool suggest_last_dimensions(const Statement& statement, Diagnostic& diagnostic);

  // In rule_counts.cpp, with infer_counts() and check_array_lengths().
  void refuse_empty(const Field& array, Field& count);
  std::optional<Replacement> other_count(const Statement& statement);
  bool suggest_count(const Statement& statement, const std::string& size, Diagnostic& diagnostic);
  std::string such_as(const FieldSpec& array) const;
  void check_array_length(const Field& field);
  void blame_file(Diagnostic& diagnostic, std::size_t length, std::size_t count) const;

  FieldSet& fields_;
  Judge judge_;
  Diagnostics& diagnostics_;
  Diagnostics& warnings_;
  FieldScope scope_;
  std::map<std::string, std::vector<std::optional<std::uint64_t>>> inferred_sizes_;
  std::map<std::string, std::size_t> wrong_dimensions_;  // tensor -> index of the finding
  std::map<std::string, Sizes> given_sizes_;             // of tensors whose sizes were corrected
  std::vector<Repetition> repetitions_;
  std::map<std::size_t, SizeFinding> size_findings_;  // by the finding's index
  std::set<std::string> doubtful_;                    // tensors of which a size broke a rule

  /// A finding that says that one value differs from another, and what else differs in the same
  /// way.
  struct SameCause {
    std::size_t finding;
    std::string note;  // of the rule
    std::vector<std::string> others;
  };
  std::map<std::string, SameCause> causes_;
  std::map<std::string, SameCause> lengths_;  // of arrays
};

}  // namespace dmlop
