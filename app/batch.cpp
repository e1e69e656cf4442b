// dmlop batch: many jobs in one process, and the reports on them.
#include "batch/batch.hpp"

#include <filesystem>
#include <memory>

#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "batch/results_file.hpp"
#include "batch_options.hpp"
#include "batch_reporting.hpp"
#include "exit_codes.hpp"
#include "model_commands.hpp"

namespace dmlop::app {
namespace {

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

int exit_code_for(const BatchCommandOptions& options, const BatchSummary& summary, int other_code) {
  if (interruption_requested()) return interrupted_exit_code();
  if (summary.jobs() == 0 && !options.allow_empty) {
    print(StandardStream::error,
          {"dmlop: error: no job is selected\n  help: change --filter, --tag or --shard, or use "
           "--allow-empty where that may be\n"});
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

int merge(const BatchCommandOptions& options) {
  BatchSummary summary;
  Diagnostics diagnostics, warnings;
  BatchPresenter presenter(options, std::nullopt);
  const auto rule = options.latest ? Disagreement::latest_counts : Disagreement::worst_counts;
  const auto results = merge_results(options.merge, rule, summary, diagnostics, warnings);
  if (!options.quiet) print_notes(warnings);
  RecordKeeper records(options);
  for (const BatchResult& result : results) presenter.show(result);
  for (const BatchResult& result : results) records.add(result.record);
  records.add(summary);
  const int report_code = write_reports(options, summary, results);
  presenter.summarize(summary);
  report(diagnostics, Format::text);
  return exit_code_for(options, summary, worse_exit_code(report_code, records.exit_code));
}

int run_jobs(BatchCommandOptions& options) {
  Diagnostics diagnostics;
  const auto manifest =
      open_manifest(options.jobs, diagnostics, options.confine.confinement(options.jobs));
  if (!manifest) return report(diagnostics, options.format);
  RecordKeeper records(options);  // first: nobody else adds to what is read
  options.batch.earlier = earlier_records(options);
  stop_jobs_gently();
  Backend backend(options.device.request());
  if (!backend.notice().empty() && !options.quiet)
    print(StandardStream::error, {"dmlop: ", backend.notice(), "\n"});
  BatchOptions& batch = options.batch;
  batch.repeat_command = repeat_command(options, backend);
  batch.reports = options.written_files();
  batch.keep_records =
      !options.results.empty() || !options.html.empty() || options.format == Format::json;
  batch.keep_pictures = !options.html.empty();
  BatchPresenter presenter(options, manifest->size());
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

}  // namespace

Action add_batch(CLI::App& command) {
  const auto options = std::make_shared<BatchCommandOptions>();
  options->batch.version = DMLOP_VERSION;
  options->add_to(command);
  return [options] {
    return report_errors(options->format, [&] {
      options->complete();
      return options->merge.empty() ? run_jobs(*options) : merge(*options);
    });
  };
}

}  // namespace dmlop::app
