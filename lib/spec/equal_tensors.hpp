// Tensors that the rules of an operator want to have equal sizes, and what NumPy's broadcasting
// makes of the sizes that they have.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/fields.hpp"

namespace dmlop {

/// The two tensors of a rule such as "BTensor.Sizes[i] == ATensor.Sizes[i]" or
/// "BTensor.DimensionCount == ATensor.DimensionCount".
std::optional<std::pair<std::string, std::string>> tensors_made_equal(const Rule& rule);

/// The tensors, `tensor` among them, whose sizes are equal by rules such as
/// "BTensor.Sizes[i] == ATensor.Sizes[i]".
std::set<std::string> tensors_of_equal_sizes(const OperatorSpec& spec, const std::string& tensor);

/// The sizes of two arrays that NumPy broadcasts; nothing where it refuses.
std::optional<Sizes> broadcast(Sizes a, Sizes b);

/// Whether a tensor has sizes, none of them 0, and as many strides, if any.
bool can_be_stretched(const TensorDesc& desc);

/// Inputs and outputs whose sizes must be equal, as far as these are given.
struct EqualTensors {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> unknown;  // tensors whose sizes are not given
  std::optional<Sizes> sizes;        // to which NumPy broadcasts the inputs; none: it refuses them
  /// An input has a size of 1, or none, where another has more, and the operator takes what NumPy
  /// makes of them.
  bool is_broadcast = false;

  bool contains(const std::string& tensor) const {
    const auto has_it = [&](const auto* names) { return std::ranges::count(*names, tensor) != 0; };
    return has_it(&inputs) || has_it(&outputs) || has_it(&unknown);
  }
};

/// All groups with two inputs or more of which the sizes are given and can be stretched.
std::vector<EqualTensors> equal_tensors(const FieldSet& given);

}  // namespace dmlop
