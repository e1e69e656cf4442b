// An operator's fields as formulas see them.
#pragma once

#include <set>
#include <string>

#include "spec/fields.hpp"
#include "spec/formula.hpp"

namespace dmlop {

class FieldScope : public Scope {
 public:
  explicit FieldScope(const FieldSet& fields) : fields_(fields) {}

  std::optional<Number> value(const Place& place) const override;
  std::optional<std::size_t> length(const Place& place) const override;
  std::optional<bool> is_present(const Place& place) const override;
  std::string show(const Reference& reference, const Number& value) const override;

  /// Hides a place from rules because it broke one. Returns false if it was hidden already.
  bool refuse(const Place& place) { return refused_.insert(to_text(place)).second; }
  bool is_refused(const Place& place) const {
    return (!refused_.empty() && refused_.contains(to_text(place))) || is_field_refused(place);
  }
  /// Records that a place now has another value than in the file. The file's value was wrong and
  /// has its finding.
  void note_correction(const Place& place) { corrected_.insert(to_text(place)); }
  bool is_corrected(const Place& place) const { return corrected_.contains(to_text(place)); }
  /// Hides an array, or the dimensions of a tensor, from rules. They have a finding, and everything
  /// derived from them would be wrong too.
  void refuse_field(const std::string& name) { refused_fields_.insert(name); }

 private:
  bool is_field_refused(const Place& place) const;
  std::optional<Number> field_value(const Field& field, const Place& place) const;

  const FieldSet& fields_;
  std::set<std::string> refused_;
  std::set<std::string> refused_fields_;
  std::set<std::string> corrected_;
};

}  // namespace dmlop
