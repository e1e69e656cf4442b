// Tensors that are stretched to the sizes of others, as NumPy broadcasts arrays: "Broadcast": true
// in a desc. DirectML knows only the sizes and strides that come of it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/fields.hpp"

namespace dmlop {

/// Gives each tensor with is_broadcast the sizes that the rules want of it, and strides of 0 where
/// it repeats. A tensor that cannot be stretched is a finding.
void stretch_tensors(FieldSet& fields, Diagnostics& diagnostics);

/// The strides of a tensor that is stretched to `sizes`: 0 where it repeats.
Strides stretched_strides(const TensorDesc& desc, const Sizes& sizes);

/// The strides with which a packed tensor repeats in one of other sizes: as NumPy broadcasts it, or
/// as one value for each channel. Nothing where neither fits.
std::optional<Strides> repeating_strides(const Sizes& from, const Sizes& to);

/// Whether a rule gives a tensor all sizes of another one.
bool has_sizes_of_another(const OperatorSpec& spec, const std::string& tensor);

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

/// The two tensors of a rule such as "BTensor.Sizes[i] == ATensor.Sizes[i]" or
/// "BTensor.DimensionCount == ATensor.DimensionCount".
std::optional<std::pair<std::string, std::string>> tensors_made_equal(const Rule& rule);

/// All groups with two inputs or more of which the sizes are given and can be stretched.
std::vector<EqualTensors> equal_tensors(const FieldSet& given);

/// Whether a change of fields repeats elements of inputs as NumPy does, and drops none, where
/// broadcasting is meant. Tensors may stay as they were.
bool repeats_as_numpy(const FieldSet& given, const FieldSet& changed);

/// The only input that has to be stretched so that `tensor`, an input, obeys a rule with these
/// references: itself, or the other one; "" where that does not help.
std::string stretched_for(const FieldSet& fields, const std::string& tensor,
                          const std::vector<Reference>& references);

/// Marks all inputs that can be stretched to the sizes of others.
void broadcast_all(FieldSet& fields);

/// Whether the tensor would have the sizes that the rules want, if it were stretched.
bool may_be_stretched(const FieldSet& fields, const std::string& tensor);

/// "BTensor [3] is stretched to [2, 3]: DirectML needs these Sizes and the Strides [0, 1]", for
/// each tensor that was stretched.
std::vector<std::string> stretched_texts(const FieldSet& fields);

}  // namespace dmlop
