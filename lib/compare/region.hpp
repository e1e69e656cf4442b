// Where elements differ, as slices: the smallest box around them, and the steps between them. It
// knows indices only, and nothing about elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/layout.hpp"

namespace dmlop {

/// The differing indices of one axis.
struct AxisRegion {
  std::uint64_t first = 0, last = 0;
  std::uint64_t step = 1;  // all are `first` plus a multiple of it; 1 if there is only one
  std::optional<std::uint64_t> count;  // how many there are; not counted on axes over 65536

  /// How many indices there are from first to last in steps.
  std::uint64_t places() const { return (last - first) / step + 1; }
};

/// The smallest slices that hold every differing element.
struct Region {
  std::vector<AxisRegion> axes;  // empty if no element differs
  std::uint64_t elements = 0;    // that the slices hold
  bool is_full = false;          // all of these differ

  /// "[0, 40:128, :, 1::2]", as NumPy takes it.
  std::string slices(const Sizes& sizes) const;
};

/// Where the elements differ, in a sentence: "only [0, 40:128, :, 24:28] differs", "only 3 of 8
/// elements in [1:3, 2:] differ: on 2 of 4 indices of axis 0, 3 of 6 of axis 1". "" if none or all
/// of them differ.
std::string to_text(const Region& region, const Sizes& sizes, std::uint64_t differing);

/// Gathers differing elements, in any order. Two that gathered parts can be joined.
class RegionFinder {
 public:
  /// The sizes must outlive this.
  explicit RegionFinder(const Sizes& sizes) : sizes_(sizes) {}

  /// Takes a differing element by its index in C order.
  void add(std::uint64_t index);
  void add(const RegionFinder& other);

  Region found() const;

 private:
  struct Axis {
    std::uint64_t first, last;
    std::uint64_t base;      // one of the indices
    std::uint64_t divisor;   // of the distances of all indices from it; 0 if there is only one
    std::vector<bool> seen;  // by index, of axes that are counted

    void add(std::uint64_t index);
    void add(const Axis& other);
  };

  void move_to(std::uint64_t index);

  const Sizes& sizes_;
  std::vector<Axis> axes_;
  std::vector<std::uint64_t> at_;  // the indices of the element that was added last
  std::uint64_t index_ = 0;        // the same in C order
  std::uint64_t elements_ = 0;
};

}  // namespace dmlop
