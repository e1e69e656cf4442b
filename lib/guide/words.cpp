#include "guide/words.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

constexpr std::string_view gradient_mark = "_GRAD";

/// The name without the number of its version, and without the mark of a gradient.
std::string stem_of(std::string_view name) {
  const auto remove_number = [&] {
    while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0)
      name.remove_suffix(1);
  };
  remove_number();
  if (name.ends_with(gradient_mark)) name.remove_suffix(gradient_mark.size());
  remove_number();
  return std::string(name);
}

template <typename Range>
void add_new(std::vector<std::string>& names, const Range& others) {
  for (const auto& other : others) {
    if (std::ranges::find(names, other) == names.end()) names.emplace_back(other);
  }
}

}  // namespace

const std::vector<std::string>& places() {
  static const std::vector<std::string> all{"cpu", "vulkan", "d3d12"};
  return all;
}

std::string struct_name(const OperatorSpec& spec) {
  return "DML_" + spec.name + "_OPERATOR_DESC";
}

std::vector<std::string> related_operators(std::string_view name) {
  std::vector<std::string> related;
  for (const std::string& other : specified_operators()) {
    if (other != name && stem_of(other) == stem_of(name)) related.push_back(other);
  }
  return related;
}

std::string kind_text(const FieldSpec& field) {
  const std::string count = "[" + field.count_field + "]";
  const std::string optional = field.optional ? ", optional" : "";
  switch (field.kind) {
    case FieldKind::input_tensor:
      return "input tensor" + optional;
    case FieldKind::output_tensor:
      return "output tensor" + optional;
    case FieldKind::input_tensor_array:
      return "input tensors" + count;
    case FieldKind::output_tensor_array:
      return "output tensors" + count;
    case FieldKind::enumeration:
      return field.enum_name;
    case FieldKind::uint:
      return "UINT";
    case FieldKind::int32:
      return "INT";
    case FieldKind::float32:
      return "FLOAT";
    case FieldKind::boolean:
      return "BOOL";
    case FieldKind::uint_array:
      return "UINT" + count;
    case FieldKind::int_array:
      return "INT" + count;
    case FieldKind::float_array:
      return "FLOAT" + count;
    case FieldKind::scalar_union:
      return "number of " + field.type_field;
    case FieldKind::size_2d:
      return "DML_SIZE_2D";
    case FieldKind::scale_bias:
      return "DML_SCALE_BIAS" + optional;
    case FieldKind::fused_activation:
      return "activation" + optional;
    case FieldKind::activation_array:
      return "activations" + count;
  }
  return "";
}

std::vector<std::string> value_texts(const OperatorSpec& spec, const FieldSpec& field) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const FeatureLevel& introduced, bool is_later) {
    names.push_back(name + (is_later ? " (from " + to_text(introduced) + ")" : ""));
  };
  if (field.kind == FieldKind::enumeration) {
    for (const EnumValue& value : enum_values(field.enum_name))
      add(value.name, value.introduced, value.introduced > FeatureLevel{1, 0});
  }
  if (field.kind == FieldKind::fused_activation || field.kind == FieldKind::activation_array) {
    for (const FusedActivation& activation : activations_fused_into(spec.name))
      add(activation.name, activation.from, activation.from > spec.introduced);
  }
  return names;
}

std::string authority_text(const Rule& rule) {
  switch (rule.by) {
    case Authority::both:
      return "";
    case Authority::page:
      return rule.evidence == Evidence::none
                 ? "Only the page is known to keep this."
                 : std::string("Only the page keeps this. DirectML 1.15.4 accepts what breaks it") +
                       (rule.evidence == Evidence::results ? ", and its results are known."
                                                           : "; its results are not known.");
    case Authority::directml:
      return "Only DirectML 1.15.4 keeps this. The page allows what breaks it.";
  }
  return "";
}

std::vector<std::string> type_names(const SupportRow& row) {
  std::vector<std::string> names;
  for (const DataType type : row.types) names.emplace_back(name_of(type));
  return names;
}

std::string dimension_range(const SupportRow& row) {
  const std::string low = std::to_string(row.min_dimensions);
  return row.min_dimensions == row.max_dimensions
             ? low
             : low + " to " + std::to_string(row.max_dimensions);
}

std::string type_text(const MeasuredError& error) {
  return error.where.empty() ? error.data_type : error.data_type + " (" + error.where + ")";
}

std::string error_text(const MeasuredError& error, double value) {
  const std::string& name = error.measure->name;
  if (name == "tolerance") return rounded(100 * value) + " " + error.measure->unit;
  return with_decimals(value, name == "misrounded" ? 0 : 2) + " " + error.measure->unit;
}

std::string errors_text(const MeasuredError& error) {
  std::vector<std::string> cells;
  for (const auto& [device, value] : error.on)
    cells.push_back(device + " " + error_text(error, value));
  return type_text(error) + ": " + join(cells);
}

std::string terms_text(const OperatorSpec& spec) {
  if (!spec.tolerance_terms) return "";
  static_assert(tolerance_of_term == 0x1p-23);
  return "For n terms of a sum atol is at least n * 2^-23, where n is " +
         spec.tolerance_terms->text() + ".";
}

std::string unmeasured_text(const OperatorSpec& spec) {
  return spec.tolerances.empty()
             ? "None: every device gives the same results, bit for bit."
             : "Not measured; the tests compare the results with those of DirectML.";
}

std::string speed_text(const SpeedValue& value) {
  std::vector<std::string> parts;
  if (value.share) parts.push_back(with_decimals(*value.share, 2));
  if (value.milliseconds) parts.push_back(rounded(*value.milliseconds) + " ms");
  constexpr double tera = 1000;
  const std::string operations = value.type.starts_with("FLOAT") ? "FLOP/s" : "OP/s";
  if (value.gops) {
    parts.push_back(*value.gops >= tera ? rounded(*value.gops / tera) + " T" + operations
                                        : rounded(*value.gops) + " G" + operations);
  }
  return join(parts);
}

std::string share_text(const SpeedRun& run) {
  return run.share_of.empty() ? "" : "shares of " + run.share_of;
}

SpeedColumns columns_of(const std::vector<const Speed*>& rows) {
  SpeedColumns columns;
  for (const std::string& type : speed_types()) {
    const auto has_type = [&](const Speed* row) {
      return std::ranges::find(row->values, type, &SpeedValue::type) != row->values.end();
    };
    if (std::ranges::any_of(rows, has_type)) columns.types.push_back(type);
  }
  for (const Speed* row : rows) {
    for (const auto& [peer, number] : row->peers) add_new(columns.peers, std::vector{peer});
  }
  return columns;
}

std::string type_cell(const Speed& row, std::string_view type) {
  const auto found = std::ranges::find(row.values, type, &SpeedValue::type);
  return found == row.values.end() ? "" : speed_text(*found);
}

std::string peer_cell(const Speed& row, std::string_view peer) {
  for (const auto& [name, number] : row.peers) {
    if (name == peer) return number >= 1 ? rounded(number) : with_decimals(number, 2);
  }
  return "";
}

std::vector<const Speed*> speeds_of_run(const SpeedRun& run,
                                        const std::vector<const Speed*>& rows) {
  std::vector<const Speed*> found;
  std::ranges::copy_if(rows, std::back_inserter(found),
                       [&](const Speed* row) { return row->run == &run; });
  return found;
}

std::string example_text(const OperatorSpec& spec) {
  std::vector<std::string> fields;
  const auto values = nlohmann::ordered_json::parse(spec.example);
  for (const auto& [name, value] : values.items())
    fields.push_back("    \"" + name + "\": " + example_value(spec, name));
  return "{\n  \"type\": \"DML_OPERATOR_" + spec.name + "\",\n  \"desc\": {\n" +
         join(fields, ",\n") + "\n  }\n}\n";
}

}  // namespace dmlop
