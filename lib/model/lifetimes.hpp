// When the buffers of a model are needed for the last time.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.hpp"

namespace dmlop {

/// For each command, the resources that no later command uses. Those in `kept` are in none.
std::vector<std::vector<std::size_t>> last_used(const Model& model,
                                                const std::vector<std::size_t>& kept);

}  // namespace dmlop
