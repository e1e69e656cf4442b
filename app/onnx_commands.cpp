#include "onnx_commands.hpp"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"
#include "exit_codes.hpp"
#include "job/folder.hpp"
#include "onnx/import.hpp"
#include "onnx/mapping.hpp"
#include "onnx/test_folder.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

std::map<std::string, std::uint64_t> dimensions_of(const OnnxOptions& options) {
  constexpr std::uint64_t most = 0x7FFFFFFF;
  std::map<std::string, std::uint64_t> dimensions;
  for (const std::string& text : options.dimensions) {
    const std::size_t middle = text.rfind('=');
    std::uint64_t size = 0;
    if (middle != std::string::npos) {
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + middle + 1, end, size);
      if (error != std::errc() || stop != end) size = 0;
    }
    if (middle == 0 || size == 0 || size > most)
      throw Error(ErrorKind::usage, "--dim " + shell_quoted(text) +
                                        " must be NAME=SIZE, with a size from 1 to " +
                                        std::to_string(most));
    dimensions[text.substr(0, middle)] = size;
  }
  return dimensions;
}

bool is_tensor_proto(const std::string& path) {
  return lower_case(to_text(to_path(path).extension())) == ".pb";
}

/// What a raw file leaves open is what the model says of the input.
RawForm form_of_input(const RawForm& form, const onnx::ValueInfo& input, const std::string& path) {
  Sizes sizes;
  for (const onnx::Dimension& dimension : input.sizes.value_or(std::vector<onnx::Dimension>{}))
    sizes.push_back(dimension.size ? static_cast<std::uint64_t>(*dimension.size) : 0);
  if (std::find(sizes.begin(), sizes.end(), 0U) != sizes.end()) sizes.clear();
  const RawForm complete = form.completed(onnx::data_type_of(input.element_type), sizes);
  if (complete.data_type && !complete.sizes.empty()) return complete;
  throw Error(ErrorKind::invalid_input,
              "a raw file has no header, and the model does not say all sizes of " +
                  printable(std::string(input.name)) + ": write " + path + ":" +
                  std::string(name_of(complete.data_type.value_or(DataType::Float32))) +
                  ":1,3,224,224");
}

onnx::TensorData read_input(const std::string& path, const std::optional<RawForm>& form,
                            const onnx::ValueInfo& input) {
  if (form) return onnx::read_npy_file(path, form_of_input(*form, input, path));
  return is_tensor_proto(path) ? onnx::read_tensor_file(path) : onnx::read_npy_file(path);
}

/// The input that a file is for. Names may have "=".
std::string input_named(const NamedFile& file, const std::vector<std::string>& names,
                        std::string& path) {
  const std::string text = file.tensor.empty() ? file.path : file.tensor + "=" + file.path;
  for (std::size_t end = text.rfind('='); end != std::string::npos && end > 0;
       end = text.rfind('=', end - 1)) {
    const std::string name = text.substr(0, end);
    if (end + 1 == text.size() || std::find(names.begin(), names.end(), name) == names.end())
      continue;
    path = text.substr(end + 1);
    return name;
  }
  path = file.path;
  if (file.tensor.empty() && names.size() == 1) return names.front();
  return file.tensor;
}

std::map<std::string, onnx::TensorData> read_inputs(const onnx::OnnxModel& model,
                                                    const std::vector<NamedFile>& inputs,
                                                    Diagnostics& diagnostics) {
  std::vector<std::string> names;
  const auto wanted = onnx::inputs_to_give(model);
  for (const onnx::ValueInfo* input : wanted) names.emplace_back(input->name);
  std::map<std::string, onnx::TensorData> files;
  for (const NamedFile& file : inputs) {
    std::string path;
    const std::string name = input_named(file, names, path);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string nearest = nearest_name(name, names);
      diagnostics.push_back({.kind = ErrorKind::usage,
                             .file = model.path,
                             .message = name.empty()
                                            ? "which input is " + path + "?"
                                            : "the model has no input \"" + printable(name) + "\"",
                             .suggestion = nearest.empty() ? "inputs: " + names_of_list(names)
                                                           : "did you mean \"" + nearest + "\"?"});
    } else if (const auto index = static_cast<std::size_t>(found - names.begin());
               !files.emplace(name, read_input(path, file.raw, *wanted[index])).second) {
      diagnostics.push_back({.kind = ErrorKind::usage,
                             .file = model.path,
                             .message = "the input \"" + printable(name) + "\" has two files"});
    }
  }
  return files;
}

/// What became of a data set.
struct SetResult {
  std::string path;
  std::vector<OutputComparison> outputs;
};

bool has_passed(const SetResult& set) {
  return std::all_of(set.outputs.begin(), set.outputs.end(), [](const OutputComparison& output) {
    return output.comparison.verdict() == Verdict::passed;
  });
}

void print_set(const SetResult& set) {
  for (const OutputComparison& output : set.outputs) {
    const Comparison& comparison = output.comparison;
    print({name_of(comparison.verdict()), ": ", output.tensor, " against ", output.expected_path,
           ": ", comparison.summary(), "\n", Text::lines(to_text(comparison))});
  }
}

Json set_json(const SetResult& set) {
  Json json{{"dataSet", set.path}, {"comparisons", Json::array()}};
  for (const OutputComparison& output : set.outputs) {
    json["comparisons"].push_back({{"name", output.tensor}, {"expected", output.expected_path}});
    json["comparisons"].back().update(to_json(output.comparison));
  }
  return json;
}

std::string domain_of(const onnx::OnnxOperator& row) {
  return *row.domain == '\0' ? "ai.onnx" : row.domain;
}

}  // namespace

void OnnxOptions::add_to(OptionList& command) {
  command
      .add_option("--dim", dimensions,
                  "Of an ONNX model: the size of a dimension that the model only names")
      .type_name("NAME=SIZE")
      .take_all();
  command.add_flag("--fuse", fuses,
                   "Of an ONNX model: fuse activations into the operators before them, as ONNX "
                   "Runtime does");
}

std::optional<OpenedGraph> open_onnx_graph(const std::string& path, const OnnxOptions& options,
                                           const std::vector<NamedFile>& inputs,
                                           const ConfineOption& confine, Diagnostics& diagnostics) {
  const bool is_onnx = onnx::is_named_onnx(path);
  if (!is_onnx && (!options.dimensions.empty() || options.fuses))
    throw Error(ErrorKind::usage, std::string(options.fuses ? "--fuse" : "--dim") +
                                      " is for ONNX models, and " + path + " is none");
  if (!is_onnx) return std::nullopt;
  const auto model = onnx::open_onnx(path, diagnostics);
  if (!model) return OpenedGraph{};
  onnx::ImportRequest request{.dimensions = dimensions_of(options),
                              .files = read_inputs(*model, inputs, diagnostics),
                              .confinement = confine.confinement(path),
                              .fuses = options.fuses};
  if (!diagnostics.empty()) return OpenedGraph{};
  auto imported = onnx::import_onnx(*model, request, diagnostics);
  if (!imported) return OpenedGraph{};
  model->file->require_intact();
  return OpenedGraph{std::move(imported->graph)};
}

bool is_onnx_folder(const std::string& name) {
  std::error_code error;
  for (const std::string_view other : description_names) {
    if (std::filesystem::exists(to_path(name) / other, error)) return false;
  }
  return onnx::is_test_folder(name);
}

int run_onnx_folder(const std::string& folder, const OnnxOptions& onnx, const ModelRun& options) {
  if (!options.inputs.empty() || !options.outputs.empty() || !options.expected.empty())
    throw Error(ErrorKind::usage, folder +
                                      " is a folder of an ONNX test, with its own inputs and "
                                      "outputs; -i, -o and --expect are for the model in it: " +
                                      onnx::model_in(folder));
  Diagnostics diagnostics, notes;
  const auto model = onnx::open_onnx(onnx::model_in(folder), diagnostics);
  if (!model) return report(diagnostics, options.format);
  const std::vector<std::string> sets = onnx::data_sets_in(folder);
  if (sets.empty())
    throw Error(ErrorKind::usage, folder +
                                      " has no folder test_data_set_0; run the model in it with "
                                      "-i NAME=FILE");
  const onnx::ImportRequest request{.dimensions = dimensions_of(onnx),
                                    .files = {},
                                    .confinement = options.confine.confinement(folder),
                                    .fuses = onnx.fuses};
  stop_jobs_gently();
  Backend backend(options.device.request());
  if (!backend.notice().empty() && !options.quiet)
    print(StandardStream::error, {"dmlop: ", backend.notice(), "\n"});
  std::vector<SetResult> results;
  for (const std::string& set : sets) {
    SetResult result{set, {}};
    const auto data =
        onnx::prepare_data_set(*model, set, request, options.checking, diagnostics, notes);
    if (!data) return report(diagnostics, options.format);
    result.outputs = onnx::run_data_set(
        *data, options.tolerance.value_or(onnx::default_tolerance()), backend, options.execution);
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
              {"warnings", notes_json(notes)}};
    for (const SetResult& result : results) json["dataSets"].push_back(set_json(result));
    print_json(json);
  }
  return exit_code;
}

void print_onnx_operators(Format format) {
  const auto rows = onnx::onnx_operators();
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
    const std::string name = (*row.domain == '\0' ? "" : std::string(row.domain) + ".") + row.name;
    const std::string what =
        row.map != nullptr ? row.becomes : "not supported: " + std::string(row.reason);
    if (format == Format::markdown) print({"| ", name, " | ", what, " |\n"});
    if (format == Format::text) print({padded(name, 40), " ", what, "\n"});
  }
}

}  // namespace dmlop::app
