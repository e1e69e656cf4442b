// Checks a description against feature levels: its operator, enumeration values, fused activations,
// and the data types and dimension counts of its tensors.
#pragma once

#include "spec/description.hpp"
#include <set>

#include "spec/field_scope.hpp"

namespace dmlop {

class SupportChecker {
 public:
  SupportChecker(Description& description, const FieldScope& scope, Diagnostics& diagnostics)
      : description_(description), scope_(scope), diagnostics_(diagnostics) {}

  /// False where the operator does not exist at this level: then nothing else is worth saying.
  bool check_operator();
  void check_enums(const FieldSet& fields);
  void check_activations();
  void check_tensors();

 private:
  using Rows = std::vector<const SupportRow*>;

  Rows rows_for(const std::vector<SupportRow>& rows, const std::string& tensor) const;
  Rows page_rows(const std::string& tensor) const;
  Rows directml_rows(const std::string& tensor) const;
  void check_tensor(const TensorUse& use);
  bool check_type(const TensorUse& use, const Rows& rows);
  bool check_dimensions(const TensorUse& use, const Rows& rows);
  void compare_with_directml(const TensorUse& use, bool is_valid);
  bool directml_accepts(const TensorUse& use) const;
  bool was_reported(const TensorUse& use, DataType type);
  template <typename Accepts>
  const SupportRow* lowest_row(const std::string& tensor, Accepts&& accepts) const;
  void add(Diagnostic diagnostic, std::string rule, std::string suggestion);
  std::string this_run() const;

  Description& description_;
  const FieldScope& scope_;
  Diagnostics& diagnostics_;
  std::vector<std::pair<std::string, DataType>> wrong_types_;  // that have a finding
  std::set<std::size_t> wrong_dimensions_;                     // likewise
};

}  // namespace dmlop
