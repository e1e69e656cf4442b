// The position of a row of an index map: indices of the axes outside of the row and what follows
// from them.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/index_map.hpp"

namespace dmlop::cpu {

class Rows {
 public:
  /// Rows of the axes from `outer_axes` on; the first `outer_axes` of the kernel's say which.
  Rows(const IndexMapKernel& kernel, std::size_t outer_axes, std::uint64_t first_row)
      : kernel_(kernel), places_(outer_axes) {
    for (std::size_t i = places_.size(); i-- > 0;) {
      places_[i].index = first_row % kernel_.axes[i].extent;
      first_row /= kernel_.axes[i].extent;
      refresh(i);
    }
  }

  /// How many rows from this one on lie evenly, step() apart; an outer reversal aside.
  std::uint64_t run() const { return places_.empty() ? 1 : places_.back().left; }
  std::int64_t step() const { return places_.empty() ? 0 : places_.back().step; }

  /// Goes on by `count` rows, at most run(); after the last row of all comes the first.
  void next(std::uint64_t count) {
    if (places_.empty()) return;
    Place& last = places_.back();
    if (count < last.left) {
      last.index += count;
      last.left -= count;
      last.offset += static_cast<std::int64_t>(count) * last.step;
      return;
    }
    last.index += count - 1;
    for (std::size_t i = places_.size(); i-- > 0;) {
      const bool wraps = ++places_[i].index == kernel_.axes[i].extent;
      if (wraps) places_[i].index = 0;
      refresh(i);
      if (!wraps) return;
    }
  }

  /// Whether a constant boundary of an outer axis fills the whole row.
  bool outside() const {
    return std::any_of(places_.begin(), places_.end(), [](const Place& p) { return p.outside; });
  }
  /// Source offset in elements; the axis of an outer reversal is left out.
  std::int64_t offset() const {
    std::int64_t sum = kernel_.offset;
    for (const Place& place : places_) sum += place.offset;
    return sum;
  }
  std::uint64_t lengths_offset() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < places_.size(); ++i)
      sum += places_[i].index * kernel_.axes[i].lengths_stride;
    return sum;
  }
  std::uint64_t index(std::size_t axis) const { return places_[axis].index; }

 private:
  struct Place {
    std::uint64_t index = 0;
    std::uint64_t left = 1;  // indices from this one on whose offsets are `step` apart
    std::int64_t offset = 0;
    std::int64_t step = 0;
    bool outside = false;
  };

  void refresh(std::size_t i) {
    Place& place = places_[i];
    const bool reversed = kernel_.reversal && kernel_.reversal->axis == i;
    const Piece piece = reversed ? Piece{.count = kernel_.axes[i].extent - place.index}
                                 : piece_at(kernel_.axes[i], place.index);
    place = {place.index, piece.count, piece.offset, piece.stride, piece.outside};
  }

  const IndexMapKernel& kernel_;
  std::vector<Place> places_;
};

}  // namespace dmlop::cpu
