// dmlop ops: what an operator is, straight from its spec.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "ops/operator.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  Format format = Format::text;
};

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

std::string kind_text(const FieldSpec& field) {
  switch (field.kind) {
    case FieldKind::input_tensor:
      return "input tensor";
    case FieldKind::output_tensor:
      return "output tensor";
    case FieldKind::enumeration:
      return field.enum_name;
    case FieldKind::uint:
      return "UINT";
    case FieldKind::float32:
      return "FLOAT";
    case FieldKind::uint_array:
      return "UINT[" + field.count_field + "]";
    case FieldKind::int_array:
      return "INT[" + field.count_field + "]";
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

void print_operator(const OperatorSpec& spec) {
  std::printf("DML_OPERATOR_%s (from feature level %s)\n%s\n%s\n\nFields\n", spec.name.c_str(),
              to_text(spec.introduced).c_str(), spec.summary.c_str(), spec.source.c_str());
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
  for (const Formula& rule : spec.rules) std::printf("  %s\n", rule.text().c_str());
  std::printf("\nSupport by feature level\n");
  for (const SupportRow& row : spec.support) {
    std::printf("  from %s  %s: %s dimensions; %s\n", to_text(row.from).c_str(),
                join(row.tensors).c_str(), dimension_range(row).c_str(), type_list(row).c_str());
  }
  std::printf("\nTolerance of comparisons\n");
  for (const auto& [type, tolerance] : spec.tolerances)
    std::printf("  %s: %s\n", std::string(name_of(type)).c_str(), to_text(tolerance).c_str());
  if (spec.tolerances.empty()) std::printf("  %s\n", to_text(Tolerance{}).c_str());
  std::printf("\nExample\n%s\n", example_of(spec).dump(2).c_str());
}

Json to_json(const OperatorSpec& spec) {
  Json json{{"name", "DML_OPERATOR_" + spec.name},
            {"introduced", to_text(spec.introduced)},
            {"summary", spec.summary},
            {"source", spec.source}};
  for (const FieldSpec& field : spec.fields) {
    Json row{{"name", field.name}, {"type", kind_text(field)}, {"text", field.text}};
    if (field.optional_when) row["optionalWhen"] = field.optional_when->text();
    json["fields"].push_back(std::move(row));
  }
  for (const Formula& rule : spec.rules) json["rules"].push_back(rule.text());
  for (const SupportRow& row : spec.support) {
    Json types = Json::array();
    for (const DataType type : row.types) types.push_back(name_of(type));
    json["support"].push_back({{"from", to_text(row.from)},
                               {"tensors", row.tensors},
                               {"dimensions", {row.min_dimensions, row.max_dimensions}},
                               {"dataTypes", types}});
  }
  json["tolerances"] = Json::object();
  for (const auto& [type, tolerance] : spec.tolerances)
    json["tolerances"][std::string(name_of(type))] = to_text(tolerance);
  json["example"] = example_of(spec);
  return json;
}

int print_one(const Options& options) {
  std::string_view name = options.name;
  constexpr std::string_view prefix = "DML_OPERATOR_";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const OperatorSpec* spec = find_spec(name);
  if (spec == nullptr) {
    const auto& known = known_operators();
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      throw Error(ErrorKind::unavailable,
                  "DML_OPERATOR_" + std::string(name) +
                      " is not implemented; operators here: " + join(specified_operators()));
    }
    const std::string nearest = nearest_name(name, known);
    throw Error(ErrorKind::usage,
                "no operator of DirectML is called \"" + options.name + "\"" +
                    (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
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
  return row.types.size() == data_types.size() ? "all 11" : type_list(row);
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

void print_markdown() {
  std::printf(
      "| operator | from | dimensions | data types | what it does |\n|---|---|---|---|---|\n");
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    std::printf("| [%s](%s) | %s | %s | %s | %s |\n", name.c_str(), spec.source.c_str(),
                to_text(spec.introduced).c_str(), dimension_range(spec.support.front()).c_str(),
                newest_types(spec).c_str(), cell(spec.summary).c_str());
  }
}

int print_list(const Options& options) {
  if (options.format == Format::markdown) {
    print_markdown();
    return exit_done;
  }
  if (options.format == Format::json) {
    Json list = Json::array();
    for (const std::string& name : specified_operators()) list.push_back(to_json(*find_spec(name)));
    std::printf("%s\n", list.dump(2).c_str());
    return exit_done;
  }
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    std::printf("%-22s from %s  %s\n", name.c_str(), to_text(spec.introduced).c_str(),
                spec.summary.c_str());
  }
  std::fprintf(stderr, "%zu of DirectML's %zu operators; dmlop ops NAME shows one\n",
               specified_operators().size(), known_operators().size());
  return exit_done;
}

}  // namespace

Action add_ops(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  CLI::Option* name = command.add_option("NAME", options->name,
                                         "The operator to show, with or without DML_OPERATOR_");
  set_choices(*name, specified_operators());
  add_format_option(command, options->format, true);
  return [options] { return options->name.empty() ? print_list(*options) : print_one(*options); };
}

}  // namespace dmlop::app
