// Windows on the CPU: for some outputs of a row, the rows that they reach are reduced column by
// column, then each output reduces the columns that it reaches. Nothing is ever subtracted: NaN and
// infinity stay in their windows, and a result depends on nothing but its window. Vectors do the
// same with many columns at a time (cpu/window_vectors.hpp). Nearest neighbors are copied, and
// norms have vectors of their own (cpu/window_norms.hpp).
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/halves.hpp"
#include "cpu/kinds.hpp"
#include "cpu/reached_rows.hpp"
#include "cpu/window_blocks.hpp"
#include "cpu/window_norms.hpp"
#include "cpu/window_vectors.hpp"

namespace dmlop::cpu {
namespace {

// Steps of an output; more rows than these are counted as they are read.
constexpr std::uint64_t output_steps = 16;
// Elements so far apart lie in pages of their own, and each counts these steps.
constexpr std::uint64_t far_bytes = 4096;
constexpr std::uint64_t element_far_steps = far_steps / 32;
// A part has no more rows than these, unless they are short.
constexpr Threshold rows_of_part_max{512, 3};
// Rows that are reduced together.
constexpr std::size_t rows_at_once = 16;

/// Weighted sums in double.
template <typename Element>
struct Sum {
  using Source = Element;
  using Number = double;
  static constexpr Number start = 0;

  static void add(Number& sum, Number x, double weight) { sum += weight * x; }
  static void add(Number& sum, Number x) { sum += x; }
};

template <typename Element>
struct Maximum {
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
    const std::uint64_t far = distance * sizeof(Source) >= far_bytes ? element_far_steps : 1;
    rows_.for_each([&](std::uint64_t offset, std::uint64_t, double weight) {
      steps_.add(count * far + output_steps);
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
      steps_.add(count + output_steps);
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

/// Goes through output elements [begin, end). Calls row() at the begin of each output row and
/// put(results, block, output) for each block.
template <typename Reduction, typename Row, typename Put>
void for_each_block(WindowReducer<Reduction>& reducer, const WindowKernel& kernel,
                    std::uint64_t begin, std::uint64_t end, Output& output, Row&& row, Put&& put) {
  const std::uint64_t width = kernel.axes.back().output_extent;
  std::uint64_t current = ~std::uint64_t{0};
  while (begin < end) {
    const std::uint64_t o = begin % width;
    if (begin / width != current) {
      current = begin / width;
      reducer.rows().set(current);
      row();
    }
    const OutputBlock& block = reducer.block_at(o, std::min(width, o + (end - begin)));
    const std::uint64_t count = block.runs.size();
    const auto results = reducer.reduce(block);
    put(results, block, output.take(count, output_steps));
    begin += count;
  }
}

/// Calls put(i, mean) for each sum of a block, in a row whose sums have a divisor of their own.
template <typename Put>
void for_each_mean(std::span<const double> sums, const OutputBlock& block, double divisor,
                   Put&& put) {
  const double divisor_of_all = divisor * block.divisor;
  if (block.divisors.empty() && divisor_of_all == 1) {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i]);
  } else if (block.divisors.empty()) {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i] / divisor_of_all);
  } else {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i] / (divisor * block.divisors[i]));
  }
}

/// Writes numbers as elements, as put_number() does.
template <typename Element, typename Number>
void put_numbers(std::span<const Number> numbers, std::byte* to) {
  if constexpr (std::is_same_v<Element, Half>) {
    std::array<double, columns_at_once.most()> doubles;
    std::copy(numbers.begin(), numbers.end(), doubles.begin());
    halves_of_doubles(std::span(doubles).first(numbers.size()), to);
  } else if constexpr (std::is_same_v<Element, Number>) {
    std::memcpy(to, numbers.data(), numbers.size_bytes());
  } else {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      put_number<Element>(to + i * sizeof(Element), numbers[i]);
  }
}

template <typename Element>
void sum(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
         Output& output) {
  WindowReducer<Sum<Element>> reducer(kernel, inputs[0], output.room(output_steps));
  std::vector<double> means(columns_at_once.most());
  const auto put = [&](std::span<const double> sums, const OutputBlock& block, std::byte* to) {
    const double divisor = reducer.rows().divisor();
    if (!std::is_integral_v<Element> && block.divisors.empty())
      return store_means(kernel.data_type, sums.data(), divisor * block.divisor, sums.size(), to);
    for_each_mean(sums, block, divisor, [&](std::size_t i, double mean) {
      // Weights that add up to 1 give an integer but for what double rounds.
      means[i] = std::is_integral_v<Element> ? static_cast<double>(static_cast<float>(mean)) : mean;
    });
    put_numbers<Element>(std::span<const double>(means).first(sums.size()), to);
  };
  for_each_block(
      reducer, kernel, begin, end, output, [] {}, put);
}

/// The scales and zero points of a channel.
template <typename Element>
class Quantization {
 public:
  Quantization(const Requantization& of, Inputs inputs) : of_(of) {
    auto next = inputs.begin() + 1;
    input_scales_ = *next++;
    if (of.input_zero_point_stride) input_zeros_ = *next++;
    output_scales_ = *next++;
    if (of.output_zero_point_stride) output_zeros_ = *next;
  }

  void set(std::uint64_t channel) {
    input_zero = zero(input_zeros_, of_.input_zero_point_stride, channel);
    output_zero_ = zero(output_zeros_, of_.output_zero_point_stride, channel);
    input_scale_ = scale(input_scales_, of_.input_scale_stride, channel);
    output_scale_ = scale(output_scales_, of_.output_scale_stride, channel);
  }

  /// The element of a mean of elements less their zero point; of NaN the lowest one.
  void put(std::byte* to, double mean) const {
    put_number<Element>(to, std::nearbyint(mean * input_scale_ / output_scale_) + output_zero_);
  }

  double input_zero = 0;

 private:
  static double scale(std::span<const std::byte> from, std::uint64_t stride,
                      std::uint64_t channel) {
    return number_at<float>(&from[channel * stride * sizeof(float)]);
  }
  static double zero(std::span<const std::byte> from, const std::optional<std::uint64_t>& stride,
                     std::uint64_t channel) {
    return stride ? number_at<Element>(&from[channel * *stride]) : 0;
  }

  const Requantization& of_;
  std::span<const std::byte> input_scales_, input_zeros_, output_scales_, output_zeros_;
  double output_zero_ = 0, input_scale_ = 1, output_scale_ = 1;
};

template <typename Element>
void sum_quantized(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin,
                   std::uint64_t end, Output& output) {
  WindowReducer<Sum<Element>> reducer(kernel, inputs[0], output.room(output_steps));
  Quantization<Element> quantization(*kernel.requantization, inputs);
  const auto row = [&] {
    quantization.set(reducer.rows().place(1));
    reducer.set_zero(quantization.input_zero);
  };
  const auto put = [&](std::span<const double> sums, const OutputBlock& block, std::byte* to) {
    for_each_mean(sums, block, reducer.rows().divisor(),
                  [&](std::size_t i, double mean) { quantization.put(to + i, mean); });
  };
  for_each_block(reducer, kernel, begin, end, output, row, put);
}

template <typename Element>
void maximum(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
             Output& output) {
  using Reduction = Maximum<Element>;
  WindowReducer<Reduction> reducer(kernel, inputs[0], output.room(output_steps));
  using Number = typename Reduction::Number;
  const auto put = [&](std::span<Number> maxima, const OutputBlock& block, std::byte* to) {
    const bool is_empty = reducer.rows().is_empty();
    for (std::size_t i = 0; i < maxima.size() && (is_empty || block.has_empty); ++i) {
      if (is_empty || block.runs[i].count == 0) maxima[i] = Reduction::of_nothing;
    }
    put_numbers<Element>(std::span<const Number>(maxima), to);
  };
  for_each_block(
      reducer, kernel, begin, end, output, [] {}, put);
}

/// Whether every output is one element of the input, as nearest neighbors are.
bool picks(const WindowKernel& kernel) {
  const auto picks_along = [](const WindowAxis& axis) {
    if (axis.is_transposed) return false;
    if (const auto* interpolation = std::get_if<Interpolation>(&axis.reach))
      return interpolation->sampling != Sampling::linear;
    const auto& windows = std::get<Windows>(axis.reach);
    return windows.size == 1 && windows.start_padding == 0 && axis.output_extent > 0 &&
           (axis.output_extent - 1) * windows.stride < axis.input_extent;
  };
  return !kernel.requantization && std::all_of(kernel.axes.begin(), kernel.axes.end(), picks_along);
}

/// Copies the elements that the outputs of a block reach from a row of the input.
template <typename Bits>
void pick_elements(const OutputBlock& block, const std::byte* row, std::uint64_t stride,
                   std::byte* to) {
  const auto pick_each = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::byte* from = row + block.runs[i].first * stride * sizeof(Bits);
      std::memcpy(to + i * sizeof(Bits), from, sizeof(Bits));
    }
  };
  if (stride != 1 || block.pairs.count == 0) return pick_each(0, block.runs.size());
  copy_twice(sizeof(Bits), row + block.runs[block.pairs.begin].first * sizeof(Bits),
             block.pairs.count / 2, to + block.pairs.begin * sizeof(Bits));
  pick_each(0, block.pairs.begin);
  pick_each(block.pairs.end(), block.runs.size());
}

/// Moves elements as they are: NaN and -0, too.
template <typename Bits>
void pick(const WindowKernel& kernel, std::span<const std::byte> input, std::uint64_t begin,
          std::uint64_t end, Output& output) {
  const WindowAxis& axis = kernel.axes.back();
  ReachedRows rows(kernel.axes);
  OutputBlocks blocks(axis, output.room(output_steps));
  const std::uint64_t width = axis.output_extent;
  const bool is_far = axis.input_stride * sizeof(Bits) >= far_bytes;
  Steps steps;
  while (begin < end) {
    const std::uint64_t o = begin % width;
    rows.set(begin / width);
    const OutputBlock& block = blocks.at(o, std::min(width, o + (end - begin)));
    std::byte* to = output.take(block.runs.size(), output_steps);
    if (is_far) steps.add(block.runs.size() * element_far_steps);
    rows.for_each([&](std::uint64_t offset, std::uint64_t, double) {
      pick_elements<Bits>(block, &input[offset * sizeof(Bits)], axis.input_stride, to);
    });
    begin += block.runs.size();
  }
}

void reduce(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
            Output& output) {
  if (kernel.function == WindowFunction::norm)
    return execute_norms(kernel, inputs[0], begin, end, output);
  if (picks(kernel)) {
    return with_bits(size_of(kernel.data_type), [&](auto bits) {
      pick<decltype(bits)>(kernel, inputs[0], begin, end, output);
    });
  }
  if (kernel.function == WindowFunction::maximum) {
    return visit_type(kernel.data_type, [&](auto zero) {
      maximum<decltype(zero)>(kernel, inputs, begin, end, output);
    });
  }
  visit_type_among<DataType::Float32, DataType::Float16, DataType::Int8, DataType::UInt8>(
      kernel.data_type, [&]<typename Element>(Element) {
        if constexpr (std::is_integral_v<Element>) {
          if (kernel.requantization)
            return sum_quantized<Element>(kernel, inputs, begin, end, output);
        }
        sum<Element>(kernel, inputs, begin, end, output);
      });
}

}  // namespace

// Each part finds out what the outputs of a row reach. So it has many rows, and whole ones where
// these are short; but there are enough parts for many threads.
PartShape part_shape(const WindowKernel& kernel, std::uint64_t bytes) {
  constexpr std::uint64_t parts_min = 64;
  const std::uint64_t width = kernel.axes.back().output_extent;
  if (width == 0 || width > bytes / size_of(kernel.data_type)) return {};
  const std::uint64_t rows = kernel.output_elements() / width;
  return {.granule = width * std::clamp<std::uint64_t>(rows / parts_min, 1, rows_of_part_max)};
}

void run_part(const WindowKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  run_stretch(stores, part, size_of(kernel.data_type), outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                reduce(kernel, inputs, begin, end, output);
              });
}

}  // namespace dmlop::cpu
