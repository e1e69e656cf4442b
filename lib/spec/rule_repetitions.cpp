// What a RuleChecker says of inputs that repeat, as where NumPy broadcasts: DirectML wants the
// sizes of the other tensor, and strides of 0.
#include <algorithm>

#include "base/text.hpp"
#include "spec/broadcast.hpp"
#include "spec/ideas.hpp"
#include "spec/rule_checker.hpp"
#include "tensor/layout.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

Place part_of(const Place& place, const char* attribute) {
  return {{place.reference.field, attribute}, place.element};
}

// "ATensor.Sizes[i]" of "BTensor.Sizes[i] == ATensor.Sizes[i]".
std::string wanted_by(const std::string& rule) {
  constexpr std::string_view equal = " == ";
  return rule.substr(rule.rfind(equal) + equal.size());
}

std::string repeating(const Strides& strides, std::size_t tensors) {
  return ", and " + list_of(strides) + " for " + (tensors == 1 ? "its" : "their") +
         " Strides, which repeat " + (tensors == 1 ? "it" : "them");
}

}  // namespace

// Whether a statement is about a size of 1 of an input that must be that of another tensor.
bool RuleChecker::repeats(const Statement& statement) const {
  const auto& equation = statement.formula().equation();
  if (!equation || !equation->exact || !statement.formula().text().ends_with(".Sizes[i]"))
    return false;
  const auto target = target_of(statement);
  if (!target || target->reference.attribute != "Sizes" || !target->subscript) return false;
  const TensorDesc* tensor = fields_.find_tensor(target->reference.field, target->element);
  return tensor != nullptr && !tensor->strides &&
         fields_.find(target->reference.field)->spec->is_input() &&
         *target->subscript < tensor->sizes.size() && tensor->sizes[*target->subscript] == 1;
}

// The next finding is about it.
void RuleChecker::note_repetition(const Statement& statement) {
  const Place size = *target_of(statement);
  repetitions_.push_back({diagnostics_.size(),
                          statement.formula().text(),
                          {size},
                          {*size.subscript},
                          {stretched_by(statement)}});
}

// Another size of the same tensor, or the same sizes of another one.
bool RuleChecker::joins_repetition(const Statement& statement,
                                   const Formula::Violation& violation) {
  if (!repeats(statement) || statement.formula().equation()->target != violation.subject)
    return false;
  const Place size = *target_of(statement);
  const auto has_tensor = [&](const Repetition& each) {
    return std::ranges::count(each.sizes, tensor_of(size), tensor_of) != 0;
  };
  if (const auto own = std::ranges::find_if(repetitions_, has_tensor); own != repetitions_.end()) {
    own->dimensions.insert(*size.subscript);
    return true;
  }
  const auto is_alike = [&](const Repetition& each) {
    return wanted_by(each.rule) == wanted_by(statement.formula().text()) &&
           given_sizes(each.sizes.front()) == given_sizes(size);
  };
  const auto alike = std::ranges::find_if(repetitions_, is_alike);
  if (alike == repetitions_.end() || statement.rule.by != Authority::both) return false;
  alike->sizes.push_back(size);
  alike->stretched.push_back(stretched_by(statement));
  return true;
}

void RuleChecker::note_given_sizes(const Place& target, const TensorDesc& tensor) {
  given_sizes_.try_emplace(tensor_of(target), tensor.sizes);
}

const Sizes& RuleChecker::given_sizes(const Place& tensor) const {
  const auto corrected = given_sizes_.find(tensor_of(tensor));
  return corrected != given_sizes_.end()
             ? corrected->second
             : fields_.find_tensor(tensor.reference.field, tensor.element)->sizes;
}

void RuleChecker::suggest_strides(const Repetition& repetition) {
  const Place& first = repetition.sizes.front();
  const Sizes& given = given_sizes(first);
  const Sizes ruled = fields_.find_tensor(first.reference.field, first.element)->sizes;
  if (ruled.size() != given.size() || !element_count(given)) return;
  // Another size that is wrong has its own finding.
  Sizes sizes = given;
  for (const std::size_t i : repetition.dimensions) sizes[i] = ruled[i];
  const Strides strides = stretched_strides({.sizes = given}, sizes);
  Diagnostic& finding = diagnostics_[repetition.finding];
  const bool is_whole = repetition.dimensions.size() > 1;
  const std::string size = std::to_string(sizes[*first.subscript]);
  const std::string value = is_whole ? list_of(sizes) : size;
  Fix fix;
  for (const Place& each : repetition.sizes) {
    fix.push_back(replacement(fields_, is_whole ? part_of(each, "Sizes") : each, value));
    fix.push_back(replacement(fields_, part_of(each, "Strides"), list_of(strides)));
    fields_.find_tensor(each.reference.field, each.element)->strides = strides;
  }
  finding.ideas.front() = std::move(fix);
  show_whole_sizes(repetition, sizes, finding);
  Advice& advice = finding.suggestion;
  const auto writes = [&](const Alternative& one) {
    return one.kind == Alternative::Kind::write && one.place.empty() && one.value == size;
  };
  if (const auto found = std::ranges::find_if(advice.alternatives, writes);
      found != advice.alternatives.end()) {
    const std::size_t tensors = repetition.sizes.size();
    found->value = value;
    found->place = tensors == 1 ? "" : tensors == 2 ? "both" : "each";
    found->remark = repeating(strides, tensors);
    if (tensors > 1) advice.add(Alternative::sentence("change " + cause_of(repetition)));
  }
  const Advice stretch = how_to_stretch(repetition.stretched, first);
  for (Alternative& one : advice.alternatives) {
    if (one.kind == Alternative::Kind::stretch && !stretch.empty())
      one = stretch.alternatives.front();
  }
}

// What all of them differ from.
std::string RuleChecker::cause_of(const Repetition& repetition) {
  const std::string sizes = wanted_by(repetition.rule);
  const std::string tensor = sizes.substr(0, sizes.find(".Sizes"));
  return repetition.dimensions.size() > 1
             ? tensor + ".Sizes"
             : to_text(Place{{tensor, "Sizes"}, {}, *repetition.dimensions.begin()});
}

void RuleChecker::show_sizes(const Place& sizes, const Sizes& given, const Sizes& wanted,
                             const std::string& rule, Diagnostic& finding) const {
  const Diagnostic place =
      fields_.at(fields_.is_written(sizes) ? sizes : Place{},
                 to_text(sizes) + " is " + list_of(given) + ", must be " + list_of(wanted));
  finding.line = place.line;
  finding.column = place.column;
  finding.pointer = place.pointer;
  finding.argument = place.argument;
  finding.value = place.value;
  finding.message = place.message;
  finding.rule = rule;
}

// Names all that is wrong where more than one size is.
void RuleChecker::show_whole_sizes(const Repetition& repetition, const Sizes& wanted,
                                   Diagnostic& finding) const {
  const Place& first = repetition.sizes.front();
  const Sizes& given = given_sizes(first);
  const bool is_whole = repetition.dimensions.size() > 1;
  if (is_whole) show_sizes(part_of(first, "Sizes"), given, wanted, repetition.rule, finding);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < repetition.sizes.size(); ++i) {
    const Place& size = repetition.sizes[i];
    others.push_back(to_text(is_whole ? part_of(size, "Sizes") : size));
  }
  if (others.empty()) return;
  finding.note += (finding.note.empty() ? "" : " ") + join(others) +
                  (others.size() == 1 ? " is " : " are ") + (is_whole ? list_of(given) : "1") +
                  ", too.";
}

std::string RuleChecker::stretched_by(const Statement& statement) const {
  // Tensors are stretched before the sizes of others follow from rules.
  FieldSet given = fields_;
  for (const TensorUse& use : tensors_of(given)) {
    if (!use.desc->has_file && !fields_.is_written(use.place("Sizes"))) use.desc->sizes.clear();
  }
  return stretched_for(given, target_of(statement)->reference.field,
                       statement.formula().references());
}

Advice RuleChecker::how_to_stretch(const std::vector<std::string>& stretched,
                                   const Place& subject) const {
  std::vector<std::string> typed, written, named;
  for (const std::string& name : stretched) {
    if (name.empty()) return {};
    if (fields_.document().is_of_command_line()) {
      typed.push_back(name);
    } else if (fields_.find(name)->written != nullptr) {
      written.push_back(name);
    } else {
      named.push_back("\"" + name + "\": {\"Broadcast\": true}");
    }
  }
  std::vector<std::string> steps;
  if (!typed.empty()) steps.push_back("add --broadcast");
  if (!written.empty())
    steps.push_back("write \"Broadcast\": true in the desc of " + join(written, " and "));
  if (!named.empty()) steps.push_back("write " + join(named, " and "));
  const std::string it = stretched.size() > 1 ? "them"
                         : typed.empty() || stretched.front() == subject.reference.field
                             ? "it"
                             : stretched.front();
  return Alternative{.kind = Alternative::Kind::stretch,
                     .value = join(steps, " and ") + " to stretch " + it + " as NumPy does"};
}

// The strides with which a tensor of too few dimensions repeats, if it is to.
std::optional<Strides> RuleChecker::strides_of_fewer(const TensorUse& use) const {
  const Sizes& given = given_sizes(use.place());
  const bool may_repeat = use.spec->is_input() && !use.desc->strides &&
                          has_sizes_of_another(*fields_.spec, use.spec->name) &&
                          element_count(given) != element_count(use.desc->sizes);
  return may_repeat ? repeating_strides(given, use.desc->sizes) : std::nullopt;
}

// Where NumPy would not broadcast a file, it does so after dimensions of size 1 were added.
void RuleChecker::suggest_reshaping(const TensorUse& use, const Strides& strides,
                                    Diagnostic& diagnostic) const {
  const auto is_stretch = [](const Alternative& one) {
    return one.kind == Alternative::Kind::stretch;
  };
  if (std::ranges::any_of(diagnostic.suggestion.alternatives, is_stretch)) return;
  Sizes shape = use.desc->sizes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] == 0) shape[i] = 1;
  }
  const Advice stretch = how_to_stretch({use.spec->name}, use.place());
  diagnostic.suggestion = Alternative::together({reshaping(shape), stretch.alternatives.front()});
  diagnostic.ideas.clear();  // it takes both
}

void RuleChecker::suggest_sizes() {
  suggest_broadcasts();
  for (const TensorUse& use : tensors_of(fields_)) {
    const auto finding = wrong_dimensions_.find(use.name());
    if (finding == wrong_dimensions_.end() || use.desc->sizes.empty()) continue;
    Diagnostic& diagnostic = diagnostics_[finding->second];
    const auto strides = strides_of_fewer(use);
    if (!use.desc->file.empty()) {
      if (strides) suggest_reshaping(use, *strides, diagnostic);
      continue;
    }
    for (Alternative& one : diagnostic.suggestion.alternatives) {
      if (one.kind != Alternative::Kind::write_sizes) continue;
      one = Alternative::write_for("its Sizes", list_of(use.desc->sizes));
      if (strides) one.remark = repeating(*strides, 1);
    }
    Fix fix{replacement(fields_, use.place("Sizes"), list_of(use.desc->sizes))};
    if (strides) {
      fix.push_back(replacement(fields_, use.place("Strides"), list_of(*strides)));
      use.desc->strides = strides;
    }
    diagnostic.ideas = {fix};
  }
  for (const Repetition& each : repetitions_) suggest_strides(each);
}

}  // namespace dmlop
