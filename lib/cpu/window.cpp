// Windows on the CPU: for some outputs of a row, the rows that they reach are reduced column by
// column, then each output reduces the columns that it reaches. Nothing is ever subtracted: NaN and
// infinity stay in their windows, and a result depends on nothing but its window.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/halves.hpp"
#include "cpu/kinds.hpp"
#include "cpu/reached_rows.hpp"

namespace dmlop::cpu {
namespace {

// Columns that are reduced together: what is worked on stays in the nearest cache.
constexpr std::uint64_t columns_at_once = 2048;
// Outputs whose columns lie this much farther apart than what they reach are not computed together.
constexpr std::uint64_t waste_max = 4;
// Steps of an output; more rows than these are counted as they are read.
constexpr std::uint64_t output_steps = 16;

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

/// Outputs of a row that are computed together, and what they reach.
struct Block {
  std::uint64_t begin = 0, end = 0;  // outputs
  std::uint64_t low = 0, high = 0;   // elements of the input
  std::vector<TapRun> runs;          // of each output
  std::vector<double> weights;   // of all taps, one output after the other; empty where all are 1
  std::vector<double> divisors;  // of each output along the row; empty where all are 1
  bool is_copied = false;        // output k is column k
};

/// Cuts a row into blocks and keeps them, as all rows have the same.
class Blocks {
 public:
  Blocks(const WindowAxis& axis, std::uint64_t outputs_at_once)
      : taps_(axis), outputs_at_once_(std::min(outputs_at_once, columns_at_once)) {}

  /// The block of outputs from `begin` on, behind `end` at most.
  const Block& at(std::uint64_t begin, std::uint64_t end) {
    const auto found = kept_.find({begin, end});
    if (found != kept_.end()) return found->second;
    Block block = make(begin, end);
    kept_numbers_ += 4 * block.runs.size() + block.weights.size() + block.divisors.size();
    if (kept_numbers_ > kept_numbers_max) {
      kept_.clear();
      kept_numbers_ = 0;
    }
    return kept_[{begin, end}] = std::move(block);
  }

  const Taps& taps() const { return taps_; }

 private:
  static constexpr std::uint64_t kept_numbers_max = std::uint64_t{1} << 18;

  Block make(std::uint64_t begin, std::uint64_t end) const {
    Block block;
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
      const bool fits = high - low <= std::min(columns_at_once, waste_max * (reached + 16));
      if (!fits && block.end > begin) break;
      block.low = low;
      block.high = high;
      block.runs.push_back(run);
    }
    if (!taps_.are_uniform() && block.runs.size() > 1) weigh(block);
    block.is_copied = is_copied(block);
    for (std::uint64_t o = block.begin; o < block.end; ++o)
      block.divisors.push_back(taps_.divisor(o));
    const auto is_one = [](double divisor) { return divisor == 1; };
    if (std::all_of(block.divisors.begin(), block.divisors.end(), is_one)) block.divisors.clear();
    return block;
  }

  void weigh(Block& block) const {
    for (std::uint64_t o = block.begin; o < block.end; ++o) {
      const TapRun& run = block.runs[o - block.begin];
      for (std::uint64_t k = 0; k < run.count; ++k)
        block.weights.push_back(taps_.weight(o, run, k));
    }
  }

  static bool is_copied(const Block& block) {
    if (block.runs.size() == 1) return false;
    for (std::size_t i = 0; i < block.runs.size(); ++i) {
      if (block.runs[i].count != 1 || block.runs[i].first != block.low + i) return false;
    }
    return std::all_of(block.weights.begin(), block.weights.end(),
                       [](double weight) { return weight == 1; });
  }

  Taps taps_;
  std::uint64_t outputs_at_once_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Block> kept_;
  std::uint64_t kept_numbers_ = 0;
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
        columns_(columns_at_once) {}

  ReachedRows& rows() { return rows_; }
  const Taps& taps() const { return blocks_.taps(); }
  const Block& block_at(std::uint64_t begin, std::uint64_t end) { return blocks_.at(begin, end); }

  /// What is subtracted from every element of a sum.
  void set_zero(Number zero) { zero_ = zero; }

  /// The results of a block in the current row, and how many elements each reaches along the row.
  std::span<const Number> reduce(const Block& block) {
    results_.assign(block.runs.size(), Reduction::start);
    if (rows_.is_empty()) return results_;
    if (block.runs.size() == 1) {
      reduce_alone(block);
      return results_;
    }
    reduce_rows(block.low, 1, block.high - block.low);
    if (block.is_copied) {
      std::copy_n(columns_.begin(), results_.size(), results_.begin());
    } else if (block.weights.empty()) {
      reduce_columns(block);
    } else {
      weigh_columns(block);
    }
    return results_;
  }

 private:
  // The columns are the taps of the one output, so many at a time.
  void reduce_alone(const Block& block) {
    const TapRun& run = block.runs[0];
    const bool is_uniform = taps().are_uniform();
    for (std::uint64_t k = 0; k < run.count; k += columns_at_once) {
      const std::uint64_t count = std::min(columns_at_once, run.count - k);
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
    std::fill_n(columns_.begin(), count, Reduction::start);
    const std::uint64_t distance = step * width_.input_stride;
    const std::uint64_t far = distance * sizeof(Source) >= 4096 ? far_steps / 32 : 1;
    rows_.for_each([&](std::uint64_t offset, std::uint64_t, double weight) {
      steps_.add(count * far + output_steps);
      if (weight == 0) return;
      const std::byte* from = &input_[(offset + first * width_.input_stride) * sizeof(Source)];
      if (distance == 1) {
        add_row<true>(from, 1, count, weight);
      } else {
        add_row<false>(from, distance, count, weight);
      }
    });
  }

  template <bool is_packed>
  void add_row(const std::byte* from, std::uint64_t distance, std::uint64_t count, double weight) {
    if constexpr (is_packed && std::is_same_v<Source, Half>) {
      std::array<float, columns_at_once> floats;
      floats_of_halves(from, std::span(floats).first(count));
      add_elements<true, float>(reinterpret_cast<const std::byte*>(floats.data()), 1, count, weight);
    } else {
      add_elements<is_packed, Source>(from, distance, count, weight);
    }
  }

  template <bool is_packed, typename Element>
  void add_elements(const std::byte* from, std::uint64_t distance, std::uint64_t count,
                    double weight) {
    Number* columns = columns_.data();
    const Number zero = zero_;
    for (std::uint64_t c = 0; c < count; ++c) {
      const std::uint64_t place = is_packed ? c : c * distance;
      const auto x = static_cast<Number>(number_at<Element>(from + place * sizeof(Element)));
      if constexpr (std::is_same_v<Number, double>) {
        Reduction::add(columns[c], x - zero, weight);
      } else {
        Reduction::add(columns[c], x);
      }
    }
  }

  void reduce_columns(const Block& block) {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const TapRun& run = block.runs[i];
      if (run.count == 0) continue;
      const Number* column = &columns_[run.first - block.low];
      Number result = Reduction::start;
      for (std::uint64_t k = 0; k < run.count; ++k) Reduction::add(result, column[k * run.step]);
      results_[i] = result;
    }
  }

  void weigh_columns(const Block& block) {
    const double* weight = block.weights.data();
    for (std::size_t i = 0; i < results_.size(); ++i) {
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
  Blocks blocks_;
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
    const Block& block = reducer.block_at(o, std::min(width, o + (end - begin)));
    const std::uint64_t count = block.runs.size();
    const auto results = reducer.reduce(block);
    put(results, block, output.take(count, output_steps));
    begin += count;
  }
}

/// Calls put(i, mean) for each sum of a block, in a row whose sums have a divisor of their own.
template <typename Put>
void for_each_mean(std::span<const double> sums, const Block& block, double divisor, Put&& put) {
  if (block.divisors.empty() && divisor == 1) {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i]);
  } else if (block.divisors.empty()) {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i] / divisor);
  } else {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i] / (divisor * block.divisors[i]));
  }
}

/// Writes numbers as elements, as put_number() does.
template <typename Element, typename Number>
void put_numbers(std::span<const Number> numbers, std::byte* to) {
  if constexpr (std::is_same_v<Element, Half>) {
    std::array<double, columns_at_once> doubles;
    std::copy(numbers.begin(), numbers.end(), doubles.begin());
    halves_of_doubles(std::span(doubles).first(numbers.size()), to);
  } else {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      put_number<Element>(to + i * sizeof(Element), numbers[i]);
  }
}

template <typename Element>
void sum(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
         Output& output) {
  WindowReducer<Sum<Element>> reducer(kernel, inputs[0], output.room(output_steps));
  std::vector<double> means(columns_at_once);
  const auto put = [&](std::span<const double> sums, const Block& block, std::byte* to) {
    for_each_mean(sums, block, reducer.rows().divisor(), [&](std::size_t i, double mean) {
      // Weights that add up to 1 give an integer but for what double rounds.
      means[i] = sizeof(Element) == 1 ? static_cast<double>(static_cast<float>(mean)) : mean;
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
  const auto put = [&](std::span<const double> sums, const Block& block, std::byte* to) {
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
  std::vector<Number> found(columns_at_once);
  const auto put = [&](std::span<const Number> maxima, const Block& block, std::byte* to) {
    for (std::size_t i = 0; i < maxima.size(); ++i) {
      const bool is_empty = reducer.rows().is_empty() || block.runs[i].count == 0;
      found[i] = is_empty ? Reduction::of_nothing : maxima[i];
    }
    put_numbers<Element>(std::span<const Number>(found).first(maxima.size()), to);
  };
  for_each_block(
      reducer, kernel, begin, end, output, [] {}, put);
}

void reduce(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
            Output& output) {
  if (kernel.function == WindowFunction::maximum) {
    return visit_type(kernel.data_type, [&](auto zero) {
      maximum<decltype(zero)>(kernel, inputs, begin, end, output);
    });
  }
  switch (kernel.data_type) {
    case DataType::Float16:
      return sum<Half>(kernel, inputs, begin, end, output);
    case DataType::Int8:
      return kernel.requantization ? sum_quantized<std::int8_t>(kernel, inputs, begin, end, output)
                                   : sum<std::int8_t>(kernel, inputs, begin, end, output);
    case DataType::UInt8:
      return kernel.requantization ? sum_quantized<std::uint8_t>(kernel, inputs, begin, end, output)
                                   : sum<std::uint8_t>(kernel, inputs, begin, end, output);
    default:
      return sum<float>(kernel, inputs, begin, end, output);
  }
}

}  // namespace

PartShape part_shape(const WindowKernel&, std::uint64_t) {
  return {};
}

void run_part(const WindowKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  run_stretch(stores, part, size_of(kernel.data_type), outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                reduce(kernel, inputs, begin, end, output);
              });
}

}  // namespace dmlop::cpu
