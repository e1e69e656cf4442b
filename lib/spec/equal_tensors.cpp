#include "spec/equal_tensors.hpp"

#include "spec/field_scope.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
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

bool can_be_stretched(const TensorDesc& desc) {
  const bool has_zero = std::find(desc.sizes.begin(), desc.sizes.end(), 0U) != desc.sizes.end();
  const bool has_strides = !desc.strides || desc.strides->size() == desc.sizes.size();
  return !desc.sizes.empty() && !has_zero && has_strides && element_count(desc.sizes);
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

}  // namespace dmlop
