// What reductions gather of rows, in cells. Included once per instruction set.
#if defined(DMLOP_CPU_REDUCE_CELLS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_REDUCE_CELLS_INL
#undef DMLOP_CPU_REDUCE_CELLS_INL
#else
#define DMLOP_CPU_REDUCE_CELLS_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/threshold.hpp"
#include "cpu/elementary-inl.hpp"
#include "cpu/operands-inl.hpp"
#include "cpu/reduce_shape.hpp"
#include "cpu/usual-inl.hpp"

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
  static HWY_INLINE float exponent(float a, float b) { return a - b; }
};

struct FiniteExponential {
  static constexpr std::size_t operands = 2;
  static HWY_INLINE float exponent(float a, float b) {
    return a - (std::fabs(b) <= std::numeric_limits<float>::max() ? b : 0.0F);
  }
};

/// e to the power of a chunk of exponents: as usual numbers, and once more for all if one was rare.
template <class Term>
void exponentials(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t count,
                  float* HWY_RESTRICT to) {
  Rare rare = 0;
  for (std::size_t i = 0; i < count; ++i) to[i] = usual_exp(Term::exponent(a[i], b[i]), rare);
  if (rare >> 31 == 0) return;
  for (std::size_t i = 0; i < count; ++i) to[i] = exp_of(Term::exponent(a[i], b[i]));
}

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

constexpr std::size_t sum_lanes = 16;

template <typename Value_, class Term>
struct Sums {
  using Value = Value_;
  using Cell = Sum<Value>;
  static constexpr std::size_t lanes = sum_lanes;  // cells of a row that is read at a stretch
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
  static constexpr std::size_t lanes = 64;
  static constexpr std::size_t operands = 1;
  static constexpr Value infinity = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr Value none = !is_maximum            ? infinity
                                : Limits::has_infinity ? -infinity
                                                       : Limits::lowest();
  static HWY_INLINE Cell of(Value value) { return value; }
  static HWY_INLINE Cell both(Cell a, Cell b) { return (is_maximum ? b > a : b < a) ? b : a; }
};

// --- cells

/// What is gathered of rows, for chunks of their elements.
template <typename Value>
class Cells {
 public:
  using Chunks = const Value* const*;  // of each operand

  virtual ~Cells() = default;
  /// The cells of a row that is read at a stretch.
  virtual std::size_t lanes() const = 0;
  /// `count` rows begin: cell k with the element first[k * step].
  virtual void begin(std::size_t at, std::size_t count, const Value* first, std::size_t step) = 0;
  /// An element to each of `count` cells.
  virtual void add(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) = 0;
  /// At most a chunk of elements of one row to its cells, in turns.
  virtual void add_run(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) = 0;
  /// Makes the cells of a row that is read at a stretch one, which goes to `place`, before them.
  virtual void join(std::size_t at, std::size_t place) = 0;

  /// What the first cells hold: numbers, or integers of which the low bytes count.
  virtual bool are_integers() const = 0;
  virtual void get(std::size_t count, double* to) const = 0;
  virtual void get(std::size_t count, std::uint64_t* to) const = 0;
};

/// Of a fold of all elements to one.
template <class Fold>
class FoldCells : public Cells<typename Fold::Value> {
 protected:
  using Cell = typename Fold::Cell;
  using Value = typename Fold::Value;
  using Chunks = typename Cells<Value>::Chunks;

 public:
  std::size_t lanes() const override { return Fold::lanes; }
  void begin(std::size_t at, std::size_t count, const Value*, std::size_t) override {
    std::fill_n(cells_ + at, count, Fold::none);
  }
  void add(std::size_t at, std::size_t count, std::uint64_t, Chunks from) override {
    add_each(cells_ + at, count, from, std::make_index_sequence<Fold::operands>());
  }
  void add_run(std::size_t at, std::size_t count, std::uint64_t, Chunks from) override {
    add_in_turns(cells_ + at, count, from, std::make_index_sequence<Fold::operands>());
  }
  void join(std::size_t at, std::size_t place) override {
    Cell cells[Fold::lanes / 2];
    join_halves<Fold::lanes / 2>(cells_ + at, cells);
    cells_[place] = cells[0];
  }

  bool are_integers() const override { return std::is_integral_v<Cell>; }
  void get(std::size_t count, double* to) const override { std::copy_n(cells_, count, to); }
  void get(std::size_t count, std::uint64_t* to) const override {
    for (std::size_t k = 0; k < count; ++k) to[k] = static_cast<std::uint64_t>(cells_[k]);
  }

 private:
  template <typename... Values>
  static HWY_INLINE void add_to(Cell* HWY_RESTRICT cells, std::size_t count,
                                const Values* HWY_RESTRICT... from) {
    HWY_UNROLL(1)  // or compilers take the cells of a row one by one
    for (std::size_t i = 0; i < count; ++i) cells[i] = Fold::both(cells[i], Fold::of(from[i]...));
  }

  // One half of the cells and the other, and so on until one is left. All counts are known, so that
  // cells stay in registers.
  template <std::size_t half>
  static HWY_INLINE void join_halves(const Cell* from, Cell* to) {
    for (std::size_t k = 0; k < half; ++k) to[k] = Fold::both(from[k], from[k + half]);
    if constexpr (half > 1) join_halves<half / 2>(to, to);
  }

  template <std::size_t... k>
  static HWY_INLINE void add_each(Cell* cells, std::size_t count, Chunks from,
                                  std::index_sequence<k...>) {
    add_to(cells, count, from[k]...);
  }

  template <std::size_t... k>
  static HWY_INLINE void add_in_turns(Cell* to, std::size_t count, Chunks from,
                                      std::index_sequence<k...>) {
    constexpr std::size_t lanes = Fold::lanes;
    Cell cells[lanes];
    std::copy_n(to, lanes, cells);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) add_to(cells, lanes, (from[k] + i)...);
    add_to(cells, count - i, (from[k] + i)...);
    std::copy_n(cells, lanes, to);
  }

  alignas(64) Cell cells_[columns_max.most()];
};

/// Of sums of exponentials.
template <class Term>
class ExponentialCells final : public FoldCells<Sums<float, ValueTerm>> {
  using Base = FoldCells<Sums<float, ValueTerm>>;

 public:
  void add(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) override {
    Base::add(at, count, position, terms(count, from));
  }
  void add_run(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) override {
    Base::add_run(at, count, position, terms(count, from));
  }

 private:
  Chunks terms(std::size_t count, Chunks from) {
    exponentials<Term>(from[0], from[1], count, terms_);
    return &chunk_;
  }

  alignas(64) float terms_[chunk];
  const float* chunk_ = terms_;
};

/// Of the search for the place of an extreme. A cell begins with the row's first element, so that a
/// first NaN stays.
template <typename Value, bool is_maximum, bool takes_last>
class IndexCells final : public Cells<Value> {
  using Chunks = typename Cells<Value>::Chunks;

 public:
  std::size_t lanes() const override { return 1; }
  void begin(std::size_t at, std::size_t count, const Value* first, std::size_t step) override {
    for (std::size_t k = 0; k < count; ++k) values_[at + k] = first[k * step];
    std::fill_n(positions_ + at, count, 0);
  }
  void add(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) override {
    const Value* HWY_RESTRICT next = from[0];
    Value* HWY_RESTRICT values = values_ + at;
    std::uint64_t* HWY_RESTRICT positions = positions_ + at;
    for (std::size_t i = 0; i < count; ++i) {
      const bool better = is_better(next[i], values[i]);
      values[i] = better ? next[i] : values[i];
      positions[i] = better ? position : positions[i];
    }
  }
  // The extreme of the chunk first, and its place only where it is better.
  void add_run(std::size_t at, std::size_t count, std::uint64_t position, Chunks from) override {
    const Value* next = from[0];
    const Value best = extreme(next, count, values_[at]);
    if (!is_better(best, values_[at])) return;
    const std::size_t place = place_of(best, next, count);
    if (place == count) return;  // it was that of the cell, too
    values_[at] = best;
    positions_[at] = position + place;
  }
  void join(std::size_t at, std::size_t place) override {
    values_[place] = values_[at];
    positions_[place] = positions_[at];
  }

  bool are_integers() const override { return true; }
  void get(std::size_t, double*) const override {}
  void get(std::size_t count, std::uint64_t* to) const override {
    std::copy_n(positions_, count, to);
  }

 private:
  static HWY_INLINE bool is_better(Value a, Value b) {
    if constexpr (takes_last) return is_maximum ? a >= b : a <= b;
    return is_maximum ? a > b : a < b;
  }

  /// Of a chunk and the value before it, which stays if it is NaN.
  static Value extreme(const Value* HWY_RESTRICT from, std::size_t count, Value before) {
    constexpr std::size_t lanes = 64;
    Value found[lanes];
    std::fill_n(found, lanes, before);
    const auto take = [](Value& most, Value x)
                          HWY_ATTR { most = (is_maximum ? x > most : x < most) ? x : most; };
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      for (std::size_t k = 0; k < lanes; ++k) take(found[k], from[i + k]);
    }
    for (std::size_t k = 0; k < count - i; ++k) take(found[k], from[i + k]);
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k) take(found[k], found[k + half]);
    }
    return found[0];
  }

  /// The first or last place of a value, or `count` if there is none.
  static std::size_t place_of(Value value, const Value* from, std::size_t count) {
    constexpr std::size_t lanes = 32;
    std::size_t begin = 0, end = count;
    const auto is_in = [&](std::size_t first) HWY_ATTR {
      unsigned equal = 0;
      for (std::size_t k = 0; k < lanes; ++k) equal |= from[first + k] == value ? 1U : 0U;
      return equal != 0;
    };
    if constexpr (takes_last) {
      while (end >= lanes && !is_in(end - lanes)) end -= lanes;
      while (end > 0 && from[end - 1] != value) --end;
      return end > 0 ? end - 1 : count;
    }
    while (begin + lanes <= count && !is_in(begin)) begin += lanes;
    while (begin < count && from[begin] != value) ++begin;
    return begin;
  }

  alignas(64) Value values_[columns_max.most()];
  alignas(64) std::uint64_t positions_[columns_max.most()];
};

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
