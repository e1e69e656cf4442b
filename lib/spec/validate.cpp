#include "spec/validate.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "spec/broadcast.hpp"
#include "spec/fitting_example.hpp"
#include "spec/ideas.hpp"
#include "spec/remedy.hpp"
#include "spec/rule_checker.hpp"
#include "spec/scalar.hpp"
#include "spec/settings.hpp"
#include "spec/support_checker.hpp"
#include "spec/tensor_checker.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

class Validator {
 public:
  Validator(Description& description, Diagnostics& diagnostics)
      : description_(description), diagnostics_(diagnostics) {}

  void run() {
    open_unknown_types(description_, diagnostics_);
    stretch_tensors(description_, diagnostics_);
    RuleChecker rules(description_, description_.judge, diagnostics_, description_.warnings);
    SupportChecker support(description_, rules.scope(), diagnostics_);
    TensorChecker tensors(description_, diagnostics_);
    for (const TensorUse& use : tensors_of(description_)) {
      tensors.check_dimension_count(use);
      // If a rule determines the sizes, its finding says more.
      if (!has_size_rule(use)) tensors.check_sizes(use, rules.scope());
    }
    const bool exists = support.check_operator();
    if (exists) {
      support.check_enums(description_);
      support.check_activations();
      support.infer_types();
      support.check_inputs(rules.scope());
    }
    apply_rules(rules);
    check_nested_operators();
    for (const TensorUse& use : tensors_of(description_)) {
      if (has_size_rule(use)) tensors.check_sizes(use, rules.scope());
      tensors.check_element_count(use);
    }
    if (exists) support.check_tensors();
    for (const TensorUse& use : tensors_of(description_)) tensors.check_buffer(use);
    require_values(/*counts=*/false);
    require_tensors();
    require_values(/*counts=*/true);
    propose_fitting_values();
  }

 private:
  void apply_rules(RuleChecker& rules) {
    rules.infer_counts();
    rules.check_optional_fields();
    for (const TensorUse& use : tensors_of(description_)) {
      if (use.desc->sizes.empty() && !use.desc->dimension_count)
        use.desc->dimension_count = use.spec->usual_dimensions;
    }
    for (const Rule& rule : description_.spec->rules) rules.apply(rule);
    type_scalars(description_, diagnostics_);
    rules.check_array_lengths();
    rules.suggest_sizes();
  }

  // Applies the rules of a nested operator to its numbers. It has no tensors.
  void check_nested_operators() {
    for (Field& field : description_.fields) {
      auto* nested = std::get_if<std::vector<NestedOperator>>(&field.value);
      for (std::size_t j = 0; nested != nullptr && j < nested->size(); ++j) {
        RuleChecker rules((*nested)[j], description_.judge, diagnostics_, description_.warnings);
        rules.infer_counts();
        for (const Rule& rule : (*nested)[j].spec->rules) rules.apply(rule);
        rules.check_array_lengths();
      }
    }
  }

  bool has_size_rule(const TensorUse& use) const {
    const auto gives_sizes = [&](const Rule& rule) {
      const auto& equation = rule.formula.equation();
      if (!equation) return false;
      const Reference& target = *rule.formula.reference_at(equation->target);
      return target == Reference{use.spec->name, "Sizes"};
    };
    const auto& rules = description_.spec->rules;
    return std::any_of(rules.begin(), rules.end(), gives_sizes);
  }

  void add(Diagnostic diagnostic, std::string rule, Advice suggestion) {
    diagnostic.rule = std::move(rule);
    diagnostic.suggestion = std::move(suggestion);
    diagnostics_.push_back(std::move(diagnostic));
  }

  // Reports fields that a rule determines but could not compute. Counts come last because they
  // follow from tensors.
  void require_values(bool counts) {
    const bool has_findings = !diagnostics_.empty();
    for (const Field& field : description_.fields) {
      const FieldSpec& spec = *field.spec;
      const bool is_open = std::holds_alternative<std::monostate>(field.value) &&
                           field.written == nullptr && !field.is_misspelt && !spec.optional &&
                           !spec.optional_when;
      if (!is_open || has_findings || (spec.is_tensor() && !spec.is_tensor_array())) continue;
      if (description_.spec->is_count(spec.name) != counts) continue;
      const bool is_count = description_.spec->is_count(spec.name);
      add(description_.at(Place{{spec.name}}, "the field \"" + spec.name + "\" is missing"),
          "DML_OPERATOR_" + description_.spec->name + " needs it: " + spec.text,
          how_to_write(description_.document(), description_.fields_object(), spec.name,
                       is_count ? "2" : fitting_example(description_, field)));
    }
  }

  // Reports inputs that nothing describes. Outputs follow from inputs, so an unknown output always
  // has another finding that says why.
  void require_tensors() {
    const std::size_t before = diagnostics_.size();
    for (const TensorUse& use : tensors_of(description_)) {
      const Field& field = *description_.find(use.spec->name);
      if (field.is_misspelt || has_finding(field, before)) continue;
      if (use.spec->is_input() ? use.desc->has_file : !diagnostics_.empty()) continue;
      std::vector<std::string> missing;
      if (!use.desc->data_type) missing.push_back(use.name() + ".DataType");
      if (use.desc->sizes.empty()) missing.push_back(use.name() + ".Sizes");
      if (missing.empty()) continue;
      add(description_.at(use.place(), join(missing, " and ") +
                                           (missing.size() > 1 ? " are" : " is") + " missing"),
          use.spec->is_input()
              ? "a tensor's type and sizes are written in its desc or taken from its .npy file"
              : "a tensor's type and sizes are written in its desc where no rule of DML_OPERATOR_" +
                    description_.spec->name + " gives them",
          how_to_describe(use));
      diagnostics_.back().ideas = {{replacement(description_, use.place(), example_of(use))}};
    }
  }

  // Proposes for a field that is missing a value that fits what is given, if the example's does
  // not.
  void propose_fitting_values() {
    for (Field& field : description_.fields) {
      const FieldSpec& spec = *field.spec;
      if (spec.enum_name == "DML_TENSOR_DATA_TYPE" ||
          !std::holds_alternative<std::monostate>(field.value))
        continue;
      const std::string message = "the field \"" + spec.name + "\" is missing";
      for (Diagnostic& diagnostic : diagnostics_) {
        if (diagnostic.message != message) continue;
        const std::string value = spec.kind == FieldKind::enumeration
                                      ? fitting_value(field)
                                      : fitting_example(description_, field);
        diagnostic.suggestion =
            how_to_write(description_.document(), description_.fields_object(), spec.name, value);
        diagnostic.ideas = {{replacement(description_, Place{{spec.name}}, value)}};
        assume(field, value);
      }
    }
  }

  // What is proposed for the next field fits this one's value.
  static void assume(Field& field, const std::string& value) {
    const Json json = Json::parse(value, nullptr, false);
    const auto is_integer = [](const Json& item) { return item.is_number_integer(); };
    const bool is_list =
        field.spec->kind == FieldKind::uint_array || field.spec->kind == FieldKind::int_array;
    if (is_list && json.is_array() && std::all_of(json.begin(), json.end(), is_integer))
      field.value = json.get<std::vector<std::int64_t>>();
  }

  std::string fitting_value(Field& field) const {
    const std::string example = example_value(*description_.spec, field.spec->name);
    std::vector<std::string> fitting;
    for (const EnumValue& each : enum_values(field.spec->enum_name)) {
      field.value = each.value;
      if (obeys_rules(description_, FieldScope(description_), field.spec->name))
        fitting.push_back('"' + std::string(each.name) + '"');
    }
    field.value = {};
    const bool is_fine =
        fitting.empty() || std::find(fitting.begin(), fitting.end(), example) != fitting.end();
    return is_fine ? example : fitting.front();
  }

  Advice how_to_describe(const TensorUse& use) const {
    const std::string example = example_of(use);
    const bool is_field = !use.element || description_.document().is_of_command_line();
    Alternative how = is_field ? how_to_write(description_.document(), description_.fields_object(),
                                              use.name(), example)
                               : Alternative::sentence("write for " + use.name() + " " + example);
    how.remark = use.spec->is_input() ? "" : ", for example";
    if (!use.spec->is_input()) return how;
    return {how, Alternative::sentence("name its .npy file")};
  }

  // What is known of the tensor stays; the rest is an example.
  std::string example_of(const TensorUse& use) const {
    return R"({"DataType": )" + example_type(use) + R"(, "Sizes": )" + example_sizes(use) + "}";
  }

  std::string example_type(const TensorUse& use) const {
    if (use.desc->data_type) return '"' + std::string(name_of(*use.desc->data_type)) + '"';
    const Json example = Json::parse(example_value(*description_.spec, use.spec->name));
    if (example.contains("DataType")) return example["DataType"].dump();
    const auto covers = [&](const SupportRow& row) { return row.covers(use.spec->name); };
    const auto& rows = description_.spec->support;
    const auto row = std::find_if(rows.begin(), rows.end(), covers);
    return '"' + std::string(row != rows.end() ? name_of(row->types.front()) : "FLOAT32") + '"';
  }

  std::string example_sizes(const TensorUse& use) const {
    if (!use.desc->sizes.empty()) return list_of(use.desc->sizes);
    return list_of(fitting_sizes(description_, use));
  }

  // Whether one of the first `count` findings is about a part of the field.
  bool has_finding(const Field& field, std::size_t count) const {
    if (field.written == nullptr || count == 0) return false;
    const std::string pointer = description_.document().at(*field.written, "").pointer;
    const auto is_about = [&](const Diagnostic& diagnostic) {
      return diagnostic.pointer == pointer || diagnostic.pointer.starts_with(pointer + "/");
    };
    const auto end = diagnostics_.begin() + static_cast<std::ptrdiff_t>(count);
    return std::any_of(diagnostics_.begin(), end, is_about);
  }

  Description& description_;
  Diagnostics& diagnostics_;
};

}  // namespace

void validate(Description& description, Diagnostics& diagnostics) {
  Validator(description, diagnostics).run();
}

}  // namespace dmlop
