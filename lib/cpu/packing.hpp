// Reads elements of any type and stride as numbers, and packs matrices into panels
// (cpu/panels.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop::cpu {

/// Elements whose places in memory are so many bytes apart are on pages of their own.
inline constexpr std::uint64_t page_bytes = 4096;

/// Elements of a stride, at any address, as T: float, which holds FLOAT32, FLOAT16 and 8-bit
/// integers, or double. Errors: as check_for_stop(), where elements are far apart.
template <typename T>
void read_elements(DataType type, const std::byte* from, std::uint64_t stride, std::uint64_t count,
                   T* to);

/// Rounds numbers to floating-point elements, or saturates them to 8-bit integers, which they must
/// be; INT32 wraps.
void write_elements(DataType type, std::span<const double> numbers, std::byte* to);

/// Lines of a matrix, its rows on the left of a product and its columns on the right.
template <typename T>
struct PackedLines {
  DataType type;
  const std::byte* data;                 // of line 0
  std::uint64_t line_stride;             // elements
  std::span<const std::uint64_t> depth;  // offsets of the elements of a line
  std::span<const T> zeros = {};         // to subtract from each line; none: 0
};

/// Packs lines into panels of `width`. The lines that the last panel lacks are 0. `line` is
/// scratch memory.
template <typename T>
void pack_lines(const PackedLines<T>& lines, std::size_t count, std::size_t width,
                std::vector<T>& line, T* to);

/// Copies a row of a panel that is full.
template <typename T>
void copy_panel_row(const T* from, std::size_t width, T* to) {
  constexpr std::size_t piece = 32 / sizeof(T);  // every width but that of rows is a multiple of it
  std::size_t i = 0;
  for (; i + piece <= width; i += piece) std::memcpy(to + i, from + i, piece * sizeof(T));
  for (; i < width; ++i) to[i] = from[i];
}

/// Puts element k of lines [0, count), as they are in `line`, into panels of `width` lines and
/// `depth` elements.
template <typename T>
void put_in_panels(const T* line, std::size_t count, std::size_t k, std::size_t depth,
                   std::size_t width, T* to) {
  std::size_t begin = 0;
  for (; begin + width <= count; begin += width)
    copy_panel_row(line + begin, width, to + begin * depth + k * width);
  if (begin == count) return;
  T* last = std::copy(line + begin, line + count, to + begin * depth + k * width);
  std::fill_n(last, begin + width - count, T{0});
}

}  // namespace dmlop::cpu
