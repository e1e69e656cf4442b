// dmlop run: one description, its files, one run.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "exit_codes.hpp"
#include "stopwatch.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  JobRequest request;
  ExecutionOptions execution;
  DeviceOptions device;
  Format format = Format::text;
  bool timings = false;
  bool quiet = false;
};

bool writes_to_standard_output(const Job& job) {
  const auto is_standard = [](const BoundOutput& output) { return output.path == "-"; };
  return std::any_of(job.outputs.begin(), job.outputs.end(), is_standard);
}

/// Seconds of each phase of one run; the device's own only where it can tell.
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
    std::fprintf(stderr, "%-24s %s\n", name.c_str(),
                 value.is_null() ? "not measured on this device" : value.dump().c_str());
  }
}

void print_result(const Job& job, const Options& options, const std::string& device,
                  const Timings& timings) {
  if (options.timings && options.format == Format::text) print_timings(timings);
  if (options.format == Format::json) {
    Json json{{"status", "done"}, {"exitCode", 0}, {"device", device}, {"outputs", Json::array()}};
    if (options.timings) json["timings"] = to_json(timings);
    for (const BoundOutput& output : job.outputs) {
      const TensorDesc& desc = job.description.tensor(output.tensor);
      json["outputs"].push_back({{"name", output.tensor},
                                 {"file", output.path},
                                 {"dataType", name_of(*desc.data_type)},
                                 {"sizes", desc.sizes}});
    }
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  if (options.quiet) return;
  for (const BoundOutput& output : job.outputs) {
    if (output.path == "-") continue;
    const TensorDesc& desc = job.description.tensor(output.tensor);
    std::printf("%s: %s %s in %s\n", output.tensor.c_str(),
                std::string(name_of(*desc.data_type)).c_str(), list_of(desc.sizes).c_str(),
                output.path.c_str());
  }
}

int run(const Options& options) {
  Stopwatch clock;
  Timings timings;
  Diagnostics diagnostics;
  const auto job = prepare_job(options.request, Purpose::run, diagnostics);
  if (!job) return report(diagnostics, options.format);
  if (options.format == Format::json && writes_to_standard_output(*job)) {
    throw Error(ErrorKind::usage,
                "--format json and -o - both need standard output; name a file for the output");
  }
  stop_jobs_gently();
  timings.check = clock.lap();
  Backend backend(options.device.request());
  if (!backend.notice().empty() && !options.quiet)
    std::fprintf(stderr, "dmlop: %s\n", backend.notice().c_str());
  timings.set_up = clock.lap();
  timings.device = run_job(*job, backend, options.execution);
  timings.execute_and_write = clock.lap();
  print_result(*job, options, backend.spec(), timings);
  return exit_done;
}

}  // namespace

Action add_run(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  command
      .add_option("OP.json", options->request.description_path,
                  "The op description; - is standard input")
      ->required();
  add_named_file_option(
      command, "-i,--input", options->request.inputs,
      "An input's .npy file, NAME a tensor field such as InputTensor; - is standard input");
  add_named_file_option(command, "-o,--output", options->request.outputs,
                        "An output's .npy file; - is standard output");
  options->device.add_to(command, options->execution);
  add_feature_level_option(command, options->request.feature_level);
  add_format_option(command, options->format);
  command.add_flag("--timings", options->timings, "Also print how long each phase took");
  command.add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  return [options] {
    try {
      return run(*options);
    } catch (const Error& error) {
      if (options->format != Format::json) throw;
      return report({Diagnostic{.kind = error.kind(), .message = error.what()}}, Format::json);
    }
  };
}

}  // namespace dmlop::app
