#include "onnx/test_folder.hpp"

#include <filesystem>

#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/lower.hpp"
#include "job/confined_files.hpp"
#include "model/outputs.hpp"
#include "model/runtime.hpp"
#include "onnx/tensor_file.hpp"

namespace dmlop::onnx {
namespace {

namespace fs = std::filesystem;

std::string below(const std::string& folder, const std::string& name) {
  return to_text(to_path(folder) / name);
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(to_path(path), error);
}

OutputComparison compare_output(const Model& model, std::size_t resource, const Port& port,
                                Runtime& runtime, const TensorData& expected,
                                const std::string& path, const Tolerance& tolerance) {
  const Buffer packed = packed_elements(tensor_of(model, resource), runtime.contents(resource));
  const Buffer unpacked = elements_of(expected, "the elements of " + path);
  const Elements golden(expected.type, expected.sizes, unpacked.bytes());
  Comparator comparator(golden, port.type, port.sizes, tolerance);
  if (comparator.needs_elements()) comparator.add(0, packed.bytes());
  const std::size_t size = size_of(port.type);
  return {port.name, path, comparator.finish([=](std::uint64_t index) { return index * size; })};
}

}  // namespace

std::string model_in(const std::string& folder) {
  return below(folder, "model.onnx");
}

bool is_test_folder(const std::string& folder) {
  return is_file(model_in(folder));
}

std::vector<std::string> data_sets_in(const std::string& folder) {
  std::vector<std::string> sets;
  std::error_code error;
  for (std::size_t i = 0;; ++i) {
    const std::string set = below(folder, "test_data_set_" + std::to_string(i));
    if (!fs::is_directory(to_path(set), error)) return sets;
    sets.push_back(set);
  }
}

Tolerance default_tolerance() {
  return {.rtol = 1e-3, .atol = 1e-7, .ulp = {}, .allow_trivial = true, .origin = "ONNX's tests"};
}

std::vector<std::string> tensors_in(const std::string& data_set, const std::string& stem) {
  std::vector<std::string> files;
  for (std::size_t i = 0;; ++i) {
    std::string path = below(data_set, stem + "_" + std::to_string(i) + ".pb");
    if (!is_file(path)) return files;
    files.push_back(std::move(path));
  }
}

std::map<std::string, TensorData> inputs_of(const OnnxModel& model, const std::string& data_set,
                                            const SharedConfinement& confinement) {
  std::map<std::string, TensorData> files;
  const std::vector<const ValueInfo*> inputs = inputs_to_give(model);
  const std::vector<std::string> paths = tensors_in(data_set, "input");
  if (paths.size() > inputs.size())
    throw Error(ErrorKind::invalid_input, data_set + " has " + counted(paths.size(), "input") +
                                              ", but the model has " +
                                              std::to_string(inputs.size()));
  std::vector<std::string> missing;
  for (std::size_t i = paths.size(); i < inputs.size(); ++i)
    missing.push_back("\"" + printable(std::string(inputs[i]->name)) + "\"");
  if (!missing.empty())
    throw Error(ErrorKind::invalid_input,
                data_set + " has no file for the " + (missing.size() == 1 ? "input " : "inputs ") +
                    join(missing) + ": write input_" + std::to_string(paths.size()) + ".pb" +
                    (missing.size() == 1 ? "" : " and so on"));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    // Whatever is no tensor of DirectML has a finding when the model is read.
    if (!inputs[i]->other.empty() || !data_type_of(inputs[i]->element_type)) continue;
    files.emplace(inputs[i]->name, read_tensor_file(paths[i], confinement));
  }
  return files;
}

std::optional<DataSet> prepare_data_set(const OnnxModel& model, const std::string& folder,
                                        const ImportRequest& request, const Checking& checking,
                                        Diagnostics& diagnostics, Diagnostics& warnings) {
  ImportRequest with_files = request;
  with_files.files = inputs_of(model, folder, request.confinement);
  auto imported = import_onnx(model, with_files, diagnostics);
  if (!imported) return std::nullopt;
  auto lowered =
      lower_graph(imported->graph, {.checking = checking, .confinement = request.confinement},
                  diagnostics, warnings);
  if (!lowered) return std::nullopt;
  std::vector<std::string> expected = tensors_in(folder, "output");
  if (expected.size() != imported->outputs.size())
    throw Error(ErrorKind::invalid_input, folder + " has " + counted(expected.size(), "output") +
                                              ", but the model has " +
                                              std::to_string(imported->outputs.size()));
  std::vector<NamedFile> files;
  for (std::size_t i = 0; i < expected.size(); ++i)
    files.push_back({imported->outputs[i].name, expected[i], request.confinement});
  const std::size_t before = diagnostics.size();
  check_confined(files, diagnostics);
  if (diagnostics.size() > before) return std::nullopt;
  return DataSet{std::move(*lowered), std::move(imported->outputs), std::move(expected),
                 request.confinement};
}

std::vector<OutputComparison> run_data_set(const DataSet& set, const Tolerance& tolerance,
                                           Backend& backend, const ExecutionOptions& options,
                                           std::string* device, const AroundNode& around) {
  const Model& model = set.lowered.model;
  Runtime runtime(model, backend, options);
  for (const ModelCommand& command : model.commands) {
    const auto& dispatch = std::get<DispatchCommand>(command);
    if (around)
      around(model.dispatchables[dispatch.dispatchable], [&] { runtime.dispatch(dispatch); });
    else
      runtime.enqueue(dispatch);
  }
  runtime.finish();
  if (device != nullptr) *device = join(runtime.devices());
  std::vector<OutputComparison> comparisons;
  for (std::size_t i = 0; i < set.expected.size(); ++i)
    comparisons.push_back(compare_output(model, model.outputs[i], set.outputs[i], runtime,
                                         read_tensor_file(set.expected[i], set.confinement),
                                         set.expected[i], tolerance));
  return comparisons;
}

}  // namespace dmlop::onnx
