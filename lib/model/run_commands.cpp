#include "model/run_commands.hpp"

namespace dmlop {
namespace {

/// The resources that a command uses.
struct UsedResources {
  std::vector<std::size_t> operator()(const DispatchCommand& command) const {
    std::vector<std::size_t> used;
    for (const TensorBinding& binding : command.bindings) used.push_back(binding.range.resource);
    return used;
  }
  std::vector<std::size_t> operator()(const auto& command) const { return {command.resource}; }
};

}  // namespace

std::vector<std::vector<std::size_t>> last_used(const Model& model,
                                                const std::vector<std::size_t>& kept) {
  std::vector<std::vector<std::size_t>> ended(model.commands.size());
  std::vector<bool> is_settled(model.resources.size());
  for (const std::size_t resource : kept) is_settled[resource] = true;
  for (std::size_t i = model.commands.size(); i-- > 0;) {
    for (const std::size_t resource : std::visit(UsedResources(), model.commands[i])) {
      if (!is_settled[resource]) ended[i].push_back(resource);
      is_settled[resource] = true;
    }
  }
  return ended;
}

void run_commands(const Model& model, const std::vector<std::size_t>& kept,
                  const std::vector<Runtime*>& runtimes,
                  const std::function<void(const ModelCommand& command, std::size_t at)>& run) {
  const auto ended = last_used(model, kept);
  for (std::size_t i = 0; i < model.commands.size(); ++i) {
    run(model.commands[i], i);
    for (Runtime* runtime : runtimes) {
      for (const std::size_t resource : ended[i]) {
        if (runtime != nullptr) runtime->release(resource);
      }
    }
  }
  for (Runtime* runtime : runtimes) {
    if (runtime != nullptr) runtime->finish();
  }
}

}  // namespace dmlop
