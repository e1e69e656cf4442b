#include "compare/arrangement.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "npy/elements.hpp"

namespace dmlop {
namespace {

using Axes = std::vector<std::size_t>;

constexpr std::size_t permuted_max = 5;      // axes that are tried in every order
constexpr std::uint64_t farthest_shift = 4;  // in both directions

// Axes of one index are at home anywhere.
Axes axes_to_move(const Sizes& sizes) {
  Axes axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) axes.push_back(i);
  }
  return axes;
}

Arrangement in_place(const Sizes& sizes, std::string text) {
  return {std::move(text), sizes, 0, sizes.front(), 0, 0, packed_strides(sizes)};
}

std::string order_text(const Axes& order) {
  Axes moved;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) moved.push_back(i);
  }
  if (moved.size() == 2)
    return "actual is expected with axes " + std::to_string(moved[0]) + " and " +
           std::to_string(moved[1]) + " transposed";
  std::string text = "actual is expected with its axes in the order " + list_of(order);
  if (order == Axes{0, 2, 3, 1}) text += " (NHWC instead of NCHW)";
  if (order == Axes{0, 3, 1, 2}) text += " (NCHW instead of NHWC)";
  return text;
}

// The actual elements in the order that the transposed expected tensor has.
Arrangement transposed(const Sizes& sizes, const Axes& order) {
  const Strides strides = packed_strides(sizes);
  Arrangement arrangement = in_place(sizes, order_text(order));
  for (std::size_t i = 0; i < order.size(); ++i) {
    arrangement.sizes[i] = sizes[order[i]];
    arrangement.strides[i] = strides[order[i]];
  }
  arrangement.end = arrangement.sizes.front();
  return arrangement;
}

bool is_swap(const Axes& order) {
  std::size_t moved = 0;
  for (std::size_t i = 0; i < order.size(); ++i) moved += order[i] != i ? 1 : 0;
  return moved == 2;
}

void add_swaps(const Sizes& sizes, const Axes& axes, std::vector<Arrangement>& list) {
  Axes order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = i + 1; j < axes.size(); ++j) {
      Axes swapped = order;
      std::swap(swapped[axes[i]], swapped[axes[j]]);
      list.push_back(transposed(sizes, swapped));
    }
  }
}

void add_orders(const Sizes& sizes, const Axes& axes, std::vector<Arrangement>& list) {
  add_swaps(sizes, axes, list);
  if (axes.size() > permuted_max) return;
  Axes moved = axes;
  while (std::next_permutation(moved.begin(), moved.end())) {
    Axes order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) order[axes[i]] = moved[i];
    if (!is_swap(order)) list.push_back(transposed(sizes, order));
  }
}

Arrangement reversed(const Sizes& sizes, std::size_t axis) {
  Arrangement arrangement =
      in_place(sizes, "actual is expected reversed along axis " + std::to_string(axis));
  arrangement.offset = (sizes[axis] - 1) * arrangement.strides[axis];
  arrangement.strides[axis] = 0 - arrangement.strides[axis];
  return arrangement;
}

Arrangement shifted(const Sizes& sizes, std::size_t axis, std::uint64_t distance, bool is_forward) {
  Arrangement arrangement =
      in_place(sizes, std::string("actual is expected shifted by ") + (is_forward ? "" : "-") +
                          std::to_string(distance) + " along axis " + std::to_string(axis));
  const std::uint64_t way = distance * arrangement.strides[axis];
  arrangement.offset = is_forward ? 0 - way : way;
  arrangement.partial_axis = axis;
  arrangement.begin = is_forward ? distance : 0;
  arrangement.end = sizes[axis] - (is_forward ? 0 : distance);
  return arrangement;
}

}  // namespace

std::optional<std::uint64_t> Arrangement::expected_of(std::uint64_t actual) const {
  const auto indices = indices_of(actual, sizes);
  if (indices[partial_axis] < begin || indices[partial_axis] >= end) return std::nullopt;
  std::uint64_t expected = offset;
  for (std::size_t i = 0; i < indices.size(); ++i) expected += indices[i] * strides[i];
  return expected;
}

Arrangement in_order(const Sizes& sizes) {
  return in_place(sizes, "actual has the elements of expected in the same order, but other sizes");
}

std::vector<Arrangement> arrangements(const Sizes& sizes) {
  std::vector<Arrangement> list;
  const Axes axes = axes_to_move(sizes);
  add_orders(sizes, axes, list);
  for (const std::size_t axis : axes) list.push_back(reversed(sizes, axis));
  for (std::uint64_t distance = 1; distance <= farthest_shift; ++distance) {
    for (const std::size_t axis : axes) {
      if (sizes[axis] <= 2 * distance) continue;
      list.push_back(shifted(sizes, axis, distance, true));
      list.push_back(shifted(sizes, axis, distance, false));
    }
  }
  return list;
}

}  // namespace dmlop
