// dmlop run: one description, its files, one run.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  JobRequest request;
  RunOptions run;
  Format format = Format::text;
  bool cpu = false;  // the only device so far
  bool quiet = false;
};

bool writes_to_standard_output(const Job& job) {
  const auto is_standard = [](const BoundOutput& output) { return output.path == "-"; };
  return std::any_of(job.outputs.begin(), job.outputs.end(), is_standard);
}

void print_result(const Job& job, const Options& options) {
  if (options.format == Format::json) {
    Json json{{"status", "done"}, {"exitCode", 0}, {"device", "cpu"}, {"outputs", Json::array()}};
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
  Diagnostics diagnostics;
  const auto job = prepare_job(options.request, Purpose::run, diagnostics);
  if (!job) return report(diagnostics, options.format);
  if (options.format == Format::json && writes_to_standard_output(*job)) {
    throw Error(ErrorKind::usage,
                "--format json and -o - both need standard output; name a file for the output");
  }
  run_job(*job, options.run);
  print_result(*job, options);
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
  command.add_flag("--cpu", options->cpu, "Run on the CPU (the only device of this version)");
  add_feature_level_option(command, options->request.feature_level);
  command.add_option("--threads", options->run.threads, "CPU threads (default: all)")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
  add_format_option(command, options->format);
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
