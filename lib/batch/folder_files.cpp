#include "batch/folder_files.hpp"

#include <algorithm>
#include <filesystem>

#include "base/path.hpp"
#include "base/text.hpp"
#include "job/bind.hpp"

namespace dmlop {
namespace {

// Whether a name was meant to be an output's; copies have longer names, OutputTensor_old.
bool is_slip(const std::string& name, const std::string& output, const OperatorSpec& spec) {
  if (output.empty() || name.starts_with('.') || name.starts_with(output)) return false;
  const std::size_t longest = std::max(name.size(), output.size());
  return longest - std::min(name.size(), output.size()) <= 1 && spec.find_field(name) == nullptr;
}

// A model's golden files may lie in the same folder.
bool has_model_beside(const std::string& description_path) {
  std::error_code error;
  return std::filesystem::exists(to_path(description_path).parent_path() / "model.json", error);
}

}  // namespace

void keep_inputs(JobRequest& request, const Description& description) {
  std::erase_if(request.inputs, [&](const NamedFile& file) {
    if (file.tensor.empty()) return false;
    const FieldSpec* field = description.spec->find_field(field_of_file(file.tensor));
    const auto binds = [&](const Binding& binding) {
      return binding.tensor == field_of_file(file.tensor);
    };
    return field == nullptr || !field->is_input() ||
           std::any_of(description.bindings.begin(), description.bindings.end(), binds);
  });
}

void keep_golden_files(JobRequest& request, const Description& description, Diagnostics& findings) {
  const OperatorSpec& spec = *description.spec;
  std::vector<std::string> outputs;
  for (const FieldSpec& field : spec.fields) {
    if (field.is_output()) outputs.push_back(field.name);
  }
  std::vector<NamedFile>& files = request.expected;
  const auto is_golden = [&](const NamedFile& file) {
    return file.tensor.empty() ||
           std::find(outputs.begin(), outputs.end(), field_of_file(file.tensor)) != outputs.end();
  };
  const auto first_stray = std::stable_partition(files.begin(), files.end(), is_golden);
  const bool has_golden = first_stray != files.begin();
  const bool has_model = first_stray != files.end() && has_model_beside(request.description_path);
  for (auto stray = first_stray; stray != files.end() && !has_model; ++stray) {
    const std::string nearest = nearest_name(stray->tensor, outputs);
    if (has_golden && !is_slip(stray->tensor, nearest, spec)) continue;
    findings.push_back({.file = stray->path,
                        .message = "this golden file has the name of no output of " + spec.name,
                        .rule = "NAME.npy in a folder expected/ is compared with the output NAME",
                        .suggestion = nearest.empty() ? "outputs: " + join(outputs)
                                                      : "did you mean " + nearest + ".npy?"});
  }
  files.erase(first_stray, files.end());
}

void add_golden_files(JobRequest& request, const Description& description,
                      const std::string& folder) {
  std::vector<NamedFile>& files = request.expected;
  const std::size_t named = files.size();
  for (const Field& field : description.fields) {
    const FieldSpec& spec = *field.spec;
    if (!spec.is_output() || (spec.optional && field.is_absent())) continue;
    // A file without a name is that of the only output.
    const auto is_its = [&](const NamedFile& file) {
      return file.tensor.empty() || field_of_file(file.tensor) == spec.name;
    };
    const auto end = files.begin() + static_cast<std::ptrdiff_t>(named);
    if (folder.empty() || std::any_of(files.begin(), end, is_its)) continue;
    const auto add = [&](const std::string& name) {
      const std::filesystem::path path = to_path(folder) / to_path(name + ".npy");
      files.push_back({name, to_text(path), request.confinement});
    };
    const auto* elements = std::get_if<std::vector<TensorDesc>>(&field.value);
    if (!spec.is_tensor_array()) add(spec.name);
    for (std::size_t i = 0; elements != nullptr && i < elements->size(); ++i)
      add(spec.name + "." + std::to_string(i));
  }
}

}  // namespace dmlop
