// What formulas see of an operator's fields.
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

  /// Makes a place worth nothing to rules, because it broke one. False where it already was.
  bool refuse(const Place& place) { return refused_.insert(to_text(place)).second; }
  bool is_refused(const Place& place) const {
    return !refused_.empty() && refused_.contains(to_text(place));
  }

 private:
  std::optional<Number> field_value(const Field& field, const Place& place) const;

  const FieldSet& fields_;
  std::set<std::string> refused_;
};

}  // namespace dmlop
