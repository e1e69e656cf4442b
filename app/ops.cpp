// dmlop ops: what an operator is, straight from its spec.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "ops/operator.hpp"
#include "spec/near_operators.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  std::optional<FeatureLevel> feature_level;
  Format format = Format::text;
};

// Where an operator runs: what is implemented has a kernel on each.
const std::vector<std::string>& places_of(const OperatorSpec& spec) {
  static const std::vector<std::string> all{"cpu", "vulkan", "d3d12"}, none;
  return find_operator(spec.name) != nullptr ? all : none;
}

std::string places_text(const OperatorSpec& spec) {
  const auto& places = places_of(spec);
  return places.empty() ? "not yet: descriptions are checked only" : join(places);
}

std::string type_list(const SupportRow& row) {
  std::vector<std::string> names;
  for (const DataType type : row.types) names.emplace_back(name_of(type));
  return join(names);
}

std::string dimension_range(const SupportRow& row) {
  const std::string low = std::to_string(row.min_dimensions);
  return row.min_dimensions == row.max_dimensions
             ? low
             : low + " to " + std::to_string(row.max_dimensions);
}

// The C type of the field's values, as DirectML.h has it.
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

std::string enum_text(const FieldSpec& field) {
  std::vector<std::string> names;
  for (const EnumValue& value : enum_values(field.enum_name)) {
    const bool later = value.introduced > FeatureLevel{1, 0};
    names.push_back(value.name + (later ? " (from " + to_text(value.introduced) + ")" : ""));
  }
  return join(names);
}

/// A complete OP.json for the operator.
Json example_of(const OperatorSpec& spec) {
  return {{"type", "DML_OPERATOR_" + spec.name}, {"desc", Json::parse(spec.example)}};
}

void print_row(const SupportRow& row) {
  std::printf("  from %s  %s: %s dimensions; %s%s\n", to_text(row.from).c_str(),
              join(row.tensors).c_str(), dimension_range(row).c_str(), type_list(row).c_str(),
              row.when ? ("; where " + row.when->text()).c_str() : "");
}

void print_operator(const OperatorSpec& spec) {
  std::printf("DML_OPERATOR_%s (from feature level %s)\n%s\n%s\nRuns on: %s\n\nFields\n",
              spec.name.c_str(), to_text(spec.introduced).c_str(), spec.summary.c_str(),
              spec.source.c_str(), places_text(spec).c_str());
  for (const FieldSpec& field : spec.fields) {
    std::printf("  %-22s %-22s %s\n", field.name.c_str(), kind_text(field).c_str(),
                field.text.c_str());
    if (field.kind == FieldKind::enumeration) {
      std::printf("  %-22s %-22s %s\n", "", "", enum_text(field).c_str());
    }
    if (field.optional_when) {
      std::printf("  %-22s %-22s May be left out where %s.\n", "", "",
                  field.optional_when->text().c_str());
    }
  }
  std::printf("\nRules\n");
  for (const Rule& rule : spec.rules) {
    std::printf("  %s\n", rule.formula.text().c_str());
    if (!rule.text.empty()) std::printf("    %s\n", rule.text.c_str());
    if (rule.by == Authority::page) std::printf("    DirectML 1.15.4 does not check this.\n");
    if (rule.by == Authority::directml) std::printf("    Only DirectML 1.15.4 checks this.\n");
  }
  std::printf("\nSupport by feature level\n");
  for (const SupportRow& row : spec.support) print_row(row);
  if (!spec.support_directml.empty()) std::printf("\nWhat DirectML 1.15.4 accepts instead\n");
  for (const SupportRow& row : spec.support_directml) print_row(row);
  std::printf("\nTolerance of comparisons\n");
  for (const auto& [type, tolerance] : spec.tolerances)
    std::printf("  %s: %s\n", std::string(name_of(type)).c_str(), to_text(tolerance).c_str());
  if (spec.tolerances.empty()) std::printf("  %s\n", to_text(Tolerance{}).c_str());
  if (!spec.tolerance_reason.empty()) std::printf("  %s\n", spec.tolerance_reason.c_str());
  std::printf("\nExample\n%s\n", example_of(spec).dump(2).c_str());
}

Json to_json(const FieldSpec& field) {
  Json row{{"name", field.name},
           {"kind", name_of(field.kind)},
           {"type", kind_text(field)},
           {"optional", field.optional},
           {"text", field.text}};
  if (!field.count_field.empty()) row["count"] = field.count_field;
  if (!field.type_field.empty()) row["typeField"] = field.type_field;
  if (field.optional_when) row["optionalWhen"] = field.optional_when->text();
  if (field.kind != FieldKind::enumeration) return row;
  for (const EnumValue& value : enum_values(field.enum_name)) {
    row["values"].push_back(
        {{"name", value.name}, {"value", value.value}, {"introduced", to_text(value.introduced)}});
  }
  return row;
}

Json to_json(const Rule& rule) {
  Json json{{"formula", rule.formula.text()}};
  if (!rule.text.empty()) json["text"] = rule.text;
  if (rule.by != Authority::both)
    json["by"] = rule.by == Authority::page ? "page" : "directml-1.15.4";
  return json;
}

Json to_json(const SupportRow& row) {
  Json types = Json::array();
  for (const DataType type : row.types) types.push_back(name_of(type));
  Json json{{"from", to_text(row.from)},
            {"tensors", row.tensors},
            {"dimensions", {row.min_dimensions, row.max_dimensions}},
            {"dataTypes", types}};
  if (row.when) json["when"] = row.when->text();
  return json;
}

Json to_json(const OperatorSpec& spec) {
  Json json{{"name", "DML_OPERATOR_" + spec.name},
            {"value", *operator_value(spec.name)},
            {"family", spec.family},
            {"introduced", to_text(spec.introduced)},
            {"runsOn", places_of(spec)},
            {"inPlace", spec.in_place},
            {"summary", spec.summary},
            {"source", spec.source},
            {"fields", Json::array()},
            {"rules", Json::array()},
            {"support", Json::array()}};
  for (const FieldSpec& field : spec.fields) json["fields"].push_back(to_json(field));
  for (const Rule& rule : spec.rules) json["rules"].push_back(to_json(rule));
  for (const SupportRow& row : spec.support) json["support"].push_back(to_json(row));
  for (const SupportRow& row : spec.support_directml)
    json["supportOfDirectML1.15.4"].push_back(to_json(row));
  json["tolerances"] = Json::object();
  for (const auto& [type, tolerance] : spec.tolerances)
    json["tolerances"][std::string(name_of(type))] = to_text(tolerance);
  if (!spec.tolerance_reason.empty()) json["toleranceReason"] = spec.tolerance_reason;
  json["example"] = example_of(spec);
  return json;
}

int print_one(const Options& options) {
  std::string_view name = options.name;
  constexpr std::string_view prefix = "DML_OPERATOR_";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const OperatorSpec* spec = find_spec(upper_case(std::string(name)));
  if (spec == nullptr) {
    const auto near = near_operators(name);
    throw Error(ErrorKind::usage, "no operator of DirectML is called \"" + options.name + "\"" +
                                      (near.empty() ? "; `dmlop ops` lists them"
                                                    : "; did you mean " + join(near, " or ") + "?"));
  }
  if (options.format == Format::json) {
    std::printf("%s\n", to_json(*spec).dump(2).c_str());
  } else {
    print_operator(*spec);
  }
  return exit_done;
}

std::string newest_types(const OperatorSpec& spec) {
  const SupportRow& row = spec.support.front();
  constexpr std::size_t all = 11;  // without the types of four bits
  return row.types.size() == all ? "all " + std::to_string(all) : type_list(row);
}

// Text in a table's cell.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// The operators of a family that exist at the level asked for, in the order of their names.
std::vector<const OperatorSpec*> members_of(const Family& family, const Options& options) {
  std::vector<const OperatorSpec*> members;
  for (const std::string& name : specified_operators()) {
    if (family_of(name) != family.name) continue;
    if (options.feature_level && *operator_introduced(name) > *options.feature_level) continue;
    members.push_back(find_spec(name));
  }
  return members;
}

void print_markdown(const Options& options) {
  std::printf(
      "| operator | from | dimensions | data types | what it does |\n|---|---|---|---|---|\n");
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    if (places_of(spec).empty()) continue;
    if (options.feature_level && spec.introduced > *options.feature_level) continue;
    std::printf("| [%s](%s) | %s | %s | %s | %s |\n", name.c_str(), spec.source.c_str(),
                to_text(spec.introduced).c_str(), dimension_range(spec.support.front()).c_str(),
                newest_types(spec).c_str(), cell(spec.summary).c_str());
  }
}

int print_list(const Options& options) {
  if (options.format == Format::markdown) {
    print_markdown(options);
    return exit_done;
  }
  Json list = Json::array();
  std::size_t count = 0, run = 0;
  for (const Family& family : families()) {
    const auto members = members_of(family, options);
    const bool is_text = options.format == Format::text;
    if (is_text && !members.empty())
      std::printf("%s%s\n", count > 0 ? "\n" : "", family.title.c_str());
    for (const OperatorSpec* spec : members) {
      ++count;
      const bool runs = !places_of(*spec).empty();
      if (runs) ++run;
      if (!is_text) {
        list.push_back(to_json(*spec));
        continue;
      }
      std::printf("  %c %-42s %s  %s\n", runs ? '*' : ' ', spec->name.c_str(),
                  to_text(spec->introduced).c_str(), spec->summary.c_str());
    }
  }
  if (options.format == Format::json) {
    std::printf("%s\n", list.dump(2).c_str());
    return exit_done;
  }
  const std::string at_level =
      options.feature_level ? " at feature level " + to_text(*options.feature_level) : "";
  std::fprintf(stderr,
               "%zu operators%s; dmlop check knows all, %zu (*) run on %s; dmlop ops NAME shows "
               "one\n",
               count, at_level.c_str(), run, "cpu, vulkan and d3d12");
  return exit_done;
}

}  // namespace

Action add_ops(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  CLI::Option* name = command.add_option("NAME", options->name,
                                         "The operator to show, with or without DML_OPERATOR_");
  set_choices(*name, specified_operators());
  command
      .add_option_function<std::string>(
          "--feature-level",
          [options](const std::string& text) {
            options->feature_level = feature_level_named(text);
            if (!options->feature_level)
              throw CLI::ValidationError("--feature-level", "\"" + text +
                                                                "\" is no feature level; write "
                                                                "1_0 to 6_4");
          },
          "List only what exists at this level: 1_0 to 6_4")
      ->type_name("LEVEL");
  add_format_option(command, options->format, true);
  return [options] { return options->name.empty() ? print_list(*options) : print_one(*options); };
}

}  // namespace dmlop::app
