#include "fixes/common_fixes.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "fixes/fix_ideas.hpp"
#include "fixes/fix_words.hpp"
#include "spec/ideas.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::size_t> channels_last_order{0, 3, 1, 2};

std::vector<AlikeArrays> alike(const std::vector<TensorUse>& inputs) {
  std::vector<AlikeArrays> groups;
  for (const TensorUse& use : inputs) {
    auto group = std::ranges::find(groups, use.desc->sizes, &AlikeArrays::sizes);
    if (group == groups.end()) group = groups.insert(group, {use.desc->sizes, {}});
    group->tensors.push_back(use.name());
  }
  return groups;
}

// The numbers of dimensions that some of them have. Images may lack that of the batch.
std::set<std::size_t> numbers_of_dimensions(std::span<const AlikeArrays> groups) {
  constexpr std::size_t fewest = 2, image = 3, most = 5;
  std::set<std::size_t> numbers;
  for (const AlikeArrays& group : groups) {
    const std::size_t count = group.sizes.size();
    if (count >= fewest && count <= most) numbers.insert(count);
    if (count == image) numbers.insert(image + 1);
  }
  return numbers;
}

// The types that all floats may get, the one that changes the fewest arrays first. None where all
// have one type.
std::vector<DataType> common_floats(const std::vector<TensorUse>& inputs) {
  std::map<DataType, std::size_t> counts;
  for (const TensorUse& use : inputs) {
    if (use.desc->data_type && is_floating(*use.desc->data_type)) ++counts[*use.desc->data_type];
  }
  if (counts.contains(DataType::Float64)) counts.try_emplace(DataType::Float32, 0);
  std::vector<DataType> types;
  for (const auto& [type, count] : counts) {
    if (type != DataType::Float64) types.push_back(type);
  }
  std::ranges::stable_sort(types, std::greater(), [&](DataType type) { return counts.at(type); });
  return counts.size() > 1 ? types : std::vector<DataType>();
}

// The arrays that change, and what to type: they are laid out as `way` says, and get the type
// `floats`.
std::vector<std::pair<OtherArray, Alternative>> changed(const std::vector<TensorUse>& inputs,
                                                        const ArrayChanges& way,
                                                        std::optional<DataType> floats) {
  std::vector<std::pair<OtherArray, Alternative>> arrays;
  for (const TensorUse& use : inputs) {
    const auto layout = std::ranges::find_if(way, [&](const auto& each) {
      return std::ranges::count(each.first.tensors, use.name()) != 0;
    });
    const auto type = use.desc->data_type;
    const bool is_cast = floats && type && is_floating(*type) && *type != *floats;
    if (layout == way.end() && !is_cast) continue;
    OtherArray other{use.name(), use.desc->sizes};
    Alternative words;
    if (layout != way.end()) {
      other.sizes = layout->second.sizes;
      words = layout->second.words;
    }
    if (is_cast) {
      other.data_type = floats;
      words = casting(*floats, words);
    }
    arrays.emplace_back(std::move(other), std::move(words));
  }
  return arrays;
}

std::size_t transposed(const ArrayChanges& way) {
  return static_cast<std::size_t>(
      std::ranges::count_if(way, [](const auto& each) { return each.second.is_transposed; }));
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
  return only_order(finding, 0, std::numeric_limits<std::size_t>::max());
}

std::optional<CommonFix> CommonFixes::channels_last(const Diagnostic& finding) {
  constexpr std::size_t image_dimensions = 4;
  return only_order(finding, image_dimensions, 1);  // other_orders() begins with it
}

// As order(), for arrays of so many dimensions, with the first ones of the orders.
std::optional<CommonFix> CommonFixes::only_order(const Diagnostic& finding,
                                                 std::size_t fewest_dimensions,
                                                 std::size_t orders) {
  std::vector<CommonFix> working;
  Description before = before_;
  for (const TensorUse& use : inputs_of_files(before)) {
    const std::string name = use.name();
    const Sizes& sizes = use.desc->sizes;
    if (use.element || sizes.size() < fewest_dimensions) continue;
    for (const auto& order : other_orders(sizes.size()) | std::views::take(orders)) {
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

// DirectML wants batch, channel, height, width; strides take the elements as they are. Two inputs
// with the same last size, an image and its filters, are both laid out like that.
std::optional<CommonFix> CommonFixes::channels_last_by_strides() {
  std::optional<CommonFix> only;
  Description before = before_;
  std::map<std::uint64_t, std::vector<TensorUse>> by_channels;
  std::vector<TensorUse> inputs, all;
  for (const TensorUse& use : tensors_of(before)) {
    const Sizes& sizes = use.desc->sizes;
    if (use.element || !use.desc->file.empty() || use.desc->strides ||
        sizes.size() != channels_last_order.size() || !element_count(sizes))
      continue;
    all.push_back(use);
    if (!use.spec->is_input()) continue;
    inputs.push_back(use);
    // Other tensors may fit by chance.
    const bool is_image = sizes[3] < std::min(sizes[1], sizes[2]);
    const bool is_square = sizes[1] == sizes[2] && sizes[2] != sizes[3];
    if (sizes[3] > 1 && (is_image || is_square)) by_channels[sizes[3]].push_back(use);
    const auto fix = is_image ? with_channels_last({use}) : std::nullopt;
    if (fix && only) return std::nullopt;
    if (fix) only = fix;
  }
  for (const auto& [channels, same] : by_channels) {
    if (only || same.size() < 2) continue;
    for (const auto* tensors : {&same, &std::as_const(inputs), &std::as_const(all)}) {
      if (!only) only = with_channels_last(*tensors);
    }
  }
  return trials_.are_left() ? only : std::nullopt;
}

// The strides of these tensors for channels as their last dimension, if they leave no finding.
std::optional<CommonFix> CommonFixes::with_channels_last(const std::vector<TensorUse>& tensors) {
  Fix fix;
  Json json = json_;
  for (const TensorUse& use : tensors) {
    const Sizes& sizes = use.desc->sizes;
    const auto add = [&](const char* field, const Sizes& values) {
      const std::string pointer = trials_.relative(pointer_to(before_, use.place(field)));
      fix.push_back({pointer, list_of(in_order(values, channels_last_order))});
    };
    add("Sizes", sizes);
    add("Strides", packed_strides(sizes));
  }
  for (const Replacement& each : fix) {
    if (!apply(json, each)) return std::nullopt;
  }
  if (!leaves_none(json, {})) return std::nullopt;
  CommonFix common{fix, words_of(fix), tensors.front().name()};
  common.words.remark +=
      std::string(", if ") + (tensors.size() > 1 ? "their" : "its") + " channels are last";
  return common;
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
  const std::vector<TensorUse> inputs = inputs_of_files(before);
  const std::size_t groups = alike(inputs).size();
  std::vector<std::optional<DataType>> types{std::nullopt};
  for (const DataType type : common_floats(inputs)) types.emplace_back(type);
  for (std::size_t count = 0; count <= groups && trials_.are_left(); ++count) {
    for (const auto& floats : types) {
      if (const auto fix = only_way(count, floats, std::nullopt)) return fix;
    }
    if (count != 1) continue;
    for (const Replacement& choice : choices(json_, *before_.spec)) {
      if (!says_which(*before_.spec, choice)) continue;
      if (const auto fix = only_way(count, std::nullopt, choice)) return fix;
    }
  }
  return std::nullopt;
}

// Where other arrays would do as well, nobody knows which are meant.
std::optional<SeveralFixes> CommonFixes::only_way(std::size_t count, std::optional<DataType> floats,
                                                  const std::optional<Replacement>& choice) {
  Json json = json_;
  if (choice && (!apply(json, *choice) || json.dump() == json_.dump())) return std::nullopt;
  Description before = before_;
  const std::vector<TensorUse> inputs = inputs_of_files(before);
  const std::vector<AlikeArrays> groups = alike(inputs);
  std::optional<ArrayChanges> best;
  bool are_others = false;
  for (const std::size_t dimensions : numbers_of_dimensions(groups)) {
    for (const ArrayChanges& way : ways_to_change(groups, count, dimensions)) {
      std::vector<OtherArray> arrays;
      for (const auto& [array, words] : changed(inputs, way, floats)) arrays.push_back(array);
      if (arrays.empty() || !leaves_none(json, arrays)) continue;
      if (best && transposed(*best) < transposed(way)) continue;
      const bool is_better = !best || transposed(way) < transposed(*best);
      are_others = !is_better && (are_others || !change_the_same(*best, way));
      if (is_better) best = way;
    }
  }
  if (!best || are_others || !trials_.are_left()) return std::nullopt;
  SeveralFixes fixes{.steps = {}, .choice = choice};
  for (const auto& [array, words] : changed(inputs, *best, floats)) {
    const auto same = std::ranges::find_if(
        fixes.steps, [&](const auto& step) { return step.words.value == words.value; });
    if (same != fixes.steps.end()) {
      same->tensors.push_back(array.tensor);
    } else {
      fixes.steps.push_back({words, {array.tensor}});
    }
  }
  return fixes;
}

Alternative SeveralFixes::words() const {
  std::vector<Alternative> alternatives;
  for (const Step& step : steps) {
    alternatives.push_back(step.words);
    alternatives.back().remark = " for " + join(step.tensors, " and ");
  }
  if (choice) alternatives.push_back(words_of({*choice}));
  return Alternative::together(std::move(alternatives));
}

}  // namespace dmlop
