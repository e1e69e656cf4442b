#include "fixes/fixes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "fixes/array_changes.hpp"
#include "fixes/common_fixes.hpp"
#include "fixes/fix_ideas.hpp"
#include "fixes/fix_search.hpp"
#include "fixes/fix_trials.hpp"
#include "fixes/fix_words.hpp"
#include "ops/operator.hpp"
#include "spec/ideas.hpp"
#include "spec/settings.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

// Larger descriptions, and more findings, would take longer than reading the answer.
constexpr std::size_t text_bytes_max = std::size_t{16} << 10;
constexpr std::size_t findings_mended = 8;
constexpr int steps_max = 3;  // of one fix: what mends a finding may need what mends the next

class FixFinder {
 public:
  FixFinder(const Description& before, Diagnostics& findings)
      : before_(before),
        findings_(findings),
        prefix_(before.document().at(before.root(), "").pointer),
        json_(json_of(before.root())),
        trials_(before, fields_beside()),
        search_(before, json_, trials_, findings),
        common_(before, json_, trials_) {}

  void run() {
    // A fix of one finding must not depend on what another one's suggestion says by now.
    const Diagnostics& found = search_.findings();
    for (std::size_t i = 0; i < std::min(findings_.size(), findings_mended); ++i) {
      if (may_have_fix(found[i])) {
        mend(findings_[i]);
      } else if (found[i].file == before_.file()) {
        mend_file(findings_[i]);
      }
    }
    if (found.size() > 1) mend_together();
  }

 private:
  // The names beside the fields that are not refused themselves.
  std::vector<std::string> fields_beside() const {
    std::vector<std::string> names;
    for (const json::Member& member : before_.root().members) {
      const auto is_refused = [&](const Diagnostic& finding) {
        return is_below(finding.pointer, prefix_ + "/" + member.name);
      };
      const bool is_known = std::any_of(findings_.begin(), findings_.end(), is_refused);
      if (!is_known && before_.spec->find_field(member.name) == nullptr)
        names.push_back(member.name);
    }
    return names;
  }

  bool is_of_description(const Diagnostic& finding) const {
    return finding.kind == ErrorKind::invalid_input && is_below(finding.pointer, prefix_) &&
           finding.file == before_.file();
  }

  // What a file has wrong, no change of the description mends.
  bool may_have_fix(const Diagnostic& finding) const {
    return is_of_description(finding) && finding.message.find(".npy") == std::string::npos &&
           finding.rule.find(".npy") == std::string::npos;
  }

  std::string relative(const std::string& pointer) const { return trials_.relative(pointer); }

  // The opposite of relative(), for all places of a fix.
  Fix in_document(Fix fix) const {
    for (Replacement& each : fix) each.pointer = prefix_ + each.pointer;
    return fix;
  }

  // One change is better than several, wherever it stands.
  void mend(Diagnostic& target) {
    const bool is_only = search_.findings().size() == 1;
    Diagnostic here = search_.here(target);
    if (!search_.is_seen(here)) return;
    // What somebody means is right even where another part of the description does not fit it.
    if (is_meant(target)) {
      const auto fix = fix_as_meant(target, here);
      if (!fix) return;
      target.fix = in_document(*fix);
      if (fix->size() > here.ideas.front().size()) target.suggestion = suggestion_of(*fix, here);
      return;
    }
    if (const auto fix = stretch_of_files(target, here)) {
      target.fix = in_document(*fix);
      if (has_saving(target.suggestion)) mend_file(target);
      return;
    }
    // Other values of fields may fit an image in NHWC by chance.
    if (is_only && say_if_known(common_.channels_last(target), target)) return;
    if (is_only && say_if_known(common_.channels_last_by_strides(), target)) return;
    auto fix = fix_by_ideas(target, here, 1);
    if (!fix && is_only) {
      const auto only = common_.choice();
      if (only && (only->pointer == here.pointer || says_which(*before_.spec, *only)))
        fix = Fix{*only};
    }
    if (!fix && is_only && say_if_known(common_.order(target), target)) return;
    if (!fix && mend_file(target)) return;
    if (!fix) fix = fix_by_ideas(target, here, steps_max);
    if (!fix && add_sizes_by_rules(here)) fix = fix_by_ideas(target, here, 1);
    if (fix) {
      target.fix = in_document(*fix);
      target.suggestion = suggestion_of(*fix, here);
      return;
    }
    if (is_only && is_about_dimension_count(here) && say_if_known(common_.dimensions(), target))
      return;
    if (is_only && say_if_known(common_.data_type(), target)) return;
    if (const auto several = is_only ? common_.several() : std::nullopt) {
      target.suggestion = words_for(*several, target);
      return;
    }
    const bool has_failed = !here.ideas.empty() && trials_.are_left();
    if (begins_with_value(target.suggestion) && has_failed && !target.rule.empty()) {
      mend_by_number(target, here);
    } else if (has_failed) {
      target.suggestion = without_failed_sizes(target.suggestion);
    }
  }

  // Another type of a nested operator may need other fields. They follow from it; sizes that do not
  // fit another value are a mistake of their own.
  std::optional<Fix> fix_as_meant(const Diagnostic& target, const Diagnostic& here) {
    const Fix& idea = here.ideas.front();
    search_.forget();
    auto fix = search_.fix(target, idea, 1);
    if (fix || !lower_case(here.pointer).ends_with("/type")) return fix;
    search_.forget();
    return search_.fix(target, idea, steps_max);
  }

  // The sizes of files cannot be written, but "Broadcast": true can. The suggestion says so.
  std::optional<Fix> stretch_of_files(const Diagnostic& target, const Diagnostic& here) {
    const auto stretches = [](const Replacement& each) {
      return each.pointer.ends_with("/Broadcast");
    };
    search_.forget();
    for (const Fix& idea : here.ideas) {
      if (!std::ranges::all_of(idea, stretches)) continue;
      if (auto fix = search_.fix(target, idea, 1)) return fix;
    }
    return std::nullopt;
  }

  // Another number of those that the rule names. Many may do, and none may be what is meant.
  void mend_by_number(Diagnostic& target, const Diagnostic& here) {
    search_.forget();
    std::optional<Fix> fix;
    for (const Replacement& each : other_numbers(here, json_, *before_.spec)) {
      if (!fix) fix = search_.fix(target, {each}, 1);
    }
    if (fix) {
      target.fix = in_document(*fix);
      target.suggestion = how_to_apply(*fix, here);
      target.suggestion.alternatives.front().remark += ", for example";
    } else {
      target.suggestion = search_.findings().size() == 1
                              ? "compare what the rule names: no change of one value was found to "
                                "help"
                              : "compare what the rule names, or mend the other findings first";
    }
  }

  // Gives the only finding the fix that mends it.
  bool say_if_known(const std::optional<CommonFix>& common, Diagnostic& target) const {
    if (!common) return false;
    target.fix = in_document(common->fix);
    target.suggestion = named(common->words, common->fix.empty() ? common->tensor : "", target);
    return true;
  }

  // Where the finding is about the sizes of a tensor as a whole.
  bool add_sizes_by_rules(Diagnostic& finding) {
    if (finding.ideas.empty()) return false;
    const std::string pointer = finding.ideas.front().front().pointer;
    const std::string name = name_of_place(pointer), tensor = tensor_name_of(pointer);
    const FieldSpec* field = before_.spec->find_field(tensor.substr(0, tensor.find('[')));
    const bool is_tensor = field != nullptr && field->is_tensor() && name == tensor;
    if (!is_tensor && name != tensor + ".Sizes") return false;
    const bool has_type = json_.contains(Json::json_pointer(pointer + "/DataType"));
    if (is_tensor && !has_type) return false;
    const auto list = trials_.sizes_by_rules(json_, tensor);
    for (const Sizes& sizes : list)
      finding.ideas.push_back({{pointer + (is_tensor ? "/Sizes" : ""), list_of(sizes)}});
    return !list.empty();
  }

  // The array is named where the message is not about it.
  static Alternative named(Alternative saving, const std::string& tensor,
                           const Diagnostic& finding) {
    if (!tensor.empty() && !finding.message.starts_with(tensor)) saving.remark = " for " + tensor;
    return saving;
  }

  static Alternative words_for(const SeveralFixes& several, const Diagnostic& finding) {
    const auto& first = several.steps.front();
    const bool is_one = several.steps.size() == 1 && first.tensors.size() == 1 && !several.choice;
    return is_one ? named(first.words, first.tensors.front(), finding) : several.words();
  }

  // The sizes of a .npy file cannot be written, but its array can be saved in another shape.
  bool mend_file(Diagnostic& target) {
    if (target.ideas.empty()) return false;
    const std::string pointer = relative(target.ideas.front().front().pointer);
    const TensorDesc* tensor = trials_.tensor_of_file(pointer);
    if (tensor == nullptr || tensor->sizes.empty()) return false;
    const auto left_with = [&](const Sizes& sizes) {
      return search_.left_with_shape(target, {tensor_name_of(pointer), sizes});
    };
    const std::string name = tensor_name_of(pointer);
    const auto ruled = pointer.find("/Sizes") != pointer.npos ? trials_.sizes_by_rules(json_, name)
                                                              : std::vector<Sizes>{};
    Replacement proposed = target.ideas.front().front();
    if (const auto channels = channel_sizes(tensor->sizes, trials_.first_dimensions()))
      proposed.value = list_of(*channels);
    std::optional<Sizes> best;
    std::size_t left_with_best = 0;
    for (const Sizes& sizes : shapes_for(tensor->sizes, proposed, ruled)) {
      const auto left = left_with(sizes);
      if (!left || (best && *left >= left_with_best)) continue;
      best = sizes;
      left_with_best = *left;
      if (*left == 0) break;
    }
    const auto is_right = [&](const Sizes& sizes) { return left_with(sizes) == 0; };
    const auto right = std::find_if(ruled.begin(), ruled.end(), is_right);
    if (best && left_with_best == 0) {
      const Advice advice = with_shape(target.suggestion, tensor->sizes, *best);
      Alternative saving = named(advice.alternatives.back(), name, target);
      // What a message about something else advises stays.
      if (subject_of(target) != field_of(name)) {
        target.suggestion.add(std::move(saving));
      } else {
        target.suggestion = with_saving(advice, std::move(saving));
      }
    } else if (right != ruled.end()) {
      const bool is_stretched =
          !without_ones(tensor->sizes).empty() && are_stretched(tensor->sizes, *right);
      const bool may_be_others = !is_stretched && search_.findings().size() == 1;
      if (const auto several = may_be_others ? common_.several() : std::nullopt) {
        target.suggestion = words_for(*several, target);
        return true;
      }
      Alternative saving = is_stretched
                               ? broadcasting(*right)
                               : Alternative{.kind = Alternative::Kind::save,
                                             .value = "an array of sizes " + list_of(*right)};
      target.suggestion = with_saving(target.suggestion, named(std::move(saving), name, target));
    } else {
      return false;
    }
    return true;
  }

  std::optional<Fix> fix_by_ideas(const Diagnostic& target, const Diagnostic& here, int steps) {
    search_.forget();
    const bool seems_right = search_.findings().size() > 1 && is_inferred_output(here);
    for (const Fix& idea :
         seems_right ? here.ideas
                     : ideas_for(here, json_, *before_.spec, trials_.first_dimensions())) {
      auto fix = search_.fix(target, idea, steps);
      if (!fix) continue;
      std::erase_if(*fix, [&](const Replacement& each) {  // what was never there
        return each.value == "null" && !json_.contains(Json::json_pointer(each.pointer));
      });
      if (!fix->empty()) return fix;
    }
    return std::nullopt;
  }

  // Whether the finding is about DimensionCount, or about an array with a value for each dimension.
  bool is_about_dimension_count(const Diagnostic& finding) const {
    const FieldSpec* field = before_.spec->find_field(name_of_place(finding.pointer));
    return field != nullptr &&
           (field->name == "DimensionCount" || field->count_field == "DimensionCount");
  }

  // Whether the finding is about the sizes of an output that follow from others. While these have
  // findings, any sizes seem right.
  bool is_inferred_output(const Diagnostic& finding) const {
    const FieldSpec* field = before_.spec->find_field(tensor_name_of(finding.pointer));
    if (field == nullptr || !field->is_output() || !finding.pointer.ends_with("/Sizes"))
      return false;
    return std::any_of(
        before_.spec->rules.begin(), before_.spec->rules.end(), [&](const Rule& rule) {
          const auto& equation = rule.formula.equation();
          return equation &&
                 *rule.formula.reference_at(equation->target) == Reference{field->name, "Sizes"};
        });
  }

  // The text of a finding was made from its first idea, which may need more.
  Advice suggestion_of(const Fix& fix, const Diagnostic& finding) const {
    Advice advice = finding.suggestion;
    if (fix.size() == 1) {
      const Replacement& only = fix.front();
      const std::string place = name_of_place(only.pointer);
      if (begin_with(advice, only.value, place, is_about(finding, place))) return advice;
    }
    const Fix first = finding.ideas.empty() ? Fix{} : finding.ideas.front();
    const bool begins_with_it = !first.empty() && first.size() <= fix.size() &&
                                std::equal(first.begin(), first.end(), fix.begin());
    // The message of a misspelt field has its name.
    if (advice.empty() &&
        std::ranges::equal(first, fix, {}, &Replacement::pointer, &Replacement::pointer))
      return advice;
    if (!begins_with_it) return how_to_apply(fix, finding);
    const Fix rest(fix.begin() + static_cast<std::ptrdiff_t>(first.size()), fix.end());
    if (!rest.empty()) advice.then = Advice(words_of(rest)).text();
    return advice;
  }

  // One value of another field may mend all findings: the mistake is there.
  void mend_together() {
    const Diagnostics& findings = search_.findings();
    const auto is_known = [&](const Diagnostic& finding) {
      return is_of_description(finding) || has_shape(finding);
    };
    if (!std::ranges::all_of(findings, is_known)) return;
    if (std::ranges::any_of(findings, [&](const auto& each) { return is_of_missing(each); }))
      return;
    const auto only = common_.choice();
    auto fix = only ? std::optional(CommonFix{{*only}, words_of({*only})}) : std::nullopt;
    if (!fix) fix = common_.order(findings.front());
    if (!fix) fix = common_.channels_last_by_strides();
    if (!fix) fix = common_.dimensions();
    if (fix) {
      say_together(*fix);
    } else if (const auto several = common_.several()) {
      say_several(*several);
    }
  }

  // Whether a tensor is missing, which no other value mends.
  bool is_of_missing(const Diagnostic& finding) const {
    const FieldSpec* field = before_.spec->find_field(subject_of(finding));
    return field != nullptr && field->is_tensor() && finding.message.ends_with(" missing");
  }

  void say_together(const CommonFix& common) {
    for (const Diagnostic& finding : findings_) {
      // It says so itself.
      if (!common.fix.empty() && finding.pointer == prefix_ + common.fix.front().pointer) return;
    }
    for (Diagnostic& finding : findings_) {
      finding.fix = in_document(common.fix);
      finding.suggestion = with_common(
          finding.suggestion, named(common.words, common.fix.empty() ? common.tensor : "", finding),
          findings_.size());
    }
  }

  // What each finding advises by itself was found while the others were there, and may not fit
  // together with theirs. Each names its own array if that is all that is to be changed.
  void say_several(const SeveralFixes& several) {
    const auto own = [&](const Diagnostic& finding) {
      return std::ranges::find_if(several.steps, [&](const auto& step) {
        return std::ranges::count(step.tensors, subject_of(finding)) != 0;
      });
    };
    std::size_t arrays = 0;
    for (const auto& step : several.steps) arrays += step.tensors.size();
    const bool have_own = !several.choice && findings_.size() == arrays &&
                          std::ranges::all_of(findings_, [&](const Diagnostic& finding) {
                            return own(finding) != several.steps.end();
                          });
    for (Diagnostic& finding : findings_) {
      finding.fix = {};
      finding.suggestion = have_own
                               ? Advice(own(finding)->words)
                               : with_common({}, words_for(several, finding), findings_.size());
    }
  }

  bool has_shape(const Diagnostic& finding) const {
    return finding.file == before_.file() && !finding.ideas.empty() &&
           trials_.tensor_of_file(relative(finding.ideas.front().front().pointer)) != nullptr;
  }

  // Whether the message's subject, if it is a field, is the field of a place.
  bool is_about(const Diagnostic& finding, const std::string& place) const {
    const std::string subject = subject_of(finding);
    return before_.spec->find_field(subject) == nullptr || subject == field_of(place);
  }

  // A field that is missing is added.
  Alternative how_to_apply(const Fix& fix, const Diagnostic& finding) const {
    const bool is_missing = fix.size() == 1 && fix.front().value != "null" &&
                            !json_.contains(Json::json_pointer(fix.front().pointer));
    if (is_missing && finding.pointer == relative(pointer_of_fields()))
      return how_to_write(before_.document(), before_.fields_object(),
                          name_of_place(fix.front().pointer), fix.front().value);
    const bool is_clear = is_about(finding, name_of_place(finding.pointer));
    return words_of(fix, is_clear ? finding.pointer : "");
  }

  std::string pointer_of_fields() const {
    return before_.document().at(before_.fields_object(), "").pointer;
  }

  const Description& before_;
  Diagnostics& findings_;
  std::string prefix_;  // of the description's pointers in its document
  Json json_;
  FixTrials trials_;
  FixSearch search_;
  CommonFixes common_;
};

}  // namespace

void check_and_mend(Description& description, Diagnostics& diagnostics) {
  const Description before = description;
  check_description(description, diagnostics);
  const json::Value& root = description.root();
  if (diagnostics.empty() || root.end - root.begin > text_bytes_max) return;
  FixFinder(before, diagnostics).run();
}

std::string with_fix(const Description& description, const Fix& fix) {
  Json json = json_of(description.root());
  const std::string prefix = description.document().at(description.root(), "").pointer;
  for (const Replacement& each : fix) {
    if (!apply(json, {each.pointer.substr(prefix.size()), each.value})) return "";
  }
  return json.dump();
}

}  // namespace dmlop
