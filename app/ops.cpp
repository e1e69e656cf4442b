// dmlop ops: what an operator is, straight from its spec.
#include <memory>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
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

constexpr std::size_t column_width = 22;

void print_field_row(const std::string& name, const std::string& kind, const std::string& text) {
  print({"  ", padded(name, column_width), " ", padded(kind, column_width), " ", text, "\n"});
}

void print_operator(const OperatorSpec& spec) {
  print({"DML_OPERATOR_", spec.name, " (from feature level ", to_text(spec.introduced), ")\n",
         spec.summary, "\n", spec.source, "\n\nFields\n"});
  for (const FieldSpec& field : spec.fields) {
    print_field_row(field.name, kind_text(field), field.text);
    if (field.kind == FieldKind::enumeration) print_field_row("", "", enum_text(field));
    if (field.optional_when)
      print_field_row("", "", "May be left out where " + field.optional_when->text() + ".");
  }
  print({"\nRules\n"});
  for (const Formula& rule : spec.rules) print({"  ", rule.text(), "\n"});
  print({"\nSupport by feature level\n"});
  for (const SupportRow& row : spec.support) {
    print({"  from ", to_text(row.from), "  ", join(row.tensors), ": ", dimension_range(row),
           " dimensions; ", type_list(row), "\n"});
  }
  print({"\nTolerance of comparisons\n"});
  for (const auto& [type, tolerance] : spec.tolerances)
    print({"  ", name_of(type), ": ", to_text(tolerance), "\n"});
  if (spec.tolerances.empty()) print({"  ", to_text(Tolerance{}), "\n"});
  print({"\nExample\n"});
  print_json(example_of(spec));
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
    print_json(to_json(*spec));
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
  print({"| operator | from | dimensions | data types | what it does |\n|---|---|---|---|---|\n"});
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    print({"| [", name, "](", spec.source, ") | ", to_text(spec.introduced), " | ",
           dimension_range(spec.support.front()), " | ", newest_types(spec), " | ",
           cell(spec.summary), " |\n"});
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
    print_json(list);
    return exit_done;
  }
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    print(
        {padded(name, column_width), " from ", to_text(spec.introduced), "  ", spec.summary, "\n"});
  }
  print(StandardStream::error,
        {specified_operators().size(), " of DirectML's ", known_operators().size(),
         " operators; dmlop ops NAME shows one\n"});
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
