// What a RuleChecker says of inputs that NumPy broadcasts to each other where rules want equal
// sizes. Rules name one tensor that must have the sizes of another. That is the whole remedy only
// where the other one has the sizes that NumPy gives to all. Where it must be stretched as well, or
// where NumPy refuses, all findings about the sizes of these tensors become one.
#include <algorithm>

#include "base/text.hpp"
#include "spec/broadcast.hpp"
#include "spec/ideas.hpp"
#include "spec/rule_checker.hpp"

namespace dmlop {
namespace {

Place part_of_tensor(const std::string& tensor, const char* attribute) {
  return {{tensor, attribute}};
}

Place sizes_of(const std::string& tensor) {
  return part_of_tensor(tensor, "Sizes");
}

// "a, b and c".
std::string in_words(std::vector<std::string> parts) {
  const std::string last = parts.back();
  parts.pop_back();
  return parts.empty() ? last : join(parts) + " and " + last;
}

std::string parts_of(const std::vector<std::string>& tensors, const char* attribute) {
  std::vector<std::string> names;
  for (const std::string& tensor : tensors) names.push_back(tensor + "." + attribute);
  return in_words(names);
}

}  // namespace

// The fields without what follows from rules.
FieldSet RuleChecker::given_fields() const {
  FieldSet given = fields_;
  for (const TensorUse& use : tensors_of(given)) {
    if (const auto corrected = given_sizes_.find(use.name()); corrected != given_sizes_.end()) {
      use.desc->sizes = corrected->second;
    } else if (inferred_sizes_.contains(use.name())) {
      use.desc->sizes.clear();
    }
  }
  return given;
}

void RuleChecker::suggest_broadcasts() {
  if (size_findings_.empty()) return;
  const FieldSet given = given_fields();
  std::set<std::size_t> joined;
  for (const EqualTensors& group : equal_tensors(given)) {
    if (!group.is_broadcast || is_told_by_rules(given, group)) {
      suggest_stretching_files(given, group);
      continue;
    }
    const auto first = std::ranges::find_if(size_findings_, [&](const auto& each) {
      return std::ranges::count(group.inputs, each.second.tensor) != 0;
    });
    if (first == size_findings_.end()) continue;
    for (const auto& [finding, about] : size_findings_) {
      if (finding != first->first && group.contains(about.tensor)) joined.insert(finding);
    }
    const auto is_joined = [&](std::size_t finding) {
      return finding == first->first || joined.contains(finding);
    };
    std::erase_if(repetitions_, [&](const auto& each) { return is_joined(each.finding); });
    std::erase_if(wrong_dimensions_, [&](const auto& each) { return is_joined(each.second); });
    suggest_broadcast(given, group, first->second, diagnostics_[first->first]);
  }
  const auto remain = [&](std::size_t finding) {
    return finding -
           static_cast<std::size_t>(std::distance(joined.begin(), joined.lower_bound(finding)));
  };
  for (Repetition& each : repetitions_) each.finding = remain(each.finding);
  for (auto& [tensor, finding] : wrong_dimensions_) finding = remain(finding);
  for (auto finding = joined.rbegin(); finding != joined.rend(); ++finding)
    diagnostics_.erase(diagnostics_.begin() + static_cast<std::ptrdiff_t>(*finding));
}

// Whether each finding can say what is to be written for its own tensors: the tensor that the rules
// compare others with has the sizes that NumPy gives to all.
bool RuleChecker::is_told_by_rules(const FieldSet& given, const EqualTensors& group) const {
  if (!group.sizes) return false;
  return std::ranges::all_of(group.inputs, [&](const std::string& name) {
    const TensorDesc& before = *given.find_tensor(name);
    return fields_.find_tensor(name)->sizes == *group.sizes &&
           (before.sizes == *group.sizes || !before.strides);
  });
}

// Each finding is about other tensors, which its suggestion names.
void RuleChecker::suggest_stretching_files(const FieldSet& given, const EqualTensors& group) {
  const auto propose = [&](std::size_t finding, const std::vector<std::string>& tensors) {
    Fix fix;
    for (const std::string& name : tensors) {
      if (!group.contains(name) || given.find_tensor(name)->file.empty()) return;
      fix.push_back(replacement(fields_, part_of_tensor(name, "Broadcast"), "true"));
    }
    diagnostics_[finding].ideas.push_back(std::move(fix));
  };
  for (const Repetition& each : repetitions_) propose(each.finding, each.stretched);
  for (const auto& [tensor, finding] : wrong_dimensions_) {
    // The one that the finding is about, or the one that it is compared with.
    std::vector<std::string> stretched;
    for (const std::string& name : group.inputs) {
      if (given.find_tensor(name)->sizes != group.sizes) stretched.push_back(name);
    }
    const bool is_about_it = std::ranges::count(stretched, tensor) != 0;
    if (group.sizes && (is_about_it || stretched.size() == 1))
      propose(finding, {is_about_it ? tensor : stretched.front()});
  }
}

// One finding speaks for all of the group.
void RuleChecker::suggest_broadcast(const FieldSet& given, const EqualTensors& group,
                                    const SizeFinding& about, Diagnostic& finding) {
  const Sizes before = given.find_tensor(about.tensor)->sizes;
  const Sizes wanted = fields_.find_tensor(about.tensor)->sizes;
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < before.size() && before.size() == wanted.size(); ++i) {
    if (before[i] != wanted[i]) different.push_back(i);
  }
  finding.note = about.note;
  finding.ideas.clear();
  finding.more = 0;
  if (different.size() > 1) show_sizes(sizes_of(about.tensor), before, wanted, about.rule, finding);
  if (!group.sizes) {
    suggest_equal_sizes(given, group, finding);
    return;
  }
  const Sizes& sizes = *group.sizes;
  const auto is_other = [&](const std::string& name) {
    return given.find_tensor(name)->sizes != sizes;
  };
  std::vector<std::string> stretched, others;
  std::ranges::copy_if(group.inputs, std::back_inserter(stretched), is_other);
  std::ranges::copy_if(group.outputs, std::back_inserter(others), is_other);
  Alternative stretch = how_to_broadcast(given, group, about.tensor, stretched, others);
  if (!others.empty()) {
    // Either it or these are wrong.
    const auto is_wrong = [&](const std::string& name) {
      return name != about.tensor &&
             given.find_tensor(name)->sizes != fields_.find_tensor(name)->sizes;
    };
    finding.suggestion = {};
    if (!different.empty() && std::ranges::none_of(group.inputs, is_wrong) &&
        std::ranges::none_of(group.outputs, is_wrong))
      finding.suggestion.add(Alternative::write(
          different.size() > 1 ? list_of(wanted) : std::to_string(wanted[different.front()])));
    finding.suggestion.add(std::move(stretch));
    return;
  }
  finding.suggestion = std::move(stretch);
  finding.ideas = {broadcasting_fix(given, sizes, stretched)};
  for (const auto* names : {&group.inputs, &group.outputs, &group.unknown}) {
    for (const std::string& name : *names) {
      TensorDesc& desc = *fields_.find_tensor(name);
      if (std::ranges::count(stretched, name) != 0)
        desc.strides = stretched_strides(*given.find_tensor(name), sizes);
      desc.sizes = sizes;
      desc.dimension_count.reset();
    }
  }
}

// NumPy refuses the sizes, whichever of them the rules compare with which.
void RuleChecker::suggest_equal_sizes(const FieldSet& given, const EqualTensors& group,
                                      Diagnostic& finding) {
  std::vector<std::string> places;
  const std::size_t count = given.find_tensor(group.inputs.front())->sizes.size();
  for (std::size_t i = 0; i < count && places.size() != 2; ++i) {
    places.clear();
    std::set<std::uint64_t> sizes{1};
    for (const std::string& name : group.inputs) {
      if (places.size() != 2 && sizes.insert(given.find_tensor(name)->sizes[i]).second)
        places.push_back(to_text(Place{{name, "Sizes"}, {}, i}));
    }
  }
  finding.suggestion = "make " + in_words(places) +
                       " equal, or make one of them 1, the only size that NumPy stretches";
  for (const std::string& name : group.inputs)
    fields_.find_tensor(name)->total_size_in_bytes.reset();  // of other sizes
}

Alternative RuleChecker::how_to_broadcast(const FieldSet& given, const EqualTensors& group,
                                          const std::string& subject,
                                          const std::vector<std::string>& stretched,
                                          const std::vector<std::string>& outputs) const {
  const auto has_file = [&](const std::string& name) {
    return !given.find_tensor(name)->file.empty();
  };
  if (outputs.empty() &&
      (fields_.document().is_of_command_line() || std::ranges::any_of(stretched, has_file)))
    return how_to_stretch(stretched, {{subject}}).alternatives.front();
  std::vector<std::pair<std::string, std::vector<std::string>>> by_strides;
  for (const std::string& name : stretched) {
    const std::string strides = list_of(stretched_strides(*given.find_tensor(name), *group.sizes));
    const auto same =
        std::ranges::find(by_strides, strides, &decltype(by_strides)::value_type::first);
    if (same != by_strides.end()) {
      same->second.push_back(name);
    } else {
      by_strides.push_back({strides, {name}});
    }
  }
  std::vector<std::string> written = stretched, strides;
  written.insert(written.end(), outputs.begin(), outputs.end());
  for (const auto& [list, names] : by_strides)
    strides.push_back(list + " for " + parts_of(names, "Strides"));
  const bool is_alone = written == std::vector{subject};
  if (is_alone) strides = {by_strides.front().first + " for its Strides"};
  Alternative how = Alternative::write_for(is_alone ? "its Sizes" : parts_of(written, "Sizes"),
                                           list_of(*group.sizes));
  how.remark = ", and " + in_words(strides) + ", which repeat " +
               (stretched.size() == 1 ? "it" : "them") + " as NumPy does";
  return how;
}

Fix RuleChecker::broadcasting_fix(const FieldSet& given, const Sizes& sizes,
                                  const std::vector<std::string>& stretched) const {
  const auto has_file = [&](const std::string& name) {
    return !given.find_tensor(name)->file.empty();
  };
  const bool have_files = std::ranges::any_of(stretched, has_file);
  Fix fix;
  for (const std::string& name : stretched) {
    if (have_files) {
      fix.push_back(replacement(fields_, part_of_tensor(name, "Broadcast"), "true"));
      continue;
    }
    const Strides strides = stretched_strides(*given.find_tensor(name), sizes);
    fix.push_back(replacement(fields_, sizes_of(name), list_of(sizes)));
    fix.push_back(replacement(fields_, part_of_tensor(name, "Strides"), list_of(strides)));
  }
  return fix;
}

}  // namespace dmlop
