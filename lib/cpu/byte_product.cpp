#include "cpu/byte_product.hpp"

#include "base/threshold.hpp"
#include "cpu/simd.hpp"
// After it:
#include "cpu/simd_dispatch.hpp"
#include "hwy/highway.h"

// Windows is left out, because its compilers do not align such vectors on the stack.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.hpp"
#include "cpu/block_product.hpp"
#include "cpu/packing.hpp"

#define DMLOP_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace dmlop::cpu {
namespace {

// Panels hold four bytes of a line side by side, and those of all their lines one after the other.
constexpr std::size_t group = 4;
constexpr std::size_t tile_rows = 6;
constexpr std::size_t panel_width = 32;  // columns: two vectors of sums
constexpr Threshold depth_at_once{1024, 12};
static_assert(depth_at_once.most() * 255 * 128 < (std::size_t{1} << 31), "sums fit 32 bits");

std::uint32_t four_bytes(const std::byte* from) {
  std::uint32_t bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

/// The bytes [k, k + 4) of a line; behind `end` 0 remains.
std::uint32_t gathered(const ByteLines& lines, std::size_t line, std::uint64_t k, std::uint64_t end,
                       std::uint8_t flip) {
  const std::byte* from = lines.data + line * lines.line_stride + k * lines.depth_stride;
  if (lines.depth_stride == 1 && k + group <= end) return four_bytes(from) ^ flip * 0x01010101U;
  std::uint32_t bytes = 0;
  for (std::size_t i = 0; i < group && k + i < end; ++i)
    bytes |= (std::to_integer<std::uint32_t>(from[i * lines.depth_stride]) ^ flip) << (8 * i);
  return bytes;
}

/// Sixteen lines that stand side by side.
void interleave(const ByteLines& lines, std::size_t line, std::uint64_t k, std::uint8_t flip,
                std::byte* to) {
  const std::byte* from = lines.data + line + k * lines.depth_stride;
  const auto load = [&](std::size_t i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * lines.depth_stride));
  };
  const __m128i low01 = _mm_unpacklo_epi8(load(0), load(1));
  const __m128i high01 = _mm_unpackhi_epi8(load(0), load(1));
  const __m128i low23 = _mm_unpacklo_epi8(load(2), load(3));
  const __m128i high23 = _mm_unpackhi_epi8(load(2), load(3));
  const __m128i flips = _mm_set1_epi8(static_cast<char>(flip));
  const auto store = [&](std::size_t i, __m128i bytes) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + i, _mm_xor_si128(bytes, flips));
  };
  store(0, _mm_unpacklo_epi16(low01, low23));
  store(1, _mm_unpackhi_epi16(low01, low23));
  store(2, _mm_unpacklo_epi16(high01, high23));
  store(3, _mm_unpackhi_epi16(high01, high23));
}

/// Packs bytes [k, end) of `count` lines into panels of `lines_each`.
void pack(const ByteLines& lines, std::size_t count, std::size_t lines_each, std::uint64_t k,
          std::uint64_t end, std::uint8_t flip, std::byte* to) {
  const std::size_t groups = (end - k + group - 1) / group;
  Steps steps;
  for (std::size_t first = 0; first < count; first += lines_each) {
    const std::size_t here = std::min(lines_each, count - first);
    for (std::size_t g = 0; g < groups; ++g, to += lines_each * group) {
      steps.add(lines.depth_stride < page_bytes || first != 0 ? here : far_steps);
      const std::uint64_t at = k + g * group;
      std::size_t i = 0;
      if (lines.line_stride == 1 && at + group <= end) {
        for (; i + 16 <= here; i += 16) interleave(lines, first + i, at, flip, to + i * group);
      }
      for (; i < lines_each; ++i) {
        const std::uint32_t bytes = i < here ? gathered(lines, first + i, at, end, flip) : 0;
        std::memcpy(to + i * group, &bytes, sizeof bytes);
      }
    }
  }
}

struct Panels {
  const std::byte* left;
  const std::byte* right;
  std::size_t rows, columns, groups;
  double* sums;
  std::size_t pitch;
  bool is_first;
};

/// Adds sums of 32 bits to those of a row.
DMLOP_VNNI void add_sums(__m512i sums, bool is_first, double* to) {
  constexpr std::size_t half = 8;
  std::int32_t tile[2 * half];
  _mm512_storeu_si512(tile, sums);
  for (std::size_t i = 0; i < 2 * half; i += half) {
    const __m256i numbers = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile + i));
    const __m512d added = _mm512_maskz_cvtepi32_pd(0xFF, numbers);  // GCC 12 warns without a mask
    _mm512_storeu_pd(to + i, is_first ? added : _mm512_add_pd(added, _mm512_loadu_pd(to + i)));
  }
}

template <std::size_t rows>
DMLOP_VNNI void multiply_tile(const Panels& panels, const std::byte* left, const std::byte* right,
                              double* to) {
  __m512i sums[rows][2];
  for (auto& row : sums) row[0] = row[1] = _mm512_setzero_si512();
  for (std::size_t g = 0; g < panels.groups; ++g) {
    const __m512i b0 = _mm512_loadu_si512(right), b1 = _mm512_loadu_si512(right + 64);
    for (std::size_t r = 0; r < rows; ++r) {
      const __m512i a = _mm512_set1_epi32(static_cast<int>(four_bytes(left + r * group)));
      sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], a, b0);
      sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], a, b1);
    }
    left += tile_rows * group;
    right += panel_width * group;
  }
  for (std::size_t r = 0; r < rows; ++r) {
    add_sums(sums[r][0], panels.is_first, to + r * panels.pitch);
    add_sums(sums[r][1], panels.is_first, to + r * panels.pitch + 16);
  }
}

void multiply(const Panels& panels) {
  using Tile = void (*)(const Panels&, const std::byte*, const std::byte*, double*);
  static constexpr std::array<Tile, tile_rows> tiles{multiply_tile<1>, multiply_tile<2>,
                                                     multiply_tile<3>, multiply_tile<4>,
                                                     multiply_tile<5>, multiply_tile<6>};
  for (std::size_t column = 0; column < panels.columns; column += panel_width) {
    const std::byte* right = panels.right + column * panels.groups * group;
    for (std::size_t row = 0; row < panels.rows; row += tile_rows) {
      const std::size_t rows = std::min(tile_rows, panels.rows - row);
      tiles[rows - 1](panels, panels.left + row * panels.groups * group, right,
                      panels.sums + row * panels.pitch + column);
    }
  }
}

/// Reads columns, four bytes of all of them at a time, into panels.
void pack(const ByteReader& columns, std::size_t count, std::uint64_t k, std::uint64_t end,
          std::uint8_t flip, std::byte* lines, std::byte* to) {
  const std::size_t pitch = (count + panel_width - 1) / panel_width * panel_width;
  const std::size_t groups = (end - k + group - 1) / group;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::uint64_t at = k + g * group;
    const std::size_t here = std::min<std::uint64_t>(group, end - at);
    // Flipped, what is missing is 0.
    std::fill(lines + here * pitch, lines + group * pitch, std::byte{flip});
    columns.read(at, here, pitch, lines);
    std::byte* panel = to + g * panel_width * group;
    for (std::size_t first = 0; first < pitch;
         first += panel_width, panel += groups * panel_width * group) {
      for (std::size_t i = 0; i < panel_width; i += 16)
        interleave({lines, 1, pitch, false}, first + i, 0, flip, panel + i * group);
    }
  }
}

/// Adds up the columns of packed panels.
DMLOP_VNNI void add_columns(const std::byte* panels, std::size_t count, std::size_t groups,
                            std::vector<double>& sums) {
  const __m512i ones = _mm512_set1_epi8(1);
  for (std::size_t first = 0; first < count; first += panel_width) {
    __m512i low = _mm512_setzero_si512(), high = low;
    for (std::size_t g = 0; g < groups; ++g, panels += panel_width * group) {
      low = _mm512_dpbusd_epi32(low, ones, _mm512_loadu_si512(panels));
      high = _mm512_dpbusd_epi32(high, ones, _mm512_loadu_si512(panels + 64));
    }
    std::int32_t lines[panel_width];
    _mm512_storeu_si512(lines, low);
    _mm512_storeu_si512(lines + panel_width / 2, high);
    for (std::size_t i = 0; i < std::min(panel_width, count - first); ++i)
      sums[first + i] += lines[i];
  }
}

/// Adds up the rows of packed panels.
DMLOP_VNNI void add_rows(const std::byte* panels, std::size_t count, std::size_t groups,
                         std::vector<double>& sums) {
  constexpr __mmask32 bytes = (std::uint32_t{1} << (tile_rows * group)) - 1;
  const __m256i ones = _mm256_set1_epi8(1);
  for (std::size_t first = 0; first < count; first += tile_rows) {
    __m256i added = _mm256_setzero_si256();
    for (std::size_t g = 0; g < groups; ++g, panels += tile_rows * group)
      added = _mm256_dpbusd_epi32(added, _mm256_maskz_loadu_epi8(bytes, panels), ones);
    std::int32_t lines[8];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lines), added);
    for (std::size_t i = 0; i < std::min(tile_rows, count - first); ++i)
      sums[first + i] += lines[i];
  }
}

}  // namespace

bool multiplies_bytes() {
  static const bool has_instructions = __builtin_cpu_supports("avx512vnni") != 0;
  std::int64_t usable = usable_simd_targets.load(std::memory_order_relaxed);
  if (usable == 0) usable = find_usable_simd_targets();
  return has_instructions && (usable & HWY_AVX3) != 0;
}

namespace {
constexpr std::uint8_t sign = 0x80;
}

template <typename Pack>
void ByteProduct::run_packed(const ByteLines& left, std::size_t rows, bool is_right_signed,
                             std::size_t columns, std::uint64_t depth, const Sums& sums,
                             Pack&& pack_right) {
  const std::size_t whole_rows = (rows + tile_rows - 1) / tile_rows * tile_rows;
  const std::size_t whole_columns = (columns + panel_width - 1) / panel_width * panel_width;
  const std::size_t deepest = std::min<std::uint64_t>(depth + group, depth_at_once);
  auto* left_panels = left_memory_.at_least<std::byte>(whole_rows * deepest);
  auto* right_panels = right_memory_.at_least<std::byte>(whole_columns * deepest);
  left_sums_.assign(rows, 0);
  right_sums_.assign(columns, 0);
  for (std::uint64_t k = 0; k < depth; k += depth_at_once) {
    check_for_stop();
    const std::uint64_t end = std::min<std::uint64_t>(depth, k + depth_at_once);
    const std::size_t groups = (end - k + group - 1) / group;
    // Bytes behind the end are 0, and add nothing.
    pack(left, rows, tile_rows, k, end, left.is_signed ? sign : 0, left_panels);
    pack_right(k, end, is_right_signed ? 0 : sign, right_panels);
    add_rows(left_panels, rows, groups, left_sums_);
    add_columns(right_panels, columns, groups, right_sums_);
    multiply({left_panels, right_panels, rows, columns, groups, sums.to, sums.pitch, k == 0});
  }
}

void ByteProduct::run(const ByteLines& left, std::size_t rows, const ByteLines& right,
                      std::size_t columns, std::uint64_t depth, const Sums& sums) {
  run_packed(left, rows, right.is_signed, columns, depth, sums,
             [&](std::uint64_t k, std::uint64_t end, std::uint8_t flip, std::byte* to) {
               pack(right, columns, panel_width, k, end, flip, to);
             });
}

void ByteProduct::run(const ByteLines& left, std::size_t rows, const ByteReader& right,
                      std::size_t columns, std::uint64_t depth, const Sums& sums) {
  auto* lines = line_memory_.at_least<std::byte>(group * (columns + panel_width));
  std::fill_n(lines, group * (columns + panel_width), std::byte{0});
  run_packed(left, rows, right.is_signed, columns, depth, sums,
             [&](std::uint64_t k, std::uint64_t end, std::uint8_t flip, std::byte* to) {
               pack(right, columns, k, end, flip, lines, to);
             });
}

}  // namespace dmlop::cpu

#else

namespace dmlop::cpu {

bool multiplies_bytes() {
  return false;
}

void ByteProduct::run(const ByteLines&, std::size_t, const ByteLines&, std::size_t, std::uint64_t,
                      const Sums&) {}

void ByteProduct::run(const ByteLines&, std::size_t, const ByteReader&, std::size_t, std::uint64_t,
                      const Sums&) {}

}  // namespace dmlop::cpu

#endif
