#include "spec/remedy.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "spec/settings.hpp"
#include "spec/spec.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

std::string either(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

void add_once(std::vector<std::string>& names, std::string name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
}

class Remedy {
 public:
  Remedy(const Formula& formula, const Formula::Violation& violation, const FieldSet& fields,
         const FieldScope& scope, const Variables& variables)
      : formula_(formula),
        violation_(violation),
        fields_(fields),
        scope_(scope),
        variables_(variables),
        subject_(formula.reference_at(violation.subject)) {}

  Advice advice() const {
    Advice remedy;
    if (formula_.show_presence(violation_, scope_, variables_)) {
      remedy = of_presence();
    } else if (violation_.bound) {
      remedy = of_bound();
    } else {
      remedy = of_sentence();
    }
    return remedy.empty() ? change_something() : remedy;
  }

  std::vector<std::string> values() const {
    if (violation_.words == "must be left out") return {"null"};
    if (subject_ == nullptr || !subject_->attribute.empty()) return {};
    if (violation_.words.starts_with(one_of))
      return values_in(std::string_view(violation_.words).substr(one_of.size()));
    const auto bound =
        violation_.bound ? formula_.evaluate(*violation_.bound, scope_, variables_) : std::nullopt;
    if (!bound) return {};
    const bool is_more = violation_.words == "must be greater than";
    const bool is_less = violation_.words == "must be less than";
    if (bound->is_real() || (!is_more && !is_less)) return {to_text(*bound)};
    return {std::to_string(bound->integer() + (is_more ? 1 : -1))};
  }

 private:
  static constexpr std::string_view one_of = "must be one of ";

  // One of several tensors must be given.
  Advice of_presence() const {
    std::vector<std::string> given, absent;
    for (const Reference& reference : formula_.references()) {
      const auto is_present = scope_.is_present({reference});
      if (is_present) add_once(*is_present ? given : absent, reference.field);
    }
    if (given.size() > 1) return "keep one of " + join(given, " and ");
    return absent.empty() ? Advice() : add(absent.front());
  }

  // The type and the sizes of an output follow from the inputs.
  Advice add(const std::string& field) const {
    const bool is_output = fields_.find(field)->spec->is_output();
    const std::string example = example_value(*fields_.spec, field);
    if (!is_output && example == "null") return "give " + field + ", too";
    return how_to_write(fields_.document(), fields_.fields_object(), field,
                        is_output ? "{}" : example);
  }

  Advice of_sentence() const {
    if (violation_.words == "is missing" && subject_ != nullptr) return add(subject_->field);
    if (violation_.words == "must be left out") return Alternative::leave_out();
    if (violation_.words == "must not have a value twice") return "write each value once";
    if (violation_.words == "must be a finite number") return Alternative::write("a finite number");
    if (!violation_.words.starts_with(one_of)) return {};
    Advice any;
    for (std::string& value : values_in(std::string_view(violation_.words).substr(one_of.size())))
      any.add({.kind = subject_ != nullptr ? Alternative::Kind::write : Alternative::Kind::make,
               .value = std::move(value)});
    return any;
  }

  // The values of "1, InputTensor.Sizes[0] = 3".
  static std::vector<std::string> values_in(std::string_view members) {
    std::vector<std::string> values;
    while (!members.empty()) {
      std::string_view member = members.substr(0, members.find(", "));
      members.remove_prefix(std::min(members.size(), member.size() + 2));
      if (const std::size_t equals = member.find(" = "); equals != member.npos)
        member.remove_prefix(equals + 3);
      add_once(values, written(std::string(member)));
    }
    return values;
  }

  // Names stand in quotes.
  static std::string written(const std::string& value) {
    return value.find_first_not_of("0123456789+-.e") == value.npos ? value : '"' + value + '"';
  }

  Advice of_bound() const {
    const auto bound = formula_.evaluate(*violation_.bound, scope_, variables_);
    if (subject_ == nullptr || !bound || subject_->attribute == "DataType" || is_of_file())
      return {};
    if (violation_.words == "must be a multiple of")
      return Alternative::write("a multiple of " + to_text(*bound));
    if (violation_.words == "must be") return Alternative::write(to_text(*bound));
    const FieldKind kind = fields_.find(subject_->field)->spec->kind;
    const bool is_real =
        bound->is_real() || kind == FieldKind::float32 || kind == FieldKind::float_array;
    if (violation_.words == "must be greater than" && is_real)
      return Alternative::write("a number greater than " + to_text(*bound));
    if (bound->is_real()) return {};
    if (violation_.words == "must be greater than") return at_least(bound->integer() + 1);
    if (violation_.words == "must be at least") return at_least(bound->integer());
    if (violation_.words == "must be less than") return at_most(bound->integer() - 1);
    if (violation_.words == "must be at most") return at_most(bound->integer());
    return {};
  }

  // The sizes that a file has cannot be written.
  bool is_of_file() const {
    const auto place = formula_.place_at(violation_.subject, scope_, variables_);
    if (!place || place->reference.attribute != "Sizes") return false;
    const TensorDesc* tensor = fields_.find_tensor(place->reference.field, place->element);
    return tensor != nullptr && tensor->has_file && !fields_.is_written(*place);
  }

  bool is_dimension_count() const { return subject_->attribute == "DimensionCount"; }

  Advice at_least(std::int64_t least) const {
    const std::string number = std::to_string(least);
    if (is_dimension_count()) return Alternative::write_sizes("at least " + number + " dimensions");
    return Alternative::write(number, " or more");
  }

  Advice at_most(std::int64_t most) const {
    const FieldKind kind = fields_.find(subject_->field)->spec->kind;
    const bool is_signed = kind == FieldKind::int32 || kind == FieldKind::int_array ||
                           kind == FieldKind::float32 || kind == FieldKind::float_array;
    const std::int64_t lowest = subject_->attribute.empty() ? 0 : 1;
    if (!is_signed && most < lowest) return {};
    if (is_dimension_count())
      return Alternative::write_sizes("at most " + counted_dimensions(most));
    return Alternative::write(std::to_string(most), !is_signed && most == lowest ? "" : " or less");
  }

  static std::string counted_dimensions(std::int64_t count) {
    return counted(static_cast<std::uint64_t>(count), "dimension");
  }

  // Which value is the wrong one is for the user to say.
  std::string change_something() const {
    std::vector<std::string> names;
    for (const Place& place : formula_.places(scope_, variables_, violation_.subject))
      add_once(names, to_text(place));
    return names.empty() ? "" : "change " + either(names);
  }

  const Formula& formula_;
  const Formula::Violation& violation_;
  const FieldSet& fields_;
  const FieldScope& scope_;
  const Variables& variables_;
  const Reference* subject_;  // null where it is computed
};

}  // namespace

Advice remedy_of(const Formula& formula, const Formula::Violation& violation,
                 const FieldSet& fields, const FieldScope& scope, const Variables& variables) {
  return Remedy(formula, violation, fields, scope, variables).advice();
}

std::vector<std::string> nearest_values(const Formula& formula, const Formula::Violation& violation,
                                        const FieldSet& fields, const FieldScope& scope,
                                        const Variables& variables) {
  return Remedy(formula, violation, fields, scope, variables).values();
}

Alternative how_to_reshape(const TensorDesc& tensor, const Sizes& sizes) {
  Alternative how = tensor.file.empty() ? Alternative::write(list_of(sizes)) : reshaping(sizes);
  const bool is_more = tensor.sizes.size() < sizes.size();
  how.reason = is_more ? "add dimensions of size 1: " : "merge dimensions: ";
  return how;
}

std::size_t broken_rules(const FieldSet& fields, const FieldScope& scope, std::string_view name,
                         std::size_t most) {
  std::size_t broken = 0;
  for (const Rule& rule : fields.spec->rules) {
    if (!rule.formula.names(name)) continue;
    rule.formula.for_each(scope, [&](const Variables& variables) {
      if (rule.formula.check(scope, variables)) ++broken;
      return broken < most;
    });
    if (broken >= most) break;
  }
  return broken;
}

bool obeys_rules(const FieldSet& fields, const FieldScope& scope, std::string_view name) {
  return broken_rules(fields, scope, name, 1) == 0;
}

}  // namespace dmlop
