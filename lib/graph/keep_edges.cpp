#include "graph/keep_edges.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/confine.hpp"
#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "model/convert_json.hpp"
#include "model/outputs.hpp"

namespace dmlop {
namespace {

// Longer names are cut, so that every file system takes them.
constexpr std::size_t name_length_max = 100;

// A name that every system takes: letters, digits and a few marks.
std::string safe_name(const std::string& edge) {
  std::string name = edge.substr(0, name_length_max);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_safe =
        byte < 128 && (std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.');
    if (!is_safe) c = '_';
  }
  const bool is_reserved = static_cast<bool>(Confinement(".").problem_of_text(name + ".npy"));
  return name.empty() || name.front() == '.' || is_reserved ? "_" + name : name;
}

// The name, or with a number behind it the first that is new. Systems without capitals count.
std::string new_name(const std::string& name, std::set<std::string>& taken) {
  std::string unique = name;
  for (std::size_t i = 2; !taken.insert(lower_case(unique)).second; ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

template <typename Action>
void for_each_output(const Model& model, const DispatchCommand& command, Action&& action) {
  const OperatorSpec& spec = *model.dispatchables[command.dispatchable].description->spec;
  for (const TensorBinding& binding : command.bindings) {
    if (spec.find_field(binding.tensor)->is_output()) action(binding);
  }
}

}  // namespace

EdgeKeeper::EdgeKeeper(const Model& model, std::string folder,
                       const std::vector<std::string>& others, Diagnostics& diagnostics)
    : model_(model), folder_(std::move(folder)), names_(model.resources.size()) {
  std::set<std::string> taken, read;
  std::error_code ignored;
  for (const Resource& resource : model.resources) {
    if (!resource.initial.path.empty()) read.insert(real_path(resource.initial.path, ignored));
  }
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    for_each_output(model, *dispatch, [&](const TensorBinding& binding) {
      const std::size_t resource = binding.range.resource;
      const std::string& edge = model.resources[resource].name;
      names_[resource] = new_name(safe_name(edge), taken);
      has_other_names_ = has_other_names_ || names_[resource] != edge;
      const std::string path = path_of(resource);
      const bool replaces_input = std::filesystem::exists(to_path(path), ignored) &&
                                  read.contains(real_path(path, ignored));
      const auto is_it = [&](const std::string& other) {
        return std::filesystem::weakly_canonical(to_path(other), ignored) ==
               std::filesystem::weakly_canonical(to_path(path), ignored);
      };
      if (replaces_input || std::ranges::any_of(others, is_it))
        diagnostics.push_back({.kind = ErrorKind::usage,
                               .file = model.file,
                               .message = "the edge \"" + printable(edge) +
                                          "\" would replace another file of this run: " + path,
                               .suggestion = "write to another folder"});
    });
  }
}

std::string EdgeKeeper::path_of(std::size_t resource) const {
  return to_text(to_path(folder_) / to_path(names_[resource] + ".npy"));
}

void EdgeKeeper::begin() const {
  std::error_code error;
  std::filesystem::create_directories(to_path(folder_), error);
  if (error) fail_io("creating " + folder_ + ": " + error.message());
  if (!has_other_names_) return;
  nlohmann::ordered_json index = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!names_[i].empty()) index[names_[i] + ".npy"] = valid_utf8(model_.resources[i].name);
  }
  const std::string text = readable_text(index);
  OutputFile file(to_text(to_path(folder_) / "index.json"), text.size(), Contents::text);
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit();
}

void EdgeKeeper::keep(const DispatchCommand& command, Runtime& runtime) const {
  const Description& description = *model_.dispatchables[command.dispatchable].description;
  for_each_output(model_, command, [&](const TensorBinding& binding) {
    const std::size_t resource = binding.range.resource;
    write_npy(written_tensor(description, binding), runtime.contents(resource), path_of(resource));
  });
}

}  // namespace dmlop
