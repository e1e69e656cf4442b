// The constants of a graph as initial values of buffers.
#pragma once

#include <optional>

#include "graph/lower.hpp"

namespace dmlop {

/// The bytes of a constant. Nothing, with a finding or a note, if its file cannot be used.
std::optional<InitialValues> constant_values(const Graph& graph, const GraphNode& node,
                                             const GraphConstant& constant,
                                             const GraphRequest& request, Diagnostics& diagnostics,
                                             Diagnostics& warnings);

/// The same values with a byte for each of the `count` elements of 4 bits that the bytes hold.
InitialValues unpacked_values(const InitialValues& packed, DataType type, std::uint64_t count);

}  // namespace dmlop
