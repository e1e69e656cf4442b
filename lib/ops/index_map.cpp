#include "ops/index_map.hpp"

#include <algorithm>

#include "ops/operator.hpp"

namespace dmlop {
namespace {

using Int = std::int64_t;

// Whether `inner` walks an unbroken run of elements that one step of `outer` jumps over.
bool is_block_of(const IndexMapAxis& outer, const IndexMapAxis& inner) {
  return inner.boundary == Boundary::none && inner.stride == 1 &&
         outer.stride == static_cast<Int>(inner.extent);
}

bool lengths_nest(const IndexMapAxis& outer, const IndexMapAxis& inner) {
  return outer.lengths_stride == inner.extent * inner.lengths_stride;
}

// Two axes are one when stepping the outer continues where the inner ends. Compared are the strides
// of the output's own extents, so a shortened output (SLICE1) does not merge by mistake.
bool can_merge_plain(const IndexMapAxis& outer, const IndexMapAxis& inner) {
  return outer.boundary == Boundary::none && inner.boundary == Boundary::none &&
         outer.stride == static_cast<Int>(inner.extent) * inner.stride;
}

// A constant or wrapped boundary of whole blocks is the same boundary counted in elements:
// (t mod N) * B + j = (t * B + j) mod (N * B). The mirrored and the edge modes repeat blocks
// instead.
bool can_merge_block(const IndexMapAxis& outer, const IndexMapAxis& inner) {
  const bool linear = outer.boundary == Boundary::constant || outer.boundary == Boundary::wrap;
  return linear && is_block_of(outer, inner);
}

IndexMapAxis merged(const IndexMapAxis& outer, const IndexMapAxis& inner) {
  IndexMapAxis axis = outer;
  axis.extent = outer.extent * inner.extent;
  axis.stride = inner.stride;
  axis.start_padding = outer.start_padding * static_cast<Int>(inner.extent);
  axis.input_extent = outer.boundary == Boundary::none ? 1 : outer.input_extent * inner.extent;
  axis.lengths_stride = inner.lengths_stride;
  return axis;
}

// Boundaries that never show are none: no padding, or an edge of one element repeated.
IndexMapAxis normalized(IndexMapAxis axis) {
  if (axis.boundary == Boundary::none) return axis;
  const bool unpadded = axis.start_padding == 0 && axis.extent == axis.input_extent;
  const bool single = axis.input_extent == 1 && axis.boundary != Boundary::constant;
  if (!unpadded && !single) return axis;
  if (single) axis.stride = 0;
  axis.boundary = Boundary::none;
  axis.start_padding = 0;
  axis.input_extent = 1;
  return axis;
}

}  // namespace

IndexMapKernel simplified(IndexMapKernel kernel) {
  std::vector<IndexMapAxis> axes;
  std::optional<std::size_t> reversed;
  for (std::size_t i = 0; i < kernel.axes.size(); ++i) {
    const bool is_reversed = kernel.reversal && kernel.reversal->axis == i;
    const IndexMapAxis axis = normalized(kernel.axes[i]);
    // Size-1 axes read one place; a reversal of one element changes nothing but its axis must stay.
    if (axis.extent == 1 && axis.boundary == Boundary::none && !is_reversed) continue;
    if (is_reversed) reversed = axes.size();
    axes.push_back(axis);
  }
  for (std::size_t i = axes.size(); i-- > 1;) {
    const bool at_reversal = reversed && (*reversed == i || *reversed == i - 1);
    const bool plain = can_merge_plain(axes[i - 1], axes[i]);
    if (at_reversal || !lengths_nest(axes[i - 1], axes[i]) ||
        !(plain || can_merge_block(axes[i - 1], axes[i]))) {
      continue;
    }
    axes[i - 1] = merged(axes[i - 1], axes[i]);
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    if (reversed && *reversed > i) --*reversed;
  }
  if (axes.empty()) axes.emplace_back();
  kernel.axes = std::move(axes);
  if (kernel.reversal) kernel.reversal->axis = *reversed;
  return kernel;
}

IndexMapAxis whole_axis(std::uint64_t extent, std::uint64_t stride) {
  return {.extent = extent, .stride = static_cast<std::int64_t>(stride)};
}

IndexMapKernel packed_copy(const TensorDesc& tensor) {
  IndexMapKernel kernel{.element_size = size_of(*tensor.data_type)};
  const Strides strides = input_strides(tensor);
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i)
    kernel.axes.push_back(
        {.extent = tensor.sizes[i], .stride = static_cast<std::int64_t>(strides[i])});
  return simplified(std::move(kernel));
}

Piece piece_at(const IndexMapAxis& axis, std::uint64_t o) {
  const std::uint64_t left = axis.extent - o;
  if (axis.boundary == Boundary::none)
    return {static_cast<Int>(o) * axis.stride, axis.stride, left};

  const Int n = static_cast<Int>(axis.input_extent);
  const Int t = static_cast<Int>(o) - axis.start_padding;
  const auto forward = [&](Int index) -> Piece {
    return {index * axis.stride, axis.stride,
            std::min(left, static_cast<std::uint64_t>(n - index))};
  };
  if (t >= 0 && t < n) return forward(t);

  const std::uint64_t until_inside = t < 0 ? std::min(left, static_cast<std::uint64_t>(-t)) : left;
  const auto modulo = [t](Int period) { return ((t % period) + period) % period; };
  const auto backward = [&](Int index, Int last) -> Piece {
    return {index * axis.stride, -axis.stride,
            std::min(left, static_cast<std::uint64_t>(index - last + 1))};
  };
  switch (axis.boundary) {
    case Boundary::constant:
      return {0, 0, until_inside, true};
    case Boundary::edge:
      return {(t < 0 ? 0 : n - 1) * axis.stride, 0, until_inside};
    case Boundary::wrap:
      return forward(modulo(n));
    case Boundary::symmetric: {
      const Int m = modulo(2 * n);
      return m < n ? forward(m) : backward(2 * n - 1 - m, 0);
    }
    case Boundary::reflection: {
      if (n == 1) return {0, 0, left};
      const Int m = modulo(2 * (n - 1));
      return m < n ? forward(m) : backward(2 * (n - 1) - m, 1);
    }
    case Boundary::none:
      break;
  }
  return {};
}

}  // namespace dmlop
