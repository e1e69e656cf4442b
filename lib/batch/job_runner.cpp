#include "batch/job_runner.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <set>

#include "base/findings_error.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/conclusion.hpp"
#include "batch/digest.hpp"
#include "batch/model_job.hpp"
#include "batch/onnx_job.hpp"
#include "batch/record_json.hpp"
#include "batch/repeat_command.hpp"
#include "compare/picture.hpp"
#include "job/confined_files.hpp"
#include "job/folder.hpp"
#include "job/golden.hpp"
#include "job/other_device.hpp"
#include "program/open.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// At most this many failures get pictures, so that a browser can still open the report.
constexpr unsigned pictures_max = 200;
constexpr std::uint64_t picture_bytes_max = std::uint64_t{1} << 28;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Ending {
  Status status;
  int exit_code;
};

Ending ending_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::invalid_input:
      return {Status::invalid, 3};
    case ErrorKind::unavailable:
      return {Status::unsupported, 4};
    case ErrorKind::run_failed:
    case ErrorKind::device_lost:
      return {Status::error, 5};
    case ErrorKind::io_failed:
      return {Status::error, 6};
    case ErrorKind::interrupted:
      break;
  }
  return {Status::not_run, 0};
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
    const Deadline deadline(options_.timeout_seconds);
    if (!job_.skip_reason.empty()) {
      end(Status::skipped, 0, job_.skip_reason);
    } else if (prepare() && !done_before()) {
      execute();
    }
  }

  void fail(const Error& error) {
    const Ending ending = ending_of(error.kind());
    end(ending.status, ending.exit_code, error.what());
  }

  // The job ends because of what is wrong with it.
  void report(const Diagnostics& findings) {
    const Ending ending = ending_of(worst_kind(findings));
    const std::string more =
        findings.size() > 1 ? " (and " + counted(findings.size() - 1, "more error") + ")" : "";
    end(ending.status, ending.exit_code, findings.front().message + more);
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
  void end(Status status, int exit_code, std::string message) {
    result.status = status;
    result.exit_code = exit_code;
    result.message = std::move(message);
    const bool is_stopped =
        exit_code == 5 && result.message.find("stopped after ") != std::string::npos;
    if (is_stopped && options_.timeout_seconds) result.message += " (--timeout)";
  }

  // Reads and checks the job and its files. Returns false if the job ended here.
  bool prepare() {
    Diagnostics findings = std::move(job_.findings);
    check_output_folder(findings);
    if (findings.empty()) read(findings);
    check_seconds_ = seconds_since(start_);
    if (!findings.empty()) {
      report(findings);
      return false;
    }
    if (onnx_ || options_.against != nullptr) return true;
    if (model_ ? model_->keeps_or_compares()
               : !prepared_->outputs.empty() || !prepared_->expected.empty())
      return true;
    end(Status::uncompared, 1, reason_of_uncompared());
    return false;
  }

  std::string reason_of_uncompared() const {
    if (model_ && !model_->is_graph())
      return "no file is kept and no resource compared: add golden files by resource (expect, or "
             "RESOURCE.npy in a folder expected/), or a writeFile to the model, and use --out";
    const std::string output = model_ ? model_->first_output().value_or("OUTPUT")
                                      : first_output(*prepared_->description.spec);
    return "no output is kept or compared: add golden files (expect, or " + output +
           ".npy in a folder expected/, which --update-golden writes), or use --out";
  }

  // A link below --out may lead a job's files out of it.
  void check_output_folder(Diagnostics& findings) const {
    if (options_.output_folder.empty()) return;
    const fs::path folder = to_path(options_.output_folder) / to_path(job_.id);
    check_output(to_text(folder), &Confinement::problem_of_folder, findings);
  }
  void check_output(const std::string& path,
                    PathProblem (Confinement::*problem_of)(const std::string&) const,
                    Diagnostics& findings) const {
    if (!job_.request.confinement) return;
    const Confinement confinement(options_.output_folder);
    if (const PathProblem problem = (confinement.*problem_of)(path))
      findings.push_back(confinement_finding(path, problem, confinement));
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
    if (program.kind == OpenedProgram::Kind::graph) {
      if (program.graph) prepare_graph(*program.graph, findings);
    } else if (job_.document) {
      findings.push_back({.file = program.file->path,
                          .message = "this is no graph, as which the job names it",
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
    choose_files(*description, findings);
    prepared_ = prepare_job(std::move(*description), job_.request, Purpose::run, findings);
    if (!prepared_) return;
    keep(prepared_->warnings);
    refuse_shared_golden(findings);
    if (findings.empty()) claim_outputs(findings);
  }

  void keep(Diagnostics warnings) {
    warnings_ = std::move(warnings);
    for (const Diagnostic& warning : warnings_)
      result.warnings.push_back(to_text(warning, "warning"));
  }

  // If two jobs wrote one file, one result would be lost at random. Whoever uses a worker on
  // standard input knows which answers have been read, and may reuse a file.
  void claim_outputs(Diagnostics& findings) {
    const bool may_write_again = job_.place.starts_with("-:");
    std::set<std::string> claimed;  // a model may write its own file again
    std::vector<NamedFile> written = output_paths();
    const std::vector<NamedFile> golden = golden_paths();
    // Those of a job that keeps its own are not to be replaced for another one.
    if (options_.update_golden != UpdateGolden::no)
      written.insert(written.end(), golden.begin(), golden.end());
    for (const NamedFile& output : written) {
      if (may_have_several_writers(output.path)) continue;
      const std::string path = written_path(output.path);
      if (!claimed.insert(path).second) {
        if (!model_) refuse_output(output, "another tensor of the job is for", findings);
        continue;
      }
      if (outputs_.is_report(path))
        refuse_output(output, "this batch writes as its report", findings);
      else if (!may_write_again && !outputs_.claim(path))
        refuse_output(output, "another job of this batch writes", findings);
    }
  }

  // Whether jobs are selected or not, and whichever of them runs first.
  void refuse_shared_golden(Diagnostics& findings) {
    if (!updates_) return;
    for (const NamedFile& golden : golden_paths()) {
      if (may_have_several_writers(golden.path) ||
          !files_.is_of_another(written_path(golden.path), job_))
        continue;
      findings.push_back(
          {.message = "the golden file of " + golden.tensor +
                      " belongs to another job of this "
                      "batch, too: " +
                      golden.path,
           .rule = "--update-golden replaces no file that another job reads or is compared with",
           .suggestion = "give the job a golden file of its own"});
    }
  }

  void refuse_output(const NamedFile& output, const std::string& why, Diagnostics& findings) const {
    findings.push_back({.message = output.tensor + " goes to " + output.path + ", which " + why,
                        .rule = options_.update_golden != UpdateGolden::no
                                    ? "every job of a batch has outputs of its own, and with "
                                      "--update-golden golden files, too"
                                    : "every job of a batch has outputs of its own",
                        .suggestion = options_.output_folder.empty()
                                          ? "write it to another file, or use --out"
                                          : "give the job or the file another name"});
  }

  void prepare_model(const OpenedFile& file, Diagnostics& findings) {
    model_source_ = file;
    Diagnostics warnings;
    model_ = ModelJob::prepare(file.document, *root_of(file), job_, options_, findings, warnings);
    keep_model(std::move(warnings), findings);
  }

  void prepare_graph(const Graph& graph, Diagnostics& findings) {
    Diagnostics warnings;
    model_ = ModelJob::prepare(graph, job_, options_, findings, warnings);
    keep_model(std::move(warnings), findings);
  }

  void prepare_onnx(Diagnostics& findings) {
    Diagnostics warnings;
    onnx_ = OnnxJob::prepare(job_, options_, findings, warnings);
    keep(std::move(warnings));
    if (onnx_) result.operator_name = onnx_->operator_name();
  }

  void keep_model(Diagnostics warnings, Diagnostics& findings) {
    keep(std::move(warnings));
    if (!model_) return;
    result.operator_name = model_->operator_name();
    refuse_shared_golden(findings);
    if (findings.empty()) claim_outputs(findings);
  }

  static std::string first_output(const OperatorSpec& spec) {
    for (const FieldSpec& field : spec.fields) {
      if (field.is_output()) return field.name;
    }
    return "";
  }

  // Chooses the files of the folder that belong to the operator, and the files for its outputs.
  void choose_files(Description& description, Diagnostics& findings) {
    JobRequest& request = job_.request;
    request.outputs_may_be_dropped = true;
    request.compares_with_found = options_.against == nullptr;
    if (options_.against != nullptr) request.expected.clear();
    request.is_of_batch = true;
    request.checking = options_.checking;
    for (Binding& binding : description.bindings) {
      if (binding.path != "-" || request.confinement) continue;  // confined, it is refused anyway
      findings.push_back(
          description.document().at(*binding.written, "bindings." + binding.tensor +
                                                          " is \"-\": jobs of a batch have no "
                                                          "standard input or output of their own"));
      findings.back().suggestion = "name a file";
      binding.path.clear();  // nothing is read from it
    }
    if (options_.output_folder.empty()) return;
    const fs::path folder = to_path(options_.output_folder) / to_path(job_.id);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      throw Error(ErrorKind::io_failed, "creating " + to_text(folder) + ": " + reason(error));
    request.outputs.clear();
    for (const std::string& name : output_file_names(description, request)) {
      const std::string path = to_text(folder / to_path(name + ".npy"));
      check_output(path, &Confinement::problem_of_file, findings);
      request.outputs.push_back({name, path});
    }
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
    add("help: ", first.suggestion);
  }

  // Whether an earlier run's record proves that the job was done exactly like this and passed.
  bool done_before() {
    if (!options_.keep_records) return false;
    digest_inputs();
    const auto earlier = options_.earlier.find(job_.id);
    if (earlier == options_.earlier.end()) return false;
    if (!proves(earlier->second, digest_, output_paths())) return false;
    std::vector<std::string> warnings = std::move(result.warnings);  // with the places of today
    result = *earlier_result(earlier->second);
    result.warnings = std::move(warnings);
    result.repeat = repeat_command(job_, options_);
    result.place = job_.place;
    result.resumed = true;
    return true;
  }

  std::vector<NamedFile> output_paths() const {
    if (onnx_) return {};
    if (model_) return model_->outputs();
    std::vector<NamedFile> files;
    for (const BoundOutput& output : prepared_->outputs)
      files.push_back({output.name(), output.path});
    return files;
  }

  std::vector<NamedFile> golden_paths() const {
    if (onnx_) return onnx_->golden_files();
    if (model_) return model_->golden_files();
    std::vector<NamedFile> files;
    for (const Expectation& expectation : prepared_->expected)
      files.push_back({expectation.name(), expectation.path});
    return files;
  }

  // Adds everything that the result depends on: program, description, files, tolerance, device. A
  // new warning counts, as the record does not have it; its place does not.
  void digest_inputs() {
    Digest digest;
    digest.add(options_.program);
    if (model_ || onnx_) {
      // A graph and an ONNX model add their files.
      if (model_source_) digest.add(model_source_->document->source(*root_of(*model_source_)));
      digest.add(options_.checking.feature_level ? to_text(*options_.checking.feature_level) : "");
    } else {
      const Description& description = prepared_->description;
      digest.add(description.document().source(description.root()));
      digest.add(to_text(description.feature_level));
    }
    digest.add(job_.text);
    digest.add(job_.defaults);
    digest.add(job_.xfail_reason);
    digest.add(backend_.kind());
    if (options_.against != nullptr) digest.add("against " + options_.against->kind());
    if (options_.execution.strict_indices) digest.add("strict indices");
    if (options_.checking.warnings_as_errors) digest.add("warnings as errors");
    for (const Diagnostic& warning : warnings_) digest.add(warning.message);
    onnx_ ? onnx_->add_to(digest) : model_ ? model_->add_to(digest) : digest_files(digest);
    for (const NamedFile& output : output_paths()) digest.add(output.path);
    digest_ = digest.text();
  }

  void digest_files(Digest& digest) {
    for (const BoundInput& input : prepared_->inputs) {
      input_digests_.emplace_back(input.name(), array_digest_of(input.file));
      digest.add(input.name());
      digest.add(input_digests_.back().second);
    }
    for (const Expectation& expectation : prepared_->expected) {
      digest.add(expectation.name());
      digest.add(expectation.file ? array_digest_of(*expectation.file) : "missing");
      digest.add(to_text(expectation.tolerance));
      digest.add(expectation.tolerance.allow_trivial ? "trivial" : "");
    }
  }

  void execute() {
    // What it computes must outlive the pictures of the differences.
    if (options_.against != nullptr && prepared_)
      computed_by_other_ = expect_other_device(*prepared_, *options_.against, options_.execution,
                                               job_.request.tolerance);
    if (updates_ && prepared_) golden_.emplace();
    done_ = onnx_ ? onnx_->run(backend_, options_.execution)
            : model_
                ? model_->run(backend_, options_.execution, updates_, options_.against)
                : run_job(*prepared_, backend_, options_.execution, golden_ ? &*golden_ : nullptr);
    has_run_ = true;
    const bool differs = done_.verdict() == Verdict::failed;
    if (options_.keep_pictures && differs && prepared_) add_pictures();
    if (updates_ && model_) model_->update_golden(done_);
    if (golden_) golden_->update(*prepared_, done_);
    golden_.reset();
    conclude(done_.comparisons, job_.xfail_reason, options_.update_golden, result);
  }

  void add_pictures() {
    Json list = Json::array();
    for (const OutputComparison& output : done_.comparisons) list.push_back(pictures_of(output));
    result.pictures = list.dump();
  }

  // The difference is reported even if its picture cannot be made.
  Json pictures_of(const OutputComparison& output) {
    try {
      return made_pictures(output);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::run_failed) throw;
      return {{"picturesMissing", error.what()}};
    }
  }

  Json made_pictures(const OutputComparison& output) {
    const Comparison& comparison = output.comparison;
    if (comparison.verdict() != Verdict::failed || comparison.worst.empty()) return nullptr;
    if (pictures_.fetch_add(1) >= pictures_max)
      return {{"picturesMissing",
               "only the first " + std::to_string(pictures_max) + " failures have pictures"}};
    const std::uint64_t bytes = comparison.elements * size_of(comparison.data_type);
    const auto is_same = [&](const auto& other) { return other.name() == output.tensor; };
    const auto& outputs = prepared_->outputs;
    const auto bound = std::find_if(outputs.begin(), outputs.end(), is_same);
    const std::string path = bound == outputs.end() ? "" : bound->path;
    const auto& golden = prepared_->expected;
    const auto expectation = std::find_if(golden.begin(), golden.end(), is_same);
    std::error_code error;
    const bool was_kept = fs::is_regular_file(to_path(path), error);  // and went into no pipe
    if (!was_kept && bytes > picture_bytes_max)
      return {{"picturesMissing", "the output is large and was not kept; use --out"}};
    const Elements expected(*expectation->file);
    const std::uint64_t worst = comparison.worst.front().index;
    const bool nan_equals_nan = comparison.tolerance.nan_equals_nan;
    if (was_kept) {
      std::optional<RawForm> form;
      if (bound->is_raw) form = {comparison.data_type, comparison.sizes};
      const NpyFile written = with_context(
          "reading " + path, [&] { return NpyFile::open(PinnedFile(nullptr, path), form); });
      Json json = pictures_json(plane_pictures(Elements(written), expected, worst, nan_equals_nan));
      require_intact(written, path);
      return json;
    }
    const auto actual =
        outputs_in_memory(*prepared_, backend_, options_.execution, nullptr, output.tensor);
    return pictures_json(
        plane_pictures(actual.front().elements(), expected, worst, nan_equals_nan));
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
                      .inputs = input_digests_,
                      .outputs = {},
                      .comparisons = done_.comparisons};
    if (has_run_) {
      for (const NamedFile& output : output_paths())
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
  std::optional<Job> prepared_;
  Diagnostics warnings_;
  std::optional<ModelJob> model_;  // instead, where the description is a model
  std::optional<OnnxJob> onnx_;    // instead, where it is an ONNX test
  std::optional<OpenedFile> model_source_;
  std::string file_text_;  // of the description, where it is a file
  std::string digest_;
  std::vector<std::pair<std::string, std::string>> input_digests_;
  bool updates_ = false;  // golden files that are missing or differ are written
  bool has_run_ = false;
  std::vector<OutputInMemory> computed_by_other_;
  JobResult done_;
  std::optional<NewGoldenFiles> golden_;  // of prepared_
};

}  // namespace

OutputPaths::OutputPaths(const std::vector<std::string>& reports) {
  for (const std::string& report : reports) {
    if (!report.empty() && !may_have_several_writers(report)) reports_.insert(written_path(report));
  }
}

bool OutputPaths::claim(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  return claimed_.add(short_digest(path), 1) == 0;
}

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
