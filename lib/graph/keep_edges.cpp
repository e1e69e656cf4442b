#include "graph/keep_edges.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/confine.hpp"
#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/edge_names.hpp"
#include "model/convert_json.hpp"
#include "model/outputs.hpp"

namespace dmlop {

EdgeKeeper::EdgeKeeper(const Model& model, std::string folder, const FileRoles& files,
                       Diagnostics& diagnostics)
    : model_(model), folder_(std::move(folder)), names_(edge_file_names(model)) {
  const auto refuse_replaced = [&](const std::string& subject, const std::string& path) {
    const std::string role = files.role_of(path);
    if (role.empty()) return;
    diagnostics.push_back({.kind = ErrorKind::usage,
                           .file = model.file,
                           .message = subject + " would replace " + role + ": " + path,
                           .suggestion = "write to another folder"});
  };
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    for (const TensorBinding* binding : outputs_of(model, *dispatch)) {
      const std::size_t resource = binding->range.resource;
      const std::string& edge = model.resources[resource].name;
      has_other_names_ = has_other_names_ || names_[resource] != edge;
      refuse_replaced("the edge \"" + printable(edge) + "\"", path_of(resource));
    }
  }
  std::error_code ignored;
  has_index_ = has_other_names_ || std::filesystem::exists(to_path(index_path()), ignored);
  if (has_index_) refuse_replaced("the index of the edges", index_path());
}

std::string EdgeKeeper::index_path() const {
  return to_text(to_path(folder_) / "index.json");
}

std::string EdgeKeeper::path_of(std::size_t resource) const {
  return to_text(to_path(folder_) / to_path(names_[resource] + ".npy"));
}

void EdgeKeeper::begin() const {
  std::error_code error;
  std::filesystem::create_directories(to_path(folder_), error);
  if (error) fail_io("creating " + folder_ + ": " + error.message());
  if (!has_index_) return;
  nlohmann::ordered_json index = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!names_[i].empty()) index[names_[i] + ".npy"] = valid_utf8(model_.resources[i].name);
  }
  const std::string text = readable_text(index);
  OutputFile file(index_path(), text.size(), Contents::text);
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit();
}

void EdgeKeeper::keep(const DispatchCommand& command, Runtime& runtime) const {
  const Description& description = *model_.dispatchables[command.dispatchable].description;
  for (const TensorBinding* binding : outputs_of(model_, command)) {
    const std::size_t resource = binding->range.resource;
    write_npy(written_tensor(description, *binding), runtime.contents(resource), path_of(resource));
  }
}

}  // namespace dmlop
