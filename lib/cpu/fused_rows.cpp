// Softmax and normalization of rows that lie at a stretch and stay in the caches, each in one go:
// memory is read once, and a power is computed once. Elements are added in one order on all
// machines: in that of the passes that compute the same (ops/expand.hpp), except where these read
// rows of less than 32 elements as columns.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/elements.hpp"
#include "cpu/kinds.hpp"
#include "cpu/simd_small.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/fused_rows.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/elementary-inl.hpp"
#include "cpu/numbers-inl.hpp"
#include "cpu/row_sums-inl.hpp"
#include "cpu/usual-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// The largest number, minus infinity if there is none; 0 has no sign.
float largest_in(const float* numbers, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto larger = [](auto a, auto b) HWY_ATTR { return hn::IfThenElse(hn::Gt(a, b), a, b); };
  const auto none = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto a = none, b = none, c = none, e = none;  // comparisons do not wait for one another
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = larger(hn::LoadU(d, numbers + i), a);
    b = larger(hn::LoadU(d, numbers + i + lanes), b);
    c = larger(hn::LoadU(d, numbers + i + 2 * lanes), c);
    e = larger(hn::LoadU(d, numbers + i + 3 * lanes), e);
  }
  for (; i + lanes <= count; i += lanes) a = larger(hn::LoadU(d, numbers + i), a);
  float largest = hn::GetLane(hn::MaxOfLanes(d, larger(larger(a, b), larger(c, e))));
  for (; i < count; ++i) largest = numbers[i] > largest ? numbers[i] : largest;
  return largest + 0.0F;
}

/// e^(x - largest): as usual numbers, and once more for all if one was rare.
void powers_of(const float* HWY_RESTRICT x, float largest, std::size_t count,
               float* HWY_RESTRICT to) {
  Rare rare = 0;
  for (std::size_t i = 0; i < count; ++i) to[i] = usual_exp(x[i] - largest, rare);
  if (rare >> 31 == 0) return;
  for (std::size_t i = 0; i < count; ++i) to[i] = exp_of(x[i] - largest);
}

/// A scale or bias: a number, or what stands under a stretch of the output.
class RowOperand {
 public:
  RowOperand(const RowsKernel& kernel, const ElementWiseInput& input, const std::byte* bytes)
      : extents_(kernel.shape.sizes), input_(input), bytes_(bytes) {
    if (is_constant()) values_.fill(*input_.constant);
  }

  bool is_constant() const { return input_.constant.has_value(); }
  float constant() const { return *input_.constant; }

  /// At most a stretch from element `index` of the output on.
  const float* read(std::uint64_t index, std::size_t count) {
    if (is_constant()) return values_.data();
    const std::uint64_t stride = input_.strides.back(), row = extents_.back();
    for (std::size_t done = 0; done < count;) {
      const std::uint64_t left = row - (index + done) % row;
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, count - done));
      const std::byte* from = bytes_ + offset(index + done) * size_of(input_.type);
      load(input_.type, from, stride, part, values_.data() + done);
      done += part;
    }
    return values_.data();
  }

 private:
  std::uint64_t offset(std::uint64_t index) const {
    std::uint64_t sum = 0;
    for (std::size_t i = extents_.size(); i-- > 0; index /= extents_[i])
      sum += index % extents_[i] * input_.strides[i];
    return sum;
  }

  const std::vector<std::uint64_t>& extents_;
  const ElementWiseInput& input_;
  const std::byte* bytes_;
  std::array<float, stretch> values_;
};

class FusedRowsRun {
 public:
  FusedRowsRun(const RowsKernel& kernel, Inputs inputs, Stores stores, std::byte* to)
      : kernel_(kernel),
        type_(kernel.input.type),
        length_(static_cast<std::size_t>(kernel.shape.length())),
        rows_(kernel.output_elements() / length_),
        input_(inputs.front().data()),
        scale_(kernel, kernel.scale, inputs[kernel.scale.constant ? 0 : 1].data()),
        bias_(kernel, kernel.bias, inputs.back().data()),
        output_(to, stores) {
    const bool is_softmax = kernel.operation == RowOperation::softmax;
    numbers_.resize(type_ == DataType::Float32 && is_aligned(input_) ? 0 : length_);
    powers_.resize(is_softmax ? length_ : stretch);
  }

  void run(std::uint64_t begin, std::uint64_t end) {
    for (row_ = begin; row_ < end; ++row_) {
      x_ = numbers_of_row();
      normalize_row();
    }
    output_.finish();
  }

 private:
  static bool is_aligned(const std::byte* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(float) == 0;
  }
  const float* numbers_of_row() {
    const std::byte* from = input_ + row_ * length_ * size_of(type_);
    if (numbers_.empty()) return reinterpret_cast<const float*>(from);
    for_each_stretch([&](std::size_t at, std::size_t count) {
      load(type_, from + at * size_of(type_), 1, count, &numbers_[at]);
    });
    return numbers_.data();
  }

  /// Calls action(at, count) for one stretch of the row after the other.
  template <typename Action>
  HWY_INLINE void for_each_stretch(Action&& action) {
    for (std::size_t at = 0; at < length_; at += stretch) {
      const std::size_t count = std::min(stretch, length_ - at);
      steps_.add(count);
      action(at, count);
    }
  }

  // Asks for a stretch of the next row.
  void fetch_ahead(std::size_t at, std::size_t count) const {
    if (row_ + 1 < rows_)
      fetch(input_ + ((row_ + 1) * length_ + at) * size_of(type_), count * size_of(type_));
  }

  /// The sum of a term of each number.
  template <class TermOf>
  double sum_of(const TermOf& term) {
    double sums[sum_lanes] = {};
    for_each_stretch([&](std::size_t at, std::size_t count)
                         HWY_ATTR { add_to_sums(x_ + at, count, sums, term); });
    return joined_sums(sums);
  }
  double sum_of_values() {
    return sum_of([](auto, auto x) HWY_ATTR { return x; });
  }
  double sum_of_magnitudes() {
    return sum_of([](auto, auto x) HWY_ATTR { return hn::Abs(x); });
  }
  double sum_of_squares() {
    return sum_of([](auto, auto x) HWY_ATTR { return hn::Mul(x, x); });
  }
  float mean(double sum) const { return static_cast<float>(sum / static_cast<double>(length_)); }
  float variance_about(float mean) {
    return this->mean(sum_of([mean](auto d, auto x) HWY_ATTR {
      const auto difference = hn::Sub(x, hn::Set(d, static_cast<double>(mean)));
      return hn::Mul(difference, difference);
    }));
  }

  /// Writes the row: make(at, count, to) computes a stretch of it.
  template <typename Make>
  HWY_INLINE void write(Make&& make) {
    for_each_stretch([&](std::size_t at, std::size_t count) HWY_ATTR {
      std::byte* to = output_.take(count * size_of(kernel_.output_type));
      if (kernel_.output_type == DataType::Float32 && is_aligned(to))
        return make(at, count, reinterpret_cast<float*>(to));
      make(at, count, results_.data());
      store<StoreMode::truncates, float>(kernel_.output_type, results_.data(), count, to);
    });
  }

  void normalize_row() {
    switch (kernel_.operation) {
      case RowOperation::softmax:
      case RowOperation::log_softmax:
        return take_softmax();
      case RowOperation::center:
        return divide_by_deviation(mean(sum_of_values()), 1);
      case RowOperation::normalize: {
        const float middle = mean(sum_of_values());
        return divide_by_deviation(middle, variance_about(middle));
      }
      case RowOperation::normalize_about_0:
        return divide_by_deviation(0, mean(sum_of_squares()));
      case RowOperation::by_norm_1:
        return divide(x_, hypotenuse(static_cast<float>(sum_of_magnitudes()), kernel_.epsilon));
      case RowOperation::by_norm_2:
        return divide(x_,
                      hypotenuse(static_cast<float>(std::sqrt(sum_of_squares())), kernel_.epsilon));
    }
  }

  void take_softmax() {
    const bool keeps_powers = kernel_.operation == RowOperation::softmax;
    const float largest = largest_in(x_, length_);
    double sums[sum_lanes] = {};
    for_each_stretch([&](std::size_t at, std::size_t count) HWY_ATTR {
      fetch_ahead(at, count);
      float* powers = keeps_powers ? &powers_[at] : powers_.data();
      powers_of(x_ + at, largest, count, powers);
      add_to_sums(powers, count, sums, [](auto, auto power) HWY_ATTR { return power; });
    });
    const double sum = joined_sums(sums);
    if (keeps_powers) return divide(powers_.data(), static_cast<float>(sum));
    const auto logarithm = static_cast<float>(std::log(sum > 1e-20 ? sum : 1e-20));
    write([&](std::size_t at, std::size_t count, float* HWY_RESTRICT to) HWY_ATTR {
      const float* HWY_RESTRICT x = x_ + at;
      for (std::size_t i = 0; i < count; ++i) to[i] = (x[i] - largest) - logarithm;
    });
  }

  void divide(const float* numbers, float divisor) {
    write([&](std::size_t at, std::size_t count, float* HWY_RESTRICT to) HWY_ATTR {
      const float* HWY_RESTRICT from = numbers + at;
      for (std::size_t i = 0; i < count; ++i) to[i] = from[i] / divisor;
    });
  }

  // As the expression `normalize` says.
  void divide_by_deviation(float mean, float variance) {
    const float deviation = std::sqrt(variance + kernel_.epsilon);
    if (scale_.is_constant() && bias_.is_constant()) {
      const float factor = scale_.constant() / deviation, bias = bias_.constant();
      return write([&](std::size_t at, std::size_t count, float* HWY_RESTRICT to) HWY_ATTR {
        const float* HWY_RESTRICT x = x_ + at;
        fetch_ahead(at, count);
        for (std::size_t i = 0; i < count; ++i) to[i] = (x[i] - mean) * factor + bias + 0.0F;
      });
    }
    write([&](std::size_t at, std::size_t count, float* HWY_RESTRICT to) HWY_ATTR {
      const float* HWY_RESTRICT x = x_ + at;
      const float* HWY_RESTRICT scale = scale_.read(row_ * length_ + at, count);
      const float* HWY_RESTRICT bias = bias_.read(row_ * length_ + at, count);
      fetch_ahead(at, count);
      for (std::size_t i = 0; i < count; ++i)
        to[i] = (x[i] - mean) * (scale[i] / deviation) + bias[i] + 0.0F;
    });
  }

  const RowsKernel& kernel_;
  DataType type_;  // of the elements
  std::size_t length_;
  std::uint64_t rows_;
  const std::byte* input_;
  RowOperand scale_, bias_;
  OutputBytes output_;
  std::uint64_t row_ = 0;
  const float* x_ = nullptr;    // its numbers
  std::vector<float> numbers_;  // where they are converted
  std::vector<float> powers_;   // of the row, or of a stretch
  std::array<float, stretch> results_;
  Steps steps_;
};

void RunRows(const RowsKernel& kernel, Inputs inputs, const Part& part, Stores stores,
             std::byte* to) {
  const std::uint64_t length = kernel.shape.length();
  FusedRowsRun(kernel, inputs, stores, to)
      .run(part.begin / length, (part.begin + part.length) / length);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {
namespace {

// Rows of FLOAT32 up to a megabyte. Longer ones leave the caches, and few of them are not enough
// for all threads.
constexpr Threshold length_most{std::uint64_t{1} << 18, 37};

}  // namespace

bool runs_rows(const RowsKernel& kernel) {
  const std::optional<PackedRows> rows = packed_rows(kernel);
  return rows && rows->stride == 1 && rows->length > 1 && rows->length <= length_most &&
         !kernel.activation && is_within_float32(kernel.input.type) &&
         is_within_float32(kernel.output_type);
}

PartShape part_shape(const RowsKernel& kernel, std::uint64_t) {
  return {.granule = kernel.shape.length()};
}

void run_part(const RowsKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  if (!runs_rows(kernel)) throw std::logic_error("the CPU runs these rows as passes");
  DMLOP_BEST_SIMD(RunRows)(kernel, inputs, part, stores, outputs.front().to);
}

}  // namespace dmlop::cpu
#endif
