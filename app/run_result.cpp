#include "run_result.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"
#include "comparison_results.hpp"
#include "job/golden.hpp"
#include "lines.hpp"
#include "preview.hpp"
#include "spec/broadcast.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const RunTimings& timings) {
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

void print_timings(const RunTimings& timings) {
  const Json json = to_json(timings);
  for (const auto& [name, value] : json.items()) {
    print(StandardStream::error,
          {padded(name, 24), " ", value.is_null() ? "not measured on this device" : value.dump(),
           "\n"});
  }
}

void print_comparisons(const RunOutcome& outcome) {
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

}  // namespace

void print_result(const Job& job, const RunOptions& options, const std::string& device,
                  const RunTimings& timings, const RunOutcome& outcome,
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
    if (!job.warnings.empty()) json["warnings"] = warnings_json(job.warnings);
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

}  // namespace dmlop::app
