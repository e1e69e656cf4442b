// dmlop ops: what an operator is, straight from its spec.
#include <memory>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "example.hpp"
#include "exit_codes.hpp"
#include "ops/operator.hpp"
#include "spec/differences.hpp"
#include "spec/near_operators.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  std::optional<FeatureLevel> feature_level;
  Format format = Format::text;
  bool example = false;
  bool differences = false;
};

// Where operators run.
const std::vector<std::string> places{"cpu", "vulkan", "d3d12"};

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

constexpr std::size_t column_width = 22;

void print_field_row(const std::string& name, const std::string& kind, const std::string& text) {
  print({"  ", padded(name, column_width), " ", padded(kind, column_width), " ", text, "\n"});
}

void print_field(const FieldSpec& field) {
  print_field_row(field.name, kind_text(field), field.text);
  if (field.kind == FieldKind::enumeration) print_field_row("", "", enum_text(field));
  if (field.optional_when)
    print_field_row("", "", "May be left out where " + field.optional_when->text() + ".");
}

void print_rule(const Rule& rule) {
  print({"  ", rule.formula.text(), "\n"});
  if (!rule.text.empty()) print({"    ", rule.text, "\n"});
  if (rule.by == Authority::page) print({"    DirectML 1.15.4 does not check this.\n"});
  if (rule.by == Authority::directml) print({"    Only DirectML 1.15.4 checks this.\n"});
}

void print_row(const SupportRow& row) {
  print({"  from ", to_text(row.from), "  ", join(row.tensors), ": ", dimension_range(row),
         " dimensions; ", type_list(row), row.when ? "; where " + row.when->text() : std::string(),
         "\n"});
}

void print_operator(const OperatorSpec& spec) {
  print({"DML_OPERATOR_", spec.name, " (from feature level ", to_text(spec.introduced), ")\n",
         spec.summary, "\n", spec.source, "\nRuns on: ", join(places), "\n\nFields\n"});
  for (const FieldSpec& field : spec.fields) print_field(field);
  print({"\nRules\n"});
  for (const Rule& rule : spec.rules) print_rule(rule);
  print({"\nSupport by feature level\n"});
  for (const SupportRow& row : spec.support) print_row(row);
  if (!spec.support_directml.empty()) print({"\nWhat DirectML 1.15.4 accepts instead\n"});
  for (const SupportRow& row : spec.support_directml) print_row(row);
  const auto different = differences_of(spec.name);
  if (!different.empty()) print({"\nDifferences from DirectML 1.15.4\n"});
  for (const Difference* row : different)
    print({"  ", row->text, "\n    Why: ", row->reason, "\n"});
  print({"\nTolerance of comparisons\n"});
  for (const auto& [type, tolerance] : spec.tolerances)
    print({"  ", name_of(type), ": ", to_text(tolerance), "\n"});
  if (spec.tolerances.empty()) print({"  ", to_text(Tolerance{}), "\n"});
  if (!spec.tolerance_reason.empty()) print({"  ", spec.tolerance_reason, "\n"});
  print({"\nExample\n"});
  print_json(example_of(spec));
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

Json to_json(const Difference& row) {
  return {
      {"name", row.name}, {"text", row.text}, {"reason", row.reason}, {"operators", row.operators}};
}

Json to_json(const OperatorSpec& spec) {
  Json json{{"name", "DML_OPERATOR_" + spec.name},
            {"value", *operator_value(spec.name)},
            {"family", spec.family},
            {"introduced", to_text(spec.introduced)},
            {"runsOn", places},
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
  for (const Difference* row : differences_of(spec.name))
    json["differencesFromDirectML1.15.4"].push_back({{"text", row->text}, {"reason", row->reason}});
  json["tolerances"] = Json::object();
  for (const auto& [type, tolerance] : spec.tolerances)
    json["tolerances"][std::string(name_of(type))] = to_text(tolerance);
  if (!spec.tolerance_reason.empty()) json["toleranceReason"] = spec.tolerance_reason;
  json["example"] = example_of(spec);
  return json;
}

int print_one(const Options& options) {
  std::string_view name = options.name;
  if (options.differences)
    throw Error(ErrorKind::usage, "--differences lists those of all operators; dmlop ops " +
                                      options.name + " shows those of one");
  if (options.feature_level)
    throw Error(ErrorKind::usage, "--feature-level is for the list of operators; dmlop ops " +
                                      options.name + " shows what each level supports");
  if (options.format == Format::markdown)
    throw Error(ErrorKind::usage,
                "--format markdown is for lists of operators; choose text or json for one");
  constexpr std::string_view prefix = "DML_OPERATOR_";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const OperatorSpec* spec = find_spec(upper_case(std::string(name)));
  if (spec == nullptr) {
    const std::string meant = operator_suggestion(name);
    throw Error(ErrorKind::usage, "no operator of DirectML is called \"" + options.name + "\"; " +
                                      (meant.empty() ? "`dmlop ops` lists them" : meant));
  }
  if (options.example) {
    print({Text::verbatim(commented_example(*spec))});
  } else if (options.format == Format::json) {
    print_json(to_json(*spec));
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
  print(
      {"| operator | from | dimensions | data types | what it does |\n"
       "|---|---|---|---|---|\n"});
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    if (options.feature_level && spec.introduced > *options.feature_level) continue;
    print({"| [", name, "](", spec.source, ") | ", to_text(spec.introduced), " | ",
           dimension_range(spec.support.front()), " | ", newest_types(spec), " | ",
           cell(spec.summary), " |\n"});
  }
}

void print_family(const Family& family, const std::vector<const OperatorSpec*>& members) {
  constexpr std::size_t name_width = 42;
  print({family.title, "\n"});
  for (const OperatorSpec* spec : members) {
    print({"  ", padded(spec->name, name_width), " ", to_text(spec->introduced), "  ",
           spec->summary, "\n"});
  }
}

/// One line for each kind of difference.
void print_differences(const Options& options) {
  Json list = Json::array();
  if (options.format == Format::markdown)
    print({"| operators | difference | why |\n|---|---|---|\n"});
  for (const Difference& row : differences()) {
    const std::string operators = row.operators.empty() ? "all" : join(row.operators);
    if (options.format == Format::json) {
      list.push_back(to_json(row));
    } else if (options.format == Format::markdown) {
      print({"| ", operators, " | ", cell(row.text), " | ", cell(row.reason), " |\n"});
    } else {
      print({operators, "\n  ", row.text, "\n    Why: ", row.reason, "\n"});
    }
  }
  if (options.format == Format::json) print_json(list);
}

int print_list(const Options& options) {
  if (options.differences) {
    print_differences(options);
    return exit_done;
  }
  if (options.example)
    throw Error(ErrorKind::usage, "--example is of one operator: dmlop ops PADDING --example");
  if (options.format == Format::markdown) {
    print_markdown(options);
    return exit_done;
  }
  Json list = Json::array();
  std::size_t count = 0;
  for (const Family& family : families()) {
    const auto members = members_of(family, options);
    if (members.empty()) continue;
    if (options.format == Format::json) {
      for (const OperatorSpec* spec : members) list.push_back(to_json(*spec));
      continue;
    }
    if (count > 0) print({"\n"});
    print_family(family, members);
    count += members.size();
  }
  if (options.format == Format::json) {
    print_json(list);
    return exit_done;
  }
  const std::string at_level =
      options.feature_level ? " at feature level " + to_text(*options.feature_level) : "";
  print(StandardStream::error,
        {count, " operators", at_level, ", on the CPU and on GPUs; dmlop ops NAME shows one\n"});
  return exit_done;
}

}  // namespace

Action add_ops(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  CLI::Option* name = command.add_option("NAME", options->name,
                                         "The operator to show, with or without DML_OPERATOR_");
  set_choices(*name, specified_operators());
  add_feature_level_option(command, options->feature_level,
                           "List only what exists at this level: 1_0 to 6_4");
  CLI::Option* example = command.add_flag("--example", options->example,
                                          "Print a commented description to begin with: > op.json");
  command
      .add_flag("--differences", options->differences,
                "List where dmlop differs from DirectML 1.15.4, and why")
      ->excludes(example)
      ->excludes(command.get_option("--feature-level"));
  add_format_option(command, options->format, true);
  return [options] { return options->name.empty() ? print_list(*options) : print_one(*options); };
}

}  // namespace dmlop::app
