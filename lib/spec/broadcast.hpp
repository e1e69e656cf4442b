// Tensors that are stretched to the sizes of others, as NumPy broadcasts arrays: "Broadcast": true
// in a desc. DirectML knows only the sizes and strides that come of it.
#pragma once

#include <optional>
#include <string>
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
