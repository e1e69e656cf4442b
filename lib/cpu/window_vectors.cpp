#include "cpu/window_vectors.hpp"

#include <cmath>
#include <limits>

#include "cpu/element_rows.hpp"
#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/window_vectors.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/powers-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

template <typename Element>
using LaneOf = std::conditional_t<std::is_same_v<Element, Half>, std::uint16_t, float>;

/// The elements from `from` on as numbers: floats, or doubles.
template <typename Element, class D>
HWY_INLINE hn::Vec<D> numbers_at(D d, const std::byte* from) {
  const hn::Rebind<float, D> floats;
  const hn::Rebind<LaneOf<Element>, D> elements;
  const auto loaded = load(elements, from);
  const auto numbers = [&]() HWY_ATTR {
    if constexpr (std::is_same_v<Element, Half>) {
      return float_from_half(floats, loaded);
    } else {
      return loaded;
    }
  }();
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::PromoteTo(d, numbers);
  } else {
    return numbers;
  }
}

// Vectors that are worked on together: the reads of a row lie side by side, and additions do not
// wait for one another.
template <class D>
struct Four {
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;
  V v0, v1, v2, v3;

  static HWY_INLINE std::size_t lanes() { return 4 * hn::Lanes(D()); }
  static HWY_INLINE Four all(T value) {
    const V v = hn::Set(D(), value);
    return {v, v, v, v};
  }
  static HWY_INLINE Four load(const T* from) {
    const std::size_t n = hn::Lanes(D());
    return {hn::LoadU(D(), from), hn::LoadU(D(), from + n), hn::LoadU(D(), from + 2 * n),
            hn::LoadU(D(), from + 3 * n)};
  }
  template <typename Element>
  static HWY_INLINE Four of_elements(const std::byte* from) {
    const std::size_t n = hn::Lanes(D()) * sizeof(Element);
    return {numbers_at<Element>(D(), from), numbers_at<Element>(D(), from + n),
            numbers_at<Element>(D(), from + 2 * n), numbers_at<Element>(D(), from + 3 * n)};
  }
  HWY_INLINE void store(T* to) const {
    const std::size_t n = hn::Lanes(D());
    hn::StoreU(v0, D(), to);
    hn::StoreU(v1, D(), to + n);
    hn::StoreU(v2, D(), to + 2 * n);
    hn::StoreU(v3, D(), to + 3 * n);
  }
};

/// One vector of each of two, by action.
template <class D, class Action>
HWY_INLINE Four<D> together(const Four<D>& a, const Four<D>& b, Action&& action) {
  return {action(a.v0, b.v0), action(a.v1, b.v1), action(a.v2, b.v2), action(a.v3, b.v3)};
}

struct Adding {
  using Number = double;
  static constexpr double start = 0;

  template <class V>
  HWY_INLINE V operator()(V sum, V x) const {
    return hn::Add(sum, x);
  }
};

struct Raising {
  using Number = float;
  static constexpr float start = -std::numeric_limits<float>::infinity();

  // Not Max: NaN is never greater.
  template <class V>
  HWY_INLINE V operator()(V most, V x) const {
    return hn::IfThenElse(hn::Gt(x, most), x, most);
  }
};

template <bool is_weighed, typename Element, class Reducing>
void reduce_rows(Reducing reduce, std::span<const WeighedRow> rows, bool fresh, std::size_t count,
                 typename Reducing::Number* columns) {
  using Number = typename Reducing::Number;
  const auto reduce_with = [&](auto d, std::size_t c) HWY_ATTR {
    using F = Four<decltype(d)>;
    F result = fresh ? F::all(Reducing::start) : F::load(columns + c);
    for (const WeighedRow& row : rows) {
      const std::size_t at = c * sizeof(Element);
      F x = F::template of_elements<Element>(row.from + at);
      if (row.next != row.from) {
        for (std::size_t line = 0; line < F::lanes() * sizeof(Element); line += 64)
          hwy::Prefetch(row.next + at + line);
      }
      if constexpr (is_weighed) {
        x = together(x, F::all(static_cast<Number>(row.weight)),
                     [](auto a, auto b) HWY_ATTR { return hn::Mul(b, a); });
      }
      result = together(result, x, reduce);
    }
    result.store(columns + c);
  };
  const hn::ScalableTag<Number> d;
  const hn::CappedTag<Number, 1> one;
  std::size_t c = 0;
  for (; c + Four<decltype(d)>::lanes() <= count; c += Four<decltype(d)>::lanes())
    reduce_with(d, c);
  // Nothing is read behind a row.
  for (; c + Four<decltype(one)>::lanes() <= count; c += Four<decltype(one)>::lanes())
    reduce_with(one, c);
  for (; c < count; ++c) {
    auto result = fresh ? hn::Set(one, Reducing::start) : hn::LoadU(one, columns + c);
    for (const WeighedRow& row : rows) {
      auto x = numbers_at<Element>(one, row.from + c * sizeof(Element));
      if constexpr (is_weighed) x = hn::Mul(hn::Set(one, static_cast<Number>(row.weight)), x);
      result = reduce(result, x);
    }
    hn::StoreU(result, one, columns + c);
  }
}

template <typename Element>
void add_rows_of(std::span<const WeighedRow> rows, bool fresh, std::size_t count, double* columns) {
  bool is_weighed = false;
  for (const WeighedRow& row : rows) is_weighed = is_weighed || row.weight != 1;
  if (is_weighed) return reduce_rows<true, Element>(Adding(), rows, fresh, count, columns);
  reduce_rows<false, Element>(Adding(), rows, fresh, count, columns);
}

void AddRows(DataType type, std::span<const WeighedRow> rows, bool fresh, std::size_t count,
             double* columns) {
  visit_float(type, [&]<typename Element>(Element)
                        HWY_ATTR { add_rows_of<Element>(rows, fresh, count, columns); });
}

void RaiseToRows(DataType type, std::span<const WeighedRow> rows, bool fresh, std::size_t count,
                 float* columns) {
  visit_float(type, [&]<typename Element>(Element) HWY_ATTR {
    reduce_rows<false, Element>(Raising(), rows, fresh, count, columns);
  });
}

template <class Reducing, typename Number = typename Reducing::Number>
void reduce_columns_side_by_side(Reducing reduce, const EvenWindows& windows, const Number* columns,
                                 std::size_t count, Number* results) {
  using F = Four<hn::ScalableTag<Number>>;
  for (std::size_t i = 0; i < count; i += F::lanes()) {
    F result = F::load(columns + i);
    for (std::size_t k = 1; k < windows.size; ++k)
      result = together(result, F::load(columns + i + k * windows.dilation), reduce);
    result.store(results + i);
  }
}

#if HWY_TARGET != HWY_SCALAR
// Each read has two columns of every window.
template <class Reducing, typename Number = typename Reducing::Number>
void reduce_every_second(Reducing reduce, std::size_t size, const Number* columns,
                         std::size_t count, Number* results) {
  const hn::ScalableTag<Number> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += lanes) {
    const Number* from = columns + 2 * i;
    auto low = hn::LoadU(d, from), high = hn::LoadU(d, from + lanes);
    auto result = hn::ConcatEven(d, high, low);
    if (size > 1) result = reduce(result, hn::ConcatOdd(d, high, low));
    for (std::size_t k = 2; k < size; k += 2) {
      low = hn::LoadU(d, from + k), high = hn::LoadU(d, from + k + lanes);
      result = reduce(result, hn::ConcatEven(d, high, low));
      if (k + 1 < size) result = reduce(result, hn::ConcatOdd(d, high, low));
    }
    hn::StoreU(result, d, results + i);
  }
}
#else
template <class Reducing, typename Number = typename Reducing::Number>
void reduce_every_second(Reducing reduce, std::size_t size, const Number* columns,
                         std::size_t count, Number* results) {
  const hn::ScalableTag<Number> d;
  for (std::size_t i = 0; i < count; ++i) {
    auto result = hn::LoadU(d, columns + 2 * i);
    for (std::size_t k = 1; k < size; ++k)
      result = reduce(result, hn::LoadU(d, columns + 2 * i + k));
    hn::StoreU(result, d, results + i);
  }
}
#endif

template <class Reducing, typename Number = typename Reducing::Number>
void reduce_columns(Reducing reduce, const EvenWindows& windows, const Number* columns,
                    std::size_t count, Number* results) {
  if (windows.stride == 2)
    return reduce_every_second(reduce, windows.size, columns, count, results);
  reduce_columns_side_by_side(reduce, windows, columns, count, results);
}

void AddColumns(const EvenWindows& windows, const double* columns, std::size_t count,
                double* sums) {
  reduce_columns(Adding(), windows, columns, count, sums);
}

void RaiseToColumns(const EvenWindows& windows, const float* columns, std::size_t count,
                    float* maxima) {
  reduce_columns(Raising(), windows, columns, count, maxima);
}

void BlendPairs(const std::array<double, 4>& weights, const double* columns, std::size_t pairs,
                double* sums) {
  const hn::ScalableTag<double> d;
  const auto w0 = hn::Set(d, weights[0]), w1 = hn::Set(d, weights[1]);
  const auto w2 = hn::Set(d, weights[2]), w3 = hn::Set(d, weights[3]);
  for (std::size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, columns + i), b = hn::LoadU(d, columns + i + 1);
    const auto first = hn::Add(hn::Mul(w0, a), hn::Mul(w1, b));
    const auto second = hn::Add(hn::Mul(w2, a), hn::Mul(w3, b));
#if HWY_TARGET != HWY_SCALAR
    hn::StoreInterleaved2(first, second, d, sums + 2 * i);
#else
    hn::StoreU(first, d, sums + 2 * i);
    hn::StoreU(second, d, sums + 2 * i + 1);
#endif
  }
}

template <typename Element, class Mean>
HWY_INLINE void store_elements(const double* sums, std::size_t count, std::byte* to, Mean&& mean) {
  const auto store_with = [&](auto d, std::size_t i) HWY_ATTR {
    const hn::Rebind<LaneOf<Element>, decltype(d)> elements;
    const auto number = mean(d, hn::LoadU(d, sums + i));
    if constexpr (std::is_same_v<Element, Half>) {
      store(half_from_doubles(d, number), elements, to + i * sizeof(Element));
    } else {
      store(float_from_double(d, number), elements, to + i * sizeof(Element));
    }
  };
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) store_with(d, i);
  for (; i < count; ++i) store_with(one, i);
}

template <typename Element>
void store_means_of(const double* sums, double divisor, std::size_t count, std::byte* to) {
  if (divisor == 1)
    return store_elements<Element>(sums, count, to, [](auto, auto sum) HWY_ATTR { return sum; });
  int exponent;
  if (std::frexp(divisor, &exponent) == 0.5) {  // as a division by a power of 2, and faster
    return store_elements<Element>(sums, count, to, [divisor](auto d, auto sum) HWY_ATTR {
      return hn::Mul(sum, hn::Set(d, 1 / divisor));
    });
  }
  store_elements<Element>(sums, count, to, [divisor](auto d, auto sum) HWY_ATTR {
    return hn::Div(sum, hn::Set(d, divisor));
  });
}

void StoreMeans(DataType type, const double* sums, double divisor, std::size_t count,
                std::byte* to) {
  visit_float(type, [&]<typename Element>(Element)
                        HWY_ATTR { store_means_of<Element>(sums, divisor, count, to); });
}

template <typename Lane>
void copy_lanes_twice(const std::byte* from, std::size_t pairs, std::byte* to) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<Lane> d;
  for (; i + hn::Lanes(d) <= pairs; i += hn::Lanes(d)) {
    const auto v = load(d, from + i * sizeof(Lane));
    hn::StoreInterleaved2(v, v, d, reinterpret_cast<Lane*>(to) + 2 * i);
  }
#endif
  for (; i < pairs; ++i) {
    std::memcpy(to + 2 * i * sizeof(Lane), from + i * sizeof(Lane), sizeof(Lane));
    std::memcpy(to + (2 * i + 1) * sizeof(Lane), from + i * sizeof(Lane), sizeof(Lane));
  }
}

void CopyTwice(std::size_t element_size, const std::byte* from, std::size_t pairs, std::byte* to) {
  switch (element_size) {
    case 1:
      return copy_lanes_twice<std::uint8_t>(from, pairs, to);
    case 2:
      return copy_lanes_twice<std::uint16_t>(from, pairs, to);
    default:
      return copy_lanes_twice<std::uint32_t>(from, pairs, to);
  }
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void add_rows(DataType type, std::span<const WeighedRow> rows, bool fresh, std::size_t count,
              double* columns) {
  DMLOP_BEST_SIMD(AddRows)(type, rows, fresh, count, columns);
}

void raise_to_rows(DataType type, std::span<const WeighedRow> rows, bool fresh, std::size_t count,
                   float* columns) {
  DMLOP_BEST_SIMD(RaiseToRows)(type, rows, fresh, count, columns);
}

void add_columns(const EvenWindows& windows, const double* columns, std::size_t count,
                 double* sums) {
  DMLOP_BEST_SIMD(AddColumns)(windows, columns, count, sums);
}

void raise_to_columns(const EvenWindows& windows, const float* columns, std::size_t count,
                      float* maxima) {
  DMLOP_BEST_SIMD(RaiseToColumns)(windows, columns, count, maxima);
}

void blend_pairs(const std::array<double, 4>& weights, const double* columns, std::size_t pairs,
                 double* sums) {
  DMLOP_BEST_SIMD(BlendPairs)(weights, columns, pairs, sums);
}

void store_means(DataType type, const double* sums, double divisor, std::size_t count,
                 std::byte* to) {
  DMLOP_BEST_SIMD(StoreMeans)(type, sums, divisor, count, to);
}

void copy_twice(std::size_t element_size, const std::byte* from, std::size_t pairs, std::byte* to) {
  DMLOP_BEST_SIMD(CopyTwice)(element_size, from, pairs, to);
}

}  // namespace dmlop::cpu
#endif
