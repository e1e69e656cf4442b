#include "cpu/columns.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/elements.hpp"
#include "cpu/scratch.hpp"
#include "cpu/simd.hpp"
#include "tensor/visit_type.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/columns.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/simd-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// T has the elements' size. No element is looked up: whole vectors of a row move, or stay.
template <typename T>
class ColumnReversal {
  static constexpr hn::ScalableTag<T> d{};
  using V = hn::Vec<decltype(d)>;
  static std::size_t lanes() { return hn::Lanes(d); }

 public:
  explicit ColumnReversal(const Columns& columns)
      : columns_(columns),
        height_(columns.height),
        room_((height_ + group - 1) / group * group + group - 1),
        tile_width_(std::clamp(nearest_bytes / height_ / line * line, line, OutputBytes::stretch) /
                    sizeof(T)),
        memory_((height_ + room_ + 1) * tile_width_ * sizeof(T)),
        lengths_(tile_width_ + line) {
    plain_ = reinterpret_cast<T*>(memory_.data());
    turned_ = plain_ + height_ * tile_width_;
    ends_ = turned_ + room_ * tile_width_;
  }

  void run(Stores stores, std::byte* output, std::uint64_t pitch) {
    // Tiles end where lines of the output do, in the first row and mostly in all.
    const std::size_t behind = reinterpret_cast<std::uintptr_t>(output) % line / sizeof(T);
    std::size_t end;
    Steps steps;
    for (std::size_t first = 0; first < columns_.width; first = end) {
      steps.add(height_ * far_steps);
      end = std::min<std::size_t>(columns_.width, first + tile_width_ - (first == 0 ? behind : 0));
      take(first, end - first);
      turn_all(end - first, end);
      for (std::size_t i = 0; i < height_; ++i) {
        if (i % ends_max == 0 && !has_one_group_of_ends()) set_ends(end - first, i);
        OutputBytes row(output + i * pitch + first * sizeof(T), stores);
        choose(end - first, i, row.take((end - first) * sizeof(T)));
        row.finish();
      }
    }
  }

 private:
  static constexpr std::uint64_t line = 64;
  // So few columns at once that all of theirs stays in the nearest cache.
  static constexpr Threshold nearest_bytes{std::uint64_t{8} << 10, 64};
  // Rows that are computed together at last.
  static constexpr std::size_t group = 4;
  // Rows whose numbers fit T.
  static constexpr std::size_t ends_max = std::numeric_limits<T>::max();
  // Then lengths are the ends as they stand.
  bool has_one_group_of_ends() const { return height_ <= ends_max; }

  const std::byte* input_at(std::size_t row, std::size_t column) const {
    return columns_.rows + static_cast<std::ptrdiff_t>(row) * columns_.pitch + column * sizeof(T);
  }

  // A tile: columns [first, first + width) and their lengths.
  void take(std::size_t first, std::size_t width) {
    for (std::size_t i = 0; i < height_; ++i) take_row(first, width, i);
    visit_type_among<DataType::UInt32, DataType::UInt64>(
        columns_.lengths_type,
        [&]<typename Length>(Length) HWY_ATTR { take_lengths<Length>(first, width); });
  }

  // Row i of the input, which is also row height - 1 - i of all columns reversed as a whole.
  HWY_INLINE void take_row(std::size_t first, std::size_t width, std::size_t i) const {
    const std::byte* from = input_at(i, first);
    const std::size_t step = room_ * lanes();
    T* plain = plain_ + i * tile_width_;
    T* turned = turned_ + (height_ - 1 - i) * lanes();
    const auto put = [&](V v) HWY_ATTR {
      hn::StoreU(v, d, plain);
      hn::StoreU(v, d, turned);
      plain += lanes();
      turned += step;
    };
    std::size_t k = 0;
    for (; k + lanes() <= width; k += lanes()) put(load(d, from + k * sizeof(T)));
    if (k < width) put(load_part(d, from + k * sizeof(T), width - k));
  }

  template <typename Length>
  void take_lengths(std::size_t first, std::size_t width) {
    const std::byte* from = columns_.lengths + first * sizeof(Length);
    const auto longest = static_cast<Length>(height_);
    const auto take = [&](auto* to) HWY_ATTR {
      for (std::size_t k = 0; k < width; ++k) {
        Length length;
        std::memcpy(&length, from + k * sizeof length, sizeof length);
        to[k] = static_cast<std::remove_reference_t<decltype(*to)>>(std::min(length, longest));
      }
    };
    if (has_one_group_of_ends()) return take(ends_);
    take(lengths_.data());
  }

  // Turns the columns of the tile; meanwhile the memory is asked for the next one.
  void turn_all(std::size_t width, std::size_t next) const {
    const std::size_t next_width = std::min<std::size_t>(columns_.width - next, tile_width_);
    std::size_t fetched = 0;
    for (std::size_t k = 0; k < width; k += lanes()) {
      for (; fetched < height_ && fetched * width < (k + lanes()) * height_; ++fetched)
        fetch(input_at(fetched, next), next_width * sizeof(T));
      turn(k);
    }
  }

  // All ones in the lanes of columns from k on that are shorter than the height by a number with
  // this bit.
  HWY_INLINE V shorter_by(std::size_t k, int bit) const {
    if (has_one_group_of_ends()) {
      const V shorter = hn::Sub(hn::Set(d, static_cast<T>(height_)), hn::LoadU(d, ends_ + k));
      return hn::VecFromMask(d, hn::TestBit(shorter, hn::Set(d, static_cast<T>(T{1} << bit))));
    }
    const auto height = static_cast<std::int32_t>(height_);
    const std::int32_t* lengths = lengths_.data() + k;
    HWY_ALIGN T mask[hn::MaxLanes(d)];
    for (std::size_t i = 0; i < lanes(); ++i)
      mask[i] = static_cast<T>(-(((height - lengths[i]) >> bit) & 1));
    return hn::Load(d, mask);
  }

  // A vector of columns: vector j of `turned` gets row length - 1 - j, for j < length. They are
  // reversed as a whole, then each moves up by as many rows as it is shorter, bit by bit of that.
  // What comes from behind the last row is never asked for.
  HWY_INLINE void turn(std::size_t k) const {
    const std::size_t n = lanes(), height = height_;
    T* const turned = turned_ + k * room_;
    for (int bit = 2; std::size_t{1} << bit < height; ++bit) {
      const V moves = shorter_by(k, bit);
      T* to = turned;
      HWY_UNROLL(4)
      for (const T *other = to + (n << bit), *end = to + height * n; other != end;
           other += n, to += n)
        hn::StoreU(hn::IfVecThenElse(moves, hn::LoadU(d, other), hn::LoadU(d, to)), d, to);
    }
    const V by2 = shorter_by(k, 1), by1 = shorter_by(k, 0);
    for (T *to = turned, *end = to + height * n; to < end; to += group * n) {
      const auto moved_by2 = [&](std::size_t j) HWY_ATTR {
        return hn::IfVecThenElse(by2, hn::LoadU(d, to + (j + 2) * n), hn::LoadU(d, to + j * n));
      };
      const V v0 = moved_by2(0), v1 = moved_by2(1), v2 = moved_by2(2), v3 = moved_by2(3),
              v4 = moved_by2(4);
      hn::StoreU(hn::IfVecThenElse(by1, v1, v0), d, to);
      hn::StoreU(hn::IfVecThenElse(by1, v2, v1), d, to + n);
      hn::StoreU(hn::IfVecThenElse(by1, v3, v2), d, to + 2 * n);
      hn::StoreU(hn::IfVecThenElse(by1, v4, v3), d, to + 3 * n);
    }
  }

  // ends_[k] is how many of the rows from `row` on are reversed in column k of the tile.
  void set_ends(std::size_t width, std::size_t row) {
    const auto begin = static_cast<std::int32_t>(row);
    constexpr auto most = static_cast<std::int32_t>(std::min<std::size_t>(ends_max, 1 << 30));
    const std::int32_t* lengths = lengths_.data();
    T* ends = ends_;
    for (std::size_t k = 0; k < width; ++k)
      ends[k] = static_cast<T>(std::clamp(lengths[k] - begin, 0, most));
  }

  // Row i of the result: what was turned, before the columns' ends, and what there was behind.
  HWY_INLINE void choose(std::size_t width, std::size_t i, std::byte* output) const {
    const V index = hn::Set(d, static_cast<T>(i % ends_max));
    const T* turned = turned_ + i * lanes();
    const T* plain = plain_ + i * tile_width_;
    const T* ends = ends_;
    const std::size_t step = room_ * lanes();
    const auto chosen = [&](std::size_t k) HWY_ATTR {
      const auto inside = hn::Gt(hn::LoadU(d, ends + k), index);
      return hn::IfThenElse(inside, hn::LoadU(d, turned), hn::LoadU(d, plain + k));
    };
    std::size_t k = 0;
    for (; k + lanes() <= width; k += lanes(), turned += step)
      store(chosen(k), d, output + k * sizeof(T));
    if (k < width) store_part(chosen(k), d, output + k * sizeof(T), width - k);
  }

  const Columns& columns_;
  std::size_t height_;
  std::size_t room_;  // for rows that are turned, whole groups of them
  std::size_t tile_width_;
  Scratch memory_;
  std::vector<std::int32_t> lengths_;  // of the tile's columns, where they are not ends_
  T* plain_;                           // the rows of the tile
  T* turned_;                          // vector for vector, the rows of each
  T* ends_;
};

void ReverseColumns(std::size_t element_size, const Columns& columns, Stores stores,
                    std::byte* output, std::uint64_t pitch) {
  switch (element_size) {
    case 1:
      return ColumnReversal<std::int8_t>(columns).run(stores, output, pitch);
    case 2:
      return ColumnReversal<std::int16_t>(columns).run(stores, output, pitch);
    case 4:
      return ColumnReversal<std::int32_t>(columns).run(stores, output, pitch);
    default:
      return ColumnReversal<std::int64_t>(columns).run(stores, output, pitch);
  }
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void reverse_columns(std::size_t element_size, const Columns& columns, Stores stores,
                     std::byte* output, std::uint64_t pitch) {
  DMLOP_BEST_SIMD(ReverseColumns)(element_size, columns, stores, output, pitch);
}

}  // namespace dmlop::cpu
#endif
