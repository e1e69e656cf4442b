#include "graph/to_jobs.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "graph/edge_names.hpp"
#include "model/convert.hpp"
#include "model/outputs.hpp"

namespace dmlop {
namespace {

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(to_path(folder), error);
  if (error) fail_io("creating " + folder + ": " + reason(error));
}

InitialValues values_now(std::span<const std::byte> contents) {
  auto copy = std::make_shared<Buffer>(contents.size(), "the copy of an edge");
  copy_in_pieces(contents, copy->data());
  return {.data_type = {},
          .bytes = copy->size(),
          .fill = [copy](std::span<std::byte> to) { copy_in_pieces(copy->bytes(), to.data()); },
          .file = {},
          .path = {},
          .raw = {}};
}

void refuse_unknown_node(const Model& model, const std::string& name, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const Dispatchable& node : model.dispatchables) known.push_back(node.name);
  const std::string nearest = nearest_name(name, known);
  diagnostics.push_back({.kind = ErrorKind::usage,
                         .file = model.file,
                         .message = "the graph has no node \"" + printable(name) + "\"",
                         .suggestion = nearest.empty() ? "nodes: " + names_of_list(known)
                                                       : "did you mean \"" + nearest + "\"?"});
}

}  // namespace

const DispatchCommand* find_node(const Model& model, const std::string& name,
                                 Diagnostics& diagnostics) {
  std::vector<const DispatchCommand*> found;
  std::vector<std::string> nodes;
  for (std::size_t i = 0; i < model.commands.size(); ++i) {
    const auto* dispatch = std::get_if<DispatchCommand>(&model.commands[i]);
    if (dispatch == nullptr || model.dispatchables[dispatch->dispatchable].name != name) continue;
    found.push_back(dispatch);
    const Description& description = *model.dispatchables[dispatch->dispatchable].description;
    nodes.push_back(std::to_string(i) + " (" + description.spec->name + ")");
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    refuse_unknown_node(model, name, diagnostics);
  } else {
    diagnostics.push_back({.kind = ErrorKind::usage,
                           .file = model.file,
                           .message = "the graph has " + counted(found.size(), "node") + " \"" +
                                      printable(name) + "\": " + names_of_list(nodes),
                           .suggestion = "write all of them with --to-ops FOLDER, or give each a "
                                         "name of its own in the graph as JSON"});
  }
  return nullptr;
}

Conversion node_as_op(const Model& model, const DispatchCommand& command, const std::string& path,
                      Runtime* runtime) {
  // A model of this node alone, with what its inputs hold now.
  Model one{.file = model.file,
            .resources = {},
            .dispatchables = {model.dispatchables[command.dispatchable]},
            .commands = {}};
  DispatchCommand dispatch;
  for (const TensorBinding* binding : inputs_of(model, command)) {
    const Resource& resource = model.resources[binding->range.resource];
    const bool has_values = runtime != nullptr || resource.initial.fill;
    if (!has_values) continue;
    TensorBinding bound = *binding;
    bound.range.resource = one.resources.size();
    dispatch.bindings.push_back(bound);
    one.resources.push_back(resource);
    if (runtime == nullptr) continue;
    const auto contents = runtime->contents(binding->range.resource);
    one.resources.back().initial = values_now(contents);
    one.resources.back().offset = 0;
    one.resources.back().size = contents.size();
  }
  one.commands.emplace_back(std::move(dispatch));
  return op_of(one, path);
}

JobWriter::JobWriter(const Model& model, std::string folder, const std::vector<std::string>& nodes,
                     Diagnostics& diagnostics)
    : model_(model), folder_(std::move(folder)), names_(model.dispatchables.size()) {
  std::set<std::string> taken;
  std::set<std::string> known;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::string& name = model.dispatchables[i].name;
    known.insert(name);
    if (nodes.empty() || std::ranges::find(nodes, name) != nodes.end())
      names_[i] = new_file_name(safe_file_name(name), taken);
  }
  for (const std::string& node : nodes) {
    if (!known.contains(node)) refuse_unknown_node(model, node, diagnostics);
  }
}

void JobWriter::write_description(const DispatchCommand& command) {
  write(command, nullptr);
}

void JobWriter::write_job(const DispatchCommand& command, Runtime& runtime) {
  write(command, &runtime);
}

std::string JobWriter::description_of(const DispatchCommand& command) const {
  return to_text(to_path(folder_) / to_path(names_[command.dispatchable]) / "op.json");
}

std::string JobWriter::golden_file_of(const DispatchCommand& command,
                                      const TensorBinding& binding) const {
  const std::string file = file_name_of(binding.tensor, binding.element) + ".npy";
  return to_text(to_path(description_of(command)).parent_path() / "expected" / to_path(file));
}

void JobWriter::refuse_replaced(const FileRoles& files, Diagnostics& diagnostics) const {
  const auto refuse = [&](const std::string& path) {
    const std::string role = files.role_of(path);
    if (role.empty()) return;
    diagnostics.push_back({.kind = ErrorKind::usage,
                           .file = model_.file,
                           .message = "the jobs would replace " + role + ": " + path,
                           .suggestion = "write them to another folder"});
  };
  for (const ModelCommand& each : model_.commands) {
    const auto* command = std::get_if<DispatchCommand>(&each);
    if (command == nullptr || names_[command->dispatchable].empty()) continue;
    refuse(description_of(*command));
    for (const TensorBinding* binding : outputs_of(model_, *command))
      refuse(golden_file_of(*command, *binding));
  }
}

void JobWriter::write(const DispatchCommand& command, Runtime* runtime) {
  if (names_[command.dispatchable].empty()) return;
  const std::string path = description_of(command);
  const std::string folder = to_text(to_path(path).parent_path());
  make_folder(folder);
  write_conversion(node_as_op(model_, command, path, runtime), {});
  written_.push_back(folder);
  if (runtime == nullptr) return;
  const Description& description = *model_.dispatchables[command.dispatchable].description;
  make_folder(to_text(to_path(folder) / "expected"));
  for (const TensorBinding* binding : outputs_of(model_, command))
    write_npy(written_tensor(description, *binding), runtime->contents(binding->range.resource),
              golden_file_of(command, *binding));
}

}  // namespace dmlop
