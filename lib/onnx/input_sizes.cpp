#include "onnx/input_sizes.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace dmlop::onnx {

void InputSizes::refuse(Diagnostic finding) {
  finding.file = model_.path;
  diagnostics_.push_back(std::move(finding));
}

std::optional<Sizes> InputSizes::of(const ValueInfo& input, const std::string& title,
                                    const TensorData* data) {
  if (!input.sizes) {
    if (data != nullptr) return data->sizes;
    refuse({.message = title + " has no sizes in the model",
            .suggestion = remedy_of_sizes(std::string(input.name))});
    return std::nullopt;
  }
  const std::vector<Dimension>& written = *input.sizes;
  const bool is_scalar = written.empty();
  // Files of a scalar may say that it is one element in a row.
  if (data != nullptr && is_scalar && data->sizes == Sizes{1}) return Sizes();
  if (data != nullptr && data->sizes.size() != written.size()) {
    refuse({.message = title + " has " + counted(written.size(), "dimension") +
                       ", but its file has the sizes " + list_of(data->sizes)});
    return std::nullopt;
  }
  Sizes sizes;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto size = size_of_dimension(written[i], i, title, data);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<std::uint64_t> InputSizes::size_of_dimension(const Dimension& dimension,
                                                           std::size_t index,
                                                           const std::string& title,
                                                           const TensorData* data) {
  const std::string place = title + ": dimension " + std::to_string(index);
  const std::string name(dimension.name);
  std::optional<std::uint64_t> size;
  if (dimension.size && *dimension.size >= 0) size = static_cast<std::uint64_t>(*dimension.size);
  const auto named = request_.dimensions.find(name);
  if (!size && !name.empty() && named != request_.dimensions.end()) size = named->second;
  if (!size && data != nullptr) return data->sizes[index];
  if (!size) {
    refuse({.message = place + (name.empty() ? std::string() : " \"" + printable(name) + "\"") +
                       " has no size in the model",
            .suggestion = remedy_of_size(name)});
    return std::nullopt;
  }
  if (data != nullptr && data->sizes[index] != *size) {
    refuse({.message = place + " is " + std::to_string(*size) + ", but its file has the sizes " +
                       list_of(data->sizes)});
    return std::nullopt;
  }
  return size;
}

/// What gives an input sizes for which the model has none.
std::string InputSizes::remedy_of_sizes(const std::string& input) const {
  if (request_.size_source != SizeSource::files) return remedy_of_size("");
  return "give its file: -i " + shell_quoted(input + "=") + "FILE.npy";
}

/// What gives a dimension a size; its name may be "".
std::string InputSizes::remedy_of_size(const std::string& name) const {
  const std::string given = "--dim " + shell_quoted(name + "=") + "N";
  const bool has_name = !name.empty();
  switch (request_.size_source) {
    case SizeSource::files:
      return (has_name ? "write " + given + ", or " : "") + "give the input's file with -i";
    case SizeSource::options:
      if (has_name) return "write " + given;
      return "write it into the model; dmlop check and run also take it from the input's file, "
             "with -i";
    case SizeSource::job:
      if (has_name)
        return "make a graph for the job: dmlop convert " + shell_quoted(model_.path) + " " +
               given + " --to-graph GRAPH.json";
      break;
    case SizeSource::call:
      if (has_name) return "give \"" + printable(name) + "\" a size in dimensions";
      break;
  }
  return "write it into the model";
}

void InputSizes::require_known_dimensions() {
  std::vector<std::string> known;
  for (const ValueInfo& input : model_.inputs) {
    if (!input.sizes) continue;
    for (const Dimension& dimension : *input.sizes) {
      const std::string name(dimension.name);
      const bool is_new = std::ranges::find(known, name) == known.end();
      if (!name.empty() && is_new) known.push_back(name);
    }
  }
  for (const auto& [name, size] : request_.dimensions) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    refuse({.kind = ErrorKind::usage,
            .message = "no input has a dimension \"" + printable(name) + "\"",
            .suggestion = !nearest.empty() ? "did you mean \"" + nearest + "\"?"
                          : known.empty()  ? "all sizes stand in the model; leave it out"
                                           : "dimensions: " + names_of_list(known)});
  }
}

}  // namespace dmlop::onnx
