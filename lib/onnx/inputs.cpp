#include "onnx/inputs.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "onnx/import.hpp"
#include "onnx/tensor_file.hpp"

namespace dmlop::onnx {
namespace {

/// What a raw file leaves open is what the model says of the input.
RawForm form_of_input(const RawForm& form, const ValueInfo& input, const std::string& path) {
  Sizes sizes;
  for (const Dimension& dimension : input.sizes.value_or(std::vector<Dimension>{}))
    sizes.push_back(dimension.size ? static_cast<std::uint64_t>(*dimension.size) : 0);
  if (std::find(sizes.begin(), sizes.end(), 0U) != sizes.end()) sizes.clear();
  const bool is_scalar = input.sizes && input.sizes->empty();
  if (is_scalar) sizes = {1};
  const RawForm complete = form.completed(data_type_of(input.element_type), sizes);
  if (complete.data_type && !complete.sizes.empty()) return complete;
  throw Error(ErrorKind::invalid_input,
              "a raw file has no header, and the model does not say all sizes of " +
                  printable(std::string(input.name)) + ": write " + path + ":" +
                  std::string(name_of(complete.data_type.value_or(DataType::Float32))) +
                  ":1,3,224,224");
}

/// A copy of elements that belong to the caller. Errors: invalid_input unless they are as many as
/// the sizes say.
TensorData copy_of(const MemoryTensor& tensor) {
  NpyFile::in_memory(tensor);
  return data_of_elements(tensor.data_type, tensor.sizes,
                          {tensor.bytes.begin(), tensor.bytes.end()});
}

TensorData read_input(const NamedFile& file, const std::string& path, const ValueInfo& input) {
  if (file.memory)
    return with_context("reading " + printable(file.tensor) + " from " + path,
                        [&] { return copy_of(*file.memory); });
  if (file.raw) return read_npy_file(path, form_of_input(*file.raw, input, path));
  return is_named_tensor(path) ? read_tensor_file(path) : read_npy_file(path);
}

/// The input that a file is for, of all or, without a name, the only one that needs a file. Names
/// may have "=".
std::string input_named(const NamedFile& file, const std::vector<std::string>& names,
                        const std::vector<const ValueInfo*>& needed, std::string& path) {
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
  if (file.tensor.empty() && needed.size() == 1) return std::string(needed.front()->name);
  return file.tensor;
}

}  // namespace

std::map<std::string, TensorData> read_inputs(const OnnxModel& model,
                                              const std::vector<NamedFile>& inputs,
                                              Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const ValueInfo& input : model.inputs) names.emplace_back(input.name);
  const auto needed = inputs_to_give(model);
  std::map<std::string, TensorData> files;
  for (const NamedFile& file : inputs) {
    std::string path;
    const std::string name = input_named(file, names, needed, path);
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
               !files.emplace(name, read_input(file, path, model.inputs[index])).second) {
      diagnostics.push_back({.kind = ErrorKind::usage,
                             .file = model.path,
                             .message = "the input \"" + printable(name) + "\" has two files"});
    }
  }
  return files;
}

}  // namespace dmlop::onnx
