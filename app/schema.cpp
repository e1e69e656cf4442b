// dmlop schema: the JSON schemas (draft 7) of the files that the program reads, from the specs.
// They say what a file may contain; rules between fields are left to dmlop check.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "schema_files.hpp"
#include "spec/near_operators.hpp"
#include "spec/spec.hpp"

namespace dmlop::app {
namespace {

using schema::Json;

constexpr std::size_t schema_line_length = 100;

struct SchemaOptions {
  std::string name;
  bool jobs = false;
  bool job = false;
  bool tolerance = false;
  bool model = false;
  bool graph = false;
};

/// JSON with what is short on one line.
class JsonPrinter {
 public:
  std::string print(const Json& json) {
    write(json, 0);
    return std::move(text_);
  }

 private:
  /// Appends the value on one line; false, with the text unchanged, where the line ends beyond
  /// `end`.
  bool write_on_one_line(const Json& json, std::size_t end) {
    const std::size_t start = text_.size();
    bool fits = true;
    if (json.is_structured()) {
      open(json);
      const char* separator = "";
      for (const auto& item : json.items()) {
        text_ += std::exchange(separator, ", ");
        write_key(json, item.key());
        fits = fits && write_on_one_line(item.value(), end);
        if (!fits) break;
      }
      close(json);
    } else {
      write_scalar(json);
    }
    fits = fits && text_.size() <= end;
    if (!fits) text_.resize(start);
    return fits;
  }

  void write(const Json& json, std::size_t depth) {
    const std::size_t line_start = text_.rfind('\n') + 1;
    if (write_on_one_line(json, line_start + schema_line_length)) return;
    if (!json.is_structured()) return write_scalar(json);
    open(json);
    const char* separator = "";
    for (const auto& item : json.items()) {
      text_ += std::exchange(separator, ",");
      text_ += "\n" + std::string(depth + 1, ' ');
      write_key(json, item.key());
      write(item.value(), depth + 1);
    }
    text_ += "\n" + std::string(depth, ' ');
    close(json);
  }

  void open(const Json& json) { text_ += json.is_object() ? '{' : '['; }
  void close(const Json& json) { text_ += json.is_object() ? '}' : ']'; }
  void write_key(const Json& json, const std::string& key) {
    if (!json.is_object()) return;
    write_text(key);
    text_ += ": ";
  }
  void write_scalar(const Json& json) {
    if (json.is_string()) {
      write_text(json.get_ref<const std::string&>());
    } else {
      text_ += json.dump();
    }
  }
  // Most texts have nothing to escape, which is quicker.
  void write_text(const std::string& text) {
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::all_of(text.begin(), text.end(), is_plain)) {
      text_.append(1, '"').append(text).append(1, '"');
    } else {
      text_ += Json(text).dump();
    }
  }

  std::string text_;
};

schema::Names chosen_operators(const std::string& chosen) {
  if (chosen.empty()) return specified_operators();
  std::string_view name = chosen;
  constexpr std::string_view prefix = "DML_OPERATOR_";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (const OperatorSpec* spec = find_spec(upper_case(std::string(name)))) return {spec->name};
  const std::string meant = operator_suggestion(name);
  throw Error(ErrorKind::usage, "no operator of DirectML is called \"" + chosen + "\"; " +
                                    (meant.empty() ? "`dmlop ops` lists them" : meant));
}

Json schema_of(const SchemaOptions& options) {
  if (options.tolerance) return schema::tolerance_schema();
  if (options.job) return schema::job_schema();
  const schema::Names operators = chosen_operators(options.name);
  if (options.jobs) return schema::jobs_schema(operators);
  if (options.graph) return schema::graph_schema(operators);
  return options.model ? schema::model_schema(operators) : schema::description_schema(operators);
}

int print_schema(const SchemaOptions& options) {
  const std::string text = JsonPrinter().print(schema_of(options));
  print({Text::verbatim(text), "\n"});
  return exit_done;
}

}  // namespace

Action add_schema(OptionList& command) {
  const auto options = std::make_shared<SchemaOptions>();
  const Option name =
      command.add_option("NAME", options->name, "An operator: the schema of its descriptions alone")
          .choices(specified_operators());
  const Option jobs = command.add_flag("--jobs", options->jobs, "The schema of a file of jobs");
  const Option job = command.add_flag("--job", options->job, "The schema of job.json");
  const Option tolerance =
      command.add_flag("--tolerance", options->tolerance, "The schema of tol.json");
  const Option model =
      command.add_flag("--model", options->model, "The schema of DxDispatch models");
  const Option graph = command.add_flag("--graph", options->graph, "The schema of graph.json");
  graph.excludes(jobs).excludes(model).excludes(job);
  tolerance.excludes(graph).excludes(name).excludes(jobs).excludes(model).excludes(job);
  job.excludes(name).excludes(jobs).excludes(model);
  jobs.excludes(model);
  return [options] { return print_schema(*options); };
}

}  // namespace dmlop::app
