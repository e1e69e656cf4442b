// Checks a description against feature levels: its operator, enumeration values, fused activations,
// and the data types and dimension counts of its tensors.
#pragma once

#include <map>
#include <set>

#include "spec/description.hpp"
#include "spec/field_scope.hpp"

namespace dmlop {

class SupportChecker {
 public:
  SupportChecker(Description& description, const FieldScope& scope, Diagnostics& diagnostics)
      : description_(description), scope_(scope), diagnostics_(diagnostics) {}

  /// Returns false if the operator does not exist at this level; then nothing else is worth
  /// reporting.
  bool check_operator();
  void check_enums(const FieldSet& fields);
  void check_activations();
  /// Gives each tensor whose type is neither stated nor determined the only type that its rows
  /// allow.
  void infer_types();
  /// Checks the inputs that are known before rules are applied. An input with a wrong number of
  /// dimensions is hidden from rules.
  void check_inputs(FieldScope& scope);
  /// Checks all tensors that are known now and were not checked before.
  void check_tensors();

 private:
  using Rows = std::vector<const SupportRow*>;
  using TensorType = std::pair<std::string, DataType>;

  Rows rows_for(const std::vector<SupportRow>& rows, const std::string& tensor) const;
  Rows page_rows(const std::string& tensor) const;
  Rows directml_rows(const std::string& tensor) const;
  bool check_tensor(const TensorUse& use);
  bool check_type(const TensorUse& use, const Rows& rows);
  bool check_dimensions(const TensorUse& use, const Rows& rows);
  bool needs_later_level(const TensorUse& use);
  bool has_type_rule(const TensorUse& use) const;
  void note_other_judge(const TensorUse& use, bool is_valid);
  bool was_reported(const TensorUse& use, DataType type, std::vector<TensorType>& reported_before);
  template <typename Accepts>
  const SupportRow* lowest_row(const std::string& tensor, Accepts&& accepts) const;
  void add(Diagnostic diagnostic, std::string rule, Advice suggestion);
  std::string this_run() const;

  Description& description_;
  const FieldScope& scope_;
  Diagnostics& diagnostics_;
  std::vector<TensorType> wrong_types_;                  // that have a finding
  std::vector<TensorType> noted_types_;                  // that have a warning
  std::map<std::size_t, std::size_t> wrong_dimensions_;  // likewise; the index of the finding
  std::set<std::string> checked_;                        // tensors
};

}  // namespace dmlop
