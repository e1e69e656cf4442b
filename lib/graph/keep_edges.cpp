#include "graph/keep_edges.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/confine.hpp"
#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/edge_names.hpp"
#include "json/document.hpp"
#include "model/convert_json.hpp"
#include "model/outputs.hpp"

namespace dmlop {
namespace {

// Whether a file may be replaced: it is empty, or an index that a run wrote.
bool is_index_of_edges(const std::string& path) {
  std::string text = with_context("reading " + path, [&] { return json::read_text(path); });
  if (text.empty()) return true;
  Diagnostics findings;
  const auto document = json::Document::parse(path, std::move(text), findings);
  if (!document || !findings.empty()) return false;
  const json::Value& root = document->root();
  const auto is_entry = [](const json::Member& member) {
    return member.name.ends_with(".npy") && member.value.kind == json::Value::Kind::string;
  };
  return root.kind == json::Value::Kind::object && std::ranges::all_of(root.members, is_entry);
}

}  // namespace

EdgeKeeper::EdgeKeeper(const Model& model, std::string folder, const FileRoles& files,
                       Diagnostics& diagnostics)
    : model_(model), folder_(std::move(folder)), names_(edge_file_names(model)) {
  const auto refuse_to_replace = [&](const std::string& subject, const std::string& role,
                                     const std::string& path) {
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
      refuse_to_replace("the edge \"" + printable(edge) + "\"", files.role_of(path_of(resource)),
                        path_of(resource));
    }
  }
  std::error_code ignored;
  has_index_ = has_other_names_ || std::filesystem::exists(to_path(index_path()), ignored);
  if (!has_index_) return;
  std::string role = files.role_of(index_path());
  const bool is_file = std::filesystem::is_regular_file(to_path(index_path()), ignored);
  const bool is_there = std::filesystem::exists(to_path(index_path()), ignored);
  if (role.empty() && is_there && (!is_file || !is_index_of_edges(index_path())))
    role = "a file with something else";
  refuse_to_replace("the index of the edges", role, index_path());
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
