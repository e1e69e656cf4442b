#include "cpu/panels.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/panels.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/powers-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// Vectors of a row of sums that are in registers together with those of the other rows.
constexpr std::size_t vectors = 2;

/// The sums of one pair of panels, for the first `rows` rows.
template <std::size_t rows, typename T>
HWY_INLINE void multiply_tile(std::size_t depth, const T* HWY_RESTRICT left,
                              const T* HWY_RESTRICT right, T* HWY_RESTRICT tile) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[rows][vectors];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) sums[r][v] = hn::Zero(d);
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const auto b0 = hn::LoadU(d, right), b1 = hn::LoadU(d, right + lanes);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto a = hn::Set(d, left[r]);
      sums[r][0] = hn::MulAdd(a, b0, sums[r][0]);
      sums[r][1] = hn::MulAdd(a, b1, sums[r][1]);
    }
    left += panel_rows;
    right += vectors * lanes;
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t v = 0; v < vectors; ++v)
      hn::StoreU(sums[r][v], d, tile + (r * vectors + v) * lanes);
  }
}

HWY_INLINE void add_row(const float* row, std::size_t count, bool is_first, double* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto sums = hn::PromoteTo(d, hn::LoadU(floats, row + i));
    hn::StoreU(is_first ? sums : hn::Add(sums, hn::LoadU(d, to + i)), d, to + i);
  }
}

HWY_INLINE void add_row(const double* row, std::size_t count, bool is_first, double* to) {
  const hn::ScalableTag<double> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto sums = hn::LoadU(d, row + i);
    hn::StoreU(is_first ? sums : hn::Add(sums, hn::LoadU(d, to + i)), d, to + i);
  }
}

template <typename T>
HWY_INLINE void multiply_rows(std::size_t rows, std::size_t depth, const T* left, const T* right,
                              T* tile) {
  switch (rows) {
    case 1:
      return multiply_tile<1>(depth, left, right, tile);
    case 2:
      return multiply_tile<2>(depth, left, right, tile);
    case 3:
    case 4:
      return multiply_tile<4>(depth, left, right, tile);
    default:
      return multiply_tile<panel_rows>(depth, left, right, tile);
  }
}

template <typename T>
void multiply(const PanelProduct<T>& product) {
  const std::size_t width = vectors * hn::Lanes(hn::ScalableTag<T>());
  HWY_ALIGN T tile[panel_rows * vectors * hn::MaxLanes(hn::ScalableTag<T>())];
  for (std::size_t column = 0; column < product.columns; column += width) {
    const T* right = product.right + column * product.depth;
    for (std::size_t row = 0; row < product.rows; row += panel_rows) {
      const std::size_t rows = std::min(panel_rows, product.rows - row);
      multiply_rows(rows, product.depth, product.left + row * product.depth, right, tile);
      for (std::size_t r = 0; r < rows; ++r)
        add_row(tile + r * width, width, product.is_first,
                product.sums + (row + r) * product.pitch + column);
    }
  }
}

void MultiplyFloats(const PanelProduct<float>& product) {
  multiply(product);
}

void MultiplyDoubles(const PanelProduct<double>& product) {
  multiply(product);
}

std::size_t FloatColumns() {
  return vectors * hn::Lanes(hn::ScalableTag<float>());
}

std::size_t DoubleColumns() {
  return vectors * hn::Lanes(hn::ScalableTag<double>());
}

void WidenHalves(const std::byte* from, std::uint64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> halves;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(float_from_half(d, load(halves, from + i * 2)), d, to + i);
  if (i < count) {
    const auto last = load_part(halves, from + i * 2, count - i);
    store_part(float_from_half(d, last), d, reinterpret_cast<std::byte*>(to + i), count - i);
  }
}

template <typename T>
HWY_INLINE void transpose_rest(const T* from, std::uint64_t stride, std::size_t lines,
                               std::size_t first, std::size_t depth, std::size_t width, T* panel) {
  for (std::size_t k = first; k < depth; ++k) {
    for (std::size_t i = 0; i < lines; ++i) panel[k * width + i] = from[i * stride + k];
  }
}

void TransposeFloats(const float* from, std::uint64_t stride, std::size_t lines, std::size_t depth,
                     std::size_t width, float* panel) {
#if HWY_TARGET != HWY_SCALAR
  const hn::Full128<float> d;
  for (; lines >= 4; lines -= 4) {
    std::size_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const auto line0 = hn::LoadU(d, from + k), line1 = hn::LoadU(d, from + stride + k);
      const auto line2 = hn::LoadU(d, from + 2 * stride + k);
      const auto line3 = hn::LoadU(d, from + 3 * stride + k);
      const auto low01 = hn::InterleaveLower(d, line0, line1);
      const auto low23 = hn::InterleaveLower(d, line2, line3);
      const auto high01 = hn::InterleaveUpper(d, line0, line1);
      const auto high23 = hn::InterleaveUpper(d, line2, line3);
      float* to = panel + k * width;
      hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
      hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + width);
      hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * width);
      hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * width);
    }
    transpose_rest(from, stride, 4, k, depth, width, panel);
    from += 4 * stride;
    panel += 4;
  }
#endif
  transpose_rest(from, stride, lines, 0, depth, width, panel);
}

void TransposeDoubles(const double* from, std::uint64_t stride, std::size_t lines,
                      std::size_t depth, std::size_t width, double* panel) {
  transpose_rest(from, stride, lines, 0, depth, width, panel);
}

void NarrowDoubles(const double* from, double factor, std::uint64_t count, std::byte* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    store(hn::DemoteTo(floats, hn::Mul(hn::Set(d, factor), hn::LoadU(d, from + i))), floats,
          to + i * sizeof(float));
  for (; i < count; ++i) {
    const auto number = static_cast<float>(factor * from[i]);
    std::memcpy(to + i * sizeof number, &number, sizeof number);
  }
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

template <>
std::size_t panel_columns<float>() {
  return DMLOP_BEST_SIMD(FloatColumns)();
}

template <>
std::size_t panel_columns<double>() {
  return DMLOP_BEST_SIMD(DoubleColumns)();
}

template <>
void multiply_panels(const PanelProduct<float>& product) {
  DMLOP_BEST_SIMD(MultiplyFloats)(product);
}

template <>
void multiply_panels(const PanelProduct<double>& product) {
  DMLOP_BEST_SIMD(MultiplyDoubles)(product);
}

template <>
void transpose_lines(const float* from, std::uint64_t stride, std::size_t lines, std::size_t depth,
                     std::size_t width, float* panel) {
  DMLOP_BEST_SIMD(TransposeFloats)(from, stride, lines, depth, width, panel);
}

template <>
void transpose_lines(const double* from, std::uint64_t stride, std::size_t lines, std::size_t depth,
                     std::size_t width, double* panel) {
  DMLOP_BEST_SIMD(TransposeDoubles)(from, stride, lines, depth, width, panel);
}

void widen_halves(const std::byte* from, std::uint64_t count, float* to) {
  DMLOP_BEST_SIMD(WidenHalves)(from, count, to);
}

void narrow_doubles(const double* from, double factor, std::uint64_t count, std::byte* to) {
  DMLOP_BEST_SIMD(NarrowDoubles)(from, factor, count, to);
}

}  // namespace dmlop::cpu
#endif
