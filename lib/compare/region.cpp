#include "compare/region.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "npy/elements.hpp"

namespace dmlop {
namespace {

constexpr std::uint64_t counted_max = 65536;

std::string slice_text(const AxisRegion& axis, std::uint64_t size) {
  if (axis.first == axis.last && size > 1) return std::to_string(axis.first);
  const bool reaches_end = size - axis.last <= axis.step;
  std::string text = axis.first == 0 ? "" : std::to_string(axis.first);
  text += ":";
  if (!reaches_end) text += std::to_string(axis.last + 1);
  return axis.step == 1 ? text : text + ":" + std::to_string(axis.step);
}

std::string ordinal(std::uint64_t number) {
  const bool is_teen = number % 100 >= 11 && number % 100 <= 13;
  const std::uint64_t digit = is_teen ? 0 : number % 10;
  return std::to_string(number) + (digit == 1   ? "st"
                                   : digit == 2 ? "nd"
                                   : digit == 3 ? "rd"
                                                : "th");
}

// "every 2nd index of axis 3" for each axis with a step.
std::string steps_text(const Region& region) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < region.axes.size(); ++i) {
    if (region.axes[i].step > 1)
      parts.push_back("every " + ordinal(region.axes[i].step) + " index of axis " +
                      std::to_string(i));
  }
  return parts.empty() ? "" : " (" + join(parts) + ")";
}

// "2 of 2 indices of axis 0, 3 of 40 of axis 1": of axes that have more than one index.
std::string counts_text(const Region& region, const Sizes& sizes) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!region.axes[i].count || sizes[i] == 1) continue;
    parts.push_back(std::to_string(*region.axes[i].count) + " of " + std::to_string(sizes[i]) +
                    (parts.empty() ? " indices" : "") + " of axis " + std::to_string(i));
  }
  return join(parts);
}

}  // namespace

std::string Region::slices(const Sizes& sizes) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < axes.size(); ++i) parts.push_back(slice_text(axes[i], sizes[i]));
  return "[" + join(parts) + "]";
}

std::string to_text(const Region& region, const Sizes& sizes, std::uint64_t differing) {
  if (region.axes.empty() || element_count(sizes) == differing) return "";
  const auto is_everywhere = [&](std::size_t i) { return region.axes[i].count == sizes[i]; };
  std::size_t i = 0;
  while (i < sizes.size() && is_everywhere(i)) ++i;
  if (i == sizes.size()) return "every index of every axis has differences";
  if (region.is_full) return "only " + region.slices(sizes) + " differs" + steps_text(region);
  const std::string text = "only " + std::to_string(differing) + " of " +
                           counted(region.elements, "element") + " in " + region.slices(sizes) +
                           steps_text(region) + " differ";
  const std::string counts = sizes.size() == 1 ? "" : counts_text(region, sizes);
  return counts.empty() ? text : text + ": on " + counts;
}

void RegionFinder::Axis::add(std::uint64_t index) {
  first = std::min(first, index);
  last = std::max(last, index);
  if (divisor != 1) divisor = std::gcd(divisor, index > base ? index - base : base - index);
  if (!seen.empty()) seen[index] = true;
}

void RegionFinder::Axis::add(const Axis& other) {
  add(other.first);
  add(other.last);
  add(other.base);
  divisor = std::gcd(divisor, other.divisor);
  for (std::uint64_t i = other.first; i <= other.last && !seen.empty(); ++i)
    seen[i] = seen[i] || other.seen[i];
}

// Differing elements often follow each other, which needs no division.
void RegionFinder::move_to(std::uint64_t index) {
  if (axes_.empty() || index != index_ + 1) {
    at_ = indices_of(index, sizes_);
  } else {
    for (std::size_t i = sizes_.size(); i-- > 0;) {
      if (++at_[i] < sizes_[i]) break;
      at_[i] = 0;
    }
  }
  index_ = index;
}

void RegionFinder::add(std::uint64_t index) {
  move_to(index);
  ++elements_;
  if (axes_.empty()) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const bool is_counted = sizes_[i] <= counted_max;
      axes_.push_back(
          {at_[i], at_[i], at_[i], 0, std::vector<bool>(is_counted ? sizes_[i] : 0, false)});
    }
  }
  for (std::size_t i = 0; i < sizes_.size(); ++i) axes_[i].add(at_[i]);
}

void RegionFinder::add(const RegionFinder& other) {
  if (other.axes_.empty()) return;
  elements_ += other.elements_;
  if (axes_.empty()) {
    axes_ = other.axes_;
    at_ = other.at_;
    index_ = other.index_;
    return;
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) axes_[i].add(other.axes_[i]);
}

Region RegionFinder::found() const {
  Region region;
  if (axes_.empty()) return region;
  region.elements = 1;
  for (const Axis& axis : axes_) {
    AxisRegion found{axis.first, axis.last, std::max<std::uint64_t>(1, axis.divisor), {}};
    if (!axis.seen.empty())
      found.count =
          static_cast<std::uint64_t>(std::count(axis.seen.begin(), axis.seen.end(), true));
    region.elements *= found.places();
    region.axes.push_back(found);
  }
  // Every differing element is at a place of the slices, so equal numbers mean all of them.
  region.is_full = region.elements == elements_;
  return region;
}

}  // namespace dmlop
