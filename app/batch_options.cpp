#include "batch_options.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "text_file.hpp"

namespace dmlop::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* standard_output = "/dev/stdout";

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
      selection.shard_index < selection.shard_count && selection.shard_count <= shards_max;
  if (!is_shard)
    throw Error(ErrorKind::usage, "the shard \"" + text +
                                      "\" must be I/N with I from 0 to N - 1, and N at most " +
                                      std::to_string(shards_max));
}

// Reads what Bazel tells a test about its shard and its XML file. Options take precedence.
void read_environment(BatchCommandOptions& options) {
  const std::string index = environment_variable("TEST_SHARD_INDEX");
  const std::string count = environment_variable("TEST_TOTAL_SHARDS");
  if (!index.empty() && !count.empty() && options.shard.empty())
    set_shard(options.batch.selection, index + "/" + count);
  if (const std::string status = environment_variable("TEST_SHARD_STATUS_FILE"); !status.empty()) {
    std::error_code ignored;
    SystemFile::open_to_append(status, ignored);
  }
  for (WrittenFile& file : options.written) {
    if (file.format == nullptr || file.is_wanted() || options.list) continue;
    if (const std::string variable = file.format->variable; !variable.empty())
      file.path = environment_variable(variable);
  }
}

void require_folder_of(const WrittenFile& written) {
  const std::string& option = written.option;
  const std::string& path = written.path;
  if (!written.is_wanted() || path == "-") return;
  std::error_code error;
  const fs::file_status status = fs::status(to_path(path), error);
  if (fs::is_directory(status))
    throw Error(ErrorKind::io_failed, option + " " + path + " is a directory");
  // An open file (/dev/stderr), a pipe or a device makes no demands on its folder.
  if (open_file_named(path) || (fs::exists(status) && !fs::is_regular_file(status))) return;
  const fs::path folder = to_path(path).has_parent_path() ? to_path(path).parent_path() : ".";
  if (const std::error_code unwritable = check_writable_folder(to_text(folder)))
    throw Error(ErrorKind::io_failed,
                option + " " + path + ": folder " + to_text(folder) +
                    " does not exist or cannot be written: " + reason(unwritable));
}

// An output must not replace an input or another output.
void refuse_same_files(const BatchCommandOptions& options) {
  struct Named {
    std::string option;
    std::string path;
  };
  std::vector<Named> named;
  for (const std::string& path : options.jobs) named.push_back({"the JOBS", path});
  for (const std::string& path : options.merge) named.push_back({"--merge", path});
  for (const WrittenFile& written : options.written) {
    if (!written.is_wanted()) continue;
    for (const Named& other : named) {
      if (names_same_file(other.path, written.path))
        throw Error(ErrorKind::usage, written.option + " " + written.path + " would replace " +
                                          other.option + "; write to another file");
    }
    named.push_back({written.option, written.path});
  }
}

// Options that say nothing here are refused, not ignored.
void refuse_options(const OptionList& command, const std::vector<std::string>& names,
                    const std::string& why) {
  std::vector<std::string> given;
  for (const std::string& name : names) {
    if (command.option(name).is_given()) given.push_back(name);
  }
  if (!given.empty()) throw Error(ErrorKind::usage, why + "; leave out " + join(given));
}

void check_merge(const OptionList& command, const BatchCommandOptions& options) {
  refuse_options(command, {"--shard", "--filter", "--exclude", "--tag"},
                 "--merge reports on all records");
  std::vector<std::string> of_runs{"--list", "--update-golden", "--against", "--run-xfail",
                                   "--warnings-as-errors"};
  for (const std::string& name : options.tolerance.names()) of_runs.push_back(name);
  refuse_options(command, of_runs, "--merge runs nothing");
}

void check_list(const OptionList& command, const BatchCommandOptions& options) {
  std::vector<std::string> of_runs{"--github", "--resume", "--update-golden", "--against",
                                   "--run-xfail"};
  for (const WrittenFile& written : options.written) of_runs.push_back(written.option);
  refuse_options(command, of_runs, "--list runs nothing");
}

// What would fail after all jobs were run is said before the first.
void check_options(const OptionList& command, const BatchCommandOptions& options) {
  if (options.jobs.empty() == options.merge.empty())
    throw Error(ErrorKind::usage, "name JOBS, or results to --merge, but not both");
  if (!options.against.empty() && !options.update_golden.empty())
    throw Error(ErrorKind::usage, "--update-golden needs golden files, and --against needs none");
  if (options.resume && (options.results.empty() || options.results == "-"))
    throw Error(ErrorKind::usage, "--resume needs --results FILE: what it skips is proved there");
  std::error_code ignored;
  const fs::file_status results = fs::status(to_path(options.results), ignored);
  if (options.resume && fs::exists(results) && !fs::is_regular_file(results))
    throw Error(ErrorKind::usage, "--resume needs a file of --results that can be read again; " +
                                      options.results + " is none");
  if (options.resume && !options.merge.empty())
    throw Error(ErrorKind::usage, "--resume goes on with JOBS; --merge starts a file of its own");
  if (options.latest && options.merge.empty())
    throw Error(ErrorKind::usage, "--latest says which file counts and needs --merge");
  if (options.jobs.size() > 1 &&
      std::find(options.jobs.begin(), options.jobs.end(), "-") != options.jobs.end())
    throw Error(ErrorKind::usage, "standard input (-) is a batch of its own; name no other JOBS");
  if (!options.merge.empty()) check_merge(command, options);
  if (options.list) check_list(command, options);
  if (options.batch.ignores_xfail && !options.update_golden.empty())
    throw Error(ErrorKind::usage,
                "--run-xfail only looks at jobs with xfail, whose golden files are right and are "
                "not updated; leave out --update-golden, or remove xfail from the jobs");
  if (const auto data = options.data_on_output(); data.size() > 1)
    throw Error(ErrorKind::usage, "only one of " + join(data) +
                                      " can write to standard output; give the others a file");
  for (const WrittenFile& written : options.written) require_folder_of(written);
  refuse_same_files(options);
  for (const WrittenFile& written : options.written) {
    if (written.format != nullptr)
      refuse_other_file(written.option, written.path, written.format->beginning);
  }
  if (options.batch.output_folder.empty()) return;
  std::error_code error;
  fs::create_directories(to_path(options.batch.output_folder), error);
  if (!error) error = check_writable_folder(options.batch.output_folder);
  if (error)
    throw Error(ErrorKind::io_failed,
                "--out " + options.batch.output_folder + ": " + reason(error));
}

void add_selection(OptionList& command, BatchCommandOptions& options) {
  command
      .add_option("--shard", options.shard,
                  "Run the jobs of shard I of N, I from 0: the selected jobs are dealt out evenly")
      .type_name("I/N");
  command
      .add_option("--filter", options.batch.selection.filters,
                  "Run the jobs whose id matches a shell pattern")
      .type_name("GLOB")
      .take_all();
  command
      .add_option("--exclude", options.batch.selection.excludes,
                  "Leave out the jobs whose id matches a shell pattern")
      .type_name("GLOB")
      .take_all();
  command.add_option("--tag", options.batch.selection.tags, "Run the jobs that have a tag")
      .type_name("TAG")
      .take_all();
  command.add_flag("--list", options.list, "Print the ids of the selected jobs and run none");
  command.add_flag("--allow-empty", options.allow_empty, "Succeed even if no job is selected");
  command.add_flag("--resume", options.resume,
                   "Skip a job only if --results FILE shows that it passed, its program, files, "
                   "tolerance and device are unchanged, and its outputs are intact");
}

void add_stopping(OptionList& command, BatchCommandOptions& options) {
  const Option fail_fast = command.add_flag("--fail-fast", options.fail_fast,
                                            "Stop at the first job that does not pass");
  command
      .add_option("--max-failures", options.batch.max_failures,
                  "Stop after K jobs that do not pass")
      .type_name("K")
      .positive_integer()
      .excludes(fail_fast);
  command.add_option("--timeout", options.batch.timeout_seconds, "Stop a job after S seconds")
      .type_name("S")
      .positive_number();
}

std::string description_of(const WrittenFile& written) {
  return written.format != nullptr ? written.format->description
                                   : "Write a line of JSON for each job as it ends";
}

void add_reports(OptionList& command, BatchCommandOptions& options) {
  command
      .add_option("--out", options.batch.output_folder,
                  "Write outputs to DIR/ID/TENSOR.npy instead of where the jobs say")
      .type_name("DIR");
  for (WrittenFile& written : options.written)
    command
        .add_option(written.option, written.path,
                    description_of(written) + "; - is standard output")
        .type_name("FILE");
  command.add_flag("--github", options.github,
                   "Print annotations for GitHub Actions and write its step summary");
  command
      .add_option("--merge", options.merge,
                  "Run nothing; report on results files of earlier runs, such as shards")
      .type_name("FILE")
      .expected(1, 1'000'000);
  command.add_flag("--latest", options.latest,
                   "With --merge: if several files have a job, the last file counts, as suits "
                   "reruns (default: the worst outcome, with a warning)");
  command
      .add_option("--skip-code", options.skip_code,
                  "Exit code when every job was SKIPPED or UNSUPPORTED, such as 77 for ctest")
      .type_name("N")
      .integer_between(0, 255);
}

}  // namespace

std::vector<WrittenFile> files_to_write() {
  std::vector<WrittenFile> files{{"--results", ""}};
  for (const ReportFormat& format : report_formats) files.push_back({format.option, "", &format});
  return files;
}

void BatchCommandOptions::add_to(OptionList& command) {
  command
      .add_option(
          "JOBS", jobs,
          "Folders (every op.json, model.json, graph.json and ONNX test below), descriptions, JSON "
          "files of jobs, or JSON Lines (.jsonl); - is JSON Lines on standard input")
      .required(false)
      // Not 0: behind -- the parser gives nothing to an option that may be empty.
      .expected(1, 1'000'000);
  confine.add_to(command);
  device.add_to(command, batch.execution);
  add_strict_indices_option(command, batch.execution);
  batch.workers = hardware_threads();
  command
      .add_option("--jobs", batch.workers, "Jobs that run at the same time (default: one per core)")
      .integer_between(1, 4096)
      .type_name("N");
  add_selection(command, *this);
  tolerance.add_to(command);
  command
      .add_flag("--update-golden{write}", update_golden,
                "Write golden files that are missing or different; such jobs are UPDATED and fail, "
                "or pass with --update-golden=accept")
      .one_of({"write", "accept"});
  command
      .add_option("--against", against,
                  "Another device, which has to compute the same; golden files are not read")
      .type_name("SPEC");
  command.add_flag("--run-xfail", batch.ignores_xfail,
                   "Run jobs with xfail as if they had none: they end as PASSED or FAILED");
  add_stopping(command, *this);
  add_reports(command, *this);
  add_checking_options(command, batch.checking);
  add_format_option(command, format, false,
                    "; json has the counts and the jobs that have warnings or did not end well, "
                    "--results has all");
  command.add_flag("-v,--verbose", verbose,
                   "Also show jobs that pass, all that have the same mistake, and the slowest");
  command.add_flag("-q,--quiet", quiet, "Print nothing but the jobs that could not run, as errors");
}

void BatchCommandOptions::complete(const OptionList& command) {
  if (fail_fast) batch.max_failures = 1;
  if (!update_golden.empty())
    batch.update_golden = update_golden == "accept" ? UpdateGolden::accept : UpdateGolden::write;
  if (tolerance.given()) {
    batch.tolerance = tolerance.tolerance;
    batch.tolerance->origin = "command line";
  }
  if (!shard.empty()) set_shard(batch.selection, shard);
  read_environment(*this);
  // By another name: what else is printed would be written over it.
  for (WrittenFile& file : written) {
    if (file.is_wanted() && names_same_file(file.path, standard_output)) file.path = "-";
  }
  check_options(command, *this);
}

std::vector<std::string> BatchCommandOptions::data_on_output() const {
  std::vector<std::string> options;
  for (const WrittenFile& file : written) {
    if (file.path == "-") options.push_back(file.option);
  }
  if (format == Format::json) options.emplace_back("--format json");
  return options;
}

bool BatchCommandOptions::shows_differences() const {
  return std::any_of(written.begin(), written.end(), [](const WrittenFile& file) {
    return file.is_wanted_report() && file.format->shows_differences;
  });
}

bool BatchCommandOptions::keeps_results() const {
  return github || format == Format::json ||
         std::any_of(written.begin(), written.end(),
                     [](const WrittenFile& file) { return file.is_wanted_report(); });
}

std::string BatchCommandOptions::step_summary() const {
  return github ? environment_variable("GITHUB_STEP_SUMMARY") : "";
}

std::vector<std::string> BatchCommandOptions::written_paths() const {
  std::vector<std::string> paths{step_summary(), data_on_output().empty() ? "" : standard_output};
  for (const WrittenFile& file : written) paths.push_back(file.path);
  return paths;
}

}  // namespace dmlop::app
