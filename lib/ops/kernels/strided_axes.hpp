// Axes that tensors have in common: the same indices, and strides for each tensor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dmlop {

/// An axis that up to so many operands have in common. Each has a stride, from one of its elements
/// to the next; 0 repeats an element. Operands that are not there have 0, too.
struct StridedAxis {
  static constexpr std::size_t operands_most = 9;  // as a product has (ops/kernels/product.hpp)

  std::uint64_t extent = 1;
  std::array<std::uint64_t, operands_most> strides{};  // elements

  /// Of the first operand, where there is no other.
  std::uint64_t stride() const { return strides[0]; }
  bool operator==(const StridedAxis&) const = default;
};

/// Outermost first: the last index counts fastest.
using StridedAxes = std::vector<StridedAxis>;

/// Axes with these extents. Each operand has a stride for each axis.
StridedAxes strided_axes(const std::vector<std::uint64_t>& extents,
                         const std::vector<std::vector<std::uint64_t>>& operands);

/// The same elements of the first operands in the same order, along as few axes as possible.
/// Neighbors along which all these operands move as along one axis become one. Axes of one index
/// vanish, but at least one axis remains.
StridedAxes merged(const StridedAxes& axes, std::size_t operands = StridedAxis::operands_most);

/// Sequences along one axis: those beside each other count the axes inside of it.
struct SequenceAxes {
  StridedAxes outer = StridedAxes(1);  // merged, as the inner ones are
  StridedAxis along;
  StridedAxes inner = StridedAxes(1);

  std::uint64_t sequences() const;
};
SequenceAxes sequences_along(const StridedAxes& axes, std::size_t axis);

std::vector<std::uint64_t> extents_of(const StridedAxes& axes);
std::vector<std::uint64_t> strides_of(const StridedAxes& axes, std::size_t operand);
std::uint64_t elements_of(const StridedAxes& axes);

}  // namespace dmlop
