// dmlop bench: how fast operators, models and graphs run, and whether they have become slower.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "batch/manifest.hpp"
#include "bench_program.hpp"
#include "bench_text.hpp"
#include "job/folder.hpp"
#include "warnings.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

/// A program as the command line names it, or one of a folder of jobs.
struct NamedBench {
  std::string path;
  std::string title;  // of one among several; else ""
  std::optional<BenchProgram> program = {};

  bool is_onnx() const { return is_onnx_program({.path = path}); }
  std::string prefix() const { return title.empty() ? "" : title + ": "; }
};

void append(Diagnostics& to, const Diagnostics& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Whether a folder has no program itself, so that it has jobs below it.
bool is_folder_of_jobs(const std::string& name) {
  std::error_code ignored;
  return find_spec(name) == nullptr && std::filesystem::is_directory(to_path(name), ignored) &&
         description_in(name).empty() && partitions_in(name).empty() && !is_onnx_folder(name);
}

// The jobs are called as a batch calls them.
void add_jobs(const std::string& folder, std::vector<NamedBench>& benches, Diagnostics& diagnostics,
              Diagnostics& warnings) {
  const auto manifest = open_manifest({{folder}}, diagnostics);
  while (auto job = manifest ? manifest->next() : std::nullopt) {
    append(diagnostics, job->findings);
    if (!job->skip_reason.empty()) {
      warnings.push_back({.file = job->place, .message = "it is skipped: " + job->skip_reason});
    } else if (job->findings.empty()) {
      benches.push_back({job->place, job->id});
    }
  }
}

std::vector<NamedBench> named_benches(const BenchCommandOptions& options, Diagnostics& diagnostics,
                                      Diagnostics& warnings) {
  const std::vector<std::string>& names = options.description.names;
  std::vector<NamedBench> benches;
  for (const std::string& name : names) {
    if (is_folder_of_jobs(name)) {
      add_jobs(name, benches, diagnostics, warnings);
    } else {
      benches.push_back({name, names.size() > 1 ? name : ""});
    }
  }
  if (benches.empty() && diagnostics.empty())
    throw Error(ErrorKind::usage, "nothing is to be measured: every job of the folder is skipped");
  if (benches.size() > 1 && !options.request.inputs.empty())
    throw Error(ErrorKind::usage,
                "-i is for one description; of several, inputs are the files beside them");
  return benches;
}

// `others`: the forms of the other programs.
std::optional<BenchProgram> program_of(const NamedBench& bench, const BenchCommandOptions& options,
                                       const std::vector<InputForm>& others,
                                       Diagnostics& diagnostics) {
  const auto program = options.description.open(
      bench.path, bench.is_onnx() ? options.onnx : OnnxOptions{}, options.request.inputs,
      {.checking = options.request.checking}, diagnostics, /*quiet=*/false, others);
  if (!program) return std::nullopt;
  if (program->kind == OpenedProgram::Kind::description)
    return operator_bench(*program->file, options, diagnostics);
  if (program->kind == OpenedProgram::Kind::model)
    return model_bench(*program->file, options, diagnostics);
  if (!program->graph) return std::nullopt;
  return graph_bench(*program->graph, program->is_onnx, options, diagnostics);
}

// What can be said about the baseline before anything is measured.
BaselineComparison open_baseline(const BenchCommandOptions& options, Diagnostics& diagnostics,
                                 Diagnostics& warnings) {
  BaselineComparison comparison(options.baseline.read(diagnostics),
                                options.baseline.max_slowdown());
  if (!comparison.has_baseline()) return comparison;
  const Backend backend(options.device.request());
  comparison.check(bench_conditions(backend.spec(), backend.kind(), options.bench.execution),
                   diagnostics, warnings);
  return comparison;
}

// Checks all programs, before one is measured.
void check_all(std::vector<NamedBench>& benches, const BenchCommandOptions& options,
               const BaselineComparison& comparison, Diagnostics& diagnostics,
               Diagnostics& warnings) {
  std::vector<std::string> cases, paths;
  for (const NamedBench& bench : benches) paths.push_back(bench.path);
  const std::vector<InputForm> forms = forms_among(paths);
  for (NamedBench& bench : benches) {
    Diagnostics found;
    try {
      bench.program = program_of(bench, options, forms, found);
    } catch (const Error& error) {
      if (bench.title.empty()) throw;
      found.push_back(finding_of(error));
    }
    append(diagnostics, found);
    if (!bench.program) continue;
    append(warnings, bench.program->warnings);
    for (const std::string& name : bench.program->cases) cases.push_back(bench.prefix() + name);
  }
  if (diagnostics.empty()) comparison.check(cases, diagnostics);
}

/// Programs that were checked, and what they take.
class Bench {
 public:
  Bench(const std::vector<NamedBench>& programs, const BenchCommandOptions& options)
      : programs_(programs), options_(options) {}

  void measure_all() {
    const bool is_text = options_.format == Format::text;
    for (const NamedBench& named : programs_) {
      if (is_text && !named.title.empty()) print({row_title("program"), named.title, "\n"});
      reports_.push_back(named.program->measure(options_.bench));
      const BenchReport& report = reports_.back();
      for (const MeasuredCase& one : report.cases) {
        if (is_text && report.has_dispatches) print({row_title("dispatch"), one.timed.name, "\n"});
        if (is_text) one.print();
      }
    }
    list_cases();
  }

  // All programs with a suspect have their turn, before one is measured once more.
  void measure_again(const std::vector<std::size_t>& suspects) {
    constexpr double seconds_min = 0.2;
    BenchOptions longer = options_.bench;
    longer.min_seconds = std::max(longer.min_seconds, seconds_min);
    std::set<std::size_t> programs;
    for (const std::size_t suspect : suspects) programs.insert(program_of_case_[suspect]);
    for (const std::size_t i : programs) {
      BenchReport again = programs_[i].program->measure(longer);
      for (std::size_t j = 0; j < again.cases.size(); ++j) {
        MeasuredCase& fastest = reports_[i].cases[j];
        if (again.cases[j].timed.seconds.median < fastest.timed.seconds.median)
          fastest = std::move(again.cases[j]);
      }
    }
    list_cases();
  }

  const std::vector<TimedCase>& cases() const { return cases_; }
  std::vector<TimedCase> nodes() const {
    std::vector<TimedCase> nodes;
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      for (const MeasuredCase& one : reports_[i].cases) {
        for (const TimedCase& node : one.nodes)
          nodes.push_back({programs_[i].prefix() + node.name, node.seconds});
      }
    }
    return nodes;
  }

  // One program has all members beside each other; several are a list.
  Json json() const {
    Json json{{"measuredOn", to_json(reports_.front().conditions)}};
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      if (programs_[i].title.empty()) {
        json.update(json_of(reports_[i]));
      } else {
        json["programs"].push_back({{"program", programs_[i].title}});
        json["programs"].back().update(json_of(reports_[i]));
      }
    }
    return json;
  }

 private:
  static Json json_of(const BenchReport& report) {
    Json list = Json::array();
    for (const MeasuredCase& one : report.cases) {
      list.push_back({{report.has_dispatches ? "dispatchable" : "name", one.timed.name}});
      list.back().update(one.json);
    }
    return report.has_dispatches ? Json{{"dispatches", list}} : list.front();
  }

  void list_cases() {
    cases_.clear();
    program_of_case_.clear();
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      for (const MeasuredCase& one : reports_[i].cases) {
        cases_.push_back({programs_[i].prefix() + one.timed.name, one.timed.seconds});
        program_of_case_.push_back(i);
      }
    }
  }

  const std::vector<NamedBench>& programs_;
  const BenchCommandOptions& options_;
  std::vector<BenchReport> reports_;  // of each program
  std::vector<TimedCase> cases_;      // of all programs
  std::vector<std::size_t> program_of_case_;
};

int run_bench(const BenchCommandOptions& options) {
  Diagnostics diagnostics, warnings;
  const BaselineComparison comparison = open_baseline(options, diagnostics, warnings);
  std::vector<NamedBench> programs = named_benches(options, diagnostics, warnings);
  check_all(programs, options, comparison, diagnostics, warnings);
  if (!diagnostics.empty()) return report(diagnostics, options.format);
  const bool is_text = options.format == Format::text;
  if (is_text) print_warnings(warnings);
  Bench bench(programs, options);
  bench.measure_all();
  comparison.measure_suspects(bench.cases(), [&](const std::vector<std::size_t>& suspects) {
    bench.measure_again(suspects);
  });
  if (is_text) return comparison.show(bench.cases(), bench.nodes());
  Json json = bench.json();
  const int exit_code = comparison.add_to(json, bench.cases(), bench.nodes());
  json["warnings"] = warnings_json(warnings);
  print_json(json);
  return exit_code;
}

}  // namespace

Action add_bench(OptionList& command) {
  const auto options = std::make_shared<BenchCommandOptions>();
  options->description.add_to(command, true);
  add_named_file_option(command, "-i,--input", options->request.inputs,
                        "An input's .npy file (default: random data)")
      .only_for({InputForm::description, InputForm::graph, InputForm::onnx_model},
                {{InputForm::model, "a model has its resources' values"}});
  options->model.add_input_path(command);
  options->onnx.add_to(command);
  options->device.add_to(command, options->bench.execution);
  command
      .add_option("--min-time", options->bench.min_seconds,
                  "Measure for at least SECONDS (default: 1)")
      .number_between(0, 3600)
      .type_name("SECONDS");
  options->baseline.add_to(command);
  add_checking_options(command, options->request.checking);
  add_format_option(command, options->format);
  return [options] { return run_bench(*options); };
}

}  // namespace dmlop::app
