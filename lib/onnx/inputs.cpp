#include "onnx/inputs.hpp"

#include <algorithm>

#include "base/path.hpp"
#include "base/text.hpp"
#include "onnx/import.hpp"

namespace dmlop::onnx {
namespace {

bool is_tensor_proto(const std::string& path) {
  return lower_case(to_text(to_path(path).extension())) == ".pb";
}

TensorData read_input(const std::string& path) {
  return is_tensor_proto(path) ? read_tensor_file(path) : read_npy_file(path);
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

}  // namespace

std::map<std::string, TensorData> read_inputs(const OnnxModel& model,
                                              const std::vector<NamedFile>& inputs,
                                              Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const ValueInfo* input : inputs_to_give(model)) names.emplace_back(input->name);
  std::map<std::string, TensorData> files;
  for (const NamedFile& file : inputs) {
    std::string path;
    const std::string name = input_named(file, names, path);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string nearest = nearest_name(name, names);
      diagnostics.push_back({.kind = ErrorKind::usage,
                             .file = model.path,
                             .message = name.empty()
                                            ? "which input is " + path + "?"
                                            : "the model has no input \"" + printable(name) + "\"",
                             .suggestion = nearest.empty() ? "inputs: " + names_of_list(names)
                                                           : "did you mean \"" + nearest + "\"?"});
    } else if (!files.emplace(name, read_input(path)).second) {
      diagnostics.push_back({.kind = ErrorKind::usage,
                             .file = model.path,
                             .message = "the input \"" + printable(name) + "\" has two files"});
    }
  }
  return files;
}

}  // namespace dmlop::onnx
