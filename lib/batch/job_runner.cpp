#include "batch/job_runner.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "base/findings_error.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/conclusion.hpp"
#include "batch/description_job.hpp"
#include "batch/digest.hpp"
#include "batch/job_reader.hpp"
#include "batch/model_job.hpp"
#include "batch/onnx_job.hpp"
#include "batch/record_json.hpp"
#include "batch/repeat_command.hpp"
#include "job/folder.hpp"
#include "program/open.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Ending {
  Status status;
  ExitCode exit_code;
};

Ending ending_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::invalid_input:
      return {Status::invalid, exit_invalid};
    case ErrorKind::unavailable:
      return {Status::unsupported, exit_unavailable};
    case ErrorKind::run_failed:
    case ErrorKind::device_lost:
      return {Status::error, exit_run_failed};
    case ErrorKind::io_failed:
      return {Status::error, exit_io_failed};
    case ErrorKind::interrupted:
      break;
  }
  return {Status::not_run, exit_done};
}

// The tolerance of a command line wins over a job's; without a criterion of its own it leaves the
// job's.
Tolerance overridden(const std::optional<Tolerance>& own, const Tolerance& given) {
  if (!own || !given.is_bitwise()) return given;
  Tolerance tolerance = *own;
  if (!given.nan_equals_nan) tolerance.nan_equals_nan = false;
  if (given.allow_trivial) tolerance.allow_trivial = true;
  return tolerance;
}

/// Runs one job. Its steps are called in order.
class JobRun {
 public:
  JobRun(BatchJob& job, Backend& backend, const BatchOptions& options,
         std::atomic<unsigned>& pictures, OutputPaths& outputs, JobFiles& files)
      : job_(job),
        backend_(backend),
        options_(options),
        pictures_(pictures),
        outputs_(outputs),
        files_(files) {
    result.id = job.id;
    result.place = job.place;
    result.repeat = repeat_command(job, options);
    if (options.tolerance)
      job.request.tolerance = overridden(job.request.tolerance, *options.tolerance);
    // A job that is to differ keeps what it differs from.
    updates_ = options.update_golden != UpdateGolden::no && job.xfail_reason.empty();
    job.request.expected_may_be_missing = updates_;
  }

  void run() {
    if (!job_.skip_reason.empty()) return end(Status::skipped, exit_done, job_.skip_reason);
    {
      const Deadline deadline(options_.timeout_seconds, "--timeout");
      if (!prepare()) return;
    }
    if (!claim_files()) return;
    const Deadline deadline(options_.timeout_seconds, "--timeout");
    if (!done_before()) execute();
  }

  void fail(const Error& error) { end(error.kind(), error.what()); }

  // The job ends because of what is wrong with it.
  void report(const Diagnostics& findings) {
    const std::string more =
        findings.size() > 1 ? " (and " + counted(findings.size() - 1, "more error") + ")" : "";
    end(worst_kind(findings), findings.front().message + more);
    for (Diagnostic finding : findings) {
      const bool has_no_place = finding.file.empty() || finding.line == 0;
      if (has_no_place && job_.document) {
        finding.file = job_.document->file();
        finding.line = job_.line;
        finding.column = 1;
      }
      if (result.details.empty()) point_at(finding);
      result.details += to_text(finding) + "\n";
    }
  }

  void finish() {
    result.seconds = seconds_since(start_);
    if (!options_.keep_records || !result.record.empty()) return;
    try {
      result.record = record();
    } catch (const std::bad_alloc&) {  // what became of the job counts, also without how
      job_.text.clear();
      file_text_.clear();
      done_.comparisons.clear();
      result.details.clear();
      result.warnings.clear();
      result.record = record();
    }
  }

  /// Why another device than the batch's ran the job; "" where it did.
  const std::string& notice() const { return done_.notice; }

  BatchResult result;

 private:
  void end(Status status, ExitCode exit_code, std::string message) {
    result.status = status;
    result.exit_code = exit_code;
    result.message = std::move(message);
  }

  void end(ErrorKind kind, std::string message) {
    const Ending ending = ending_of(kind);
    end(ending.status, ending.exit_code, std::move(message));
  }

  // Reads and checks the job and its files. Returns false if the job ended here.
  bool prepare() {
    Diagnostics findings = std::move(job_.findings);
    check_output_folder(findings);
    findings.empty() ? read(findings) : read_fields(findings);
    check_seconds_ = seconds_since(start_);
    if (!findings.empty()) {
      report(findings);
      return false;
    }
    if (options_.against != nullptr) return true;
    const std::string reason = checked_->reason_of_uncompared();
    if (!reason.empty()) end(Status::uncompared, exit_different, reason);
    return reason.empty();
  }

  // A link below --out may lead a job's files out of it.
  void check_output_folder(Diagnostics& findings) const {
    if (options_.output_folder.empty()) return;
    const fs::path folder = to_path(options_.output_folder) / to_path(job_.id);
    check_below_output_folder(job_, options_, to_text(folder), &Confinement::problem_of_folder,
                              findings);
  }

  // Adds what is wrong with the fields of the description. A job that is wrong opens no file.
  void read_fields(Diagnostics& findings) const {
    if (!job_.document || job_.root->kind != json::Value::Kind::object) return;
    const auto has = [&](const char* name) { return job_.root->find(name) != nullptr; };
    if ((has("type") || has("Type")) && !has("graph"))
      read_description(job_.document, job_.root, batch_job_fields(),
                       options_.checking.feature_level, findings);
  }

  void read(Diagnostics& findings) {
    const std::string& path = job_.request.description_path;
    // A job of a list has its own inputs and golden files.
    if (is_onnx_test(path) && !job_.document) return prepare_onnx(findings);
    if (job_.document && path.empty()) {
      const OpenedFile file{job_.document, is_model(*job_.root)};
      return file.has_model ? prepare_model(file, findings) : prepare_description(file, findings);
    }
    const auto program = open(findings);
    if (program) prepare_program(*program, findings);
  }

  // The text is kept for the report.
  std::optional<OpenedProgram> open(Diagnostics& findings) {
    const SharedConfinement& confinement = job_.request.confinement;
    const GraphRequest request{.checking = options_.checking, .confinement = confinement};
    ProgramSource source{.path = job_.request.description_path,
                         .dimensions = job_.dimensions,
                         .inputs = job_.request.inputs,
                         .fuses = job_.fuses,
                         .size_source = onnx::SizeSource::job,
                         .confinement = confinement};
    if (auto binary = open_binary_program(source, request, findings)) return binary;
    source.text = with_context("reading the description " + source.path, [&] {
      return json::read_text(PinnedFile(confinement, source.path));
    });
    if (options_.keep_records && source.text.size() <= recorded_bytes_max) file_text_ = source.text;
    return open_program(source, request, findings);
  }

  std::shared_ptr<const json::Value> root_of(const OpenedFile& file) const {
    return job_.document ? job_.root : file.root();
  }

  void prepare_program(const OpenedProgram& program, Diagnostics& findings) {
    if (!program.is_onnx) refuse_onnx_fields(findings);
    if (program.kind == OpenedProgram::Kind::graph) {
      if (program.graph) prepare_graph(program, findings);
    } else if (job_.document) {
      findings.push_back({.file = program.file->path,
                          .message = "the job names this as its graph, but it is not one",
                          .suggestion = "write a description itself as the job"});
    } else if (program.kind == OpenedProgram::Kind::model) {
      prepare_model(*program.file, findings);
    } else {
      prepare_description(*program.file, findings);
    }
  }

  void prepare_description(const OpenedFile& file, Diagnostics& findings) {
    static const std::vector<std::string> none;
    auto description =
        read_description(file.document, root_of(file), job_.document ? batch_job_fields() : none,
                         options_.checking.feature_level, findings);
    if (!description) return;
    result.operator_name = description->spec->name;
    accept(DescriptionJob::prepare(std::move(*description), job_, options_, findings, warnings_));
  }

  // A job that has findings may be null.
  void accept(std::unique_ptr<CheckedJob> checked) {
    for (const Diagnostic& warning : warnings_)
      result.warnings.push_back(to_text(warning, "warning"));
    checked_ = std::move(checked);
    if (!checked_) return;
    result.operator_name = checked_->operator_name();
  }

  // Returns false if a file that the job is to write belongs to another one.
  bool claim_files() {
    Diagnostics findings;
    const auto before = Clock::now();
    claim_outputs(job_, *checked_, options_, updates_, outputs_, files_, findings);
    start_ +=
        Clock::now() - before;  // it may have read all jobs of the batch, which is not its own time
    if (!findings.empty()) report(findings);
    if (findings.empty()) files_.require_known(job_);
    return findings.empty();
  }

  template <typename Kind>
  static std::unique_ptr<CheckedJob> checked(std::optional<Kind> job) {
    return job ? std::make_unique<Kind>(std::move(*job)) : nullptr;
  }

  void prepare_model(const OpenedFile& file, Diagnostics& findings) {
    accept(checked(
        ModelJob::prepare(file.document, *root_of(file), job_, options_, findings, warnings_)));
  }

  void refuse_onnx_fields(Diagnostics& findings) const {
    if (!job_.document) return;
    for (const std::string& name : onnx_job_fields()) {
      const json::Value* value = job_.root->find(name);
      if (value == nullptr) continue;
      findings.push_back(job_.document->at(*value, "\"" + name + "\" is for ONNX models, and " +
                                                       job_.request.description_path + " is none"));
      findings.back().suggestion = "leave it out";
    }
  }

  void prepare_graph(const OpenedProgram& program, Diagnostics& findings) {
    accept(checked(
        ModelJob::prepare(*program.graph, program.given, job_, options_, findings, warnings_)));
  }

  void prepare_onnx(Diagnostics& findings) {
    accept(checked(OnnxJob::prepare(job_, options_, findings, warnings_)));
  }

  // What a report says where it has little room.
  void point_at(const Diagnostic& first) {
    if (!first.file.empty())
      result.wrong = {first.file, std::max(first.line, 1U), std::max(first.column, 1U)};
    const auto add = [&](const char* word, const std::string& text) {
      if (!text.empty()) result.brief += word + one_line(text) + "\n";
    };
    add("rule: ", first.rule);
    add("note: ", first.note);
    add("help: ", first.suggestion.text());
  }

  // Whether an earlier run's record proves that the job was done exactly like this and passed.
  bool done_before() {
    if (!options_.keep_records) return false;
    digest_inputs();
    const auto earlier = options_.earlier.find(job_.id);
    if (earlier == options_.earlier.end()) return false;
    if (!proves(earlier->second, digest_, checked_->outputs())) return false;
    std::vector<std::string> warnings = std::move(result.warnings);  // with the places of today
    result = *earlier_result(earlier->second);
    result.warnings = std::move(warnings);
    result.repeat = repeat_command(job_, options_);
    result.place = job_.place;
    result.resumed = true;
    return true;
  }

  // Adds everything that the result depends on: program, description, files, tolerance, device. A
  // new warning counts, as the record does not have it; its place does not.
  void digest_inputs() {
    Digest digest;
    digest.add(options_.program);
    digest.add(job_.text);
    digest.add(job_.defaults);
    digest.add(job_.xfail_reason);
    digest.add(backend_.kind());
    if (options_.against != nullptr) digest.add("against " + options_.against->kind());
    if (options_.execution.strict_indices) digest.add("strict indices");
    if (options_.checking.warnings_as_errors) digest.add("warnings as errors");
    for (const Diagnostic& warning : warnings_) digest.add(warning.message);
    checked_->add_to(digest, options_.checking);
    for (const NamedFile& output : checked_->outputs()) digest.add(output.path);
    digest_ = digest.text();
  }

  void execute() {
    done_ = checked_->run(backend_, options_, updates_);
    has_run_ = true;
    if (options_.keep_pictures && done_.verdict() == Verdict::failed)
      result.pictures = checked_->pictures_of(done_, backend_, options_, pictures_);
    if (updates_) checked_->update_golden(done_);
    conclude(done_.comparisons, job_.xfail_reason, options_.update_golden, result);
  }

  std::string record() {
    const std::string& text = file_text_.empty() ? job_.text : file_text_;
    const bool keeps_text = result.status != Status::passed && text.size() <= recorded_bytes_max;
    RecordParts parts{.result = result,
                      .tags = job_.tags,
                      .device = done_.device.empty() ? backend_.spec() : done_.device,
                      .description = keeps_text ? text : "",
                      .check_seconds = check_seconds_,
                      .times = done_.times,
                      .digest = digest_,
                      .inputs = {},
                      .outputs = {},
                      .comparisons = done_.comparisons};
    if (checked_) parts.inputs = checked_->input_digests();
    if (has_run_) {
      for (const NamedFile& output : checked_->outputs())
        parts.outputs.push_back({output.tensor, output.path, digest_of_file(output.path)});
    }
    return record_of(parts);
  }

  BatchJob& job_;
  Backend& backend_;
  const BatchOptions& options_;
  std::atomic<unsigned>& pictures_;
  OutputPaths& outputs_;
  JobFiles& files_;
  Clock::time_point start_ = Clock::now();
  double check_seconds_ = 0;
  std::unique_ptr<CheckedJob> checked_;  // null until it is read, and where it has findings
  Diagnostics warnings_;
  std::string file_text_;  // of the description, where it is a file
  std::string digest_;
  bool updates_ = false;  // golden files that are missing or differ are written
  bool has_run_ = false;
  JobResult done_;
};

}  // namespace

JobRunner::JobRunner(Backend& backend, const BatchOptions& options)
    : backend_(backend), options_(options), outputs_(options.reports) {}

BatchResult JobRunner::run(BatchJob job) {
  JobRun run(job, backend_, options_, pictures_, outputs_, files_);
  try {
    run.run();
  } catch (const FindingsError& error) {
    run.report(error.findings());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device_lost) device_lost_ = true;
    run.fail(error);
  } catch (const std::bad_alloc&) {
    run.fail(Error(ErrorKind::run_failed, "out of memory"));
  } catch (const fs::filesystem_error& error) {
    run.fail(Error(ErrorKind::io_failed, error.what()));
  } catch (const std::exception& error) {
    run.fail(Error(ErrorKind::run_failed, error.what()));
  }
  run.finish();
  if (is_new(run.notice())) run.result.notice = run.notice();
  return std::move(run.result);
}

bool JobRunner::is_new(const std::string& notice) {
  if (notice.empty()) return false;
  const std::scoped_lock lock(notices_mutex_);
  return notices_.insert(notice).second;
}

BatchResult JobRunner::not_run(const BatchJob& job, const std::string& reason) const {
  BatchResult result{.id = job.id,
                     .status = Status::not_run,
                     .place = job.place,
                     .message = reason,
                     .repeat = repeat_command(job, options_)};
  if (options_.keep_records)
    result.record = record_of({.result = result, .tags = job.tags, .device = backend_.spec()});
  return result;
}

}  // namespace dmlop
