// dmlop check: everything of a run up to the plan.
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
  std::vector<std::string> descriptions;
  std::vector<NamedFile> inputs;
  std::optional<FeatureLevel> feature_level;
  Format format = Format::text;
  bool quiet = false;
};

std::string tensors_text(const Job& job) {
  std::vector<std::string> tensors;
  for (const Field& field : job.description.fields) {
    if (!field.spec->is_tensor()) continue;
    const TensorDesc& desc = std::get<TensorDesc>(field.value);
    tensors.push_back(field.spec->name + " " + std::string(name_of(*desc.data_type)) + " " +
                      list_of(desc.sizes));
  }
  return join(tensors);
}

Json tensors_json(const Job& job) {
  Json tensors = Json::object();
  for (const Field& field : job.description.fields) {
    if (!field.spec->is_tensor()) continue;
    const TensorDesc& desc = std::get<TensorDesc>(field.value);
    tensors[field.spec->name] = {{"dataType", name_of(*desc.data_type)}, {"sizes", desc.sizes}};
  }
  return tensors;
}

int check(const Options& options) {
  Diagnostics all;
  Json valid = Json::array();
  for (const std::string& path : options.descriptions) {
    Diagnostics diagnostics;
    std::optional<Job> job;
    try {
      job = prepare_job({path, options.inputs, {}, options.feature_level}, Purpose::check,
                        diagnostics);
    } catch (const Error& error) {
      diagnostics.push_back({.kind = error.kind(), .message = error.what()});
    }
    all.insert(all.end(), diagnostics.begin(), diagnostics.end());
    if (!job) continue;
    if (options.format == Format::json) {
      valid.push_back({{"file", path},
                       {"operator", "DML_OPERATOR_" + job->description.spec->name},
                       {"tensors", tensors_json(*job)}});
    } else if (!options.quiet) {
      std::printf("%s: ok: %s: %s\n", path.c_str(), job->description.spec->name.c_str(),
                  tensors_text(*job).c_str());
    }
  }
  if (!all.empty()) return report(all, options.format);
  if (options.format == Format::json) {
    std::printf("%s\n",
                Json{{"status", "done"}, {"exitCode", 0}, {"descriptions", valid}}.dump(2).c_str());
  }
  return exit_done;
}

}  // namespace

Action add_check(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  command.add_option("OP.json", options->descriptions, "The op descriptions; - is standard input")
      ->required();
  add_named_file_option(command, "-i,--input", options->inputs,
                        "An input's .npy file, of which the header is read");
  add_feature_level_option(command, options->feature_level);
  add_format_option(command, options->format);
  command.add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  return [options] { return check(*options); };
}

}  // namespace dmlop::app
