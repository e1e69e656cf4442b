#include "spec/validate.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/text.hpp"
#include "spec/rule_checker.hpp"

namespace dmlop {
namespace {

constexpr std::uint64_t uint_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t bytes_max = std::numeric_limits<std::int64_t>::max();

// After this many findings about one tensor's sizes the rest are not listed.
constexpr std::size_t sizes_listed = 8;

std::string range_text(const SupportRow& row) {
  if (row.min_dimensions == row.max_dimensions) return std::to_string(row.min_dimensions);
  return std::to_string(row.min_dimensions) + " to " + std::to_string(row.max_dimensions);
}

std::string type_list(const SupportRow& row) {
  std::vector<std::string> names;
  for (const DataType type : row.types) names.emplace_back(name_of(type));
  return join(names);
}

class Validator {
 public:
  Validator(Description& description, Diagnostics& diagnostics)
      : description_(description), diagnostics_(diagnostics) {}

  void run() {
    RuleChecker rules(description_, diagnostics_);
    for_each_tensor([&](const std::string& name, TensorDesc& tensor) {
      check_dimension_count(name, tensor);
      // Where a rule says what the sizes are, its finding says more.
      if (!has_size_rule(name)) check_sizes(name, tensor, rules);
    });
    if (check_operator_level()) check_enum_levels();
    rules.check_optional_fields();
    for (const Formula& rule : description_.spec->rules) rules.apply(rule);
    rules.check_array_lengths();
    rules.suggest_sizes();
    for_each_tensor([&](const std::string& name, TensorDesc& tensor) {
      if (has_size_rule(name)) check_sizes(name, tensor, rules);
      check_element_count(name, tensor);
      check_support(name, tensor);
      check_buffer(name, tensor);
    });
    require_known();
  }

 private:
  template <typename Action>
  void for_each_tensor(Action&& action) {
    for (Field& field : description_.fields) {
      if (auto* tensor = std::get_if<TensorDesc>(&field.value)) action(field.spec->name, *tensor);
    }
  }

  void add(Diagnostic diagnostic, std::string rule = "", std::string suggestion = "") {
    diagnostic.rule = std::move(rule);
    diagnostic.suggestion = std::move(suggestion);
    diagnostics_.push_back(std::move(diagnostic));
  }

  void add_level(Diagnostic diagnostic, std::string rule, std::string suggestion) {
    diagnostic.feature_level = to_text(description_.feature_level);
    add(std::move(diagnostic), std::move(rule), std::move(suggestion));
  }

  static std::string raise_to(FeatureLevel level) {
    return "write \"featureLevel\": \"" + to_text(level) + "\", or run with --feature-level " +
           to_text(level);
  }

  std::string this_run() const { return "this run has " + to_text(description_.feature_level); }

  bool check_operator_level() {
    const OperatorSpec& spec = *description_.spec;
    if (spec.introduced <= description_.feature_level) return true;
    const json::Value& root = description_.root();
    const json::Value* type = root.find("Type") != nullptr ? root.find("Type") : root.find("type");
    add_level(
        description_.document().at(*type, "DML_OPERATOR_" + spec.name + " needs feature level " +
                                              to_text(spec.introduced) + ", " + this_run()),
        "the operator was introduced in " + to_text(spec.introduced), raise_to(spec.introduced));
    return false;
  }

  bool has_size_rule(const std::string& tensor) const {
    const auto gives_sizes = [&](const Formula& rule) {
      return rule.equation() && rule.equation()->target == Reference{tensor, "Sizes"};
    };
    const auto& rules = description_.spec->rules;
    return std::any_of(rules.begin(), rules.end(), gives_sizes);
  }

  void check_dimension_count(const std::string& name, TensorDesc& tensor) {
    if (tensor.sizes.empty()) return;
    if (tensor.dimension_count && *tensor.dimension_count != tensor.sizes.size()) {
      add(description_.at({name, "DimensionCount"}, std::nullopt,
                          name + ".DimensionCount is " + std::to_string(*tensor.dimension_count) +
                              ", must be " + std::to_string(tensor.sizes.size())),
          "Sizes has " + counted(tensor.sizes.size(), "value"),
          "write " + std::to_string(tensor.sizes.size()) + " or leave it out");
    }
    tensor.dimension_count = tensor.sizes.size();
  }

  void check_sizes(const std::string& name, const TensorDesc& tensor, RuleChecker& rules) {
    const Reference sizes{name, "Sizes"};
    for (std::size_t i = 0; i < tensor.sizes.size() && i < sizes_listed; ++i) {
      if (tensor.sizes[i] >= 1 && tensor.sizes[i] <= uint_max) continue;
      if (!rules.refuse(sizes, i)) continue;
      add(description_.at(sizes, i,
                          to_text(sizes, i) + " is " + std::to_string(tensor.sizes[i]) +
                              ", must be from 1 to " + std::to_string(uint_max)),
          "every size of a tensor is a UINT of at least 1",
          tensor.sizes[i] == 0 ? "a tensor without elements cannot be used; leave it out" : "");
    }
  }

  // The limit is that of a file: 63 bits.
  void check_element_count(const std::string& name, const TensorDesc& tensor) {
    if (tensor.sizes.empty()) return;
    const auto count = element_count(tensor.sizes);
    const std::uint64_t size = tensor.data_type ? size_of(*tensor.data_type) : 1;
    if (is_too_large_ || (count && *count <= bytes_max / size)) return;
    is_too_large_ = true;
    add(description_.at({name, "Sizes"}, std::nullopt,
                        name + " of sizes " + list_of(tensor.sizes) + " is too large"),
        "a tensor has at most " + std::to_string(bytes_max) + " bytes" +
            (tensor.data_type ? ", here " + std::to_string(size) + " per element" : ""),
        "make the sizes smaller");
  }

  void check_enum_levels() {
    for (const Field& field : description_.fields) {
      const auto* number = std::get_if<std::int64_t>(&field.value);
      if (field.spec->kind != FieldKind::enumeration || number == nullptr) continue;
      for (const EnumValue& entry : enum_values(field.spec->enum_name)) {
        if (entry.value != *number || entry.introduced <= description_.feature_level) continue;
        add_level(description_.at({field.spec->name, ""}, std::nullopt,
                                  field.spec->name + " " + entry.name + " needs feature level " +
                                      to_text(entry.introduced) + ", " + this_run()),
                  field.spec->enum_name + "_" + entry.name + " was introduced in " +
                      to_text(entry.introduced),
                  raise_to(entry.introduced) + ", or use " + join(names_at_level(field)));
      }
    }
  }

  std::vector<std::string> names_at_level(const Field& field) const {
    std::vector<std::string> names;
    for (const EnumValue& entry : enum_values(field.spec->enum_name)) {
      if (entry.introduced <= description_.feature_level) names.push_back(entry.name);
    }
    return names;
  }

  // The lowest row of the tensor's support that satisfies `accepts`, for "needs feature level".
  template <typename Accepts>
  const SupportRow* lowest_row(const std::string& tensor, Accepts&& accepts) const {
    const SupportRow* lowest = nullptr;
    for (const SupportRow& row : description_.spec->support) {
      const bool covers =
          std::find(row.tensors.begin(), row.tensors.end(), tensor) != row.tensors.end();
      if (covers && accepts(row)) lowest = &row;
    }
    return lowest;
  }

  void check_support(const std::string& name, const TensorDesc& tensor) {
    const SupportRow* row = description_.spec->support_at(name, description_.feature_level);
    if (row == nullptr) return;
    // Tensors of one row have the same type and dimensions, or the rules say so: one finding is
    // enough.
    const bool first_of_row = row->tensors.front() == name;
    if (!first_of_row) return;
    const std::string here = "at " + to_text(description_.feature_level) + " ";
    if (tensor.data_type && !row->has(*tensor.data_type)) {
      const std::string type(name_of(*tensor.data_type));
      const SupportRow* other =
          lowest_row(name, [&](const SupportRow& r) { return r.has(*tensor.data_type); });
      add_level(description_.at(
                    {name, "DataType"}, std::nullopt,
                    other != nullptr
                        ? name + ".DataType " + type + " needs feature level " +
                              to_text(other->from) + ", " + this_run()
                        : name + ".DataType is " + type + ", must be one of " + type_list(*row)),
                here + name + " takes " + type_list(*row),
                other != nullptr ? raise_to(other->from)
                                 : "convert the tensor to one of these types first");
    }
    if (!tensor.dimension_count) return;
    const std::size_t count = *tensor.dimension_count;
    const auto fits = [count](const SupportRow& r) {
      return count >= r.min_dimensions && count <= r.max_dimensions;
    };
    // The rules tie the counts of an operator's tensors together: one of them is enough.
    if (fits(*row) || has_wrong_dimensions_) return;
    has_wrong_dimensions_ = true;
    const SupportRow* other = lowest_row(name, fits);
    const std::string has = name + " has " + counted(count, "dimension");
    add_level(description_.at({name, "DimensionCount"}, std::nullopt,
                              other != nullptr ? has + ", which needs feature level " +
                                                     to_text(other->from) + ", " + this_run()
                                               : has + ", must have " + range_text(*row)),
              here + name + " takes " + range_text(*row) + " dimensions",
              other != nullptr
                  ? raise_to(other->from)
                  : "add dimensions of size 1, or merge some, to have " + range_text(*row));
  }

  void check_buffer(const std::string& name, TensorDesc& tensor) {
    const bool is_output = description_.find(name)->spec->kind == FieldKind::output_tensor;
    check_flags(name, tensor, is_output);
    const auto count = element_count(tensor.sizes);
    if (tensor.sizes.empty() || !count || *count > bytes_max / sizeof(std::uint64_t)) return;
    const auto has_zero = [](const Sizes& s) {
      return std::find(s.begin(), s.end(), 0U) != s.end();
    };
    if (has_zero(tensor.sizes) || !check_strides(name, tensor, is_output)) return;
    if (tensor.data_type) {
      check_total_size(name, tensor);
      check_alignment(name, tensor);
    }
  }

  void check_flags(const std::string& name, const TensorDesc& tensor, bool is_output) {
    const auto owned = std::find(tensor.flags.begin(), tensor.flags.end(), "OWNED_BY_DML");
    if (!is_output || owned == tensor.flags.end()) return;
    add(description_.at({name, "Flags"}, std::nullopt,
                        name + ".Flags is OWNED_BY_DML, must be NONE"),
        "only inputs can be owned by DirectML (DML_TENSOR_FLAG_OWNED_BY_DML)", "leave it out");
  }

  bool check_strides(const std::string& name, const TensorDesc& tensor, bool is_output) {
    if (!tensor.strides) return true;
    const Reference strides{name, "Strides"};
    if (tensor.strides->size() != tensor.sizes.size()) {
      add(description_.at(strides, std::nullopt,
                          name + ".Strides has " + counted(tensor.strides->size(), "value") +
                              ", must have " + std::to_string(tensor.sizes.size())),
          "one stride, in elements, for each size",
          "write " + list_of(packed_strides(tensor.sizes)) +
              " for a packed tensor, or leave it out");
      return false;
    }
    const auto reached = reached_elements(tensor.sizes, *tensor.strides);
    const std::uint64_t size = tensor.data_type ? size_of(*tensor.data_type) : 1;
    if (!reached || *reached > bytes_max / size) {
      add(description_.at(strides, std::nullopt,
                          name + ".Strides " + list_of(*tensor.strides) + " reach too far"),
          "a tensor has at most " + std::to_string(bytes_max) +
              " bytes; it has (sum of (size - 1) * stride) + 1 elements",
          "make the strides smaller");
      return false;
    }
    if (is_output && may_overlap(tensor.sizes, *tensor.strides)) {
      add(description_.at(strides, std::nullopt,
                          name + ".Strides " + list_of(*tensor.strides) +
                              " let elements of the output overlap"),
          "every element of an output has a place of its own",
          "write " + list_of(packed_strides(tensor.sizes)) +
              " for a packed tensor, or leave it out");
    }
    return true;
  }

  void check_total_size(const std::string& name, const TensorDesc& tensor) {
    if (!tensor.total_size_in_bytes) return;
    const Strides strides = tensor.strides.value_or(packed_strides(tensor.sizes));
    const std::uint64_t size = size_of(*tensor.data_type);
    const std::uint64_t bytes = *reached_elements(tensor.sizes, strides) * size;
    const std::uint64_t needed = (bytes + 3) / 4 * 4;
    if (*tensor.total_size_in_bytes >= needed) return;
    const Reference total{name, "TotalTensorSizeInBytes"};
    add(description_.at(total, std::nullopt,
                        to_text(total, std::nullopt) + " is " +
                            std::to_string(*tensor.total_size_in_bytes) + ", must be at least " +
                            std::to_string(needed)),
        "the last element ends at byte " + std::to_string(bytes) +
            ", rounded up to a multiple of 4",
        "write " + std::to_string(needed) + " or leave it out");
  }

  void check_alignment(const std::string& name, const TensorDesc& tensor) {
    const std::uint64_t alignment = tensor.base_offset_alignment;
    const std::uint64_t size = size_of(*tensor.data_type);
    if (alignment == 0 || (std::has_single_bit(alignment) && alignment >= size)) return;
    const Reference reference{name, "GuaranteedBaseOffsetAlignment"};
    add(description_.at(reference, std::nullopt,
                        to_text(reference, std::nullopt) + " is " + std::to_string(alignment) +
                            ", must be 0 or a power of two of at least " + std::to_string(size)),
        std::string(name_of(*tensor.data_type)) + " has " + std::to_string(size) +
            " bytes per element",
        "leave it out");
  }

  // An input that nothing describes. Outputs follow from inputs, so that they are unknown only
  // beside a finding that says why.
  void require_known() {
    const std::size_t before = diagnostics_.size();
    for (const Field& field : description_.fields) {
      const auto* tensor = std::get_if<TensorDesc>(&field.value);
      if (tensor == nullptr || field.is_misspelt || has_finding(field, before)) continue;
      const bool is_input = field.spec->kind == FieldKind::input_tensor;
      if (is_input ? tensor->has_file : !diagnostics_.empty()) continue;
      std::vector<std::string> missing;
      if (!tensor->data_type) missing.push_back(field.spec->name + ".DataType");
      if (tensor->sizes.empty()) missing.push_back(field.spec->name + ".Sizes");
      if (missing.empty()) continue;
      add(description_.at(
              {field.spec->name, ""}, std::nullopt,
              join(missing, " and ") + (missing.size() > 1 ? " are" : " is") + " missing"),
          "a tensor's type and sizes are written in its desc or taken from its .npy file",
          "write \"" + field.spec->name + "\": " +
              example_value(*description_.spec, field.spec->name) + ", or name its .npy file");
    }
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
  bool has_wrong_dimensions_ = false;
  bool is_too_large_ = false;  // a tensor was: others follow from it
};

}  // namespace

void validate(Description& description, Diagnostics& diagnostics) {
  Validator(description, diagnostics).run();
}

}  // namespace dmlop
