#include "spec/broadcast_check.hpp"

#include <algorithm>

#include "spec/broadcast.hpp"
#include "spec/equal_tensors.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

/// Whether strides reach the same elements in the same order. Those of sizes of 1 reach nothing.
bool are_alike(const Sizes& sizes, const Strides& a, const Strides& b) {
  if (a.size() != sizes.size() || b.size() != sizes.size()) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && a[i] != b[i]) return false;
  }
  return true;
}

bool is_view(const TensorDesc& desc, const Sizes& sizes, const Strides& strides) {
  return desc.sizes == sizes && element_count(sizes) &&
         are_alike(sizes, desc.strides.value_or(packed_strides(sizes)), strides);
}

bool is_unchanged(const TensorDesc& before, const TensorDesc& now) {
  return now.sizes == before.sizes && now.strides == before.strides;
}

/// Whether the tensors of a group are as they were or as NumPy broadcasts them.
bool are_broadcast(const EqualTensors& group, const FieldSet& given, const FieldSet& stretched,
                   const FieldSet& now) {
  const auto is_right = [&](const std::string& name, bool is_input) {
    const TensorDesc& before = *given.find_tensor(name);
    const TensorDesc* desc = now.find_tensor(name);
    if (desc == nullptr || desc->sizes.empty() || is_unchanged(before, *desc) ||
        is_unchanged(*stretched.find_tensor(name), *desc))
      return true;
    if (!group.sizes) return false;
    return is_input ? is_view(*desc, *group.sizes, stretched_strides(before, *group.sizes))
                    : desc->sizes == *group.sizes;
  };
  return std::ranges::all_of(group.inputs,
                             [&](const auto& name) { return is_right(name, true); }) &&
         std::ranges::all_of(group.outputs,
                             [&](const auto& name) { return is_right(name, false); });
}

}  // namespace

namespace {

/// Whether strides that were written for fewer dimensions are those of the last ones, and reach all
/// that they reached.
bool are_kept(const TensorDesc& before, const TensorDesc& now) {
  if (!before.strides) return true;
  const Strides& old = *before.strides;
  if (old.size() == before.sizes.size() && element_count(now.sizes) < element_count(before.sizes))
    return false;
  const Strides strides = now.strides.value_or(packed_strides(now.sizes));
  if (strides.size() != now.sizes.size() || strides.size() <= old.size()) return true;
  for (std::size_t i = 1; i <= old.size(); ++i) {
    const bool was_one = i <= before.sizes.size() && before.sizes[before.sizes.size() - i] == 1;
    const bool is_one = now.sizes[now.sizes.size() - i] == 1;
    if (!was_one && !is_one && strides[strides.size() - i] != old[old.size() - i]) return false;
  }
  return true;
}

}  // namespace

bool repeats_as_numpy(const FieldSet& given, const FieldSet& changed) {
  FieldSet stretched = given, now = changed;
  Diagnostics unread;
  stretch_tensors(stretched, unread);
  stretch_tensors(now, unread);
  for (const EqualTensors& group : equal_tensors(given)) {
    if (group.is_broadcast && !are_broadcast(group, given, stretched, now)) return false;
  }
  for (const TensorUse& use : tensors_of(now)) {
    const TensorDesc* before = given.find_tensor(use.spec->name, use.element);
    if (before == nullptr || before->sizes.empty()) continue;
    if (use.spec->is_input() && !use.desc->is_broadcast && !are_kept(*before, *use.desc))
      return false;
    if (before->strides || !use.desc->strides || !use.spec->is_input() || use.desc->is_broadcast ||
        element_count(before->sizes) == element_count(use.desc->sizes))
      continue;
    const auto strides = repeating_strides(before->sizes, use.desc->sizes);
    if (!strides || !is_view(*use.desc, use.desc->sizes, *strides)) return false;
  }
  return true;
}

}  // namespace dmlop
