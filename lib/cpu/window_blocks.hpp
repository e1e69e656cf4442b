// Rows of outputs cut into blocks that are computed together, and what these reach of the input's
// rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/threshold.hpp"
#include "cpu/window_vectors.hpp"
#include "ops/taps.hpp"

namespace dmlop::cpu {

// Columns that are reduced together: what is worked on stays in the nearest cache.
inline constexpr Threshold columns_at_once{2048, 19};
// Outputs whose columns lie this much farther apart than what they reach are not computed together.
inline constexpr std::uint64_t waste_max = 4;

/// Some outputs of a block: `count` of them from the one at `begin` on.
struct OutputRange {
  std::size_t begin = 0, count = 0;

  std::size_t end() const { return begin + count; }
};

/// Outputs of a row that are computed together, and what they reach.
struct OutputBlock {
  std::uint64_t begin = 0, end = 0;  // outputs
  std::uint64_t low = 0, high = 0;   // elements of the input
  std::vector<TapRun> runs;          // of each output
  std::vector<double> weights;   // of all taps, one output after the other; empty where all are 1
  std::vector<double> divisors;  // of each output along the row; empty where all are the same
  double divisor = 1;            // of all outputs, where they are the same
  bool has_empty = false;        // an output reaches nothing
  bool is_copied = false;        // output k is column k
  OutputRange whole = {};        // those whose windows have no padding
  EvenWindows windows = {};      // what these are
  // Those that reach the same elements two by two, with the same weights, and from two to two one
  // element further: one element, or two.
  OutputRange pairs = {};
  std::array<double, 4> pair_weights = {};
  std::size_t pair_place = 0;  // of their first weight

  /// Whether the pairs reach two elements, and each has a part in both outputs.
  bool has_blended_pairs() const {
    return runs[pairs.begin].count == 2 && std::all_of(pair_weights.begin(), pair_weights.end(),
                                                       [](double weight) { return weight > 0; });
  }
};

/// Cuts a row into blocks and keeps them, as all rows have the same.
class OutputBlocks {
 public:
  OutputBlocks(const WindowAxis& axis, std::uint64_t outputs_at_once)
      : taps_(axis), outputs_at_once_(std::min<std::uint64_t>(outputs_at_once, columns_at_once)) {}

  /// The block of outputs from `begin` on, behind `end` at most.
  const OutputBlock& at(std::uint64_t begin, std::uint64_t end) {
    const auto found = kept_.find({begin, end});
    if (found != kept_.end()) return found->second;
    OutputBlock block = make(begin, end);
    kept_numbers_ += 4 * block.runs.size() + block.weights.size() + block.divisors.size();
    if (kept_numbers_ > kept_numbers_max) {
      kept_.clear();
      kept_numbers_ = 0;
    }
    return kept_[{begin, end}] = std::move(block);
  }

  const Taps& taps() const { return taps_; }

 private:
  static constexpr Threshold kept_numbers_max{std::uint64_t{1} << 18, 9};

  OutputBlock make(std::uint64_t begin, std::uint64_t end) const {
    OutputBlock block;
    block.begin = block.end = begin;
    std::uint64_t reached = 0;
    end = std::min(end, begin + outputs_at_once_);
    for (; block.end < end; ++block.end) {
      const TapRun run = taps_.of(block.end);
      const bool is_first = block.low == block.high;
      std::uint64_t low = block.low, high = block.high;
      if (run.count > 0) {
        low = is_first ? run.first : std::min(low, run.first);
        high = std::max(high, run.end());
      }
      reached += run.count;
      block.has_empty = block.has_empty || run.count == 0;
      const bool fits =
          high - low <= std::min<std::uint64_t>(columns_at_once, waste_max * (reached + 16));
      if (!fits && block.end > begin) break;
      block.low = low;
      block.high = high;
      block.runs.push_back(run);
    }
    if (!taps_.are_uniform() && block.runs.size() > 1) weigh(block);
    block.is_copied = is_copied(block);
    if (taps_.are_uniform()) find_whole(block);
    if (!block.weights.empty()) find_pairs(block);
    divide(block);
    return block;
  }

  void divide(OutputBlock& block) const {
    for (std::uint64_t o = block.begin; o < block.end; ++o)
      block.divisors.push_back(taps_.divisor(o));
    const double first = block.divisors.front();
    const auto is_first = [first](double divisor) { return divisor == first; };
    if (!std::all_of(block.divisors.begin(), block.divisors.end(), is_first)) return;
    block.divisor = first;
    block.divisors.clear();
  }

  void find_whole(OutputBlock& block) const {
    const auto& windows = std::get<Windows>(taps_.axis().reach);
    if (windows.stride == 0 || windows.stride > 2 || (windows.stride == 2 && windows.dilation > 1))
      return;
    block.windows = {windows.size, windows.stride, windows.dilation};
    const auto is_whole = [&](const TapRun& run) { return run.count == windows.size; };
    const auto first = std::find_if(block.runs.begin(), block.runs.end(), is_whole);
    const auto last = std::find_if_not(first, block.runs.end(), is_whole);
    block.whole = {static_cast<std::size_t>(first - block.runs.begin()),
                   static_cast<std::size_t>(last - first)};
  }

  // From the middle on: near the ends of a row several outputs may reach the same elements.
  static void find_pairs(OutputBlock& block) {
    std::size_t middle = block.runs.size() / 2;
    if (!is_pair(block, middle)) ++middle;
    if (!is_pair(block, middle)) return;
    const std::size_t taps = block.runs[middle].count;
    std::size_t place = 0;
    for (std::size_t i = 0; i < middle; ++i) place += block.runs[i].count;
    const double* weights = block.weights.data() + place;
    const auto fits = [&](std::size_t i, std::uint64_t first, const double* others) {
      return is_pair(block, i) && block.runs[i].count == taps && block.runs[i].first == first &&
             std::equal(weights, weights + 2 * taps, others);
    };
    std::size_t begin = middle, end = middle + 2;
    const double *begins = weights, *ends = weights + 2 * taps;
    for (; begin >= 2 && fits(begin - 2, block.runs[begin].first - 1, begins - 2 * taps);
         begin -= 2)
      begins -= 2 * taps;
    for (; fits(end, block.runs[end - 1].first + 1, ends); end += 2) ends += 2 * taps;
    block.pairs = {begin, end - begin};
    std::copy_n(weights, 2 * taps, block.pair_weights.begin());
    block.pair_place = static_cast<std::size_t>(begins - block.weights.data());
  }

  /// Whether outputs i and i + 1 of a block reach the same element, or the same two.
  static bool is_pair(const OutputBlock& block, std::size_t i) {
    if (i + 2 > block.runs.size()) return false;
    const TapRun &a = block.runs[i], &b = block.runs[i + 1];
    return a.count == b.count && a.first == b.first && (a.count == 1 || a.count == 2);
  }

  void weigh(OutputBlock& block) const {
    for (std::uint64_t o = block.begin; o < block.end; ++o) {
      const TapRun& run = block.runs[o - block.begin];
      for (std::uint64_t k = 0; k < run.count; ++k)
        block.weights.push_back(taps_.weight(o, run, k));
    }
  }

  static bool is_copied(const OutputBlock& block) {
    if (block.runs.size() == 1) return false;
    for (std::size_t i = 0; i < block.runs.size(); ++i) {
      if (block.runs[i].count != 1 || block.runs[i].first != block.low + i) return false;
    }
    return std::all_of(block.weights.begin(), block.weights.end(),
                       [](double weight) { return weight == 1; });
  }

  Taps taps_;
  std::uint64_t outputs_at_once_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, OutputBlock> kept_;
  std::uint64_t kept_numbers_ = 0;
};

}  // namespace dmlop::cpu
