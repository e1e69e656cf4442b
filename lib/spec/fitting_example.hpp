// Examples in messages for what is missing: they fit what is given.
#pragma once

#include <optional>
#include <string>

#include "spec/description.hpp"

namespace dmlop {

/// A value for a missing field, as JSON: the spec's example or, where that breaks a rule about what
/// is given, a simple one that does not.
std::string fitting_example(const Description& description, const Field& field);

/// Sizes for a tensor without any, chosen likewise.
Sizes fitting_sizes(const Description& description, const TensorUse& use);

/// The sizes that the rules give a tensor by those of the others, whatever sizes it has. Without a
/// number of dimensions the rules give that, too. Empty where they leave a choice.
Sizes sizes_by_rules(const FieldSet& fields, Judge judge, const std::string& tensor,
                     std::optional<std::size_t> element, std::optional<std::size_t> dimensions);

/// The sizes that the rules give a tensor, whatever sizes it has: one for each number of dimensions
/// with which they leave no choice.
std::vector<Sizes> sizes_by_rules(const Description& description, const TensorUse& use);

}  // namespace dmlop
