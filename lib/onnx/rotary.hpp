// Rotary position embedding: pairs of elements of a head turn by angles that belong to the head's
// position.
#pragma once

#include "onnx/mapping.hpp"

namespace dmlop::onnx {

/// The angles of each position: cosines and sines {positions, half of the turned elements}, and
/// which positions {batch, rows} the heads have.
struct RotaryAngles {
  View cosines, sines, positions;
  bool is_interleaved = false;  // neighbours are a pair, not an element of each half
};

/// Adds the operators that turn the heads {batch, rows, heads, size} of `from`. Elements behind the
/// turned ones stay as they are. Refuses angles that do not fit.
void turn_heads(Mapping& node, const View& from, const RotaryAngles& angles, const View& to);

}  // namespace dmlop::onnx
