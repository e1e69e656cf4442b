// dmlop run: one description, its files, one run, and the comparison with golden files. What runs
// a DxDispatch model is run_model.cpp.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "as_type_option.hpp"
#include "base/file.hpp"
#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/folder_job.hpp"
#include "command.hpp"
#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"
#include "comparison_results.hpp"
#include "description_options.hpp"
#include "device_options.hpp"
#include "exit_codes.hpp"
#include "graph/json_graph.hpp"
#include "job/as_type.hpp"
#include "job/folder.hpp"
#include "job/golden.hpp"
#include "job/other_device.hpp"
#include "lines.hpp"
#include "model_commands.hpp"
#include "onnx_commands.hpp"
#include "preview.hpp"
#include "run_progress.hpp"
#include "spec/broadcast.hpp"
#include "stopwatch.hpp"
#include "tolerance_options.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

// How a golden file is made that no batch writes.
constexpr const char* by_output =
    "write one with -o NAME=FILE.npy, and compare with it: --expect NAME=FILE.npy";

struct RunOptions {
  DescriptionOptions description;
  JobRequest request;
  ExecutionOptions execution;
  DeviceOptions device;
  ToleranceOptions tolerance;
  ModelOptions model;
  OnnxOptions onnx;
  ConfineOption confine;
  bool expects_folder = false;  // --expect without a file
  std::string kept_edges;       // the folder of a graph's edges; "": none
  std::string expected_edges;   // the folder with golden files of them; "": none
  std::string random;           // the seed of made-up inputs; "": none
  std::string against;          // another device that is to compute the same; "": none
  AsTypeOption as_type;
  std::string update_golden;  // "write", "accept" or "": leave golden files alone
  Format format = Format::text;
  bool timings = false;
  bool quiet = false;
};

bool writes_to_standard_output(const Job& job) {
  const auto is_standard = [](const BoundOutput& output) {
    return is_standard_output(output.path);
  };
  return std::any_of(job.outputs.begin(), job.outputs.end(), is_standard);
}

/// The seconds of each phase of a run. The device's own are known only if it measures them.
struct Timings {
  double check = 0;
  double set_up = 0;
  double execute_and_write = 0;
  gpu::DispatchTimes device;
};

Json to_json(const Timings& timings) {
  const auto optional_seconds = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  return {{"checkSeconds", timings.check},
          {"setUpSeconds", timings.set_up},
          {"executeAndWriteSeconds", timings.execute_and_write},
          {"deviceUploadSeconds", optional_seconds(timings.device.upload)},
          {"deviceKernelSeconds", optional_seconds(timings.device.kernel)},
          {"deviceDownloadSeconds", optional_seconds(timings.device.download)}};
}

void print_timings(const Timings& timings) {
  const Json json = to_json(timings);
  for (const auto& [name, value] : json.items()) {
    print(StandardStream::error,
          {padded(name, 24), " ", value.is_null() ? "not measured on this device" : value.dump(),
           "\n"});
  }
}

struct Outcome {
  int exit_code = exit_done;
  std::vector<OutputComparison> comparisons;
};

void print_comparisons(const Outcome& outcome) {
  for (const OutputComparison& output : outcome.comparisons) {
    const bool is_update = output.update != GoldenUpdate::none;
    if (is_update) {
      print({word_of(output), ": ", output.tensor, ": ", summary_of(output), "\n",
             Text::lines(indented(brief_of(output)))});
    } else {
      print_comparison(output);
    }
  }
}

const TensorDesc& desc_of(const Job& job, const BoundOutput& output) {
  return *job.description.find_tensor(output.tensor, output.element);
}

Json output_json(const std::string& name, const TensorDesc& desc) {
  return {{"name", name}, {"dataType", name_of(*desc.data_type)}, {"sizes", desc.sizes}};
}

void print_result(const Job& job, const RunOptions& options, const std::string& device,
                  const Timings& timings, const Outcome& outcome,
                  const std::vector<OutputInMemory>& shown) {
  if (options.timings && options.format == Format::text) print_timings(timings);
  if (options.format == Format::json) {
    Json json{{"status", outcome.exit_code == exit_done ? "done" : "different"},
              {"exitCode", outcome.exit_code},
              {"device", device},
              {"outputs", Json::array()}};
    if (options.timings) json["timings"] = to_json(timings);
    for (const BoundOutput& output : job.outputs) {
      json["outputs"].push_back(output_json(output.name(), desc_of(job, output)));
      json["outputs"].back()["file"] = output.path;
    }
    for (const OutputInMemory& output : shown) {
      json["outputs"].push_back(output_json(output.name, *output.desc));
      json["outputs"].back().update(contents_json(output.elements()));
    }
    if (!job.warnings.empty()) json["warnings"] = notes_json(job.warnings);
    if (const auto stretched = stretched_texts(job.description); !stretched.empty())
      json["stretched"] = stretched;
    Json comparisons = Json::array();
    for (const OutputComparison& output : outcome.comparisons)
      comparisons.push_back(comparison_json(output));
    if (!comparisons.empty()) json["comparisons"] = std::move(comparisons);
    Json updated = Json::array();
    for (const OutputComparison& output : outcome.comparisons) {
      if (output.was_written()) updated.push_back(output.expected_path);
    }
    if (!updated.empty()) json["updated"] = std::move(updated);
    print_json(json);
    return;
  }
  if (options.quiet) return;
  for (const std::string& text : stretched_texts(job.description))
    print(StandardStream::error, {"dmlop: note: ", text, "\n"});
  for (const BoundOutput& output : job.outputs) {
    if (is_standard_output(output.path)) continue;
    const TensorDesc& desc = desc_of(job, output);
    print({output.name(), ": ", name_of(*desc.data_type), " ", list_of(desc.sizes), " in ",
           output.path, "\n"});
  }
  for (const OutputInMemory& output : shown) {
    print({output.name, ": ", name_of(*output.desc->data_type), " ", list_of(output.desc->sizes),
           "\n", Text::lines(contents_text(output.elements()))});
  }
  print_comparisons(outcome);
}

int exit_code_of(const std::vector<OutputComparison>& comparisons, bool accept) {
  const auto is_fine = [&](const OutputComparison& output) {
    return output.was_written() ? accept
                                : output.update == GoldenUpdate::none &&
                                      output.comparison.verdict() == Verdict::passed;
  };
  return std::all_of(comparisons.begin(), comparisons.end(), is_fine) ? exit_done : exit_different;
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
  throw Error(ErrorKind::usage, "there is no golden file" + place + "; " + by_output);
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
  if (options.format == Format::text && !options.quiet) print_notes(job->warnings);
  return job;
}

int run_as_graph(const OpenedProgram& program, const RunOptions& options, Diagnostics diagnostics) {
  ModelRun run = model_run(options);
  if (program.is_onnx) run.inputs.clear();  // they are constants of the graph
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
  Timings timings;
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
  Backend backend(options.device.request());
  if (!backend.notice().empty() && !options.quiet)
    print(StandardStream::error, {"dmlop: ", backend.notice(), "\n"});
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
  const Outcome outcome{exit_code, std::move(result.comparisons)};
  const std::string& device = result.device.empty() ? backend.spec() : result.device;
  print_result(*job, options, device, timings, outcome, shown);
  return outcome.exit_code;
}

// The meaning of --expect without a file.
constexpr const char* golden_folder = "expected/";

using Forms = std::vector<InputForm>;

const Forms single{InputForm::description};
const Forms graphs{InputForm::graph, InputForm::onnx_model};
const Forms with_inputs{InputForm::description, InputForm::graph, InputForm::onnx_model};
const Forms no_test{InputForm::description, InputForm::model, InputForm::graph,
                    InputForm::onnx_model};
const std::string update_by_batch =
    "dmlop batch FOLDER --update-golden writes the golden files of models and graphs";
const std::string test_has_files =
    "a test has its own inputs and outputs; name the model.onnx in the folder instead";

void add_expect_option(OptionList& command, RunOptions& options) {
  command
      .add_option_function(
          "--expect",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              if (text == golden_folder) {
                options.expects_folder = true;
              } else if (text.ends_with(".json")) {
                refuse_option("--expect",
                              "\"" + text +
                                  "\" is no golden .npy file; write the description first: " +
                                  text + " --expect");
              } else {
                options.request.expected.push_back(parse_named_file(text));
              }
            }
          },
          "The golden .npy file to compare an output with; without a file, those in expected/ "
          "beside op.json; a raw one is FILE:raw")
      .type_name("[[NAME=]FILE]")
      .expected(0, 1)
      .default_text(golden_folder)
      .take_all()
      .only_for(no_test, {{InputForm::onnx_test, test_has_files}});
}

}  // namespace

Action add_run(OptionList& command) {
  const auto options = std::make_shared<RunOptions>();
  options->description.add_to(command);
  add_named_file_option(
      command, "-i,--input", options->request.inputs,
      "An input's .npy file, NAME a tensor field such as InputTensor, or an input of a graph or of "
      "an ONNX model, which takes .pb files, too; - is standard input. A raw file is FILE:raw, or "
      "FILE:TYPE:SIZES as x.bin:FLOAT16:1,3,8,8, with :offset=BYTES and :big")
      .only_for(with_inputs,
                {{InputForm::onnx_test, test_has_files},
                 {InputForm::model,
                  "a model names the files of its resources (sourcePath), which --input-path "
                  "looks up in another folder"}});
  add_named_file_option(
      command, "-o,--output", options->request.outputs,
      "An output's .npy file, or FILE:raw for the elements alone; - is standard output; of a model "
      "or a graph, NAME is a "
      "resource or an edge as it is at the end. Without -o and --expect the output is shown")
      .only_for(no_test, {{InputForm::onnx_test, test_has_files}});
  add_broadcast_option(command, options->request.broadcasts);
  command
      .add_flag("--random{1}", options->random,
                "Make up numbers that suit the fields for inputs without a file; --random=SEED: "
                "others. A seed gives the same numbers everywhere")
      .type_name("[=SEED]")
      .only_for(with_inputs, {{InputForm::onnx_test, test_has_files},
                              {InputForm::model, "a model has its resources' values"}});
  add_expect_option(command, *options);
  options->tolerance.add_to(command);
  command
      .add_flag("--update-golden{write}", options->update_golden,
                "Write a golden file that is missing or different and exit with 1; "
                "--update-golden=accept exits with 0")
      .one_of({"write", "accept"})
      .type_name("[=accept]")
      .only_for(single, {{InputForm::model, update_by_batch},
                         {InputForm::graph, update_by_batch},
                         {InputForm::onnx_model, by_output}});
  command
      .add_option("--keep-edges", options->kept_edges,
                  "The folder that gets each edge as a .npy file")
      .type_name("FOLDER")
      .only_for(graphs);
  command
      .add_option("--expect-edges", options->expected_edges,
                  "The folder with a golden .npy file for each edge, or for some; names "
                  "the first node that goes wrong")
      .type_name("FOLDER")
      .only_for(graphs);
  command
      .add_option("--against", options->against,
                  "Another device, which has to compute the same; of a graph or a model each node "
                  "is compared, and the first that goes wrong is named")
      .type_name("SPEC")
      .only_for(no_test);
  options->as_type.add_to(command);
  options->model.add_to(command);
  options->onnx.add_to(command);
  options->confine.add_to(command);
  options->device.add_to(command, options->execution);
  add_strict_indices_option(command, options->execution);
  add_checking_options(command, options->request.checking);
  add_format_option(command, options->format);
  command.add_flag("--timings", options->timings, "Also print how long each phase took");
  command.add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  return [options] {
    return report_errors(options->format, [&] {
      if (!options->random.empty()) options->request.random = random_numbers(options->random);
      return run(*options);
    });
  };
}

}  // namespace dmlop::app
