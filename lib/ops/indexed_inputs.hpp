// Which inputs of a plan hold indices, and how far these may reach. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/plan.hpp"

namespace dmlop {

/// An input of a plan whose elements are indices into another tensor.
struct IndexedInput {
  std::size_t slot;
  /// How many places an index can point to: one number for all elements, or one for each place
  /// along the last dimension, which is 0 where the element is no index.
  std::vector<std::uint64_t> extents;

  bool operator==(const IndexedInput&) const = default;
};

/// All of them, in the order of the passes. Indices that the plan itself computes are not among
/// them, and neither are lengths.
std::vector<IndexedInput> indexed_inputs(const Plan& plan);

}  // namespace dmlop
