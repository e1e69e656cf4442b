// What to write instead of a value that breaks a rule, where the rule's equation does not say it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/field_scope.hpp"
#include "spec/fields.hpp"
#include "spec/formula.hpp"

namespace dmlop {

/// The remedy for a violation: the nearest values that the rule allows, or what to change.
Advice remedy_of(const Formula& formula, const Formula::Violation& violation,
                 const FieldSet& fields, const FieldScope& scope, const Variables& variables);

/// The nearest of these values, as JSON: what to write instead of the subject. "null" leaves it
/// out.
std::vector<std::string> nearest_values(const Formula& formula, const Formula::Violation& violation,
                                        const FieldSet& fields, const FieldScope& scope,
                                        const Variables& variables);

/// Whether no rule that names the field `name` is known to be broken.
bool obeys_rules(const FieldSet& fields, const FieldScope& scope, std::string_view name);

/// How many statements of the rules that name the field `name` are known to be broken, counted up
/// to `most`.
std::size_t broken_rules(const FieldSet& fields, const FieldScope& scope, std::string_view name,
                         std::size_t most);

/// "add dimensions of size 1: write [1, 1, 3, 4]", or what to save where a file has the sizes.
Alternative how_to_reshape(const TensorDesc& tensor, const Sizes& sizes);

}  // namespace dmlop
