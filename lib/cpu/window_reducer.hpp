// Reduces windows to sums or maxima: for some outputs of a row, the rows that they reach are
// reduced column by column, then each output reduces the columns that it reaches. Nothing is ever
// subtracted: NaN and infinity stay in their windows, and a result depends on nothing but its
// window. Vectors do the same with many columns at a time (cpu/window_vectors.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/reached_rows.hpp"
#include "cpu/window_blocks.hpp"
#include "cpu/window_steps.hpp"
#include "cpu/window_vectors.hpp"
#include "ops/kernels/window.hpp"

namespace dmlop::cpu {

/// Weighted sums in double.
template <typename Element>
struct WindowSum {
  using Source = Element;
  using Number = double;
  static constexpr Number start = 0;

  static void add(Number& sum, Number x, double weight) { sum += weight * x; }
  static void add(Number& sum, Number x) { sum += x; }
};

/// Largest elements.
template <typename Element>
struct WindowMaximum {
  using Source = Element;
  using Number = NumberOf<Element>;
  using Limits = std::numeric_limits<Number>;
  static constexpr Number start = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  // As FLOAT16 this is minus infinity.
  static constexpr Number of_nothing = Limits::lowest();

  // NaN is never greater.
  static void add(Number& most, Number x) { most = x > most ? x : most; }
  static void add(Number& most, Number x, double) { add(most, x); }
};

/// Reduces windows to numbers. `Source` of the reduction is the type of an element.
template <typename Reduction>
class WindowReducer {
  using Source = typename Reduction::Source;
  using Number = typename Reduction::Number;

 public:
  WindowReducer(const WindowKernel& kernel, std::span<const std::byte> input,
                std::uint64_t outputs_at_once)
      : width_(kernel.axes.back()),
        input_(input),
        rows_(kernel.axes),
        blocks_(width_, outputs_at_once),
        type_(kernel.data_type),
        next_row_(rows_.next_row() * sizeof(Source)),
        columns_(columns_at_once.most() + window_slack) {}

  ReachedRows& rows() { return rows_; }
  const Taps& taps() const { return blocks_.taps(); }
  const OutputBlock& block_at(std::uint64_t begin, std::uint64_t end) {
    return blocks_.at(begin, end);
  }

  /// What is subtracted from every element of a sum.
  void set_zero(Number zero) { zero_ = zero; }

  /// The results of a block in the current row, and how many elements each reaches along the row.
  std::span<Number> reduce(const OutputBlock& block) {
    const std::size_t count = block.runs.size();
    if (results_.size() < count + window_slack) results_.resize(count + window_slack);
    const auto results = std::span(results_).first(count);
    if (rows_.is_empty() || count == 1) {
      std::fill(results.begin(), results.end(), Reduction::start);
      if (!rows_.is_empty()) reduce_alone(block);
      return results;
    }
    reduce_rows(block.low, 1, block.high - block.low);
    if (block.is_copied) {
      std::copy_n(columns_.begin(), count, results.begin());
    } else if (block.weights.empty()) {
      reduce_columns(block);
    } else {
      weigh_columns(block);
    }
    return results;
  }

 private:
  // Rows that are reduced together.
  static constexpr std::size_t rows_at_once = 16;
  static constexpr bool has_vectors = std::is_same_v<Source, float> || std::is_same_v<Source, Half>;

  // The columns are the taps of the one output, so many at a time.
  void reduce_alone(const OutputBlock& block) {
    const TapRun& run = block.runs[0];
    const bool is_uniform = taps().are_uniform();
    for (std::uint64_t k = 0; k < run.count; k += columns_at_once) {
      const std::uint64_t count = std::min<std::uint64_t>(columns_at_once, run.count - k);
      reduce_rows(run.first + k * run.step, run.step, count);
      for (std::uint64_t c = 0; c < count; ++c) {
        if (is_uniform) {
          Reduction::add(results_[0], columns_[c]);
        } else if (const double weight = taps().weight(block.begin, run, k + c); weight != 0) {
          Reduction::add(results_[0], columns_[c], weight);
        }
      }
    }
  }

  // Column c is the elements first + c * step of all rows.
  void reduce_rows(std::uint64_t first, std::uint64_t step, std::uint64_t count) {
    if (count == 0) return;
    const std::uint64_t distance = step * width_.input_stride;
    if constexpr (has_vectors) {
      if (distance == 1) return reduce_packed_rows(first, count);
    }
    std::fill_n(columns_.begin(), count, Reduction::start);
    const std::uint64_t far = distance * sizeof(Source) >= window_far_bytes ? window_far_steps : 1;
    rows_.for_each([&](std::uint64_t offset, std::uint64_t, double weight) {
      steps_.add(count * far + window_output_steps);
      if (weight == 0) return;
      const std::byte* from = &input_[(offset + first * width_.input_stride) * sizeof(Source)];
      if (distance == 1) {
        add_elements<true>(from, 1, count, weight);
      } else {
        add_elements<false>(from, distance, count, weight);
      }
    });
  }

  void reduce_packed_rows(std::uint64_t first, std::uint64_t count) {
    std::array<WeighedRow, rows_at_once> rows;
    std::size_t size = 0;
    bool fresh = true;
    const auto reduce_listed = [&] {
      const auto listed = std::span<WeighedRow>(rows).first(size);
      see_next_rows(listed, count * sizeof(Source));
      if constexpr (std::is_same_v<Number, double>) {
        add_rows(type_, listed, fresh, count, columns_.data());
      } else {
        raise_to_rows(type_, listed, fresh, count, columns_.data());
      }
      fresh = false;
      size = 0;
    };
    rows_.for_each([&](std::uint64_t offset, std::uint64_t, double weight) {
      steps_.add(count + window_output_steps);
      if (weight == 0) return;
      const std::byte* from = &input_[(offset + first) * sizeof(Source)];
      rows[size++] = {from, weight, from};
      if (size == rows.size()) reduce_listed();
    });
    if (size > 0 || fresh) reduce_listed();
  }

  // What the next row of outputs reads and this one does not.
  void see_next_rows(std::span<WeighedRow> rows, std::uint64_t bytes) const {
    for (WeighedRow& row : rows) {
      const auto left = static_cast<std::uint64_t>(input_.data() + input_.size() - row.from);
      if (next_row_ + bytes > left || row.from + next_row_ <= rows.back().from) continue;
      row.next = row.from + next_row_;
    }
  }

  template <bool is_packed>
  void add_elements(const std::byte* from, std::uint64_t distance, std::uint64_t count,
                    double weight) {
    Number* columns = columns_.data();
    const Number zero = zero_;
    for (std::uint64_t c = 0; c < count; ++c) {
      const std::uint64_t place = is_packed ? c : c * distance;
      const auto x = static_cast<Number>(number_at<Source>(from + place * sizeof(Source)));
      if constexpr (std::is_same_v<Number, double>) {
        Reduction::add(columns[c], x - zero, weight);
      } else {
        Reduction::add(columns[c], x);
      }
    }
  }

  // Vectors write over what stands behind their results.
  void reduce_columns(const OutputBlock& block) {
    OutputRange whole;
    if constexpr (has_vectors) whole = block.whole;
    if constexpr (has_vectors) reduce_whole(block);
    reduce_columns(block, {0, whole.begin});
    reduce_columns(block, {whole.end(), block.runs.size() - whole.end()});
  }

  void reduce_whole(const OutputBlock& block) {
    if (block.whole.count == 0) return;
    const Number* columns = &columns_[block.runs[block.whole.begin].first - block.low];
    Number* results = &results_[block.whole.begin];
    if constexpr (std::is_same_v<Number, double>) {
      add_columns(block.windows, columns, block.whole.count, results);
    } else {
      raise_to_columns(block.windows, columns, block.whole.count, results);
    }
  }

  void reduce_columns(const OutputBlock& block, const OutputRange& outputs) {
    for (std::size_t i = outputs.begin; i < outputs.end(); ++i) {
      const TapRun& run = block.runs[i];
      results_[i] = Reduction::start;
      if (run.count == 0) continue;
      const Number* column = &columns_[run.first - block.low];
      Number result = Reduction::start;
      for (std::uint64_t k = 0; k < run.count; ++k) Reduction::add(result, column[k * run.step]);
      results_[i] = result;
    }
  }

  void weigh_columns(const OutputBlock& block) {
    const OutputRange& pairs = block.pairs;
    if constexpr (std::is_same_v<Number, double>) {
      if (pairs.count > 0 && block.has_blended_pairs()) {
        blend_pairs(block.pair_weights, &columns_[block.runs[pairs.begin].first - block.low],
                    pairs.count / 2, &results_[pairs.begin]);
        weigh_columns(block, {0, pairs.begin}, 0);
        return weigh_columns(block, {pairs.end(), block.runs.size() - pairs.end()},
                             block.pair_place + 2 * pairs.count);
      }
    }
    weigh_columns(block, {0, block.runs.size()}, 0);
  }

  void weigh_columns(const OutputBlock& block, const OutputRange& outputs, std::size_t place) {
    const double* weight = block.weights.data() + place;
    for (std::size_t i = outputs.begin; i < outputs.end(); ++i) {
      const TapRun& run = block.runs[i];
      const Number* column = &columns_[run.first - block.low];
      Number result = Reduction::start;
      if (run.count == 2 && weight[0] != 0 && weight[1] != 0) {  // as in most interpolations
        Reduction::add(result, column[0], weight[0]);
        Reduction::add(result, column[1], weight[1]);
        results_[i] = result;
        weight += 2;
        continue;
      }
      for (std::uint64_t k = 0; k < run.count; ++k, ++weight) {
        if (*weight != 0) Reduction::add(result, column[k], *weight);
      }
      results_[i] = result;
    }
  }

  const WindowAxis& width_;
  std::span<const std::byte> input_;
  ReachedRows rows_;
  OutputBlocks blocks_;
  DataType type_;
  std::uint64_t next_row_;  // bytes from a row to what the next row of outputs reaches in its place
  Steps steps_;
  Number zero_{};
  std::vector<Number> columns_;
  std::vector<Number> results_;
};

}  // namespace dmlop::cpu
