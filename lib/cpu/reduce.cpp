// Reductions on the CPU. What is gathered of a row lies in cells: one where rows lie side by side
// in memory, as columns, and elements of many rows are read together; several where a row is read
// at a stretch, so that an element need not wait for the one before. Where rows are read together
// depends on the kernel alone, and so does every result.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/axis_walk.hpp"
#include "cpu/kinds.hpp"
#include "cpu/simd.hpp"
#include "tensor/half.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduce.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/exponential-inl.hpp"
#include "cpu/operands-inl.hpp"
#include "hwy/highway.h"

#ifndef DMLOP_CPU_REDUCE_ONCE
#define DMLOP_CPU_REDUCE_ONCE
namespace dmlop::cpu {

/// How the rows of a kernel are read.
struct ReduceShape {
  std::uint64_t length = 1;  // elements of a row
  bool is_columns = false;   // an element of each of many rows after the other
  std::uint64_t width = 1;   // rows that are read together
};

inline ReduceShape shape_of(const ReduceKernel& kernel) {
  constexpr std::uint64_t columns_min = 16, columns_max = 512, long_row = 32;
  ReduceShape shape;
  for (std::size_t i = kernel.kept; i < kernel.extents.size(); ++i)
    shape.length *= kernel.extents[i];
  const std::vector<std::uint64_t>& strides = kernel.operands.front().strides;
  const std::uint64_t beside = kernel.extents[kernel.kept - 1];
  const bool are_beside = strides[kernel.kept - 1] < strides.back();
  shape.is_columns = beside >= columns_min && (are_beside || shape.length < long_row);
  if (shape.is_columns)
    shape.width = std::min(beside, columns_max);
  else if (are_beside)
    shape.width = std::min(beside, columns_min);
  return shape;
}

}  // namespace dmlop::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// --- what a sum is of

/// Floats are summed in double; integers wrap.
template <typename Value>
using Sum =
    std::conditional_t<std::is_floating_point_v<Value>, double,
                       std::make_unsigned_t<std::conditional_t<std::is_floating_point_v<Value>,
                                                               std::uint32_t, Value>>>;

struct ValueTerm {
  static constexpr std::size_t operands = 1;
  template <typename Value>
  static HWY_INLINE Sum<Value> of(Value a) {
    return static_cast<Sum<Value>>(a);
  }
};

struct Magnitude {
  static constexpr std::size_t operands = 1;
  template <typename Value>
  static HWY_INLINE Sum<Value> of(Value a) {
    const auto term = static_cast<Sum<Value>>(a);
    if constexpr (std::is_floating_point_v<Value>)
      return std::fabs(term);
    else
      return a < 0 ? 0 - term : term;
  }
};

struct Square {
  static constexpr std::size_t operands = 1;
  template <typename Value>
  static HWY_INLINE Sum<Value> of(Value a) {
    const auto term = static_cast<Sum<Value>>(a);
    return term * term;
  }
};

struct Exponential {
  static constexpr std::size_t operands = 2;
  static HWY_INLINE double of(float a, float b) { return exponential(a - b); }
};

struct FiniteExponential {
  static constexpr std::size_t operands = 2;
  static HWY_INLINE double of(float a, float b) {
    return exponential(a - (std::fabs(b) <= std::numeric_limits<float>::max() ? b : 0.0F));
  }
};

struct SquaredDifference {
  static constexpr std::size_t operands = 2;
  static HWY_INLINE double of(float a, float b) {
    const double difference = static_cast<double>(a) - b;
    return difference * difference;
  }
};

struct ProductWithDifference {
  static constexpr std::size_t operands = 3;
  static HWY_INLINE double of(float a, float b, float c) {
    return a * (static_cast<double>(b) - c);
  }
};

// --- how two become one

template <typename Value_, class Term>
struct Sums {
  using Value = Value_;
  using Cell = Sum<Value>;
  static constexpr std::size_t operands = Term::operands;
  static constexpr Cell none = 0;
  template <typename... Values>
  static HWY_INLINE Cell of(Values... values) {
    return Term::of(values...);
  }
  static HWY_INLINE Cell both(Cell a, Cell b) { return a + b; }
};

template <typename Value_>
struct Products : Sums<Value_, ValueTerm> {
  using Cell = Sum<Value_>;
  static constexpr Cell none = 1;
  static HWY_INLINE Cell both(Cell a, Cell b) { return a * b; }
};

/// Minima or maxima; NaN is never one.
template <typename Value_, bool is_maximum>
struct Extremes {
  using Value = Value_;
  using Cell = Value;
  using Limits = std::numeric_limits<Value>;
  static constexpr std::size_t operands = 1;
  static constexpr Value infinity = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr Value none = !is_maximum            ? infinity
                                : Limits::has_infinity ? -infinity
                                                       : Limits::lowest();
  static HWY_INLINE Cell of(Value value) { return value; }
  static HWY_INLINE Cell both(Cell a, Cell b) { return (is_maximum ? b > a : b < a) ? b : a; }
};

// --- cells

constexpr std::size_t lanes = 16;  // cells of a row that is read at a stretch

/// Of a fold of all elements to one.
template <class Fold>
class FoldCells {
 public:
  using Value = typename Fold::Value;
  static constexpr std::size_t operands = Fold::operands;

  void begin(std::size_t at, std::size_t count, Value) {
    std::fill_n(cells_ + at, count, Fold::none);
  }

  /// A value to each of `count` cells.
  template <typename... Values>
  void add(std::size_t at, std::size_t count, std::uint64_t, const Values* HWY_RESTRICT... from) {
    typename Fold::Cell* HWY_RESTRICT cells = cells_ + at;
    for (std::size_t i = 0; i < count; ++i) cells[i] = Fold::both(cells[i], Fold::of(from[i]...));
  }

  /// Values of one row to its cells, one after the other.
  template <typename... Values>
  void add_run(std::size_t at, std::size_t count, std::uint64_t position,
               const Values* HWY_RESTRICT... from) {
    typename Fold::Cell cells[lanes];
    std::copy_n(cells_ + at, lanes, cells);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      for (std::size_t k = 0; k < lanes; ++k)
        cells[k] = Fold::both(cells[k], Fold::of(from[i + k]...));
    }
    std::copy_n(cells, lanes, cells_ + at);
    add(at, count - i, position, (from + i)...);
  }

  /// All cells of a row become one.
  typename Fold::Cell joined(std::size_t at) {
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k)
        cells_[at + k] = Fold::both(cells_[at + k], cells_[at + k + half]);
    }
    return cells_[at];
  }
  typename Fold::Cell cell(std::size_t at) const { return cells_[at]; }

 private:
  alignas(64) typename Fold::Cell cells_[chunk];
};

/// Of the search for the place of an extreme. A cell begins with the row's first element, so that a
/// first NaN stays.
template <typename Value_, bool is_maximum, bool takes_last>
class IndexCells {
 public:
  using Value = Value_;
  static constexpr std::size_t operands = 1;

  void begin(std::size_t at, std::size_t count, Value first) {
    std::fill_n(values_ + at, count, first);
    std::fill_n(positions_ + at, count, 0);
  }

  void add(std::size_t at, std::size_t count, std::uint64_t position,
           const Value* HWY_RESTRICT from) {
    add_stepping<0>(at, count, position, from);
  }

  void add_run(std::size_t at, std::size_t count, std::uint64_t position,
               const Value* HWY_RESTRICT from) {
    for (std::size_t i = 0; i < count; i += lanes)
      add_stepping<1>(at, std::min(lanes, count - i), position + i, from + i);
  }

  std::uint64_t joined(std::size_t at) const {
    std::size_t best = at;
    for (std::size_t k = at + 1; k < at + lanes; ++k) {
      const bool is_equal = values_[k] == values_[best];
      const bool is_before = positions_[k] < positions_[best];
      if (is_equal ? is_before != takes_last : is_better(values_[k], values_[best])) best = k;
    }
    return positions_[best];
  }
  std::uint64_t cell(std::size_t at) const { return positions_[at]; }

 private:
  static HWY_INLINE bool is_better(Value a, Value b) {
    if constexpr (takes_last) return is_maximum ? a >= b : a <= b;
    return is_maximum ? a > b : a < b;
  }

  template <std::uint64_t step>
  HWY_INLINE void add_stepping(std::size_t at, std::size_t count, std::uint64_t position,
                               const Value* HWY_RESTRICT from) {
    Value* HWY_RESTRICT values = values_ + at;
    std::uint64_t* HWY_RESTRICT positions = positions_ + at;
    for (std::size_t i = 0; i < count; ++i) {
      const bool better = is_better(from[i], values[i]);
      values[i] = better ? from[i] : values[i];
      positions[i] = better ? position + i * step : positions[i];
    }
  }

  alignas(64) Value values_[chunk];
  alignas(64) std::uint64_t positions_[chunk];
};

// --- their execution

template <class Cells>
class Reduction {
  using Value = typename Cells::Value;

 public:
  Reduction(const ReduceKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        shape_(shape_of(kernel)),
        kept_(kernel.extents, kernel.operands, 0, kernel.kept - 1),
        reduced_(kernel.extents, kernel.operands, kernel.kept, kernel.extents.size() - 1),
        size_(size_of(kernel.output_type)) {
    readers_.reserve(Cells::operands);
    for (std::size_t next = 0; const ReduceOperand& operand : kernel.operands) {
      readers_.emplace_back(operand, !operand.is_position ? inputs[next++] : std::span<const std::byte>());
    }
    const ReduceOperand& first = kernel.operands.front();
    const std::uint64_t stride = shape_.is_columns ? beside(0) : along(0);
    is_far_ = stride * size_of(first.data_type) >= 4096;
  }

  // Outputs [begin, begin + length).
  void run(std::uint64_t begin, std::uint64_t length, std::byte* to) {
    const std::uint64_t extent = kernel_.extents[kernel_.kept - 1];
    kept_.seek(begin / extent);
    for (std::uint64_t left = length, i = begin % extent; left > 0; kept_.next(), i = 0) {
      for (std::uint64_t end = std::min(extent, i + left); i < end;) {
        const auto count = static_cast<std::size_t>(std::min(shape_.width, end - i));
        shape_.is_columns ? reduce_columns(i, count) : reduce_rows(i, count);
        for (std::size_t k = 0; k < count; ++k, to += size_)
          put(shape_.is_columns ? cells_.cell(k) : cells_.joined(k * lanes), to);
        i += count, left -= count;
      }
    }
  }

 private:
  static constexpr auto each_operand = std::make_index_sequence<Cells::operands>();

  std::uint64_t beside(std::size_t k) const {
    return kernel_.operands[k].strides[kernel_.kept - 1];
  }
  std::uint64_t along(std::size_t k) const { return kernel_.operands[k].strides.back(); }
  std::uint64_t offset(std::size_t k, std::uint64_t i, std::uint64_t r) const {
    return kept_.offset(k) + i * beside(k) + reduced_.offset(k) + r * along(k);
  }

  template <std::size_t... k>
  HWY_INLINE void add_column(std::uint64_t i, std::uint64_t r, std::size_t count,
                             std::uint64_t position, std::index_sequence<k...>) {
    steps_.add((is_far_ ? count : 1) * far_steps);
    cells_.add(0, count, position, readers_[k].read(offset(k, i, r), beside(k), count)...);
  }

  template <std::size_t... k>
  HWY_INLINE void add_run(std::size_t cell, std::uint64_t i, std::uint64_t r, std::size_t count,
                          std::uint64_t position, std::index_sequence<k...>) {
    steps_.add((is_far_ ? count : 1) * far_steps);
    cells_.add_run(cell, count, position, readers_[k].read(offset(k, i, r), along(k), count)...);
  }

  // Rows [i, i + count) of the innermost kept axis.
  void reduce_columns(std::uint64_t i, std::size_t count) {
    const std::uint64_t extent = kernel_.extents.back();
    reduced_.seek(0);
    const Value* first = readers_[0].read(offset(0, i, 0), beside(0), count);
    for (std::size_t k = 0; k < count; ++k) cells_.begin(k, 1, first[k]);
    for (std::uint64_t position = 0; position < shape_.length; reduced_.next()) {
      for (std::uint64_t r = 0; r < extent; ++r, ++position)
        add_column(i, r, count, position, each_operand);
    }
  }

  void reduce_rows(std::uint64_t i, std::size_t count) {
    const std::uint64_t extent = kernel_.extents.back();
    reduced_.seek(0);
    for (std::size_t k = 0; k < count; ++k)
      cells_.begin(k * lanes, lanes, *readers_[0].read(offset(0, i + k, 0), along(0), 1));
    for (std::uint64_t position = 0; position < shape_.length; reduced_.next()) {
      for (std::uint64_t r = 0; r < extent;) {
        const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, extent - r));
        for (std::size_t k = 0; k < count; ++k)
          add_run(k * lanes, i + k, r, run, position, each_operand);
        r += run, position += run;
      }
    }
  }

  double finished(double sum) const {
    switch (kernel_.finish) {
      case ReduceFinish::mean:
        return sum / static_cast<double>(shape_.length);
      case ReduceFinish::root:
        return std::sqrt(sum);
      case ReduceFinish::logarithm:
        return std::log(sum);
      case ReduceFinish::none:
        break;
    }
    return sum;
  }

  // A float is exact in double; of an integer the low bytes count.
  template <typename Result>
  void put(Result result, std::byte* to) const {
    if constexpr (!std::is_floating_point_v<Result>) {
      const auto bits = static_cast<std::uint64_t>(result);
      std::memcpy(to, &bits, size_);
    } else if (kernel_.output_type == DataType::Float16) {
      const std::uint16_t half = half_from_double(finished(result));
      std::memcpy(to, &half, sizeof half);
    } else {
      const auto single = static_cast<float>(finished(result));
      std::memcpy(to, &single, sizeof single);
    }
  }

  const ReduceKernel& kernel_;
  ReduceShape shape_;
  AxisWalk kept_, reduced_;  // without the innermost axis of each
  std::size_t size_;         // of an output element
  std::vector<OperandReader<Value>> readers_;
  bool is_far_;
  Steps steps_;
  Cells cells_;
};

// --- the choice of what to execute

/// A kernel, and what of its outputs where.
struct Work {
  const ReduceKernel& kernel;
  Inputs inputs;
  const Part& part;
  std::byte* to;

  template <class Cells>
  void run() const {
    Reduction<Cells>(kernel, inputs).run(part.begin, part.length, to);
  }
};

template <typename Value, bool is_maximum>
void find_index(const Work& work) {
  if (work.kernel.takes_last) return work.run<IndexCells<Value, is_maximum, true>>();
  work.run<IndexCells<Value, is_maximum, false>>();
}

template <typename Value>
void sum(const Work& work) {
  const auto of = [&](auto term) { work.run<FoldCells<Sums<Value, decltype(term)>>>(); };
  switch (work.kernel.term) {
    case ReduceTerm::value:
      return of(ValueTerm());
    case ReduceTerm::magnitude:
      return of(Magnitude());
    case ReduceTerm::square:
      return of(Square());
    default:
      break;
  }
  if constexpr (std::is_same_v<Value, float>) {
    switch (work.kernel.term) {
      case ReduceTerm::exponential:
        return of(Exponential());
      case ReduceTerm::finite_exponential:
        return of(FiniteExponential());
      case ReduceTerm::squared_difference:
        return of(SquaredDifference());
      default:
        return of(ProductWithDifference());
    }
  }
}

template <typename Value>
void reduce(const Work& work) {
  switch (work.kernel.function) {
    case ReduceFunction::sum:
    case ReduceFunction::product:
      if constexpr (sizeof(Value) >= 4) {
        if (work.kernel.function == ReduceFunction::sum) return sum<Value>(work);
        return work.run<FoldCells<Products<Value>>>();
      }
      return;
    case ReduceFunction::minimum:
      return work.run<FoldCells<Extremes<Value, false>>>();
    case ReduceFunction::maximum:
      return work.run<FoldCells<Extremes<Value, true>>>();
    case ReduceFunction::index_of_minimum:
      return find_index<Value, false>(work);
    case ReduceFunction::index_of_maximum:
      return find_index<Value, true>(work);
  }
}

void Reduce(const ReduceKernel& kernel, Inputs inputs, const Part& part, std::byte* to) {
  const Work work{kernel, inputs, part, to};
  visit_type(kernel.operands.front().data_type, [&](auto element) {
    using Element = decltype(element);
    constexpr bool is_float = std::is_same_v<Element, Half> || std::is_floating_point_v<Element>;
    reduce<std::conditional_t<is_float, float, Element>>(work);
  });
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

// A part is of about so many bytes of the input; columns are not cut narrower than they are read
// fast.
PartShape part_shape(const ReduceKernel& kernel, std::uint64_t bytes) {
  const ReduceShape shape = shape_of(kernel);
  const std::uint64_t elements = bytes / size_of(kernel.operands.front().data_type);
  const std::uint64_t least = shape.is_columns ? std::min<std::uint64_t>(256, shape.width) : 1;
  const std::uint64_t total = kernel.output_elements();
  const std::uint64_t length = std::max({std::uint64_t{1}, elements / shape.length, least});
  return {.blocks = Blocks{1, total, std::min(length, total)}};
}

void run_part(const ReduceKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  DMLOP_BEST_SIMD(Reduce)(kernel, inputs, part, outputs.front().to);
}

}  // namespace dmlop::cpu
#endif
