// dmlop ops: what an operator is, straight from its spec.
#include <memory>
#include <nlohmann/json.hpp>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "example.hpp"
#include "guide/operator_json.hpp"
#include "guide/page.hpp"
#include "guide/words.hpp"
#include "job/device_plan.hpp"
#include "onnx_commands.hpp"
#include "operator_tables.hpp"
#include "ops/operator.hpp"
#include "spec/differences.hpp"
#include "spec/near_operators.hpp"
#include "text_file.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct OpsOptions {
  std::string name;
  std::optional<FeatureLevel> feature_level;
  Format format = Format::text;
  bool example = false;
  bool differences = false;
  bool errors = false;
  bool onnx = false;
  bool speed = false;
  std::string html;

  /// The option that is about all operators; "" if there is none. Errors: usage for several.
  std::string of_all() const {
    std::vector<std::string> given;
    if (differences) given.emplace_back("--differences");
    if (errors) given.emplace_back("--errors");
    if (onnx) given.emplace_back("--onnx");
    if (speed) given.emplace_back("--speed");
    if (!html.empty()) given.emplace_back("--html");
    if (given.size() > 1)
      throw Error(ErrorKind::usage, join(given, " and ") + ": give one of them at a time");
    return given.empty() ? "" : given.front();
  }
};

constexpr std::size_t column_width = 22;

// A new operator runs nowhere until it has a row in lib/ops/operators.def.
std::vector<std::string> places_of(const OperatorSpec& spec) {
  return find_operator(spec.name) != nullptr ? places() : std::vector<std::string>{};
}

void print_field_row(const std::string& name, const std::string& kind, const std::string& text) {
  print({"  ", padded(name, column_width), " ", padded(kind, column_width), " ", text, "\n"});
}

void print_field(const OperatorSpec& spec, const FieldSpec& field) {
  print_field_row(field.name, kind_text(field), field.text);
  const auto values = value_texts(spec, field);
  if (!values.empty()) print_field_row("", "", join(values));
  if (field.optional_when)
    print_field_row("", "", "May be left out where " + field.optional_words() + ".");
}

void print_rule(const Rule& rule) {
  print({"  ", rule.formula.text(), "\n"});
  if (!rule.text.empty()) print({"    ", rule.text, "\n"});
  if (rule.by != Authority::both) print({"    ", authority_text(rule), "\n"});
}

void print_row(const SupportRow& row) {
  print({"  from ", to_text(row.from), "  ", join(row.tensors), ": ", dimension_range(row),
         " dimensions; ", join(type_names(row)),
         row.when ? "; where " + row.when->text() : std::string(), "\n"});
}

void print_errors_of(const OperatorSpec& spec) {
  print({"\nLargest measured errors\n"});
  const auto errors = errors_of(spec.name);
  if (errors.empty()) print({"  ", unmeasured_text(spec), "\n"});
  for (const MeasuredError* error : errors) print({"  ", errors_text(*error), "\n"});
}

void print_speed_of(const OperatorSpec& spec) {
  print({"\nSpeed\n"});
  const auto rows = speeds_of(spec.name);
  if (rows.empty()) print({"  Not measured. Measure it where it will run: dmlop bench op.json\n"});
  for (const SpeedRun& run : speed_runs()) {
    const auto of_run = speeds_of_run(run, rows);
    if (of_run.empty()) continue;
    print({"  "});
    print_run(run);
    for (const Speed* row : of_run) {
      print({"    "});
      print_speed_row(*row);
    }
  }
}

// Whether a GPU runs the operator's example in parts.
bool runs_large_on_gpu(const OperatorSpec& spec) {
  const std::string text =
      R"({"type": ")" + std::string(spec.name) + R"(", "desc": )" + std::string(spec.example) + "}";
  Diagnostics diagnostics;
  auto description = read_description("example", text, newest_feature_level, diagnostics);
  if (description) check_description(*description, diagnostics);
  return diagnostics.empty() && can_be_streamed(make_plan(*description));
}

void print_operator(const OperatorSpec& spec) {
  const auto runs_on = places_of(spec);
  print({"DML_OPERATOR_", spec.name, " (from feature level ", to_text(spec.introduced), ")\n",
         spec.summary, "\n", spec.source,
         "\nRuns on: ", runs_on.empty() ? "nothing yet" : join(runs_on), "\n"});
  if (!runs_on.empty() && !runs_large_on_gpu(spec))
    print({"On the CPU alone: with tensors larger than the buffers of a device\n"});
  const auto related = related_operators(spec.name);
  if (!related.empty()) print({"See also: ", join(related), "\n"});
  print({"\nFields\n"});
  for (const FieldSpec& field : spec.fields) print_field(spec, field);
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
  if (spec.tolerance_terms) print({"  ", terms_text(spec), "\n"});
  if (!spec.tolerance_reason.empty()) print({"  ", spec.tolerance_reason, "\n"});
  print_errors_of(spec);
  print_speed_of(spec);
  print({"\nExample\n", Text::lines(example_text(spec))});
}

int print_one(const OpsOptions& options) {
  std::string_view name = options.name;
  if (!options.of_all().empty())
    throw Error(ErrorKind::usage, options.of_all() + " is about all operators; dmlop ops " +
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
    if (is_onnx_operator(options.name))
      throw Error(ErrorKind::usage, "\"" + options.name +
                                        "\" is an operator of ONNX models; dmlop ops --onnx " +
                                        options.name + " shows what it becomes");
    const std::string meant = operator_suggestion(name);
    throw Error(ErrorKind::usage, "no operator of DirectML is called \"" + options.name + "\"; " +
                                      (meant.empty() ? "`dmlop ops` lists them" : meant));
  }
  if (options.example) {
    if (options.format != Format::text)
      throw Error(
          ErrorKind::usage,
          "--example writes a commented description; leave out --format, or take \"example\" of "
          "`dmlop ops " +
              spec->name + " --format json`");
    print({Text::verbatim(commented_example(*spec))});
  } else if (options.format == Format::json) {
    print_json(to_json(*spec, places_of(*spec)));
  } else {
    print_operator(*spec);
  }
  return exit_done;
}

std::string newest_types(const OperatorSpec& spec) {
  const SupportRow& row = spec.support.front();
  constexpr std::size_t all = 11;  // without the types of four bits
  return row.types.size() == all ? "all " + std::to_string(all) : join(type_names(row));
}

/// The operators of a family that exist at the level asked for, in the order of their names.
std::vector<const OperatorSpec*> members_of(const Family& family, const OpsOptions& options) {
  std::vector<const OperatorSpec*> members;
  for (const std::string& name : specified_operators()) {
    if (family_of(name) != family.name) continue;
    if (options.feature_level && *operator_introduced(name) > *options.feature_level) continue;
    members.push_back(find_spec(name));
  }
  return members;
}

void print_markdown(const OpsOptions& options) {
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

/// Writes the page about all operators. Only an earlier one is replaced.
void write_page(const std::string& path) {
  refuse_other_file("--html", path, operators_page_beginning);
  std::vector<const OperatorSpec*> operators;
  for (const std::string& name : specified_operators()) operators.push_back(find_spec(name));
  write_text(path, operators_page(operators, DMLOP_VERSION));
}

/// What options say about all operators together.
int print_all(const OpsOptions& options) {
  if (options.example || options.feature_level)
    throw Error(ErrorKind::usage, options.of_all() + " is about all operators; leave out " +
                                      (options.example ? "--example" : "--feature-level"));
  if (!options.html.empty()) {
    if (options.format != Format::text)
      throw Error(ErrorKind::usage, "--html writes a page; leave out --format");
    write_page(options.html);
  } else if (options.differences) {
    print_differences(options.format);
  } else if (options.errors) {
    print_errors(options.format);
  } else if (options.onnx) {
    print_onnx_operators(options.format, options.name);
  } else {
    print_speeds(options.format);
  }
  return exit_done;
}

int print_list(const OpsOptions& options) {
  if (!options.of_all().empty()) return print_all(options);
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
      for (const OperatorSpec* spec : members) list.push_back(to_json(*spec, places_of(*spec)));
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

Action add_ops(OptionList& command) {
  const auto options = std::make_shared<OpsOptions>();
  command.add_option("NAME", options->name, "The operator to show, with or without DML_OPERATOR_")
      .choices(specified_operators());
  add_feature_level_option(command, options->feature_level,
                           "List only what exists at this level: 1_0 to 6_4");
  command.add_flag("--example", options->example,
                   "Print a commented description to begin with: > op.json");
  command.add_flag("--differences", options->differences,
                   "List where dmlop differs from DirectML 1.15.4, and why");
  command.add_flag("--errors", options->errors, "List the largest measured errors");
  command.add_flag("--onnx", options->onnx,
                   "List the operators of ONNX models, and which operators each becomes, or show "
                   "those called NAME");
  command.add_flag("--speed", options->speed, "List what was measured of speed, and where");
  command
      .add_option("--html", options->html,
                  "Write all that is known about operators as one page for browsers")
      .type_name("FILE");
  add_format_option(command, options->format, true);
  return [options] {
    const bool is_list = options->name.empty() || options->of_all() == "--onnx";
    return is_list ? print_list(*options) : print_one(*options);
  };
}

}  // namespace dmlop::app
