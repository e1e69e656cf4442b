#include "cpu/elements.hpp"

#include <type_traits>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/elements.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/simd-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

template <typename T>
void copy_element(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, sizeof(T));
}

template <class D>
HWY_INLINE hn::Vec<D> reversed(D d, hn::Vec<D> v) {
  if constexpr (sizeof(hn::TFromD<D>) == 1 && HWY_TARGET != HWY_SCALAR) {
    const hn::RepartitionToWide<D> pairs;  // of bytes
    const auto swapped = hn::Reverse(pairs, hn::BitCast(pairs, v));
    return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(swapped), hn::ShiftRight<8>(swapped)));
  } else {
    return hn::Reverse(d, v);
  }
}

// Source addresses rise, as the processor expects of who reads from memory; the output is near.
template <typename T>
void backwards(std::byte* output, const std::byte* input, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::byte* last = input - (count - 1) * sizeof(T);
  std::size_t left = count;
  for (const std::byte* from = last; left >= lanes; left -= lanes, from += lanes * sizeof(T))
    store(reversed(d, load(d, from)), d, output + (left - lanes) * sizeof(T));
  if (left == 0) return;
  if (count >= lanes) {  // the first ones once more
    store(reversed(d, load(d, last + (count - lanes) * sizeof(T))), d, output);
    return;
  }
  for (std::size_t k = 0; k < left; ++k)
    copy_element<T>(output + k * sizeof(T), last + (count - 1 - k) * sizeof(T));
}

#if HWY_TARGET != HWY_SCALAR
// The two vectors from `from` on, every second element of which is asked for: those at even places,
// or at odd ones.
template <bool odd, class D>
HWY_INLINE hn::Vec<D> halved(D d, const std::byte* from) {
  const auto low = load(d, from), high = load(d, from + hn::Lanes(d) * sizeof(hn::TFromD<D>));
  if constexpr (odd) return hn::ConcatOdd(d, high, low);
  return hn::ConcatEven(d, high, low);
}
#endif

// Two vectors hold one element more than those from the first to the last that is asked for: in the
// even case it stands behind them, in the odd one before, so that only elements between the first
// and the last of all are read. Source addresses rise here too.
template <typename T, bool to_the_left>
void every_second(std::byte* output, const std::byte* input, std::size_t count) {
  constexpr std::size_t size = sizeof(T);
  const std::byte* low = to_the_left ? input - 2 * (count - 1) * size : input;
  std::size_t j = 0;  // counts from the lowest address
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto put = [=](std::size_t at, hn::Vec<decltype(d)> v) HWY_ATTR {
    if constexpr (to_the_left) {
      store(reversed(d, v), d, output + (count - at - lanes) * size);
    } else {
      store(v, d, output + at * size);
    }
  };
  for (; j + lanes < count; j += lanes) put(j, halved<false>(d, low + 2 * j * size));
  if (count > lanes) {  // the last ones once more
    j = count - lanes;
    return put(j, halved<true>(d, low + (2 * j - 1) * size));
  }
#endif
  for (; j < count; ++j)
    copy_element<T>(output + (to_the_left ? count - 1 - j : j) * size, low + 2 * j * size);
}

template <typename T>
void every_second(bool to_the_left, std::byte* output, const std::byte* input, std::size_t count) {
  if (to_the_left) return every_second<T, true>(output, input, count);
  every_second<T, false>(output, input, count);
}

#if HWY_TARGET != HWY_SCALAR
// The first element of every four, from `from` on.
template <class D>
HWY_INLINE hn::Vec<D> quartered(D d, const std::byte* from) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) <= 2) {
    // The even ones of pairs, then of what is left.
    using Pair = std::conditional_t<sizeof(T) == 1, std::uint16_t, std::uint32_t>;
    const hn::Repartition<Pair, D> twos;
    const std::size_t step = hn::Lanes(d) * sizeof(T);
    const auto v0 = load(twos, from), v1 = load(twos, from + step),
               v2 = load(twos, from + 2 * step), v3 = load(twos, from + 3 * step);
    return hn::ConcatEven(d, hn::BitCast(d, hn::ConcatEven(twos, v3, v2)),
                          hn::BitCast(d, hn::ConcatEven(twos, v1, v0)));
  } else {
    hn::Vec<D> v0, v1, v2, v3;
    hn::LoadInterleaved4(d, reinterpret_cast<const T*>(from), v0, v1, v2, v3);
    return v0;
  }
}
#endif

// Four vectors hold three elements more than those from the first to the last that is asked for.
template <typename T>
void every_fourth(std::byte* output, const std::byte* input, std::size_t count) {
  std::size_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; k + lanes < count; k += lanes)
    store(quartered(d, input + 4 * k * sizeof(T)), d, output + k * sizeof(T));
#endif
  for (; k < count; ++k) copy_element<T>(output + k * sizeof(T), input + 4 * k * sizeof(T));
}

template <typename T, std::size_t runs>
void in_turns(std::byte* output, const std::byte* input, std::int64_t stride, std::size_t count) {
  const auto step = static_cast<std::ptrdiff_t>(stride) * static_cast<std::ptrdiff_t>(sizeof(T));
  std::size_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; k + lanes <= count; k += lanes) {
    const std::byte* from = input + k * sizeof(T);
    T* to = reinterpret_cast<T*>(output + k * runs * sizeof(T));
    const auto v0 = load(d, from), v1 = load(d, from + step);
    if constexpr (runs == 2) hn::StoreInterleaved2(v0, v1, d, to);
    if constexpr (runs == 3) hn::StoreInterleaved3(v0, v1, load(d, from + 2 * step), d, to);
    if constexpr (runs == 4)
      hn::StoreInterleaved4(v0, v1, load(d, from + 2 * step), load(d, from + 3 * step), d, to);
  }
#endif
  for (; k < count; ++k) {
    for (std::size_t j = 0; j < runs; ++j)
      copy_element<T>(output + (k * runs + j) * sizeof(T),
                      input + static_cast<std::ptrdiff_t>(k * sizeof(T)) +
                          static_cast<std::ptrdiff_t>(j) * step);
  }
}

template <typename T>
void in_turns(std::uint64_t runs, std::byte* output, const std::byte* input, std::int64_t stride,
              std::size_t count) {
  if (runs == 2) return in_turns<T, 2>(output, input, stride, count);
  if (runs == 3) return in_turns<T, 3>(output, input, stride, count);
  in_turns<T, 4>(output, input, stride, count);
}

/// Addresses output[r * pitch + c] and input[c * stride + r].
template <typename T>
struct Turned {
  std::byte* output;
  std::uint64_t pitch;
  const std::byte* input;
  std::int64_t stride;

  std::byte* to(std::size_t r, std::size_t c) const { return output + (r * pitch + c) * sizeof(T); }
  const std::byte* from(std::size_t r, std::size_t c) const {
    const auto at = static_cast<std::int64_t>(c) * stride + static_cast<std::int64_t>(r);
    return input + at * static_cast<std::int64_t>(sizeof(T));
  }
  void one_by_one(std::size_t first_row, std::size_t rows, std::size_t first_column,
                  std::size_t columns) const {
    for (std::size_t r = first_row; r < rows; ++r) {
      for (std::size_t c = first_column; c < columns; ++c) copy_element<T>(to(r, c), from(r, c));
    }
  }
};

#if HWY_TARGET != HWY_SCALAR
// As many rows as columns, each a vector. Both halves of the vectors take turns, once for each
// power of two.
template <typename T>
HWY_INLINE void turn_square(const Turned<T>& at, std::size_t r, std::size_t c) {
  const hn::Full128<T> d;
  constexpr std::size_t lanes = 16 / sizeof(T);
  hn::Vec<decltype(d)> v[lanes], next[lanes];
  HWY_UNROLL(16)
  for (std::size_t k = 0; k < lanes; ++k) v[k] = load(d, at.from(r, c + k));
  HWY_UNROLL(4)
  for (std::size_t step = 1; step < lanes; step *= 2) {
    HWY_UNROLL(8)
    for (std::size_t k = 0; k < lanes / 2; ++k) {
      next[2 * k] = hn::InterleaveLower(d, v[k], v[k + lanes / 2]);
      next[2 * k + 1] = hn::InterleaveUpper(d, v[k], v[k + lanes / 2]);
    }
    HWY_UNROLL(16)
    for (std::size_t k = 0; k < lanes; ++k) v[k] = next[k];
  }
  HWY_UNROLL(16)
  for (std::size_t k = 0; k < lanes; ++k) store(v[k], d, at.to(r + k, c));
}
#endif

template <typename T>
void turn(const Turned<T>& at, std::size_t rows, std::size_t columns) {
  std::size_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr std::size_t lanes = 16 / sizeof(T);
  for (; c + lanes <= columns; c += lanes) {
    std::size_t r = 0;
    for (; r + lanes <= rows; r += lanes) turn_square(at, r, c);
    at.one_by_one(r, rows, c, c + lanes);
  }
#endif
  at.one_by_one(0, rows, c, columns);
}

void Transpose(std::size_t element_size, std::byte* output, std::uint64_t pitch,
               const std::byte* input, std::int64_t stride, std::uint64_t rows,
               std::uint64_t columns) {
  switch (element_size) {
    case 1:
      return turn<std::uint8_t>({output, pitch, input, stride}, rows, columns);
    case 2:
      return turn<std::uint16_t>({output, pitch, input, stride}, rows, columns);
    case 4:
      return turn<std::uint32_t>({output, pitch, input, stride}, rows, columns);
    default:
      return turn<std::uint64_t>({output, pitch, input, stride}, rows, columns);
  }
}

void CopyEveryFourth(std::size_t element_size, std::byte* output, const std::byte* input,
                     std::uint64_t count) {
  switch (element_size) {
    case 1:
      return every_fourth<std::uint8_t>(output, input, count);
    case 2:
      return every_fourth<std::uint16_t>(output, input, count);
    case 4:
      return every_fourth<std::uint32_t>(output, input, count);
    default:
      return every_fourth<std::uint64_t>(output, input, count);
  }
}

void CopyInTurns(std::size_t element_size, std::uint64_t runs, std::byte* output,
                 const std::byte* input, std::int64_t stride, std::uint64_t count) {
  switch (element_size) {
    case 1:
      return in_turns<std::uint8_t>(runs, output, input, stride, count);
    case 2:
      return in_turns<std::uint16_t>(runs, output, input, stride, count);
    case 4:
      return in_turns<std::uint32_t>(runs, output, input, stride, count);
    default:
      return in_turns<std::uint64_t>(runs, output, input, stride, count);
  }
}

void CopyBackwards(std::size_t element_size, std::byte* output, const std::byte* input,
                   std::uint64_t count) {
  switch (element_size) {
    case 1:
      return backwards<std::uint8_t>(output, input, count);
    case 2:
      return backwards<std::uint16_t>(output, input, count);
    case 4:
      return backwards<std::uint32_t>(output, input, count);
    default:
      return backwards<std::uint64_t>(output, input, count);
  }
}

void CopyEverySecond(std::size_t element_size, bool to_the_left, std::byte* output,
                     const std::byte* input, std::uint64_t count) {
  switch (element_size) {
    case 1:
      return every_second<std::uint8_t>(to_the_left, output, input, count);
    case 2:
      return every_second<std::uint16_t>(to_the_left, output, input, count);
    case 4:
      return every_second<std::uint32_t>(to_the_left, output, input, count);
    default:
      return every_second<std::uint64_t>(to_the_left, output, input, count);
  }
}

void Stream(std::byte* output, const std::byte* input, std::uint64_t bytes) {
  const hn::ScalableTag<std::uint64_t> d;
  auto* to = reinterpret_cast<std::uint64_t*>(output);
  const auto* from = reinterpret_cast<const std::uint64_t*>(input);
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); i += hn::Lanes(d)) {
    hn::Stream(hn::LoadU(d, from + i), d, to + i);
  }
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void copy_backwards(std::size_t element_size, std::byte* output, const std::byte* input,
                    std::uint64_t count) {
  DMLOP_BEST_SIMD(CopyBackwards)(element_size, output, input, count);
}

void copy_every_second(std::size_t element_size, bool backwards, std::byte* output,
                       const std::byte* input, std::uint64_t count) {
  DMLOP_BEST_SIMD(CopyEverySecond)(element_size, backwards, output, input, count);
}

void copy_every_fourth(std::size_t element_size, std::byte* output, const std::byte* input,
                       std::uint64_t count) {
  DMLOP_BEST_SIMD(CopyEveryFourth)(element_size, output, input, count);
}

void copy_in_turns(std::size_t element_size, std::uint64_t runs, std::byte* output,
                   const std::byte* input, std::int64_t stride, std::uint64_t count) {
  DMLOP_BEST_SIMD(CopyInTurns)(element_size, runs, output, input, stride, count);
}

void transpose(std::size_t element_size, std::byte* output, std::uint64_t pitch,
               const std::byte* input, std::int64_t stride, std::uint64_t rows,
               std::uint64_t columns) {
  DMLOP_BEST_SIMD(Transpose)(element_size, output, pitch, input, stride, rows, columns);
}

void stream(std::byte* output, const std::byte* input, std::uint64_t bytes) {
  DMLOP_BEST_SIMD(Stream)(output, input, bytes);
}

void fetch(const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < bytes; i += 64) hwy::Prefetch(from + i);
}

void finish_streams() {
  hwy::FlushStream();
}

}  // namespace dmlop::cpu
#endif
