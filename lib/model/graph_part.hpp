// A graph that is a dispatchable of a model: its operators, and what a dispatch binds.
#pragma once

#include <string>
#include <vector>

#include "model/model.hpp"

namespace dmlop {

/// A resource of a graph that a dispatch binds to one of the model's.
struct GraphPort {
  std::size_t resource = 0;  // of the graph
  std::uint64_t bytes = 0;   // that it needs; 0: no operator uses it
  bool is_output = false;
};

struct GraphPart {
  Model model;
  std::vector<GraphPort> ports;  // inputs, then outputs, in their order
};

}  // namespace dmlop
