// Runs the commands of a model in the memory that they need.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/runtime.hpp"

namespace dmlop {

/// For each command, the resources that no later command uses. Those in `kept` are in none.
std::vector<std::vector<std::size_t>> last_used(const Model& model,
                                                const std::vector<std::size_t>& kept);

/// Calls `run` for each command in turn. Then the runtimes, which may be null, give the memory of
/// those resources back that no later command uses and that `kept` does not name. After the last
/// one they finish what is enqueued. Errors: those of `run`; as Runtime::finish.
void run_commands(const Model& model, const std::vector<std::size_t>& kept,
                  const std::vector<Runtime*>& runtimes,
                  const std::function<void(const ModelCommand& command, std::size_t at)>& run);

}  // namespace dmlop
