// Lp pooling on the CPU: rows of outputs accumulate, in double, the powers of one input row after
// the other. Double holds |x|^4 of every float, so P up to 4 needs no scaling; larger P divide by
// the window's largest magnitude first.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/execute.hpp"
#include "tensor/half.hpp"

namespace dmlop::cpu {
namespace {

using Int = std::int64_t;

// Outputs of a row that are computed together: their sums stay in the nearest cache.
constexpr std::uint64_t row_part = 1024;

float load_element(DataType type, const std::byte* from) {
  if (type == DataType::Float16) {
    std::uint16_t half;
    std::memcpy(&half, from, sizeof half);
    return half_to_float(half);
  }
  float value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// |x|^P and its inverse for the exponents that have a short form.
struct Power1 {
  static double raise(double x) { return x; }
  static double root(double sum) { return sum; }
};
struct Power2 {
  static double raise(double x) { return x * x; }
  static double root(double sum) { return std::sqrt(sum); }
};
struct Power3 {
  static double raise(double x) { return x * x * x; }
  static double root(double sum) { return std::cbrt(sum); }
};
struct Power4 {
  static double raise(double x) { return (x * x) * (x * x); }
  static double root(double sum) { return std::sqrt(std::sqrt(sum)); }
};

/// The window of one axis at output index o, cut to the input: source indices [first, last).
struct Reach {
  Int first;
  Int last;
};

Reach reach_at(const PoolingAxis& axis, std::uint64_t o) {
  const Int begin = static_cast<Int>(o * axis.window_stride) - axis.start_padding;
  return {std::max<Int>(begin, 0), std::min<Int>(begin + static_cast<Int>(axis.window),
                                                 static_cast<Int>(axis.input_extent))};
}

class LpPooling {
 public:
  LpPooling(const LpPoolingPlan& plan, Inputs inputs) : plan_(plan), input_(inputs[0]) {}

  void run(std::uint64_t begin, std::uint64_t end, std::byte* output) const {
    const std::uint64_t width = plan_.axes[2].output_extent;
    const std::size_t size = size_of(plan_.data_type);
    while (begin < end) {
      const std::uint64_t o = begin % width;
      const std::uint64_t count = std::min({width - o, end - begin, row_part});
      std::array<double, row_part> results;
      row(begin / width, o, std::span(results).first(count));
      for (std::uint64_t k = 0; k < count; ++k) store(output + k * size, results[k]);
      output += count * size;
      begin += count;
    }
  }

 private:
  void store(std::byte* to, double value) const {
    if (plan_.data_type == DataType::Float16) {
      const std::uint16_t half = half_from_double(value);
      std::memcpy(to, &half, sizeof half);
    } else {
      const auto single = static_cast<float>(value);
      std::memcpy(to, &single, sizeof single);
    }
  }

  // Calls action(offset in elements) for every input row under the windows of output row `index`.
  template <typename Action>
  void for_each_input_row(std::uint64_t index, Action&& action) const {
    const auto& [depth, height, width] = plan_.axes;
    const std::uint64_t y = index % height.output_extent;
    const std::uint64_t z = index / height.output_extent % depth.output_extent;
    const std::uint64_t image = index / height.output_extent / depth.output_extent;
    const std::uint64_t base = image / plan_.batch_extents[1] * plan_.batch_strides[0] +
                               image % plan_.batch_extents[1] * plan_.batch_strides[1];
    const Reach rows = reach_at(height, y), slices = reach_at(depth, z);
    for (Int d = slices.first; d < slices.last; ++d) {
      for (Int h = rows.first; h < rows.last; ++h) {
        action(base + static_cast<std::uint64_t>(d) * depth.input_stride +
               static_cast<std::uint64_t>(h) * height.input_stride);
      }
    }
  }

  // Calls action(k, |x|) for every output k of the part and every x of the input row in its window.
  template <typename Action>
  void for_each_element(std::uint64_t row_offset, std::uint64_t o, std::uint64_t count,
                        Action&& action) const {
    const PoolingAxis& width = plan_.axes[2];
    for (std::uint64_t k = 0; k < count; ++k) {
      const Reach reach = reach_at(width, o + k);
      for (Int w = reach.first; w < reach.last; ++w) {
        const std::uint64_t at = row_offset + static_cast<std::uint64_t>(w) * width.input_stride;
        action(k, std::abs(static_cast<double>(load_element(
                      plan_.data_type, input_.data() + at * size_of(plan_.data_type)))));
      }
    }
  }

  void row(std::uint64_t index, std::uint64_t o, std::span<double> results) const {
    switch (plan_.p) {
      case 1:
        return row_of<Power1>(index, o, results);
      case 2:
        return row_of<Power2>(index, o, results);
      case 3:
        return row_of<Power3>(index, o, results);
      case 4:
        return row_of<Power4>(index, o, results);
      default:
        return scaled_row(index, o, results);
    }
  }

  template <typename Power>
  void row_of(std::uint64_t index, std::uint64_t o, std::span<double> results) const {
    std::fill(results.begin(), results.end(), 0.0);
    for_each_input_row(index, [&](std::uint64_t offset) {
      for_each_element(offset, o, results.size(),
                       [&](std::uint64_t k, double x) { results[k] += Power::raise(x); });
    });
    for (double& result : results) result = Power::root(result);
  }

  void scaled_row(std::uint64_t index, std::uint64_t o, std::span<double> results) const {
    std::array<double, row_part> largest;
    std::fill_n(largest.begin(), results.size(), 0.0);
    for_each_input_row(index, [&](std::uint64_t offset) {
      for_each_element(offset, o, results.size(), [&](std::uint64_t k, double x) {
        if (x > largest[k]) largest[k] = x;
      });
    });
    const auto p = static_cast<double>(plan_.p);
    std::fill(results.begin(), results.end(), 0.0);
    for_each_input_row(index, [&](std::uint64_t offset) {
      for_each_element(offset, o, results.size(), [&](std::uint64_t k, double x) {
        // The largest itself counts 1, also where it is 0 or infinite; NaN stays NaN.
        results[k] += x == largest[k] ? 1.0 : std::pow(x / largest[k], p);
      });
    });
    for (std::size_t k = 0; k < results.size(); ++k) {
      // A window wholly in padding has no largest element: 0 either way.
      results[k] = results[k] == 0 ? 0 : largest[k] * std::pow(results[k], 1 / p);
    }
  }

  const LpPoolingPlan& plan_;
  std::span<const std::byte> input_;
};

}  // namespace

void execute_lp_pooling(const LpPoolingPlan& plan, Inputs inputs, std::uint64_t begin,
                        std::uint64_t end, std::byte* output) {
  LpPooling(plan, inputs).run(begin, end, output);
}

}  // namespace dmlop::cpu
