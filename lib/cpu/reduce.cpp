// Reductions on the CPU. What is gathered of a row lies in cells: one where rows lie side by side
// in memory, as columns, and elements of many rows are read together; several where a row is read
// at a stretch, so that an element need not wait for the one before. Where rows are read together
// depends on the kernel alone, and so does every result.
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <memory>
#include <stdexcept>
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
#include "cpu/elementary-inl.hpp"
#include "cpu/operands-inl.hpp"
#include "hwy/highway.h"

#ifndef DMLOP_CPU_REDUCE_ONCE
#define DMLOP_CPU_REDUCE_ONCE
namespace dmlop::cpu {

/// Rows that are read together at most: enough that memory is read a page at a time, few enough
/// that what is gathered of them stays in the nearest cache.
constexpr std::uint64_t columns_max = 2048;

/// How the rows of a kernel are read.
struct ReduceShape {
  std::uint64_t length = 1;  // elements of a row
  bool is_columns = false;   // an element of each of many rows after the other
  std::uint64_t width = 1;   // rows that are read together
};

inline ReduceShape shape_of(const ReduceKernel& kernel) {
  constexpr std::uint64_t columns_min = 16, long_row = 32;
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
  static HWY_INLINE double of(float a, float b) { return exp_of(a - b); }
};

struct FiniteExponential {
  static constexpr std::size_t operands = 2;
  static HWY_INLINE double of(float a, float b) {
    return exp_of(a - (std::fabs(b) <= std::numeric_limits<float>::max() ? b : 0.0F));
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

/// What a row became: a number, or an integer of which the low bytes count.
struct Result {
  double number = 0;
  std::uint64_t integer = 0;
  bool is_integer = false;

  explicit Result(double value) : number(value) {}
  template <std::integral T>
  explicit Result(T value) : integer(static_cast<std::uint64_t>(value)), is_integer(true) {}
};

/// What is gathered of rows, for chunks of their elements.
template <typename Value>
class Cells {
 public:
  using Chunks = const Value* const*;  // of each operand

  virtual ~Cells() = default;
  /// A row begins with an element.
  virtual void begin(std::size_t at, std::size_t count, Value first) = 0;
  /// An element to each of `count` cells.
  virtual void add(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) = 0;
  /// Elements of one row to its cells, in turns.
  virtual void add_run(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) = 0;
  virtual Result result(std::size_t at) const = 0;
  /// Of all cells of a row that is read at a stretch.
  virtual Result joined(std::size_t at) = 0;
};

/// Of a fold of all elements to one.
template <class Fold>
class FoldCells final : public Cells<typename Fold::Value> {
  using Cell = typename Fold::Cell;
  using Value = typename Fold::Value;
  using Chunks = typename Cells<Value>::Chunks;

 public:
  void begin(std::size_t at, std::size_t count, Value) override {
    std::fill_n(cells_ + at, count, Fold::none);
  }
  void add(std::size_t at, std::size_t count, std::uint64_t, Chunks from) override {
    add_each(cells_ + at, count, from, std::make_index_sequence<Fold::operands>());
  }
  void add_run(std::size_t at, std::size_t count, std::uint64_t, Chunks from) override {
    add_in_turns(cells_ + at, count, from, std::make_index_sequence<Fold::operands>());
  }
  Result result(std::size_t at) const override { return Result(cells_[at]); }
  Result joined(std::size_t at) override {
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k)
        cells_[at + k] = Fold::both(cells_[at + k], cells_[at + k + half]);
    }
    return result(at);
  }

 private:
  template <typename... Values>
  static HWY_INLINE void add_to(Cell* HWY_RESTRICT cells, std::size_t count,
                                const Values* HWY_RESTRICT... from) {
    for (std::size_t i = 0; i < count; ++i) cells[i] = Fold::both(cells[i], Fold::of(from[i]...));
  }

  template <std::size_t... k>
  static HWY_INLINE void add_each(Cell* cells, std::size_t count, Chunks from,
                                  std::index_sequence<k...>) {
    add_to(cells, count, from[k]...);
  }

  template <std::size_t... k>
  static HWY_INLINE void add_in_turns(Cell* to, std::size_t count, Chunks from,
                                      std::index_sequence<k...>) {
    Cell cells[lanes];
    std::copy_n(to, lanes, cells);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) add_to(cells, lanes, (from[k] + i)...);
    add_to(cells, count - i, (from[k] + i)...);
    std::copy_n(cells, lanes, to);
  }

  alignas(64) Cell cells_[columns_max];
};

/// Of the search for the place of an extreme. A cell begins with the row's first element, so that a
/// first NaN stays.
template <typename Value, bool is_maximum, bool takes_last>
class IndexCells final : public Cells<Value> {
  using Chunks = typename Cells<Value>::Chunks;

 public:
  void begin(std::size_t at, std::size_t count, Value first) override {
    std::fill_n(values_ + at, count, first);
    std::fill_n(positions_ + at, count, 0);
  }
  void add(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) override {
    add_stepping<0>(at, count, position, from[0]);
  }
  void add_run(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) override {
    for (std::size_t i = 0; i < count; i += lanes)
      add_stepping<1>(at, std::min(lanes, count - i), position + i, from[0] + i);
  }
  Result result(std::size_t at) const override { return Result(positions_[at]); }
  Result joined(std::size_t at) override {
    std::size_t best = at;
    for (std::size_t k = at + 1; k < at + lanes; ++k) {
      const bool is_equal = values_[k] == values_[best];
      const bool is_before = positions_[k] < positions_[best];
      if (is_equal ? is_before != takes_last : is_better(values_[k], values_[best])) best = k;
    }
    return result(best);
  }

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

  alignas(64) Value values_[columns_max];
  alignas(64) std::uint64_t positions_[columns_max];
};

// --- their execution

template <typename Value>
class Reduction {
 public:
  Reduction(const ReduceKernel& kernel, Inputs inputs, Cells<Value>& cells)
      : kernel_(kernel),
        shape_(shape_of(kernel)),
        kept_(kernel.extents, kernel.operands, 0, kernel.kept - 1),
        reduced_(kernel.extents, kernel.operands, kernel.kept, kernel.extents.size() - 1),
        size_(size_of(kernel.output_type)),
        cells_(cells) {
    readers_.reserve(kernel.operands.size());
    for (std::size_t next = 0; const ReduceOperand& operand : kernel.operands) {
      readers_.emplace_back(operand,
                            operand.is_position ? std::span<const std::byte>() : inputs[next++]);
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
      for (const std::uint64_t end = std::min(extent, i + left); i < end;) {
        const auto count = static_cast<std::size_t>(std::min(shape_.width, end - i));
        shape_.is_columns ? reduce_columns(i, count) : reduce_rows(i, count);
        for (std::size_t k = 0; k < count; ++k, to += size_)
          put(shape_.is_columns ? cells_.result(k) : cells_.joined(k * lanes), to);
        i += count, left -= count;
      }
    }
  }

 private:
  std::uint64_t beside(std::size_t k) const {
    return kernel_.operands[k].strides[kernel_.kept - 1];
  }
  std::uint64_t along(std::size_t k) const { return kernel_.operands[k].strides.back(); }

  // A chunk of each operand from element r of row i on, along the rows or across them.
  const Value* const* read(std::uint64_t i, std::uint64_t r, std::size_t count) {
    steps_.add((is_far_ ? count : 1) * far_steps);
    for (std::size_t k = 0; k < readers_.size(); ++k) {
      const std::uint64_t offset =
          kept_.offset(k) + i * beside(k) + reduced_.offset(k) + r * along(k);
      chunks_[k] = readers_[k].read(offset, shape_.is_columns ? beside(k) : along(k), count);
    }
    return chunks_.data();
  }

  // Rows [i, i + count) of the innermost kept axis.
  void reduce_columns(std::uint64_t i, std::size_t count) {
    const std::uint64_t extent = kernel_.extents.back();
    reduced_.seek(0);
    for (std::uint64_t position = 0; position < shape_.length; reduced_.next()) {
      for (std::uint64_t r = 0; r < extent; ++r, ++position) {
        for (std::size_t at = 0; at < count; at += chunk)
          add_columns(i, r, at, std::min(chunk, count - at), position);
      }
    }
  }

  void add_columns(std::uint64_t i, std::uint64_t r, std::size_t at, std::size_t count,
                   std::uint64_t position) {
    const Value* const* from = read(i + at, r, count);
    for (std::size_t k = 0; position == 0 && k < count; ++k) cells_.begin(at + k, 1, from[0][k]);
    cells_.add(at, count, position, from);
  }

  void reduce_rows(std::uint64_t i, std::size_t count) {
    const std::uint64_t extent = kernel_.extents.back();
    reduced_.seek(0);
    for (std::uint64_t position = 0; position < shape_.length; reduced_.next()) {
      for (std::uint64_t r = 0; r < extent;) {
        const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, extent - r));
        for (std::size_t k = 0; k < count; ++k) {
          const Value* const* from = read(i + k, r, run);
          if (position == 0) cells_.begin(k * lanes, lanes, from[0][0]);
          cells_.add_run(k * lanes, run, position, from);
        }
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
      case ReduceFinish::softmax_logarithm:
        return std::log(sum > 1e-20 ? sum : 1e-20);
      case ReduceFinish::none:
        break;
    }
    return sum;
  }

  void put(const Result& result, std::byte* to) const {
    if (result.is_integer) {
      std::memcpy(to, &result.integer, size_);
    } else if (kernel_.output_type == DataType::Float16) {
      const std::uint16_t half = half_from_double(finished(result.number));
      std::memcpy(to, &half, sizeof half);
    } else {
      const auto single = static_cast<float>(finished(result.number));
      std::memcpy(to, &single, sizeof single);
    }
  }

  const ReduceKernel& kernel_;
  ReduceShape shape_;
  AxisWalk kept_, reduced_;  // without the innermost axis of each
  std::size_t size_;         // of an output element
  Cells<Value>& cells_;
  std::vector<OperandReader<Value>> readers_;
  std::array<const Value*, AxisWalk::operands_max> chunks_{};
  bool is_far_;
  Steps steps_;
};

// --- the choice of what to execute

template <typename Value>
using CellsOf = std::unique_ptr<Cells<Value>>;

template <typename Value, bool is_maximum>
CellsOf<Value> index_cells(bool takes_last) {
  if (takes_last) return std::make_unique<IndexCells<Value, is_maximum, true>>();
  return std::make_unique<IndexCells<Value, is_maximum, false>>();
}

template <typename Value>
CellsOf<Value> sum_cells(ReduceTerm term) {
  const auto of = [](auto chosen) -> CellsOf<Value> {
    return std::make_unique<FoldCells<Sums<Value, decltype(chosen)>>>();
  };
  if (term == ReduceTerm::value) return of(ValueTerm());
  if (term == ReduceTerm::magnitude) return of(Magnitude());
  if (term == ReduceTerm::square) return of(Square());
  if constexpr (std::is_same_v<Value, float>) {
    if (term == ReduceTerm::exponential) return of(Exponential());
    if (term == ReduceTerm::finite_exponential) return of(FiniteExponential());
    if (term == ReduceTerm::squared_difference) return of(SquaredDifference());
    if (term == ReduceTerm::product_with_difference) return of(ProductWithDifference());
  }
  throw std::logic_error("a reduction: integers have no such term");
}

template <typename Value>
CellsOf<Value> cells_of(const ReduceKernel& kernel) {
  switch (kernel.function) {
    case ReduceFunction::sum:
      break;
    case ReduceFunction::product:
      return std::make_unique<FoldCells<Products<Value>>>();
    case ReduceFunction::minimum:
      return std::make_unique<FoldCells<Extremes<Value, false>>>();
    case ReduceFunction::maximum:
      return std::make_unique<FoldCells<Extremes<Value, true>>>();
    case ReduceFunction::index_of_minimum:
      return index_cells<Value, false>(kernel.takes_last);
    case ReduceFunction::index_of_maximum:
      return index_cells<Value, true>(kernel.takes_last);
  }
  return sum_cells<Value>(kernel.term);
}

template <typename Value>
void reduce(const ReduceKernel& kernel, Inputs inputs, const Part& part, std::byte* to) {
  const CellsOf<Value> cells = cells_of<Value>(kernel);
  Reduction<Value>(kernel, inputs, *cells).run(part.begin, part.length, to);
}

// Numbers are read as float, integers with at least 32 bits.
void Reduce(const ReduceKernel& kernel, Inputs inputs, const Part& part, std::byte* to) {
  const DataTypeInfo& type = info(kernel.operands.front().data_type);
  if (type.kind == NumberKind::floating) return reduce<float>(kernel, inputs, part, to);
  const bool is_signed = type.kind == NumberKind::signed_integer;
  if (type.size == 8) {
    if (is_signed) return reduce<std::int64_t>(kernel, inputs, part, to);
    return reduce<std::uint64_t>(kernel, inputs, part, to);
  }
  if (is_signed) return reduce<std::int32_t>(kernel, inputs, part, to);
  reduce<std::uint32_t>(kernel, inputs, part, to);
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
  const std::uint64_t least = shape.is_columns ? std::min<std::uint64_t>(1024, shape.width) : 1;
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
