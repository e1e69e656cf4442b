// dmlop run: one description, its files, one run, and the comparison with golden files. What runs
// a DxDispatch model is run_model.cpp.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/exit_codes.hpp"
#include "base/file.hpp"
#include "base/output.hpp"
#include "batch/folder_job.hpp"
#include "job/as_type.hpp"
#include "job/folder.hpp"
#include "job/golden.hpp"
#include "job/other_device.hpp"
#include "run_options.hpp"
#include "run_progress.hpp"
#include "run_result.hpp"
#include "stopwatch.hpp"
#include "tensor_files.hpp"
#include "warnings.hpp"

namespace dmlop::app {
namespace {

bool writes_to_standard_output(const Job& job) {
  const auto is_standard = [](const BoundOutput& output) {
    return is_standard_output(output.path);
  };
  return std::any_of(job.outputs.begin(), job.outputs.end(), is_standard);
}

// Options about golden files need one.
void require_expectation(const RunOptions& options) {
  if (!options.update_golden.empty())
    options.as_type.refuse("--update-golden writes golden files in the types of the description");
  if (!options.request.expected.empty() || options.expects_folder) return;
  if (!options.update_golden.empty() && !options.against.empty())
    throw Error(ErrorKind::usage, "--update-golden needs a golden file, and --against needs none");
  if (!options.expected_edges.empty() || !options.against.empty()) return;
  if (options.tolerance.given() || !options.update_golden.empty())
    throw Error(ErrorKind::usage,
                "a tolerance or --update-golden needs a golden file; add --expect GOLDEN.npy");
}

// A run is compared with golden files or with another device.
void refuse_both(const RunOptions& options) {
  if (options.against.empty() || (options.request.expected.empty() && !options.expects_folder))
    return;
  throw Error(ErrorKind::usage,
              "--expect and --against compare the same outputs; leave one of them out");
}

// Reports that golden files were expected and there are none.
[[noreturn]] void refuse_without_golden(const std::string& folder, const std::string& command) {
  throw Error(ErrorKind::usage, "there is no golden file in " + folder + "; create it with " +
                                    command + ", or name one: --expect GOLDEN.npy");
}

// Reports the same of a graph. No batch writes golden files of ONNX models, nor of files that have
// no folder of their own.
[[noreturn]] void refuse_without_golden(const OpenedProgram& graph, const std::string& folder) {
  if (!graph.is_onnx && !folder.empty())
    refuse_without_golden(folder, "dmlop batch FOLDER --update-golden");
  const std::string place = folder.empty() ? "" : " in " + folder;
  throw Error(ErrorKind::usage, "there is no golden file" + place + "; " + golden_by_output);
}

// What the command line says about a run of several operators.
ModelRun model_run(const RunOptions& options) {
  return {.model = options.model,
          .confine = options.confine,
          .inputs = options.request.inputs,
          .random = options.request.random,
          .outputs = options.request.outputs,
          .expected = options.request.expected,
          .tolerance = {},
          .checking = options.request.checking,
          .device = options.device,
          .execution = options.execution,
          .format = options.format,
          .timings = options.timings,
          .quiet = options.quiet,
          .kept_edges = options.kept_edges,
          .expected_edges = options.expected_edges,
          .as_type = options.as_type.type(),
          .against = options.against};
}

int run_as_model(const OpenedFile& file, const JobRequest& request, const RunOptions& options) {
  std::vector<NamedFile> expected = request.expected;
  if (options.expects_folder)
    expected.insert(expected.end(), request.found.expected.begin(), request.found.expected.end());
  if (options.expects_folder && expected.empty())
    refuse_without_golden(request.found.golden_folder, "dmlop batch FOLDER --update-golden");
  ModelRun run = model_run(options);
  run.expected = std::move(expected);
  run.tolerance = request.tolerance;
  return run_model(file, run);
}

// The job's request from the command line and the description's folder.
JobRequest request_for(const OpenedFile& file, const RunOptions& options,
                       Diagnostics& diagnostics) {
  JobRequest request = options.request;
  request.outputs_may_be_dropped = true;
  request.expected_may_be_missing = !options.update_golden.empty();
  request.compares_with_found = options.expects_folder;
  complete_request(request, file, options.confine, diagnostics);
  if (options.tolerance.given()) {
    request.tolerance = options.tolerance.tolerance;
    request.tolerance->origin = "command line";
  } else if (options.expects_folder || !request.expected.empty()) {
    request.tolerance = tolerance_beside(file.path, request.confinement, diagnostics);
  }
  if (options.expects_folder && request.found.golden_folder.empty())
    throw Error(ErrorKind::usage,
                "--expect without a file compares with the golden files in expected/ beside an "
                "op.json, and there is none here; write --expect GOLDEN.npy");
  if (options.expects_folder && !options.update_golden.empty()) {
    const std::string reason = expected_failure_beside(file.path, request.confinement, diagnostics);
    if (!reason.empty())
      throw Error(ErrorKind::usage, "job.json expects this job to fail (" + reason +
                                        "), so its golden files are right and are not updated; "
                                        "remove xfail from job.json first");
  }
  return request;
}

std::optional<Job> prepare(const OpenedFile& file, const RunOptions& options,
                           const JobRequest& request, Diagnostics& diagnostics) {
  refuse_both(options);
  auto job = prepare_job(file.document, file.root(), request, Purpose::run, diagnostics);
  if (!job) return std::nullopt;
  if (const auto type = options.as_type.type()) {
    compute_as(*type, *job, request.tolerance, diagnostics);
    if (request.checking.warnings_as_errors) refuse_warnings(job->warnings, diagnostics);
    if (!diagnostics.empty()) return std::nullopt;
  }
  if (options.expects_folder && job->expected.empty())
    refuse_without_golden(request.found.golden_folder, "--expect --update-golden");
  if (options.format == Format::json && writes_to_standard_output(*job)) {
    throw Error(ErrorKind::usage,
                "--format json and -o - both need standard output; name a file for the output");
  }
  if (options.format == Format::text && !options.quiet) print_warnings(job->warnings);
  return job;
}

int run_as_graph(const OpenedProgram& program, const RunOptions& options, Diagnostics diagnostics) {
  ModelRun run = model_run(options);
  if (program.is_onnx) run.constants = std::exchange(run.inputs, {});
  const std::string& path = program.graph ? program.graph->file : options.description.name();
  const SharedConfinement confinement = options.confine.confinement(path);
  run.found = files_beside(path, confinement, diagnostics);
  options.as_type.refuse_untyped(run.expected);
  if (options.expects_folder)
    run.expected.insert(run.expected.end(), run.found.expected.begin(), run.found.expected.end());
  if (options.expects_folder && run.expected.empty())
    refuse_without_golden(program, run.found.golden_folder);
  if (options.tolerance.given()) {
    run.tolerance = options.tolerance.tolerance;
    run.tolerance->origin = "command line";
  } else if (options.expects_folder || !run.expected.empty()) {
    run.tolerance = tolerance_beside(path, confinement, diagnostics);
  }
  return run_graph(program.graph, run, std::move(diagnostics));
}

int run_onnx_test(const RunOptions& options) {
  const std::string& folder = options.description.name();
  const Diagnostics unfit = options.description.unfit(InputForm::onnx_test, folder);
  if (!unfit.empty()) return report(unfit, options.format);
  ModelRun run = model_run(options);
  if (options.tolerance.given()) run.tolerance = options.tolerance.tolerance;
  return run_onnx_folder(folder, options.onnx, run);
}

int run(const RunOptions& options) {
  Stopwatch clock;
  RunTimings timings;
  Diagnostics diagnostics;
  const std::string& name = options.description.name();
  if (is_onnx_folder(name)) return run_onnx_test(options);
  require_expectation(options);
  const GraphRequest graph_request{.checking = options.request.checking,
                                   .confinement = options.confine.confinement(name)};
  const auto program = options.description.open(name, options.onnx, options.request.inputs,
                                                graph_request, diagnostics, options.quiet);
  if (program && program->kind == OpenedProgram::Kind::graph)
    return run_as_graph(*program, options, std::move(diagnostics));
  if (!program) return report(diagnostics, options.format);
  const OpenedFile& file = *program->file;
  const JobRequest request = request_for(file, options, diagnostics);
  if (program->kind == OpenedProgram::Kind::model) return run_as_model(file, request, options);
  auto job = prepare(file, options, request, diagnostics);
  if (!job) return report(diagnostics, options.format);
  if (!options.quiet) note_other_extensions(request.outputs);
  stop_jobs_gently();
  timings.check = clock.lap();
  Backend backend = open_backend(options.device.request(), options.quiet);
  timings.set_up = clock.lap();
  if (const std::string notice = large_run_notice(*job); !notice.empty() && !options.quiet)
    print(StandardStream::error, {"dmlop: ", notice, "\n"});
  std::optional<Backend> other;
  if (!options.against.empty()) other.emplace(other_device(options.against, backend));
  const bool is_shown = job->outputs.empty() && job->expected.empty() && !other && !options.quiet;
  std::vector<OutputInMemory> shown, computed_by_other;
  JobResult result;
  std::optional<NewGoldenFiles> golden;
  if (!options.update_golden.empty()) golden.emplace();
  {
    const RunProgress progress(*job, options.quiet);
    if (other)
      computed_by_other = expect_other_device(*job, *other, options.execution, request.tolerance);
    if (is_shown) shown = outputs_in_memory(*job, backend, options.execution, &result);
    if (!is_shown) result = run_job(*job, backend, options.execution, golden ? &*golden : nullptr);
  }
  timings.device = result.times;
  if (!result.notice.empty() && !options.quiet)
    print(StandardStream::error, {"dmlop: ", result.notice, "\n"});
  if (golden) golden->update(*job, result);
  timings.execute_and_write = clock.lap();
  const int exit_code = exit_code_of(result.comparisons, options.update_golden == "accept");
  const RunOutcome outcome{exit_code, std::move(result.comparisons)};
  const std::string& device = result.device.empty() ? backend.spec() : result.device;
  print_result(*job, options, device, timings, outcome, shown);
  return outcome.exit_code;
}

}  // namespace

Action add_run(OptionList& command) {
  const auto options = std::make_shared<RunOptions>();
  options->add_to(command);
  return [options] {
    return report_errors(options->format, [&] {
      if (!options->random.empty()) options->request.random = random_numbers(options->random);
      std::vector<NpyFile> tensors;
      if (options->update_golden.empty()) tensors = read_tensor_protos(options->request.expected);
      return run(*options);
    });
  };
}

}  // namespace dmlop::app
