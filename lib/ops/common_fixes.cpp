#include "ops/common_fixes.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "base/text.hpp"
#include "ops/fix_ideas.hpp"
#include "ops/fix_words.hpp"
#include "spec/ideas.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

std::vector<AlikeArrays> alike(const std::vector<TensorUse>& inputs) {
  std::vector<AlikeArrays> groups;
  for (const TensorUse& use : inputs) {
    auto group = std::ranges::find(groups, use.desc->sizes, &AlikeArrays::sizes);
    if (group == groups.end()) group = groups.insert(group, {use.desc->sizes, {}});
    group->tensors.push_back(use.name());
  }
  return groups;
}

// The numbers of dimensions that some of them have.
std::set<std::size_t> numbers_of_dimensions(std::span<const AlikeArrays> groups) {
  constexpr std::size_t images_max = 5;
  std::set<std::size_t> numbers;
  for (const AlikeArrays& group : groups) {
    if (group.sizes.size() >= 2 && group.sizes.size() <= images_max)
      numbers.insert(group.sizes.size());
  }
  return numbers;
}

std::vector<OtherArray> arrays_of(const ArrayChanges& way) {
  std::vector<OtherArray> arrays;
  for (const auto& [group, change] : way) {
    for (const std::string& tensor : group.tensors) arrays.push_back({tensor, change.sizes});
  }
  return arrays;
}

bool change_the_same(const ArrayChanges& a, const ArrayChanges& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first.sizes == other.first.sizes;
  });
}

}  // namespace

bool CommonFixes::leaves_none(const Json& json, const std::vector<OtherArray>& arrays) {
  const auto found = trials_.check(json, arrays);
  return found && found->empty();
}

std::vector<TensorUse> CommonFixes::inputs_of_files(Description& before) const {
  std::vector<TensorUse> inputs = tensors_of(before);
  std::erase_if(inputs, [](const TensorUse& use) {
    return !use.spec->is_input() || use.desc->file.empty() || use.desc->sizes.empty() ||
           !element_count(use.desc->sizes);
  });
  return inputs;
}

std::optional<Replacement> CommonFixes::choice() {
  std::vector<Replacement> working;
  for (const Replacement& each : choices(json_, *before_.spec)) {
    Json json = json_;
    if (apply(json, each) && json.dump() != json_.dump() && leaves_none(json, {}))
      working.push_back(each);
  }
  const bool are_all_tried = trials_.are_left();
  return are_all_tried && working.size() == 1 ? std::optional(working.front()) : std::nullopt;
}

std::optional<CommonFix> CommonFixes::order(const Diagnostic& finding) {
  std::vector<CommonFix> working;
  Description before = before_;
  for (const TensorUse& use : inputs_of_files(before)) {
    if (use.element) continue;
    const std::string name = use.name();
    const Sizes& sizes = use.desc->sizes;
    for (const auto& order : other_orders(sizes.size())) {
      const Sizes other = in_order(sizes, order);
      if (!is_transposed(sizes, other) || !leaves_none(json_, {{name, other}})) continue;
      const CommonFix fix{.words = rearranging(sizes, other), .tensor = name};
      if (finding.message.starts_with(name)) return fix;
      working.push_back(fix);
      break;
    }
  }
  return working.size() == 1 ? std::optional(working.front()) : std::nullopt;
}

std::optional<CommonFix> CommonFixes::dimensions() {
  std::optional<CommonFix> only;
  Description before = before_;
  for (const TensorUse& use : tensors_of(before)) {
    const Sizes& sizes = use.desc->sizes;
    if (!use.spec->is_input() || sizes.empty() || !element_count(sizes)) continue;
    const std::string pointer = trials_.relative(pointer_to(before_, use.place("Sizes")));
    const bool is_of_file = !use.desc->file.empty();
    for (const Sizes& shape : shapes_for(sizes, {}, {})) {
      const Fix fix{{pointer, list_of(shape)}};
      Json json = json_;
      if (shape.size() == sizes.size()) continue;
      // Nobody means merged dimensions in a description.
      const bool is_meant = is_of_file || without_ones(shape) == without_ones(sizes);
      if (!is_meant || (!is_of_file && !apply(json, fix.front()))) continue;
      const std::vector<OtherArray> other{{use.name(), shape}};
      if (!leaves_none(json, is_of_file ? other : std::vector<OtherArray>{})) continue;
      if (only) return std::nullopt;
      only = is_of_file ? CommonFix{{}, reshaping(shape), use.name()}
                        : CommonFix{fix, words_of(fix), use.name()};
      break;
    }
  }
  return trials_.are_left() ? only : std::nullopt;
}

std::optional<CommonFix> CommonFixes::data_type() {
  Description before = before_;
  const std::vector<TensorUse> inputs = inputs_of_files(before);
  std::optional<CommonFix> best;
  std::pair<bool, std::size_t> best_rank;
  for (const TensorUse& use : inputs) {
    for (const TensorUse& other : inputs) {
      const auto type = other.desc->data_type;
      if (!type || type == use.desc->data_type) continue;
      const std::pair rank(is_floating(*type), size_of(*type));
      if (best && rank <= best_rank) continue;
      if (!leaves_none(json_, {{use.name(), use.desc->sizes, type}})) continue;
      best = CommonFix{.words = casting(*type), .tensor = use.name()};
      best_rank = rank;
    }
  }
  return best;
}

std::optional<SeveralFixes> CommonFixes::several() {
  Description before = before_;
  const std::vector<AlikeArrays> groups = alike(inputs_of_files(before));
  for (std::size_t count = 1; count <= groups.size() && trials_.are_left(); ++count) {
    if (const auto fix = only_way(groups, count, std::nullopt)) return fix;
    if (count > 1) continue;
    for (const Replacement& choice : choices(json_, *before_.spec)) {
      if (!says_which(*before_.spec, choice)) continue;
      if (const auto fix = only_way(groups, count, choice)) return fix;
    }
  }
  return std::nullopt;
}

// Where other arrays would do as well, nobody knows which are meant.
std::optional<SeveralFixes> CommonFixes::only_way(std::span<const AlikeArrays> groups,
                                                  std::size_t count,
                                                  const std::optional<Replacement>& choice) {
  Json json = json_;
  if (choice && (!apply(json, *choice) || json.dump() == json_.dump())) return std::nullopt;
  std::optional<ArrayChanges> only;
  for (const std::size_t dimensions : numbers_of_dimensions(groups)) {
    for (const ArrayChanges& way : ways_to_change(groups, count, dimensions)) {
      if (!leaves_none(json, arrays_of(way))) continue;
      if (only && !change_the_same(*only, way)) return std::nullopt;
      if (!only) only = way;
    }
  }
  if (!only || !trials_.are_left()) return std::nullopt;
  return SeveralFixes{*only, choice};
}

Alternative SeveralFixes::words() const {
  std::vector<Alternative> steps;
  for (const auto& [group, change] : arrays) {
    steps.push_back(change.words);
    steps.back().remark = " for " + join(group.tensors, " and ");
  }
  if (choice) steps.push_back(words_of({*choice}));
  return Alternative::together(std::move(steps));
}

}  // namespace dmlop
