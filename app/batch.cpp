// dmlop batch: many jobs in one process, and the reports on them.
#include "batch/batch.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>

#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/reports.hpp"
#include "batch/results_file.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "exit_codes.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* standard_output = "/dev/stdout";
// Names a file that many steps append to.
constexpr const char* step_summary = "GITHUB_STEP_SUMMARY";

struct Options {
  std::string jobs;
  std::vector<std::string> merge;
  std::string shard;
  DeviceOptions device;
  ConfineOption confine;
  BatchOptions batch;
  std::string junit;
  std::string results;
  std::string html;
  bool github = false;
  bool resume = false;
  bool fail_fast = false;
  bool allow_empty = false;
  std::optional<int> skip_code;
  Format format = Format::text;
  bool verbose = false;
  bool quiet = false;

  bool writes_records_to_output() const { return results == "-"; }
  bool writes_data_to_output() const { return results == "-" || format == Format::json; }
  // Text goes where it does not disturb what programs read.
  std::FILE* text_stream() const { return writes_data_to_output() ? stderr : stdout; }
  bool keeps_results() const {
    return !junit.empty() || !html.empty() || github || format == Format::json;
  }
};

std::string indented(const std::string& text) {
  std::string lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = one_line(std::string_view(text).substr(begin, end - begin));
    // At the start of a line GitHub takes it for a command.
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, 2, "::") == 0)
      line.replace(first, 1, "\\u003a");
    lines += "  " + line + "\n";
    begin = end + 1;
  }
  return lines;
}

/// What people see of each job, and what reports need of it later.
class Presenter {
 public:
  Presenter(const Options& options, std::optional<std::uint64_t> total)
      : options_(options),
        colour_(may_colour_output() && options.text_stream() == stdout),
        progress_(total, options.quiet) {}

  void show(const BatchResult& result) {
    const bool good = is_good(result.status);
    // Thousands of jobs that were not come to would hide what went wrong.
    const bool is_news = !good && result.status != Status::not_run;
    if (!options_.quiet && (is_news || options_.verbose)) {
      progress_.clear();
      print(result);
    }
    progress_.count(good);
    if (options_.keeps_results()) results.push_back(result);
  }

  void summarize(const BatchSummary& summary) {
    progress_.clear();
    if (options_.quiet) return;
    std::FILE* out = options_.text_stream();
    if (options_.verbose && !summary.slowest.empty()) {
      std::fprintf(out, "slowest:\n");
      for (const BatchResult& result : summary.slowest)
        std::fprintf(out, "  %s s  %s\n", rounded(result.seconds).c_str(),
                     one_line(result.id).c_str());
    }
    const double rate = static_cast<double>(summary.jobs()) / std::max(summary.seconds, 1e-9);
    std::fprintf(out, "%s in %s s (%s/s) on %s: %s", counted(summary.jobs(), "job").c_str(),
                 rounded(summary.seconds).c_str(), rounded(rate).c_str(), summary.device.c_str(),
                 counts_text(summary.counts).c_str());
    if (summary.resumed != 0)
      std::fprintf(out, " (%llu from an earlier run)",
                   static_cast<unsigned long long>(summary.resumed));
    std::fprintf(out, "\n");
    if (summary.counts[static_cast<std::size_t>(Status::not_run)] != 0 && !options_.verbose)
      std::fprintf(out, "  -v lists those that were not run; --resume goes on from --results\n");
    if (!summary.interrupted.empty())
      std::fprintf(stderr, "dmlop: %s\n", summary.interrupted.c_str());
  }

  std::vector<BatchResult> results;

 private:
  void print(const BatchResult& result) const {
    std::FILE* out = options_.text_stream();
    const char* colour = is_good(result.status) ? "\033[32m" : "\033[31m";
    std::fprintf(out, "%s%s%s %s", colour_ ? colour : "",
                 std::string(name_of(result.status)).c_str(), colour_ ? "\033[0m" : "",
                 one_line(result.id).c_str());
    if (!result.message.empty()) std::fprintf(out, ": %s", printable_line(result.message).c_str());
    std::fprintf(out, "\n%s", indented(result.details).c_str());
    if (result.status != Status::passed && !result.repeat.empty())
      std::fprintf(out, "  repeat: %s\n", one_line(result.repeat).c_str());
    std::fflush(out);
  }

  static std::string printable_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return one_line(text);
  }

  const Options& options_;
  bool colour_;
  Progress progress_;
};

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path, text.size());
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit(/*wanted_after_stop=*/true);
}

void append_step_summary(const std::string& text) {
  const std::string path = environment_variable(step_summary);
  if (path.empty()) return;
  std::error_code error;
  SystemFile file = SystemFile::open_to_append(path, error);
  if (!error) error = file.write_all(std::as_bytes(std::span(text)));
  if (!error) error = file.close();
  if (error)
    throw Error(ErrorKind::io_failed, "writing the step summary " + path + ": " + reason(error));
}

void print_json(const BatchSummary& summary, const std::vector<BatchResult>& results) {
  const char* status = summary.exit_code == exit_done        ? "done"
                       : summary.exit_code == exit_different ? "different"
                                                             : "error";
  Json json{{"status", status},
            {"exitCode", summary.exit_code},
            {"device", summary.device},
            {"seconds", summary.seconds}};
  Json counts = Json::object();
  for (std::size_t i = 0; i < summary.counts.size(); ++i)
    counts[std::string(status_names[i])] = summary.counts[i];
  json["counts"] = std::move(counts);
  if (!summary.interrupted.empty()) json["interrupted"] = summary.interrupted;
  json["jobs"] = Json::array();
  for (const BatchResult& result : results) {
    if (!is_good(result.status)) json["jobs"].push_back(Json::parse(result.record, nullptr, false));
  }
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

/// Writes every report; one that fails does not stop the others. Returns the exit code for them.
int write_reports(const Options& options, const BatchSummary& summary,
                  const std::vector<BatchResult>& results) {
  const std::string title = options.merge.empty() ? options.jobs : join(options.merge);
  const BatchReport report{title, options.batch.version, summary, results};
  int code = exit_done;
  const auto fail = [&](int failure, const char* message, const char* of = "") {
    std::fprintf(stderr, "dmlop: error: %s%s\n", message, of);
    code = worse_exit_code(code, failure);
  };
  const auto attempt = [&](bool wanted, const char* option, auto&& write) {
    if (!wanted) return;
    try {
      write();
    } catch (const Error& error) {
      fail(exit_code_of(error.kind()), error.what());
    } catch (const std::bad_alloc&) {
      fail(exit_run_failed, "out of memory for ", option);
    } catch (const std::exception& error) {
      fail(exit_run_failed, error.what());
    }
  };
  attempt(!options.junit.empty(), "--junit", [&] { write_file(options.junit, junit_xml(report)); });
  attempt(!options.html.empty(), "--html", [&] { write_file(options.html, html_report(report)); });
  attempt(options.github, "--github", [&] {
    std::fputs(github_annotations(results).c_str(), options.text_stream());
    append_step_summary(github_step_summary(report));
  });
  attempt(options.format == Format::json, "--format json", [&] { print_json(summary, results); });
  return code;
}

/// Records as they come. The first failure to write one is said at once; the batch goes on.
class RecordKeeper {
 public:
  explicit RecordKeeper(const Options& options) {
    if (!options.results.empty()) file_.emplace(options.results, options.resume);
  }

  /// To be called before the first job. Without this line a run that is killed at once would leave
  /// an earlier one's summary as its own. Errors: io_failed.
  void start(const std::string& version) {
    if (file_) file_->start(version);
  }

  template <typename Record>
  void add(const Record& record) {
    if (!file_ || failed()) return;
    try {
      file_->add(record);
    } catch (const Error& error) {
      exit_code = exit_code_of(error.kind());
      std::fprintf(stderr, "dmlop: error: %s; the batch goes on without records\n", error.what());
    }
  }

  int exit_code = exit_done;

 private:
  bool failed() const { return exit_code != exit_done; }
  std::optional<ResultsFile> file_;
};

EarlierRecords earlier_records(const Options& options) {
  EarlierRecords earlier;
  std::error_code ignored;
  if (!options.resume || !fs::exists(to_path(options.results), ignored)) return earlier;
  for (BatchResult& result : read_results(options.results).results)
    earlier.emplace(result.id, std::move(result.record));
  return earlier;
}

void require_folder_of(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code error;
  const fs::file_status status = fs::status(to_path(path), error);
  if (fs::is_directory(status))
    throw Error(ErrorKind::io_failed, option + " " + path + " is a directory");
  // A pipe or a device needs nothing of its folder.
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  const fs::path folder = to_path(path).has_parent_path() ? to_path(path).parent_path() : ".";
  if (const std::error_code unwritable = check_writable_folder(to_text(folder)))
    throw Error(ErrorKind::io_failed,
                option + " " + path + ": folder " + to_text(folder) +
                    " does not exist or cannot be written: " + reason(unwritable));
}

// What is written must not replace what is read, nor one report another.
void refuse_same_files(const Options& options) {
  struct Named {
    std::string option;
    std::string path;
  };
  std::vector<Named> named{{"the JOBS", options.jobs}};
  for (const std::string& path : options.merge) named.push_back({"--merge", path});
  if (options.writes_data_to_output()) named.push_back({"standard output", standard_output});
  for (const Named& written : {Named{"--results", options.results}, Named{"--junit", options.junit},
                               Named{"--html", options.html}}) {
    if (written.path.empty()) continue;
    for (const Named& other : named) {
      if (names_same_file(other.path, written.path))
        throw Error(ErrorKind::usage, written.option + " " + written.path + " would replace " +
                                          other.option + "; write to another file");
    }
    named.push_back(written);
  }
}

// A report replaces an earlier one, and nothing else.
void refuse_other_file(const std::string& option, const std::string& path,
                       std::string_view beginning) {
  std::error_code ignored;
  if (!fs::is_regular_file(to_path(path), ignored)) return;
  const InputFile file =
      with_context(option + ": reading " + path, [&] { return InputFile::open(path); });
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  if (text.empty() || text.starts_with(beginning)) return;
  throw Error(ErrorKind::usage, option + " " + path +
                                    " is a file with something else, which would be lost; name "
                                    "another file, or remove this one");
}

// What would fail after all jobs were run is said before the first.
void check_options(const Options& options) {
  if (options.jobs.empty() == options.merge.empty())
    throw Error(ErrorKind::usage, "name the JOBS, or results to --merge, and not both");
  if (options.resume && (options.results.empty() || options.results == "-"))
    throw Error(ErrorKind::usage, "--resume needs --results FILE: what it skips is proved there");
  std::error_code ignored;
  const fs::file_status results = fs::status(to_path(options.results), ignored);
  if (options.resume && fs::exists(results) && !fs::is_regular_file(results))
    throw Error(ErrorKind::usage, "--resume needs a file of --results that can be read again; " +
                                      options.results + " is none");
  if (options.resume && !options.merge.empty())
    throw Error(ErrorKind::usage, "--resume goes on with JOBS; --merge starts a file of its own");
  const Selection& selection = options.batch.selection;
  if (!options.merge.empty() &&
      !(options.shard.empty() && selection.filters.empty() && selection.tags.empty()))
    throw Error(ErrorKind::usage,
                "--merge reports on all records; --shard, --filter and --tag choose jobs to run");
  if (options.writes_records_to_output() && options.format == Format::json)
    throw Error(ErrorKind::usage, "--results - and --format json both need standard output");
  require_folder_of("--junit", options.junit);
  require_folder_of("--html", options.html);
  require_folder_of("--results", options.results);
  refuse_same_files(options);
  refuse_other_file("--junit", options.junit, "<?xml");
  refuse_other_file("--html", options.html, "<!DOCTYPE html>");
  if (options.batch.output_folder.empty()) return;
  std::error_code error;
  fs::create_directories(to_path(options.batch.output_folder), error);
  if (!error) error = check_writable_folder(options.batch.output_folder);
  if (error)
    throw Error(ErrorKind::io_failed,
                "--out " + options.batch.output_folder + ": " + reason(error));
}

std::string repeat_command(const Options& options, const Backend& backend) {
  std::string command =
      "dmlop batch " + shell_quoted(options.jobs) + " --device " + shell_quoted(backend.spec());
  if (options.batch.feature_level)
    command += " --feature-level " + to_text(*options.batch.feature_level);
  if (options.batch.timeout_seconds)
    command += " --timeout " + shortest_text(*options.batch.timeout_seconds);
  if (const SharedConfinement confinement = options.confine.confinement(options.jobs))
    command += " --confine=" + shell_quoted(confinement->folder());
  if (!options.batch.output_folder.empty())
    command += " --out " + shell_quoted(options.batch.output_folder);
  return command;
}

int exit_code_for(const Options& options, const BatchSummary& summary, int other_code) {
  if (interruption_requested()) return interrupted_exit_code();
  if (summary.jobs() == 0 && !options.allow_empty) {
    std::fprintf(stderr,
                 "dmlop: error: no job is selected\n  help: change --filter, --tag or --shard, or "
                 "use --allow-empty where that may be\n");
    return worse_exit_code(exit_usage, worse_exit_code(summary.exit_code, other_code));
  }
  const auto count = [&](Status status) {
    return summary.counts[static_cast<std::size_t>(status)];
  };
  const bool all_skipped =
      summary.jobs() != 0 && count(Status::skipped) + count(Status::unsupported) == summary.jobs();
  if (options.skip_code && all_skipped && other_code == exit_done) return *options.skip_code;
  return worse_exit_code(summary.exit_code, other_code);
}

int merge(const Options& options) {
  BatchSummary summary;
  Diagnostics diagnostics;
  Presenter presenter(options, std::nullopt);
  const auto results = merge_results(options.merge, summary, diagnostics);
  RecordKeeper records(options);
  for (const BatchResult& result : results) presenter.show(result);
  for (const BatchResult& result : results) records.add(result.record);
  records.add(summary);
  const int report_code = write_reports(options, summary, results);
  presenter.summarize(summary);
  report(diagnostics, Format::text);
  return exit_code_for(options, summary, worse_exit_code(report_code, records.exit_code));
}

int run_jobs(const Options& given) {
  Options options = given;
  Diagnostics diagnostics;
  const auto manifest =
      open_manifest(options.jobs, diagnostics, options.confine.confinement(options.jobs));
  if (!manifest) return report(diagnostics, options.format);
  RecordKeeper records(options);  // first: nobody else adds to what is read
  options.batch.earlier = earlier_records(options);
  stop_jobs_gently();
  Backend backend(options.device.request());
  if (!backend.notice().empty() && !options.quiet)
    std::fprintf(stderr, "dmlop: %s\n", backend.notice().c_str());
  BatchOptions& batch = options.batch;
  batch.repeat_command = repeat_command(options, backend);
  batch.reports = {options.results, options.junit, options.html};
  if (options.writes_data_to_output()) batch.reports.emplace_back(standard_output);
  if (options.github) batch.reports.push_back(environment_variable(step_summary));
  batch.keep_records =
      !options.results.empty() || !options.html.empty() || options.format == Format::json;
  batch.keep_pictures = !options.html.empty();
  Presenter presenter(options, manifest->size());
  records.start(batch.version);
  BatchSummary summary = run_batch(*manifest, backend, batch, [&](const BatchResult& result) {
    if (!result.resumed) records.add(result.record);
    presenter.show(result);
  });
  if (interruption_requested()) summary.exit_code = interrupted_exit_code();
  records.add(summary);
  const int report_code = write_reports(options, summary, presenter.results);
  presenter.summarize(summary);
  return exit_code_for(options, summary, worse_exit_code(report_code, records.exit_code));
}

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

void set_shard(Selection& selection, const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool is_shard =
      slash != std::string::npos &&
      read_number(std::string_view(text).substr(0, slash), selection.shard_index) &&
      read_number(std::string_view(text).substr(slash + 1), selection.shard_count) &&
      selection.shard_index < selection.shard_count;
  if (!is_shard)
    throw Error(ErrorKind::usage, "the shard \"" + text + "\" must be I/N with I from 0 to N - 1");
}

// What Bazel tells a test about its shard and where its XML belongs; options win.
void read_environment(Options& options) {
  const std::string index = environment_variable("TEST_SHARD_INDEX");
  const std::string count = environment_variable("TEST_TOTAL_SHARDS");
  if (!index.empty() && !count.empty() && options.shard.empty())
    set_shard(options.batch.selection, index + "/" + count);
  if (const std::string status = environment_variable("TEST_SHARD_STATUS_FILE"); !status.empty()) {
    std::error_code ignored;
    SystemFile::open_to_append(status, ignored);
  }
  if (options.junit.empty()) options.junit = environment_variable("XML_OUTPUT_FILE");
}

int batch(Options& options) {
  if (options.fail_fast) options.batch.max_failures = 1;
  if (!options.shard.empty()) set_shard(options.batch.selection, options.shard);
  read_environment(options);
  // By another name: what else is printed would be written over it.
  if (names_same_file(options.results, standard_output)) options.results = "-";
  check_options(options);
  return options.merge.empty() ? run_jobs(options) : merge(options);
}

void add_selection(CLI::App& command, Options& options) {
  command
      .add_option("--shard", options.shard,
                  "Run the jobs of shard I of N, I from 0; each job is in one, by its id")
      ->type_name("I/N");
  command
      .add_option("--filter", options.batch.selection.filters,
                  "Run the jobs whose id matches a shell pattern")
      ->type_name("GLOB")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--tag", options.batch.selection.tags, "Run the jobs that have a tag")
      ->type_name("TAG")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--allow-empty", options.allow_empty, "No job selected is no error");
  command.add_flag("--resume", options.resume,
                   "Skip the jobs that --results FILE proves done: same program, job, files, "
                   "tolerance and device, and outputs as they were written");
}

void add_stopping(CLI::App& command, Options& options) {
  CLI::Option* fail_fast = command.add_flag("--fail-fast", options.fail_fast,
                                            "Stop at the first job that is not PASSED");
  command.add_option("--max-failures", options.batch.max_failures, "Stop after so many")
      ->type_name("K")
      ->transform(positive_integer())
      ->excludes(fail_fast);
  command
      .add_option("--timeout", options.batch.timeout_seconds, "Stop a job after so many seconds")
      ->type_name("S")
      ->check(positive_number());
}

void add_reports(CLI::App& command, Options& options) {
  command
      .add_option("--out", options.batch.output_folder,
                  "Write outputs to DIR/ID/TENSOR.npy instead of where the jobs say")
      ->type_name("DIR");
  command.add_option("--junit", options.junit, "Write JUnit XML")->type_name("FILE");
  command
      .add_option("--results", options.results,
                  "Write a line of JSON for each job as it ends; - is standard output")
      ->type_name("FILE");
  command.add_option("--html", options.html, "Write a report to look at")->type_name("FILE");
  command.add_flag("--github", options.github,
                   "Print annotations for GitHub Actions and write its step summary");
  command
      .add_option("--merge", options.merge,
                  "Run nothing: report on results files of earlier runs, shards for example")
      ->type_name("FILE")
      ->expected(1, 1'000'000);
  command
      .add_option("--skip-code", options.skip_code,
                  "Exit code when every job was SKIPPED or UNSUPPORTED, such as 77 for ctest")
      ->type_name("N")
      ->transform(integer_between(0, 255));
}

}  // namespace

Action add_batch(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  options->batch.version = DMLOP_VERSION;
  command.add_option("JOBS", options->jobs,
                     "A folder (every op.json below it), a JSON file, or JSON Lines (.jsonl); - is "
                     "JSON Lines on standard input");
  options->confine.add_to(command);
  options->device.add_to(command, options->batch.execution);
  options->batch.workers = hardware_threads();
  command
      .add_option("--jobs", options->batch.workers,
                  "Jobs that run side by side (default: all cores)")
      ->transform(integer_between(1, 4096))
      ->type_name("N");
  add_selection(command, *options);
  add_stopping(command, *options);
  add_reports(command, *options);
  add_feature_level_option(command, options->batch.feature_level);
  add_format_option(command, options->format);
  command.add_flag("-v,--verbose", options->verbose, "Also show jobs that pass, and the slowest");
  command.add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  return [options] { return report_errors(options->format, [&] { return batch(*options); }); };
}

}  // namespace dmlop::app
