// The same graph in another floating-point type (job/as_type.hpp).
#pragma once

#include "base/diagnostic.hpp"
#include "model/model.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// Changes a graph whose inputs have their values: nodes, edges, inputs and constants. Adds a
/// finding for each node that does not accept the type, and for each edge that nodes see in
/// different types. The graph is only changed if there is none.
void compute_as(DataType type, Model& graph, Diagnostics& diagnostics);

}  // namespace dmlop
