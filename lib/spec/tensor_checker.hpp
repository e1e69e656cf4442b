// The rules for every tensor (DML_BUFFER_TENSOR_DESC): sizes, strides, bytes and flags.
#pragma once

#include "spec/field_scope.hpp"
#include "spec/fields.hpp"

namespace dmlop {

class TensorChecker {
 public:
  TensorChecker(const FieldSet& fields, Diagnostics& diagnostics)
      : fields_(fields), diagnostics_(diagnostics) {}

  /// Checks that DimensionCount is the number of sizes, and sets it.
  void check_dimension_count(const TensorUse& use);
  /// Checks that every size is a UINT of at least 1. Other sizes are hidden from rules.
  void check_sizes(const TensorUse& use, FieldScope& scope);
  void check_element_count(const TensorUse& use);
  /// Checks flags, strides, total size and alignment.
  void check_buffer(const TensorUse& use);

 private:
  void propose(const Place& place, std::string json);
  void check_flags(const TensorUse& use);
  bool check_strides(const TensorUse& use);
  void check_total_size(const TensorUse& use);
  void check_alignment(const TensorUse& use);
  void add(Diagnostic diagnostic, std::string rule = "", Advice suggestion = "");

  const FieldSet& fields_;
  Diagnostics& diagnostics_;
  bool is_too_large_ = false;  // a tensor was too large; others follow from it
};

}  // namespace dmlop
