// dmlop batch: many jobs in one process, and the reports on them.
#include "batch/batch.hpp"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "batch/program_digest.hpp"
#include "batch/results_file.hpp"
#include "batch_options.hpp"
#include "batch_reporting.hpp"
#include "model_commands.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

EarlierRecords earlier_records(const BatchCommandOptions& options) {
  EarlierRecords earlier;
  std::error_code ignored;
  if (!options.resume || !std::filesystem::exists(to_path(options.results), ignored))
    return earlier;
  for (BatchResult& result : read_results(options.results).results)
    earlier.emplace(result.id, std::move(result.record));
  return earlier;
}

std::string repeat_command(const BatchCommandOptions& options, const Backend& backend) {
  std::string command = "dmlop batch";
  for (const std::string& path : options.jobs) command += " " + shell_quoted(path);
  command += " --device " + shell_quoted(backend.spec());
  if (options.batch.checking.feature_level)
    command += " --feature-level " + to_text(*options.batch.checking.feature_level);
  if (options.batch.checking.judge)
    command += " --as " + std::string(name_of(*options.batch.checking.judge));
  if (options.batch.timeout_seconds)
    command += " --timeout " + shortest_text(*options.batch.timeout_seconds);
  if (options.jobs.size() > 1 && options.confine.is_given() && options.confine.folder.empty())
    command += " --confine";
  else if (const SharedConfinement confinement = options.confine.confinement(options.jobs.front()))
    command += " --confine=" + shell_quoted(confinement->folder());
  if (options.batch.execution.strict_indices) command += " --strict-indices";
  if (!options.against.empty()) command += " --against " + shell_quoted(options.against);
  if (options.batch.checking.warnings_as_errors) command += " --warnings-as-errors";
  if (options.batch.ignores_xfail) command += " --run-xfail";
  command += options.tolerance.text();
  if (!options.batch.output_folder.empty())
    command += " --out " + shell_quoted(options.batch.output_folder);
  return command;
}

// A shard of few jobs may have none: that is fine, and said.
int exit_code_without_jobs(const BatchCommandOptions& options, const BatchSummary& summary) {
  if (options.allow_empty) return exit_done;
  if (summary.selected.count == 0) {
    const Selection& selection = options.batch.selection;
    const bool chooses =
        !selection.filters.empty() || !selection.excludes.empty() || !selection.tags.empty();
    const std::string_view why = chooses ? "selected\n  help: change --filter, --exclude or --tag"
                                         : "there\n  help: give the file a job";
    print(StandardStream::error, {"dmlop: error: no job is ", Text::lines(why),
                                  ", or use --allow-empty where that is fine\n"});
    return exit_usage;
  }
  if (!options.quiet)
    print(StandardStream::error, {"dmlop: note: shard ", summary.shard, " has none of the ",
                                  counted(summary.selected.count, "job"), "\n"});
  return exit_done;
}

int exit_code_for(const BatchCommandOptions& options, const BatchSummary& summary, int other_code) {
  if (interruption_requested()) return interrupted_exit_code();
  if (summary.jobs() == 0)
    other_code = worse_exit_code(other_code, exit_code_without_jobs(options, summary));
  const auto count = [&](Status status) {
    return summary.counts[static_cast<std::size_t>(status)];
  };
  const bool all_skipped =
      summary.jobs() != 0 && count(Status::skipped) + count(Status::unsupported) == summary.jobs();
  if (options.skip_code && all_skipped && other_code == exit_done) return *options.skip_code;
  return worse_exit_code(summary.exit_code, other_code);
}

int merge(const BatchCommandOptions& options) {
  BatchSummary summary;
  Diagnostics diagnostics;
  BatchPresenter presenter(options, std::nullopt);
  const auto rule = options.latest ? Disagreement::latest_counts : Disagreement::worst_counts;
  auto results = merge_results(options.merge, rule, summary, diagnostics);
  RecordKeeper records(options);
  for (const BatchResult& result : results) presenter.show(result);
  for (const BatchResult& result : results) records.add(result.record);
  records.add(summary);
  const int report_code = write_reports(options, summary, results, diagnostics);
  presenter.summarize(summary);
  report(diagnostics, Format::text);
  return exit_code_for(options, summary, worse_exit_code(report_code, records.exit_code));
}

std::unique_ptr<Manifest> open_jobs(const BatchCommandOptions& options, Diagnostics& diagnostics) {
  std::vector<JobsPath> paths;
  for (const std::string& path : options.jobs)
    paths.push_back({path, options.confine.confinement(path)});
  return open_manifest(paths, diagnostics);
}

Json list_entry(const BatchJob& job) {
  Json entry{{"id", job.id}, {"place", job.place}};
  if (!job.tags.empty()) entry["tags"] = job.tags;
  if (!job.skip_reason.empty()) entry["skip"] = job.skip_reason;
  if (!job.xfail_reason.empty()) entry["xfail"] = job.xfail_reason;
  return entry;
}

void print_entry(const BatchJob& job) {
  std::string text = "  " + job.place;
  for (const std::string& tag : job.tags) text += "  #" + tag;
  if (!job.skip_reason.empty()) text += "  skip: " + job.skip_reason;
  if (!job.xfail_reason.empty()) text += "  xfail: " + job.xfail_reason;
  print({job.id, "\n", text, "\n"});
}

int list_jobs(const BatchCommandOptions& options) {
  Diagnostics diagnostics;
  const auto manifest = open_jobs(options, diagnostics);
  if (!manifest) return report(diagnostics, options.format);
  JobSelector selector(*manifest, options.batch.selection);
  BatchSummary summary;
  Json entries = Json::array();
  while (const auto job = selector.next()) {
    ++summary.counts[static_cast<std::size_t>(Status::not_run)];
    if (options.format == Format::json) {
      entries.push_back(list_entry(*job));
    } else if (options.verbose) {
      print_entry(*job);
    } else {
      print({job->id, "\n"});
    }
  }
  if (options.format == Format::json) print_json({{"jobs", entries}});
  summary.selected = selector.selected();
  summary.shard = options.batch.selection.shard_text();
  return exit_code_for(options, summary, exit_done);
}

int run_jobs(BatchCommandOptions& options) {
  Diagnostics diagnostics;
  const auto manifest = open_jobs(options, diagnostics);
  if (!manifest) return report(diagnostics, options.format);
  RecordKeeper records(options);  // first: nobody else adds to what is read
  options.batch.earlier = earlier_records(options);
  stop_jobs_gently();
  Backend backend = open_backend(options.device.request(), options.quiet);
  BatchOptions& batch = options.batch;
  std::optional<Backend> other;
  if (!options.against.empty()) other.emplace(other_device(options.against, backend));
  batch.against = other ? &*other : nullptr;
  batch.repeat_command = repeat_command(options, backend);
  batch.reports = options.written_paths();
  batch.keep_pictures = options.shows_differences();
  batch.keep_records =
      batch.keep_pictures || !options.results.empty() || options.format == Format::json;
  BatchPresenter presenter(options, manifest->size());
  records.start(batch.version, batch.program);
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

// The statuses and the exit codes that they lead to.
std::string statuses_text() {
  std::vector<std::string> codes;
  for (auto code = worst_last.rbegin(); code != worst_last.rend(); ++code) {
    if (*code != exit_usage) codes.push_back(std::to_string(*code));
  }
  std::string text =
      "The batch exits with the worst code of its jobs. From the worst to the best, these are " +
      join(codes) + ". A job ends as:\n";
  for (const StatusInfo& status : statuses) {
    const int first = status.ends.front().exit_code, last = status.ends.back().exit_code;
    const std::string both =
        std::to_string(first) + (first == last ? "" : " or " + std::to_string(last));
    text += "  " + padded(std::string(status.name), 11) + "  " + padded(both, 6) + "  " +
            std::string(status.when) + "\n";
  }
  return text +
         "Jobs are shown as they end, with several threads in any order; reports have them in "
         "the order of their files.\n";
}

}  // namespace

Action add_batch(OptionList& command) {
  command.footer(statuses_text());
  const auto options = std::make_shared<BatchCommandOptions>();
  options->batch.version = DMLOP_VERSION;
  options->batch.program = program_digest();
  // Where the system tells none, the version is the next best.
  if (options->batch.program.empty()) options->batch.program = DMLOP_VERSION;
  options->add_to(command);
  return [options, command] {
    return report_errors(options->format, [&] {
      options->complete(command);
      if (!options->merge.empty()) return merge(*options);
      return options->list ? list_jobs(*options) : run_jobs(*options);
    });
  };
}

}  // namespace dmlop::app
