#include "cpu/panels.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/panels.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/powers-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

// Sums of a tile are in registers only where a loop over its rows is unrolled.
#ifndef DMLOP_UNROLL
#if defined(__GNUC__)
#define DMLOP_UNROLL _Pragma("GCC unroll 16")
#else
#define DMLOP_UNROLL
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// Vectors of a row of sums that are in registers together with those of the other rows.
constexpr std::size_t vectors = 2;

// The rows of a panel: as many as leave registers for the columns. AVX-512 has twice as many.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr std::size_t packed_rows = most_panel_rows;
#else
constexpr std::size_t packed_rows = 6;
#endif
// Rows that are no panels need a register each for where they are.
constexpr std::size_t placed_rows = 6;

/// A panel of rows: element k of row r is at(k)[r].
template <typename T>
struct PackedRows {
  static constexpr std::size_t most = packed_rows;
  const T* data;
  std::size_t count;

  template <std::size_t rows>
  HWY_INLINE auto tile() const {
    return [data = data](std::size_t r, std::size_t k)
               HWY_ATTR { return data[k * packed_rows + r]; };
  }
  // The same place in the next panel. It is fetched ahead, because it may come from memory, and
  // processors do not fetch ahead across pages.
  const T* next(std::size_t k, std::size_t depth) const { return data + (depth + k) * packed_rows; }
};

/// Rows that are no panel: element k of row r is data[r * stride + k].
template <typename T>
struct PlacedRows {
  static constexpr std::size_t most = placed_rows;
  const T* data;
  std::size_t count;  // those behind the last are read as it
  std::size_t stride;

  const T* next(std::size_t k, std::size_t) const { return data + k; }

  template <std::size_t rows>
  HWY_INLINE auto tile() const {
    std::array<const T*, rows> from;
    for (std::size_t r = 0; r < rows; ++r) from[r] = data + std::min(r, count - 1) * stride;
    return [from](std::size_t r, std::size_t k) HWY_ATTR { return from[r][k]; };
  }
};

/// A panel of columns: element k of its columns is at(k).
template <typename T>
struct PackedPanel {
  const T* data;
  const T* at(std::size_t k) const { return data + k * vectors * hn::Lanes(hn::ScalableTag<T>()); }
};

/// The same of columns that are not packed.
struct PlacedPanel {
  const float* data;
  const std::uint32_t* places;
  const float* at(std::size_t k) const { return data + places[k]; }
};

/// The sums of `rows` rows and the first `used` vectors of a panel of columns.
template <std::size_t rows, std::size_t used, typename T, class Rows, class Panel>
HWY_INLINE void multiply_tile(std::size_t depth, const Rows& left, const Panel& panel,
                              T* HWY_RESTRICT tile) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto left_at = left.template tile<rows>();
  hn::Vec<decltype(d)> sums[rows][used];
  DMLOP_UNROLL
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t v = 0; v < used; ++v) sums[r][v] = hn::Zero(d);
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const T* HWY_RESTRICT right = panel.at(k);
    hwy::Prefetch(left.next(k, depth));
    hn::Vec<decltype(d)> b[used];
    for (std::size_t v = 0; v < used; ++v) b[v] = hn::LoadU(d, right + v * lanes);
    DMLOP_UNROLL
    for (std::size_t r = 0; r < rows; ++r) {
      const auto a = hn::Set(d, left_at(r, k));
      for (std::size_t v = 0; v < used; ++v) sums[r][v] = hn::MulAdd(a, b[v], sums[r][v]);
    }
  }
  DMLOP_UNROLL
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t v = 0; v < used; ++v)
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

/// What columns [column, column + count) of a row of sums come to. `sums` has room for a vector
/// more.
HWY_INLINE void round_row(const PanelProduct<float>& product, const float* sums, std::size_t row,
                          std::size_t column, std::size_t count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  const std::size_t lanes = hn::Lanes(d);
  const double* earlier = product.is_first ? nullptr : product.sums + row * product.pitch + column;
  const auto factor = hn::Set(d, product.factor);
  const AddedToSums& added = product.added;
  const auto number = hn::Set(d, added.numbers != nullptr ? added.numbers[row] : 0);
  const auto of_elements = hn::Set(d, added.factor);
  const float* elements =
      added.elements != nullptr ? added.elements + row * added.pitch + column : nullptr;
  const auto rounded = [&](std::size_t i, const float* beside) HWY_ATTR {
    auto sum = hn::PromoteTo(d, hn::LoadU(floats, sums + i));
    if (earlier != nullptr) sum = hn::Add(sum, hn::LoadU(d, earlier + i));
    sum = hn::Mul(factor, sum);
    if (added.numbers != nullptr) sum = hn::Add(sum, number);
    if (beside != nullptr)
      sum = hn::Add(sum, hn::Mul(of_elements, hn::PromoteTo(d, hn::LoadU(floats, beside))));
    return float_from_double(d, sum);
  };
  float* to = product.rounded + row * product.rounded_pitch + column;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(rounded(i, elements != nullptr ? elements + i : nullptr), floats, to + i);
  if (i == count) return;
  HWY_ALIGN float last[hn::MaxLanes(d)] = {};
  if (elements != nullptr) std::memcpy(last, elements + i, (count - i) * sizeof(float));
  hn::StoreU(rounded(i, elements != nullptr ? last : nullptr), floats, last);
  std::memcpy(to + i, last, (count - i) * sizeof(float));
}

HWY_INLINE void round_row(const PanelProduct<double>&, const double*, std::size_t, std::size_t,
                          std::size_t) {}

template <std::size_t used, typename T, class Rows, class Panel>
HWY_INLINE void multiply_rows(std::size_t depth, const Rows& left, const Panel& panel, T* tile) {
  if (left.count == 1) return multiply_tile<1, used>(depth, left, panel, tile);
  if (left.count == 2) return multiply_tile<2, used>(depth, left, panel, tile);
  if (left.count <= 4) return multiply_tile<4, used>(depth, left, panel, tile);
  if constexpr (Rows::most > 8) {
    if (left.count <= 6) return multiply_tile<6, used>(depth, left, panel, tile);
    if (left.count <= 8) return multiply_tile<8, used>(depth, left, panel, tile);
  }
  multiply_tile<Rows::most, used>(depth, left, panel, tile);
}

/// Adds `unrolled` elements of the sums of a row, from element k on, in their order.
template <std::size_t unrolled, typename T>
HWY_INLINE void add_elements(const PanelProduct<T>& product, std::size_t row, std::size_t k,
                             T* HWY_RESTRICT sums) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const bool is_packed = product.left_stride == 0;
  const T* left = product.left + row * (is_packed ? 1 : product.left_stride);
  const T* right = product.right + k * product.right_stride;
  T factors[unrolled];
  for (std::size_t i = 0; i < unrolled; ++i)
    factors[i] = left[(k + i) * (is_packed ? packed_rows : 1)];
  std::size_t column = 0;
  for (; column + hn::Lanes(d) <= product.columns; column += hn::Lanes(d)) {
    auto sum = hn::LoadU(d, sums + column);
    for (std::size_t i = 0; i < unrolled; ++i)
      sum = hn::MulAdd(hn::Set(d, factors[i]),
                       hn::LoadU(d, right + i * product.right_stride + column), sum);
    hn::StoreU(sum, d, sums + column);
  }
  for (; column < product.columns; ++column) {
    auto sum = hn::LoadU(one, sums + column);
    for (std::size_t i = 0; i < unrolled; ++i)
      sum = hn::MulAdd(hn::Set(one, factors[i]),
                       hn::LoadU(one, right + i * product.right_stride + column), sum);
    hn::StoreU(sum, one, sums + column);
  }
}

/// A few rows: goes once over the columns as they are, with the sums in the first cache.
template <typename T>
void multiply_streamed(const PanelProduct<T>& product) {
  constexpr std::size_t unrolled = 4;
  HWY_ALIGN T sums[streamed_rows][streamed_columns + hn::MaxLanes(hn::ScalableTag<T>())] = {};
  std::size_t k = 0;
  for (; k + unrolled <= product.depth; k += unrolled) {
    for (std::size_t r = 0; r < product.rows; ++r) add_elements<unrolled>(product, r, k, sums[r]);
  }
  for (; k < product.depth; ++k) {
    for (std::size_t r = 0; r < product.rows; ++r) add_elements<1>(product, r, k, sums[r]);
  }
  for (std::size_t r = 0; r < product.rows; ++r) {
    if (product.rounded != nullptr) {
      round_row(product, sums[r], r, 0, product.columns);
    } else {
      add_row(sums[r], product.columns, product.is_first, product.sums + r * product.pitch);
    }
  }
}

/// Takes what a tile comes to: rows [row, row + rows) and the columns of a panel from `column` on.
template <typename T>
HWY_INLINE void take_tile(const PanelProduct<T>& product, const T* tile, std::size_t row,
                          std::size_t rows, std::size_t column, std::size_t stored) {
  const std::size_t width = vectors * hn::Lanes(hn::ScalableTag<T>());
  for (std::size_t r = 0; r < rows; ++r) {
    if (product.rounded != nullptr) {
      const std::size_t count = std::min(stored, product.columns - column);
      round_row(product, tile + r * width, row + r, column, count);
    } else {
      double* to = product.sums + (row + r) * product.pitch + column;
      add_row(tile + r * width, stored, product.is_first, to);
    }
  }
}

/// Goes over all pairs of panels; rows_at(row, count) are at most `most` rows, and panel_at(column)
/// is a panel of columns.
template <std::size_t most, typename T, class RowsAt, class PanelAt>
HWY_INLINE void multiply_pairs(const PanelProduct<T>& product, const RowsAt& rows_at,
                               const PanelAt& panel_at) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>()), width = vectors * lanes;
  HWY_ALIGN T tile[most * vectors * hn::MaxLanes(hn::ScalableTag<T>())];
  for (std::size_t column = 0; column < product.columns; column += width) {
    const auto panel = panel_at(column);
    const bool is_narrow = product.columns - column <= lanes;
    for (std::size_t row = 0; row < product.rows; row += most) {
      const std::size_t rows = std::min(most, product.rows - row);
      if (is_narrow) {
        multiply_rows<1>(product.depth, rows_at(row, rows), panel, tile);
      } else {
        multiply_rows<vectors>(product.depth, rows_at(row, rows), panel, tile);
      }
      take_tile(product, tile, row, rows, column, is_narrow ? lanes : width);
    }
  }
}

template <typename T, class PanelAt>
HWY_INLINE void multiply_columns(const PanelProduct<T>& product, const PanelAt& panel_at) {
  if (product.left_stride == 0) {
    return multiply_pairs<packed_rows>(
        product,
        [&](std::size_t row, std::size_t count) {
          return PackedRows<T>{product.left + row * product.depth, count};
        },
        panel_at);
  }
  multiply_pairs<placed_rows>(
      product,
      [&](std::size_t row, std::size_t count) {
        return PlacedRows<T>{product.left + row * product.left_stride, count, product.left_stride};
      },
      panel_at);
}

template <typename T>
void multiply(const PanelProduct<T>& product) {
  if (product.right_stride != 0) return multiply_streamed(product);
  multiply_columns(product, [&](std::size_t column) {
    return PackedPanel<T>{product.right + column * product.depth};
  });
}

void MultiplyFloats(const PanelProduct<float>& product) {
  if (product.right_places == nullptr) return multiply(product);
  multiply_columns(product, [&](std::size_t column) {
    return PlacedPanel{product.right + column, product.right_places};
  });
}

void MultiplyDoubles(const PanelProduct<double>& product) {
  multiply(product);
}

std::size_t PanelRows() {
  return packed_rows;
}

std::size_t FloatColumns() {
  return vectors * hn::Lanes(hn::ScalableTag<float>());
}

std::size_t DoubleColumns() {
  return vectors * hn::Lanes(hn::ScalableTag<double>());
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
  if (lines >= 2) {
    const hn::Half<decltype(d)> half;
    std::size_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const auto line0 = hn::LoadU(d, from + k), line1 = hn::LoadU(d, from + stride + k);
      const auto low = hn::InterleaveLower(d, line0, line1);
      const auto high = hn::InterleaveUpper(d, line0, line1);
      float* to = panel + k * width;
      hn::StoreU(hn::LowerHalf(half, low), half, to);
      hn::StoreU(hn::UpperHalf(half, low), half, to + width);
      hn::StoreU(hn::LowerHalf(half, high), half, to + 2 * width);
      hn::StoreU(hn::UpperHalf(half, high), half, to + 3 * width);
    }
    transpose_rest(from, stride, 2, k, depth, width, panel);
    from += 2 * stride;
    panel += 2;
    lines -= 2;
  }
#endif
  transpose_rest(from, stride, lines, 0, depth, width, panel);
}

void TransposeDoubles(const double* from, std::uint64_t stride, std::size_t lines,
                      std::size_t depth, std::size_t width, double* panel) {
  transpose_rest(from, stride, lines, 0, depth, width, panel);
}

void CopyMasked(const float* from, const std::uint32_t* mask, std::size_t panels,
                std::size_t stride, float* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t panel = 0; panel < panels; ++panel, to += stride) {
    for (std::size_t v = 0; v < vectors; ++v, from += lanes, mask += lanes)
      hn::StoreU(hn::And(hn::BitCast(d, hn::LoadU(bits, mask)), hn::LoadU(d, from)), d,
                 to + v * lanes);
  }
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

std::size_t panel_rows() {
  return DMLOP_BEST_SIMD(PanelRows)();
}

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

void copy_masked(const float* from, const std::uint32_t* mask, std::size_t panels,
                 std::size_t stride, float* to) {
  DMLOP_BEST_SIMD(CopyMasked)(from, mask, panels, stride, to);
}

}  // namespace dmlop::cpu
#endif
