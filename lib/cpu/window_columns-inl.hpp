// What norms of windows add up (cpu/window_norms.cpp): the columns under the windows of a row of
// outputs. A column is the sum of the powers of the elements that rows of the input have there.
// Included once per instruction set.
#if defined(DMLOP_CPU_WINDOW_COLUMNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_WINDOW_COLUMNS_INL
#undef DMLOP_CPU_WINDOW_COLUMNS_INL
#else
#define DMLOP_CPU_WINDOW_COLUMNS_INL
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/elements.hpp"
#include "cpu/powers-inl.hpp"
#include "cpu/reached_rows.hpp"
#include "cpu/simd-inl.hpp"
#include "hwy/cache_control.h"
#include "ops/kernels/window.hpp"
#include "tensor/half.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

using Int = std::int64_t;

// Rows that are summed together.
constexpr std::uint64_t rows_at_once = 16;
// Columns that are summed together: what is worked on stays in the nearest cache.
constexpr Threshold columns_at_once{1024, 5};
// Windows are summed in chunks of so many columns.
constexpr Threshold taps_at_once{1024, 3};

/// How many elements of a window, without end, lie less than `distance` behind its begin.
inline std::uint64_t elements_before(Int distance, std::uint64_t dilation) {
  return distance <= 0 ? 0 : divided_up(static_cast<std::uint64_t>(distance), dilation);
}

/// How the windows of a row of outputs are taken.
struct Chunks {
  std::uint64_t outputs = 1;  // that are computed together
  std::uint64_t taps;         // elements of a window that are summed together
  std::uint64_t columns;      // of these outputs
  // Elements far apart are summed by themselves, not with all columns between them.
  bool are_gathered;

  explicit Chunks(const WindowAxis& width) {
    const auto& windows = std::get<Windows>(width.reach);
    if (windows.stride > 0)
      outputs = std::clamp<std::uint64_t>(columns_at_once / windows.stride, 1, width.output_extent);
    taps = std::clamp<std::uint64_t>(taps_at_once / windows.dilation, 1, windows.size);
    columns = (outputs - 1) * windows.stride + (taps - 1) * windows.dilation + 1;
    are_gathered = columns / 4 > outputs * taps;
    if (!are_gathered) return;
    taps = std::min<std::uint64_t>(windows.size, taps_at_once);
    outputs = std::clamp<std::uint64_t>(columns_at_once / taps, 1, width.output_extent);
    columns = outputs * taps;
  }
};

/// Rows of a window, or its elements along the width.
struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// The columns, in lanes of type T. Double reads rows of floats, float rows of halves; rows that
/// are not such, or not packed, are converted to them first.
template <typename T>
class WindowColumns {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using Element = std::conditional_t<sizeof(T) == 8, float, std::uint16_t>;

 public:
  /// Vectors that are worked on together: additions wait for one another in each alone.
  static constexpr std::size_t block = 4;
  struct Block {
    V v0, v1, v2, v3;

    static HWY_INLINE Block zero() { return {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)}; }
    static HWY_INLINE Block load(const T* from) {
      const std::size_t n = lanes();
      return {hn::LoadU(d, from), hn::LoadU(d, from + n), hn::LoadU(d, from + 2 * n),
              hn::LoadU(d, from + 3 * n)};
    }
    HWY_INLINE void store(T* to) const {
      hn::StoreU(v0, d, to);
      hn::StoreU(v1, d, to + lanes());
      hn::StoreU(v2, d, to + 2 * lanes());
      hn::StoreU(v3, d, to + 3 * lanes());
    }
  };

  WindowColumns(const WindowKernel& kernel, std::span<const std::byte> input, ReachedRows& rows)
      : width_(kernel.axes.back()),
        windows_(std::get<Windows>(width_.reach)),
        input_(input),
        size_(size_of(kernel.data_type)),
        chunks_(width_),
        direct_(!chunks_.are_gathered && width_.input_stride == 1 && size_ == sizeof(Element)),
        column_steps_(direct_ ? 1 : 1 + page_steps * std::min(column_bytes(), page) / page),
        rows_(rows),
        next_row_(rows_.next_row()) {
    // Whole blocks are read of each tap.
    columns_.resize(chunks_.columns + block * lanes());
    taps_.resize(chunks_.taps);
    if (!direct_) converted_.resize(rows_at_once * chunks_.columns);
    if (chunks_.are_gathered) return;
    const std::uint64_t reach = (chunks_.taps - 1) * windows_.dilation + 1;
    const std::uint64_t phases = chunks_.outputs == 1 ? 1 : std::min(windows_.stride, reach);
    phases_.resize(phases * (chunks_.outputs + reach / phases + 1 + block * lanes()));
  }

  static std::size_t lanes() { return hn::Lanes(d); }
  const Chunks& chunks() const { return chunks_; }
  /// Bytes of an element: FLOAT32 or FLOAT16.
  std::size_t element_size() const { return size_; }

  /// Goes to a row of outputs.
  void set_row(std::uint64_t row) {
    rows_.set(row);
    row_count_ = rows_.size();
    rows_.offsets(0, std::min(row_count_, listed_max), listed_);
  }
  /// All rows of the input under its windows.
  Range rows() const { return {0, row_count_}; }

  /// The elements that are not in padding in all windows of outputs [o, o + count), at least one:
  /// the others add 0. Of a window that is no larger than a chunk all are summed.
  Range taps_inside(std::uint64_t o, std::uint64_t count) const {
    if (windows_.size == taps_.size()) return {0, windows_.size};
    const Int first = begin_of(o);
    const Int last = first + static_cast<Int>((count - 1) * windows_.stride);
    const std::uint64_t begin =
        std::min(elements_before(-last, windows_.dilation), windows_.size - 1);
    const std::uint64_t end = elements_before(
        row_count_ == 0 ? 0 : static_cast<Int>(width_.input_extent) - first, windows_.dilation);
    return {begin, std::clamp(end, begin + 1, windows_.size)};
  }

  /// The sums of the powers of some rows under elements of the windows of outputs [o, o + count):
  /// number k of the t-th is that under element first_tap + t of output o + k. There are as many as
  /// are summed together of `all`, and more than `count` numbers may be read of each.
  template <class P>
  std::span<const T* const> under(const P& power, const Range& rows, std::uint64_t o,
                                  std::uint64_t count, const Range& all, std::uint64_t first_tap) {
    const std::uint64_t taps = std::min<std::uint64_t>(taps_.size(), all.end - first_tap);
    const auto found = std::span<const T* const>(taps_).first(taps);
    const Int first = begin_of(o) + static_cast<Int>(first_tap * windows_.dilation);
    if (chunks_.are_gathered) {
      sum_gathered(power, rows, first, taps, count);
      for (std::size_t t = 0; t < taps; ++t) taps_[t] = columns_.data() + t * count;
      return found;
    }
    const std::uint64_t stride = count == 1 ? 1 : windows_.stride;
    const std::uint64_t reach = (taps - 1) * windows_.dilation + 1;
    const std::uint64_t columns = (count - 1) * stride + reach;
    sum_columns(power, rows, first, columns);
    if (stride == 1) {
      for (std::size_t t = 0; t < taps; ++t) taps_[t] = columns_.data() + t * windows_.dilation;
      return found;
    }
    const std::uint64_t pitch = count + reach / stride + 1 + block * lanes();
    for (std::size_t t = 0; t < taps; ++t) {
      const std::uint64_t column = t * windows_.dilation;
      taps_[t] = phases_.data() + column % stride * pitch + column / stride;
    }
    const std::uint64_t phases = std::min(stride, reach);
    if (stride == 2 && lanes() > 1) {
      split_by_2(columns, phases, pitch);
    } else {
      split(columns, stride, phases, pitch);
    }
    return found;
  }

  /// Whether the windows of the outputs are pairs of columns, side by side and in rows as they are.
  bool are_pairs(std::uint64_t o, std::uint64_t count) const {
    const Int first = begin_of(o);
    const Int last = first + static_cast<Int>(2 * count);
    return windows_.size == 2 && windows_.stride == 2 && windows_.dilation == 1 && first >= 0 &&
           last <= static_cast<Int>(width_.input_extent) && direct_ && row_count_ <= rows_at_once;
  }

  using Rows = std::array<const std::byte*, rows_at_once>;
  /// The elements of all rows from the first of these columns on.
  std::span<const std::byte* const> rows_of_pairs(std::uint64_t o, Rows& room) {
    Offsets offsets_room;
    const auto offsets = offsets_of(0, row_count_, offsets_room);
    for (std::size_t i = 0; i < offsets.size(); ++i)
      room[i] = row_at(offsets[i], begin_of(o), 0, i);
    return std::span(room).first(offsets.size());
  }

  /// The sum and the powers of the rows at columns from `at` on.
  template <class P>
  static HWY_INLINE Block with_rows(const P& power, Block sum,
                                    std::span<const std::byte* const> rows, std::size_t at) {
    const std::size_t step = lanes() * sizeof(Element);
    for (const std::byte* row : rows) {
      const std::byte* from = row + at * sizeof(Element);
      sum.v0 = power.add(d, sum.v0, widened(load(elements, from)));
      sum.v1 = power.add(d, sum.v1, widened(load(elements, from + step)));
      sum.v2 = power.add(d, sum.v2, widened(load(elements, from + 2 * step)));
      sum.v3 = power.add(d, sum.v3, widened(load(elements, from + 3 * step)));
    }
    return sum;
  }

  /// Finds what the next row of outputs reads under [o, o + count) and this one does not.
  void see_next_rows(std::uint64_t o, std::uint64_t count) {
    next_rows_ = 0;
    if (!direct_) return;
    const auto first = static_cast<std::uint64_t>(std::max<Int>(begin_of(o), 0));
    const std::uint64_t columns = std::min<std::uint64_t>(
        (count - 1) * windows_.stride + (windows_.size - 1) * windows_.dilation + 1,
        columns_at_once);
    next_bytes_ = columns * size_;
    Offsets room;
    const std::uint64_t last = std::min(row_count_, rows_at_once);
    const auto rows = offsets_of(row_count_ - last, last, room);
    for (std::size_t i = rows.size(); i-- > 0 && rows[i] + next_row_ > rows.back();) {
      const std::uint64_t at = (rows[i] + next_row_ + first) * size_;
      const std::uint64_t left = input_.size() - std::min<std::uint64_t>(at, input_.size());
      if (next_bytes_ <= left) next_[next_rows_++] = input_.data() + at;
    }
  }

  /// Asks for those of them that are below `count` outputs from k on. A few at a time, so that the
  /// memory works while outputs are computed.
  HWY_INLINE void fetch_next_rows(std::size_t k, std::size_t count) const {
    constexpr std::size_t line = 64;
    const std::size_t each = windows_.stride * size_;
    const std::size_t end = std::min<std::size_t>(next_bytes_, (k + count) * each);
    for (std::size_t row = 0; row < next_rows_; ++row) {
      for (std::size_t at = k * each; at < end; at += line) hwy::Prefetch(next_[row] + at);
    }
  }

 private:
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint64_t page_steps = 1024;
  static constexpr D d{};
  using Offsets = std::array<std::uint64_t, rows_at_once>;
  static constexpr std::uint64_t listed_max = 64;

  // From one element that is read to the next.
  std::uint64_t column_bytes() const {
    const std::uint64_t columns =
        chunks_.are_gathered ? std::max(windows_.stride, windows_.dilation) : 1;
    return columns * width_.input_stride * size_;
  }

  // The element that the window of an output begins with; in front of the input it is below 0.
  Int begin_of(std::uint64_t o) const {
    return static_cast<Int>(o * windows_.stride) - static_cast<Int>(windows_.start_padding);
  }

  // Where rows [begin, begin + count) begin; they may be in `room`.
  std::span<const std::uint64_t> offsets_of(std::uint64_t begin, std::uint64_t count,
                                            Offsets& room) const {
    if (begin + count <= listed_max) return std::span(listed_).subspan(begin, count);
    return rows_.offsets(begin, count, room);
  }

  // phases_[phase * pitch + i] = columns_[i * stride + phase]
  void split(std::uint64_t columns, std::uint64_t stride, std::uint64_t phases,
             std::uint64_t pitch) {
    for (std::size_t phase = 0; phase < phases; ++phase) {
      T* to = phases_.data() + phase * pitch;
      for (std::size_t at = phase; at < columns; at += stride) *to++ = columns_[at];
    }
  }

  void split_by_2(std::uint64_t columns, std::uint64_t phases, std::uint64_t pitch) {
#if HWY_TARGET != HWY_SCALAR
    for (std::size_t at = 0; at < columns; at += 2 * lanes()) {
      const V low = hn::LoadU(d, &columns_[at]), high = hn::LoadU(d, &columns_[at + lanes()]);
      hn::StoreU(hn::ConcatEven(d, high, low), d, &phases_[at / 2]);
      if (phases > 1) hn::StoreU(hn::ConcatOdd(d, high, low), d, &phases_[pitch + at / 2]);
    }
#else
    split(columns, 2, phases, pitch);
#endif
  }

  // columns_[i] = sum over `rows` of the powers at column first + i, for i < columns; 0 in padding.
  template <class P>
  void sum_columns(const P& power, const Range& rows, Int first, std::uint64_t columns) {
    const Int extent = static_cast<Int>(width_.input_extent);
    const Int first_inside = std::clamp<Int>(first, 0, extent);
    const Int last = std::clamp<Int>(first + static_cast<Int>(columns), first_inside, extent);
    const auto before =
        static_cast<std::size_t>(std::clamp<Int>(-first, 0, static_cast<Int>(columns)));
    const auto inside = static_cast<std::size_t>(last - first_inside);
    std::fill_n(columns_.begin(), before, T{0});
    std::fill(columns_.begin() + static_cast<Int>(row_count_ == 0 ? 0 : before + inside),
              columns_.begin() + static_cast<Int>(columns), T{0});
    sum_rows(power, rows, &columns_[before], inside, [&](std::uint64_t row, std::size_t slot) {
      return row_at(row, first_inside, inside, slot);
    });
  }

  // columns_[t * count + k] = the same at column first + t * dilation + k * stride of the windows.
  // As a function of its own it leaves the registers to the loops that most windows take.
  template <class P>
  HWY_NOINLINE void sum_gathered(const P& power, const Range& rows, Int first, std::uint64_t taps,
                                 std::uint64_t count) {
    if (row_count_ == 0) std::fill_n(columns_.begin(), taps * count, T{0});
    sum_rows(power, rows, columns_.data(), taps * count, [&](std::uint64_t row, std::size_t slot) {
      return gathered(row, first, taps, count, slot);
    });
  }

  // Sums the powers of `count` elements of all rows; read(row, slot) gives those of one.
  template <class P, class Read>
  void sum_rows(const P& power, const Range& rows, T* sums, std::size_t count, Read&& read) {
    const std::uint64_t row_steps = far_steps + count * column_steps_;
    Offsets room;
    Rows sources;
    for (std::uint64_t row = rows.begin; row < rows.end; row += rows_at_once) {
      const auto offsets = offsets_of(row, std::min(rows_at_once, rows.end - row), room);
      steps_.add(offsets.size() * row_steps);
      for (std::size_t i = 0; i < offsets.size(); ++i) sources[i] = read(offsets[i], i);
      add_rows(power, std::span(sources).first(offsets.size()), count, row == rows.begin, sums);
    }
  }

  // The elements of a row from column `begin` on.
  const std::byte* row_at(std::uint64_t row, Int begin, std::size_t count, std::size_t slot) {
    const std::byte* from =
        input_.data() + (row + static_cast<std::uint64_t>(begin) * width_.input_stride) * size_;
    if (direct_) return from;
    return converted(from, count, slot);
  }

  // A function of its own for the same reason.
  HWY_NOINLINE const std::byte* converted(const std::byte* from, std::size_t count,
                                          std::size_t slot) {
    Element* to = converted_at(slot);
    for (std::size_t i = 0; i < count; ++i, from += width_.input_stride * size_)
      to[i] = element_at(from);
    return reinterpret_cast<const std::byte*>(to);
  }

  // The elements of a row under `count` windows, one tap after the other; the first is at `first`.
  const std::byte* gathered(std::uint64_t row, Int first, std::uint64_t taps, std::uint64_t count,
                            std::size_t slot) {
    Element* to = converted_at(slot);
    for (std::uint64_t t = 0; t < taps; ++t) {
      auto column = static_cast<std::uint64_t>(first) + t * windows_.dilation;
      for (std::uint64_t k = 0; k < count; ++k, column += windows_.stride) {
        // A column in front of the row is a very large number here.
        const bool is_inside = column < width_.input_extent;
        *to++ = is_inside ? element_at(input_.data() + (row + column * width_.input_stride) * size_)
                          : Element{0};
      }
    }
    return reinterpret_cast<const std::byte*>(converted_at(slot));
  }

  Element* converted_at(std::size_t slot) {
    return &converted_[slot * (converted_.size() / rows_at_once)];
  }

  Element element_at(const std::byte* from) const {
    if (size_ == sizeof(Element)) {
      Element element;
      std::memcpy(&element, from, sizeof element);
      return element;
    }
    std::uint16_t half;
    std::memcpy(&half, from, sizeof half);
    return static_cast<Element>(half_to_float(half));
  }

  // Adds powers of the rows to sums[0, count), or sets these where they are fresh.
  template <class P>
  void add_rows(const P& power, std::span<const std::byte* const> rows, std::size_t count,
                bool fresh, T* sums) {
    std::size_t at = 0;
    for (; at + block * lanes() <= count; at += block * lanes()) {
      const Block sum = fresh ? Block::zero() : Block::load(sums + at);
      with_rows(power, sum, rows, at).store(sums + at);
    }
    for (; at < count; at += lanes()) {
      const std::size_t part = std::min(count - at, lanes());
      const auto* old = reinterpret_cast<const std::byte*>(sums + at);
      V sum = fresh ? hn::Zero(d) : load_part(d, old, part);
      for (const std::byte* row : rows) {
        const auto x = load_part(elements, row + at * sizeof(Element), part);
        sum = power.add(d, sum, widened(x));
      }
      store_part(sum, d, reinterpret_cast<std::byte*>(sums + at), part);
    }
  }

  static constexpr hn::Rebind<Element, D> elements{};

  static HWY_INLINE V widened(hn::Vec<hn::Rebind<Element, D>> v) {
    if constexpr (sizeof(T) == 8) {
      return hn::PromoteTo(d, v);
    } else {
      return float_from_half(d, v);
    }
  }

  const WindowAxis& width_;
  const Windows& windows_;
  std::span<const std::byte> input_;
  std::size_t size_;
  Chunks chunks_;
  bool direct_;                 // rows are read where they are
  std::uint64_t column_steps_;  // of reading an element of a row
  ReachedRows& rows_;           // of the windows of the current output row
  std::uint64_t next_row_;
  std::uint64_t row_count_ = 0;
  std::array<std::uint64_t, listed_max> listed_;  // where the first of them begin
  Rows next_{};                                   // what the next row reads of input rows
  std::size_t next_rows_ = 0;
  std::uint64_t next_bytes_ = 0;  // of each
  Steps steps_;
  std::vector<T> columns_;
  std::vector<T> phases_;  // the columns by their place in the window stride
  std::vector<const T*> taps_;
  std::vector<Element> converted_;
};

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
