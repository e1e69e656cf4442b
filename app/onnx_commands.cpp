#include "onnx_commands.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "comparison_results.hpp"
#include "job/folder.hpp"
#include "onnx/import.hpp"
#include "onnx/mapping.hpp"
#include "onnx/test_folder.hpp"
#include "operator_times.hpp"
#include "stopwatch.hpp"
#include "warnings.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

/// What became of a data set.
struct SetResult {
  std::string path;
  std::vector<OutputComparison> outputs;
  OperatorTimes times;
};

bool has_passed(const SetResult& set) {
  return std::all_of(set.outputs.begin(), set.outputs.end(), [](const OutputComparison& output) {
    return output.comparison.verdict() == Verdict::passed;
  });
}

void print_set(const SetResult& set) {
  for (const OutputComparison& output : set.outputs) print_comparison(output);
}

Json set_json(const SetResult& set, bool has_timings) {
  Json json{{"dataSet", set.path}, {"comparisons", Json::array()}};
  if (has_timings) json["operators"] = set.times.json();
  for (const OutputComparison& output : set.outputs) {
    json["comparisons"].push_back(comparison_json(output));
  }
  return json;
}

std::string domain_of(const onnx::OnnxOperator& row) {
  return *row.domain == '\0' ? "ai.onnx" : row.domain;
}

/// "Conv", or "com.microsoft.FusedConv".
std::string name_with_domain(const onnx::OnnxOperator& row) {
  return (*row.domain == '\0' ? "" : std::string(row.domain) + ".") + row.name;
}

/// All, or those of one name, however it is capitalized, with or without the domain.
std::vector<onnx::OnnxOperator> rows_of(const std::string& name) {
  std::vector<onnx::OnnxOperator> rows;
  const std::string wanted = lower_case(name);
  std::ranges::copy_if(onnx::onnx_operators(), std::back_inserter(rows),
                       [&](const onnx::OnnxOperator& row) {
                         return name.empty() || lower_case(row.name) == wanted ||
                                lower_case(name_with_domain(row)) == wanted;
                       });
  return rows;
}

}  // namespace

void OnnxOptions::add_to(OptionList& command) {
  command.add_option("--dim", dimensions, "The size of a dimension that the model only names")
      .type_name("NAME=SIZE")
      .take_all()
      .only_for({InputForm::onnx_model, InputForm::onnx_test});
  command
      .add_flag("--fuse", fuses,
                "Make fewer operators of the model, as ONNX Runtime's optimizer does: activations, "
                "batch normalizations, sums and factors become part of the operators before them")
      .only_for({InputForm::onnx_model, InputForm::onnx_test});
}

std::map<std::string, std::uint64_t> OnnxOptions::sizes() const {
  constexpr std::uint64_t most = 0x7FFFFFFF;
  std::map<std::string, std::uint64_t> sizes;
  for (const std::string& text : dimensions) {
    const std::size_t middle = text.rfind('=');
    std::uint64_t size = most + 1;
    if (middle != std::string::npos) {
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + middle + 1, end, size);
      if (error != std::errc() || stop != end) size = most + 1;
    }
    if (middle == 0 || size > most)
      throw Error(ErrorKind::usage, "--dim " + shell_quoted(text) +
                                        " must be NAME=SIZE, with a size from 0 to " +
                                        std::to_string(most));
    const std::string name = text.substr(0, middle);
    if (!sizes.emplace(name, size).second)
      throw Error(ErrorKind::usage, "--dim " + name + " is given twice; keep one of them");
  }
  return sizes;
}

int run_onnx_folder(const std::string& folder, const OnnxOptions& onnx, const ModelRun& options) {
  Diagnostics diagnostics, warnings;
  const auto model = onnx::open_onnx(onnx::model_in(folder), diagnostics);
  if (!model) return report(diagnostics, options.format);
  const std::vector<std::string> sets = onnx::data_sets_in(folder);
  if (sets.empty())
    throw Error(ErrorKind::usage, folder +
                                      " has no folder test_data_set_0; run the model in it with "
                                      "-i NAME=FILE");
  const onnx::ImportRequest request{
      .dimensions = onnx.sizes(),
      .files = {},
      .confinement = options.confine.confinement(folder),
      .fuses = onnx.fuses,
      .feature_level = options.checking.feature_level.value_or(newest_feature_level),
      .size_source = onnx::SizeSource::options};
  stop_jobs_gently();
  Backend backend = open_backend(options.device.request(), options.quiet);
  std::vector<SetResult> results;
  for (const std::string& set : sets) {
    SetResult result{set, {}, {}};
    const auto data =
        onnx::prepare_data_set(*model, set, request, options.checking, diagnostics, warnings);
    if (!data) return report(diagnostics, options.format);
    const auto measure = [&](const Dispatchable& node, const std::function<void()>& run) {
      Stopwatch clock;
      run();
      result.times.add(node, clock.lap());
    };
    result.outputs =
        onnx::run_data_set(*data, options.tolerance.value_or(onnx::default_tolerance()), backend,
                           options.execution, nullptr, measure);
    if (options.timings && options.format == Format::text) result.times.print();
    if (options.format == Format::text && !options.quiet) print_set(result);
    results.push_back(std::move(result));
  }
  const bool passed = std::all_of(results.begin(), results.end(), has_passed);
  const int exit_code = passed ? exit_done : exit_different;
  if (options.format == Format::json) {
    Json json{{"status", passed ? "done" : "different"},
              {"exitCode", exit_code},
              {"device", backend.spec()},
              {"dataSets", Json::array()},
              {"warnings", warnings_json(warnings)}};
    for (const SetResult& result : results)
      json["dataSets"].push_back(set_json(result, options.timings));
    print_json(json);
  }
  return exit_code;
}

bool is_onnx_operator(const std::string& name) {
  return !rows_of(name).empty();
}

void print_onnx_operators(Format format, const std::string& name) {
  const std::vector<onnx::OnnxOperator> rows = rows_of(name);
  if (rows.empty())
    throw Error(ErrorKind::usage, "no operator of ONNX models is called \"" + name + "\"; " +
                                      onnx::remedy_of_unknown_operator(name));
  if (format == Format::json) {
    Json list = Json::array();
    for (const onnx::OnnxOperator& row : rows) {
      list.push_back({{"name", row.name}, {"domain", domain_of(row)}});
      if (row.map != nullptr) list.back()["becomes"] = row.becomes;
      if (row.map == nullptr) list.back()["notSupported"] = row.reason;
    }
    print_json(list);
    return;
  }
  if (format == Format::markdown) print({"| ONNX | DirectML |\n|---|---|\n"});
  for (const onnx::OnnxOperator& row : rows) {
    const std::string title = name_with_domain(row);
    const std::string what =
        row.map != nullptr ? row.becomes : "not supported: " + std::string(row.reason);
    if (format == Format::markdown) print({"| ", title, " | ", what, " |\n"});
    if (format == Format::text) print({padded(title, 40), " ", what, "\n"});
  }
}

}  // namespace dmlop::app
