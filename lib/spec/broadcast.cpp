#include "spec/broadcast.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "spec/field_scope.hpp"
#include "spec/fitting_example.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

/// The tensors whose sizes are equal by rules such as "BTensor.Sizes[i] == ATensor.Sizes[i]".
std::set<std::string> tensors_of_equal_sizes(const OperatorSpec& spec, const std::string& tensor) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Rule& rule : spec.rules) {
    const auto pair = tensors_made_equal(rule);
    if (pair && rule.formula.text().ends_with(".Sizes[i]")) pairs.push_back(*pair);
  }
  std::set<std::string> group{tensor};
  for (std::size_t before = 0; before != group.size();) {
    before = group.size();
    for (const auto& [left, right] : pairs) {
      if (spec.find_field(left) == nullptr || spec.find_field(right) == nullptr) continue;
      if (group.contains(left)) group.insert(right);
      if (group.contains(right)) group.insert(left);
    }
  }
  return group;
}

/// The sizes of two arrays that NumPy broadcasts; nothing where it refuses.
std::optional<Sizes> broadcast(Sizes a, Sizes b) {
  if (a.size() < b.size()) std::swap(a, b);
  const std::size_t more = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::uint64_t& size = a[more + i];
    if (size != b[i] && size != 1 && b[i] != 1) return std::nullopt;
    if (size == 1) size = b[i];
  }
  return a;
}

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
                  " have a dimension, counted from the last, with two sizes of which none is 1"};
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

bool can_be_stretched(const TensorDesc& desc) {
  const bool has_zero = std::find(desc.sizes.begin(), desc.sizes.end(), 0U) != desc.sizes.end();
  const bool has_strides = !desc.strides || desc.strides->size() == desc.sizes.size();
  return !desc.sizes.empty() && !has_zero && has_strides && element_count(desc.sizes);
}

}  // namespace

namespace {

/// The sizes with ones in front, as NumPy sees an array of fewer dimensions.
Sizes with_ones_in_front(Sizes sizes, std::size_t count) {
  if (sizes.size() < count) sizes.insert(sizes.begin(), count - sizes.size(), 1);
  return sizes;
}

bool are_repeated(const std::vector<Sizes>& all) {
  std::size_t most = 0;
  for (const Sizes& sizes : all) most = std::max(most, sizes.size());
  for (std::size_t i = 0; i < most; ++i) {
    const auto is_one = [&](const Sizes& sizes) { return with_ones_in_front(sizes, most)[i] == 1; };
    const auto ones = static_cast<std::size_t>(std::ranges::count_if(all, is_one));
    if (ones != 0 && ones != all.size()) return true;
  }
  return false;
}

bool have_same_dimensions(const FieldSet& given, const EqualTensors& group) {
  const auto dimensions = [&](const std::string& name) {
    return given.find_tensor(name)->sizes.size();
  };
  return std::ranges::all_of(group.inputs, [&](const std::string& name) {
    return dimensions(name) == dimensions(group.inputs.front());
  });
}

/// Whether a rule gives some sizes of the group those of another tensor: its elements belong to
/// places of that one, such as indices, and cannot be repeated.
bool belongs_to_places(const OperatorSpec& spec, const EqualTensors& group) {
  return std::ranges::any_of(spec.rules, [&](const Rule& rule) {
    if (rule.formula.text().find("=>") == std::string::npos) return false;
    bool names_group = false, names_other = false;
    for (const Reference& reference : rule.formula.references()) {
      if (reference.attribute != "Sizes") continue;
      (group.contains(reference.field) ? names_group : names_other) = true;
    }
    return names_group && names_other;
  });
}

/// Whether no rule refuses the sizes that NumPy gives to all. Where it gives none, inputs of fewer
/// dimensions may have one value for each channel.
bool is_taken(const FieldSet& given, const EqualTensors& group) {
  if (!group.sizes) return have_same_dimensions(given, group);
  FieldSet fields = given;
  for (const TensorUse& use : tensors_of(fields)) {
    if (!group.contains(use.spec->name)) continue;
    use.desc->sizes = *group.sizes;
    use.desc->dimension_count.reset();
  }
  const FieldScope scope(fields);
  return std::ranges::all_of(fields.spec->rules, [&](const Rule& rule) {
    bool is_kept = true;
    const auto is_of_group = [&](const Reference& reference) {
      return reference.attribute == "Sizes" && group.contains(reference.field);
    };
    if (std::ranges::none_of(rule.formula.references(), is_of_group)) return true;
    rule.formula.for_each(scope, [&](const Variables& variables) {
      is_kept = !rule.formula.check(scope, variables);
      return is_kept;
    });
    return is_kept;
  });
}

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

std::optional<std::pair<std::string, std::string>> tensors_made_equal(const Rule& rule) {
  constexpr std::string_view equal = " == ";
  const std::string& text = rule.formula.text();
  const std::size_t middle = text.find(equal);
  if (middle == std::string::npos) return std::nullopt;
  const std::string left = text.substr(0, middle), right = text.substr(middle + equal.size());
  for (const std::string_view end : {".Sizes[i]", ".DimensionCount"}) {
    if (left.ends_with(end) && right.ends_with(end))
      return std::pair(left.substr(0, left.size() - end.size()),
                       right.substr(0, right.size() - end.size()));
  }
  return std::nullopt;
}

std::vector<EqualTensors> equal_tensors(const FieldSet& given) {
  std::vector<EqualTensors> groups;
  FieldSet fields = given;
  for (const TensorUse& use : tensors_of(fields)) {
    const auto has_it = [&](const EqualTensors& group) { return group.contains(use.spec->name); };
    if (use.element || std::ranges::any_of(groups, has_it)) continue;
    EqualTensors group;
    std::vector<Sizes> all;
    bool can_be = true;
    const auto names = tensors_of_equal_sizes(*given.spec, use.spec->name);
    for (const FieldSpec& field : given.spec->fields) {
      const TensorDesc* desc = given.find_tensor(field.name);
      if (!names.contains(field.name) || desc == nullptr) continue;
      if (desc->sizes.empty()) {
        group.unknown.push_back(field.name);
        continue;
      }
      (field.is_input() ? group.inputs : group.outputs).push_back(field.name);
      if (!field.is_input()) continue;
      can_be = can_be && can_be_stretched(*desc);
      group.sizes = all.empty()   ? desc->sizes
                    : group.sizes ? broadcast(*group.sizes, desc->sizes)
                                  : std::nullopt;
      all.push_back(desc->sizes);
    }
    if (all.size() < 2 || !can_be) continue;
    group.is_broadcast =
        are_repeated(all) && is_taken(given, group) && !belongs_to_places(*given.spec, group);
    groups.push_back(std::move(group));
  }
  return groups;
}

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
    if (before == nullptr || before->sizes.empty() || before->strides || !use.desc->strides ||
        !use.spec->is_input() || use.desc->is_broadcast ||
        element_count(before->sizes) == element_count(use.desc->sizes))
      continue;
    const auto strides = repeating_strides(before->sizes, use.desc->sizes);
    if (!strides || !is_view(*use.desc, use.desc->sizes, *strides)) return false;
  }
  return true;
}

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
