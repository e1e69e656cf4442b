#include "spec/broadcast.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "spec/equal_tensors.hpp"
#include "spec/fitting_example.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

/// What a tensor is to be stretched to, or why it cannot be.
struct Target {
  Sizes sizes;
  std::string problem = {};
};

Target target_of(const FieldSet& fields, const std::string& tensor) {
  const TensorDesc& desc = *fields.find_tensor(tensor);
  const auto group = tensors_of_equal_sizes(*fields.spec, tensor);
  Sizes sizes = desc.sizes;
  bool has_other = false;
  for (const std::string& name : group) {
    const TensorDesc* other = fields.find_tensor(name);
    if (name == tensor || other == nullptr || other->sizes.empty()) continue;
    has_other = true;
    const auto both = broadcast(sizes, other->sizes);
    if (!both)
      return {{},
              list_of(desc.sizes) + " and " + name + ".Sizes " + list_of(other->sizes) +
                  " differ in a dimension, counted from the last, where neither is 1"};
    sizes = *both;
  }
  if (has_other) return {sizes};
  // GEMM's C has the sizes of the output, which need not be written.
  const Sizes by_others = sizes_by_rules(fields, Judge::directml, tensor, {}, {});
  if (!by_others.empty() && broadcast(sizes, by_others) == by_others) return {by_others};
  if (group.size() > 1) return {{}, "no other tensor says to which sizes: " + join(group)};
  return {{},
          "no rule of DML_OPERATOR_" + fields.spec->name + " gives it the sizes of another tensor"};
}

}  // namespace

std::optional<Strides> repeating_strides(const Sizes& from, const Sizes& to) {
  constexpr std::size_t fewest_of_images = 3;
  if (from.empty() || !can_be_stretched({.sizes = from})) return std::nullopt;
  if (broadcast(from, to) == to) return stretched_strides({.sizes = from}, to);
  if (from.size() > 1 || to.size() < fewest_of_images || to[1] != from.front()) return std::nullopt;
  Strides strides(to.size(), 0);
  strides[1] = 1;
  return strides;
}

bool has_sizes_of_another(const OperatorSpec& spec, const std::string& tensor) {
  return tensors_of_equal_sizes(spec, tensor).size() > 1;
}

Strides stretched_strides(const TensorDesc& desc, const Sizes& sizes) {
  const Strides own = desc.strides.value_or(packed_strides(desc.sizes));
  const std::size_t more = sizes.size() - desc.sizes.size();
  Strides strides(sizes.size(), 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (desc.sizes[i] == sizes[more + i] && desc.sizes[i] != 1) strides[more + i] = own[i];
  }
  return strides;
}

void stretch_tensors(FieldSet& fields, Diagnostics& diagnostics) {
  std::vector<std::pair<TensorDesc*, Sizes>> stretched;
  for (const TensorUse& use : tensors_of(fields)) {
    TensorDesc& desc = *use.desc;
    if (!desc.is_broadcast) continue;
    const auto refuse = [&](const std::string& problem, const std::string& remedy) {
      Diagnostic finding =
          fields.at(use.place("Broadcast"), use.name() + " cannot be stretched: " + problem);
      finding.rule = "\"Broadcast\": true gives an input the sizes of others, as NumPy does";
      finding.suggestion = remedy;
      diagnostics.push_back(std::move(finding));
    };
    if (use.element || !use.spec->is_input()) {
      refuse(use.element ? "it is one of several tensors" : "it is an output",
             "leave Broadcast out");
      continue;
    }
    if (!can_be_stretched(desc)) continue;  // that has its own finding
    Target target = target_of(fields, use.spec->name);
    if (!target.problem.empty()) {
      refuse(target.problem, "leave Broadcast out, or write other sizes");
      continue;
    }
    if (target.sizes != desc.sizes) stretched.emplace_back(&desc, std::move(target.sizes));
  }
  for (auto& [desc, sizes] : stretched) {
    desc->strides = stretched_strides(*desc, sizes);
    desc->stretched_from = std::exchange(desc->sizes, std::move(sizes));
    desc->dimension_count.reset();
    desc->is_broadcast = false;
  }
}

bool may_be_stretched(const FieldSet& fields, const std::string& tensor) {
  const FieldSpec* field = fields.spec->find_field(tensor);
  const TensorDesc* desc = fields.find_tensor(tensor);
  if (field == nullptr || field->kind != FieldKind::input_tensor || desc == nullptr ||
      !can_be_stretched(*desc))
    return false;
  const Target target = target_of(fields, tensor);
  return target.problem.empty() && target.sizes != desc->sizes;
}

std::string stretched_for(const FieldSet& fields, const std::string& tensor,
                          const std::vector<Reference>& references) {
  const auto group = tensors_of_equal_sizes(*fields.spec, tensor);
  if (may_be_stretched(fields, tensor)) {
    const Sizes sizes = target_of(fields, tensor).sizes;
    const bool are_there = std::ranges::all_of(references, [&](const Reference& reference) {
      const TensorDesc* desc = fields.find_tensor(reference.field);
      return reference.field == tensor || !group.contains(reference.field) || desc == nullptr ||
             desc->sizes.empty() || desc->sizes == sizes;
    });
    if (are_there) return tensor;
  }
  const FieldSpec* field = fields.spec->find_field(tensor);
  if (field == nullptr || field->kind != FieldKind::input_tensor) return "";
  const Sizes& sizes = fields.find_tensor(tensor)->sizes;
  for (const Reference& reference : references) {
    const std::string& other = reference.field;
    const bool is_candidate = other != tensor && group.contains(other) &&
                              may_be_stretched(fields, other) &&
                              target_of(fields, other).sizes == sizes;
    // All others must have these sizes already.
    const auto fits = [&](const std::string& name) {
      const TensorDesc* desc = fields.find_tensor(name);
      return name == other || desc == nullptr || desc->sizes.empty() || desc->sizes == sizes;
    };
    if (is_candidate && std::all_of(group.begin(), group.end(), fits)) return other;
  }
  return "";
}

void broadcast_all(FieldSet& fields) {
  std::vector<TensorDesc*> marked;
  for (const TensorUse& use : tensors_of(fields)) {
    if (!use.element && may_be_stretched(fields, use.spec->name)) marked.push_back(use.desc);
  }
  for (TensorDesc* desc : marked) desc->is_broadcast = true;
}

std::vector<std::string> stretched_texts(const FieldSet& fields) {
  FieldSet copy = fields;
  std::vector<std::string> texts;
  for (const TensorUse& use : tensors_of(copy)) {
    if (use.desc->stretched_from.empty()) continue;
    texts.push_back(use.name() + " " + list_of(use.desc->stretched_from) + " is stretched to " +
                    list_of(use.desc->sizes) + ": DirectML needs these Sizes and the Strides " +
                    list_of(*use.desc->strides));
  }
  return texts;
}

}  // namespace dmlop
