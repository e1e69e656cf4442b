#include "onnx/inputs.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "onnx/import.hpp"
#include "onnx/input_sizes.hpp"
#include "onnx/tensor_file.hpp"

namespace dmlop::onnx {
namespace {

/// "1,3,224,224", or "SIZE,3,224,224" where a dimension has no size.
std::string sizes_to_write(const ValueInfo& input, const NamedSizes& named) {
  if (!input.sizes) return "1,3,224,224";
  std::string text;
  for (const Dimension& dimension : *input.sizes) {
    const auto size = size_of(dimension, named);
    text += (text.empty() ? "" : ",") + (size ? std::to_string(*size) : std::string("SIZE"));
  }
  return text;
}

/// What a raw file leaves open is what the model and the user say of the input.
RawForm form_of_input(const RawForm& form, const ValueInfo& input, const ImportRequest& request,
                      const std::string& path) {
  Sizes sizes;
  std::string unknown;
  for (const Dimension& dimension : input.sizes.value_or(std::vector<Dimension>{})) {
    const auto size = size_of(dimension, request.dimensions);
    sizes.push_back(size.value_or(0));
    if (!size && unknown.empty()) unknown = dimension.name;
  }
  if (std::find(sizes.begin(), sizes.end(), 0U) != sizes.end()) sizes.clear();
  const bool is_scalar = input.sizes && input.sizes->empty();
  if (is_scalar) sizes = {1};
  const RawForm complete = form.completed(data_type_of(input.element_type), sizes);
  if (complete.data_type && !complete.sizes.empty()) return complete;
  const std::string type(name_of(complete.data_type.value_or(DataType::Float32)));
  const std::string named =
      unknown.empty() ? "" : ", or " + way_to_name_size(request.size_source, unknown);
  throw Error(ErrorKind::invalid_input,
              "a raw file has no header, and the model does not say all sizes of " +
                  printable(std::string(input.name)) + ": write " + path + ":" + type + ":" +
                  sizes_to_write(input, request.dimensions) + named);
}

/// A copy of elements that belong to the caller. Errors: invalid_input unless they are as many as
/// the sizes say.
TensorData copy_of(const MemoryTensor& tensor) {
  NpyFile::in_memory(tensor);
  return data_of_elements(tensor.data_type, tensor.sizes,
                          {tensor.bytes.begin(), tensor.bytes.end()});
}

TensorData read_input(const NamedFile& file, const std::string& path, const ValueInfo& input,
                      const ImportRequest& request) {
  if (file.memory)
    return with_context("reading " + printable(file.tensor) + " from " + path,
                        [&] { return copy_of(*file.memory); });
  if (file.raw)
    return read_npy_file(path, file.confinement, form_of_input(*file.raw, input, request, path));
  return is_named_tensor(path) ? read_tensor_file(path, file.confinement)
                               : read_npy_file(path, file.confinement);
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
                                              const ImportRequest& request,
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
      continue;
    }
    if (files.contains(name)) {
      diagnostics.push_back({.kind = ErrorKind::usage,
                             .file = model.path,
                             .message = "the input \"" + printable(name) + "\" has two files",
                             .suggestion = "keep one of them"});
      continue;
    }
    try {
      const auto index = static_cast<std::size_t>(found - names.begin());
      files[name] = read_input(file, path, model.inputs[index], request);
    } catch (const Error& error) {
      diagnostics.push_back(finding_of(error));
    }
  }
  return files;
}

std::vector<NamedFile> files_of_inputs(const OnnxModel& model,
                                       const std::vector<NamedFile>& files) {
  std::vector<NamedFile> found;
  std::ranges::copy_if(files, std::back_inserter(found), [&](const NamedFile& file) {
    const auto names_it = [&](const ValueInfo& input) { return input.name == file.tensor; };
    return !file.random && std::ranges::any_of(model.inputs, names_it);
  });
  return found;
}

}  // namespace dmlop::onnx
