// Data movement on the CPU: rows, each a few pieces that copy, fill, reverse or gather, or where
// these are of few elements a table of where each element of the row comes from; or a few runs
// whose elements take turns. All of it is by element size; no element is ever interpreted.
#include "ops/index_map.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/elements.hpp"
#include "cpu/execute.hpp"
#include "cpu/rows.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::cpu {
namespace {

using Int = std::int64_t;

template <typename T>
void fill_elements(std::byte* output, std::uint64_t count, T value) {
  for (std::uint64_t k = 0; k < count; ++k) store(output + k * sizeof(T), value);
}

/// output[k] = input[k * stride] for k in [0, count); `input` points at the first source element.
template <typename T>
void move(std::byte* output, const std::byte* input, Int stride, std::uint64_t count) {
  constexpr std::uint64_t call_pays = 8;
  if (stride == 1) {
    std::memcpy(output, input, count * sizeof(T));
  } else if (stride == 0) {
    fill_elements(output, count, load<T>(input));
  } else if (stride == -1 && count >= call_pays) {
    copy_backwards(sizeof(T), output, input, count);
  } else if ((stride == 2 || stride == -2) && count >= call_pays) {
    copy_every_second(sizeof(T), stride < 0, output, input, count);
  } else if (stride == 4 && count >= call_pays) {
    copy_every_fourth(sizeof(T), output, input, count);
  } else {
    const Int step = stride * static_cast<Int>(sizeof(T));
    for (std::uint64_t k = 0; k < count; ++k) {
      store(output + k * sizeof(T), load<T>(input + static_cast<Int>(k) * step));
    }
  }
}

/// Where the elements of a row come from: offsets from that of the row.
struct RowTable {
  static constexpr Threshold size_max{1024, 7};
  static constexpr std::int32_t outside = std::numeric_limits<std::int32_t>::min();

  std::vector<std::int32_t> offsets;  // empty: there is no table
  bool fills = false;                 // whether an element is outside
};

/// Multiplies the row by an axis inside of it. False: an offset is too large for a table.
bool add_axis(const IndexMapAxis& axis, RowTable& table) {
  constexpr Int large = Int{1} << 28;
  std::vector<Int> steps;  // outside: `large`
  for (std::uint64_t o = 0; o < axis.extent;) {
    const Piece piece = piece_at(axis, o);
    for (std::uint64_t k = 0; k < piece.count; ++k) {
      const Int step = piece.offset + static_cast<Int>(k) * piece.stride;
      if (!piece.outside && std::abs(step) >= large) return false;
      steps.push_back(piece.outside ? large : step);
    }
    o += piece.count;
    table.fills = table.fills || piece.outside;
  }
  std::vector<std::int32_t> product;
  for (const std::int32_t base : table.offsets) {
    for (const Int step : steps) {
      const bool outside = base == RowTable::outside || step == large;
      product.push_back(outside ? RowTable::outside : base + static_cast<std::int32_t>(step));
    }
  }
  table.offsets = std::move(product);
  return true;
}

/// The table of the axes from `first` on. An offset is a sum of at most 8, which fits.
RowTable table_of(const IndexMapKernel& kernel, std::size_t first) {
  RowTable table{{0}, false};
  for (std::size_t i = first; i < kernel.axes.size(); ++i) {
    if (!add_axis(kernel.axes[i], table)) return {};
  }
  return table;
}

template <typename T>
class IndexMap {
 public:
  IndexMap(const IndexMapKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        inner_(kernel.axes.back()),
        inputs_(inputs),
        fill_(load<T>(kernel.fill.data())),
        outer_axes_(kernel.axes.size() - 1),
        row_(inner_.extent),
        steps_each_(steps_of(kernel)) {
    for (std::uint64_t o = 0; o < inner_.extent && pieces_.size() <= pieces_kept;) {
      pieces_.push_back(piece_at(inner_, o));
      o += pieces_.back().count;
    }
    if (!kernel.reversal) see_turns();
    if (!kernel.reversal && turns_ == 0 && row_ < pieces_.size() * piece_min) make_table();
    if (pieces_.size() > pieces_kept) pieces_.clear();
    const bool moves_pieces = turns_ == 0 && table_.offsets.empty();
    if (!kernel.reversal && moves_pieces && outer_axes_ > 0) see_jumps();
  }

  void run(std::uint64_t begin, std::uint64_t end, Output& output) const {
    Rows rows(kernel_, outer_axes_, begin / row_);
    std::uint64_t o = begin % row_;
    while (begin < end) {
      const std::uint64_t count = std::min(end - begin, output.room(steps_each_));
      stretch(rows, o, count, output.take(count, steps_each_));
      begin += count;
    }
  }

 private:
  // Rows of at most so many pieces have them worked out once; others work them out as they go.
  static constexpr Threshold pieces_kept{4096, 3};
  // Where pieces are of fewer elements, these are looked up one by one.
  static constexpr Threshold piece_min{16, 3};
  // Bytes that are read before the processor would have asked for them, and that are asked for at
  // once.
  static constexpr Int near_bytes = 256;
  static constexpr Int fetched_max = 4096;
  static constexpr std::uint64_t spread_bytes = 1024;
  static constexpr std::size_t fetched_pieces_max = 8;

  // An element takes its share of the pages that its row and the axes around it step over, each of
  // which may be far. Where sequences side by side have lengths of their own, it is far itself.
  static std::uint64_t steps_of(const IndexMapKernel& kernel) {
    constexpr std::uint64_t page_bytes = 4096;
    if (kernel.axes.back().lengths_stride != 0) return far_steps;
    std::uint64_t steps = 1, inner = 1;
    for (std::size_t i = kernel.axes.size(); i-- > 0 && inner < far_steps;) {
      const auto stride = static_cast<std::uint64_t>(std::abs(kernel.axes[i].stride));
      const std::uint64_t bytes = std::min(stride, page_bytes) * sizeof(T);
      steps += far_steps * std::min(bytes, page_bytes) / page_bytes / inner;
      inner *= kernel.axes[i].extent;
    }
    return steps;
  }

  // Makes the two innermost axes one row, if it takes elements of a few runs in turns.
  void see_turns() {
    constexpr std::uint64_t runs_most = 4;  // copy_in_turns()
    if (outer_axes_ == 0 || inner_.extent < 2 || inner_.extent > runs_most) return;
    const IndexMapAxis& along = kernel_.axes[outer_axes_ - 1];
    const bool stays_inside = inner_.boundary == Boundary::none && along.boundary == Boundary::none;
    if (!stays_inside || along.stride != 1 || along.extent < piece_min) return;
    turns_ = inner_.extent;
    --outer_axes_;
    row_ = along.extent * turns_;
  }

  // Makes the innermost axes one row with a table, as many as it holds.
  void make_table() {
    std::uint64_t row = 1;
    std::size_t first = kernel_.axes.size();
    while (first > 0 && kernel_.axes[first - 1].extent <= RowTable::size_max / row)
      row *= kernel_.axes[--first].extent;
    if (first == kernel_.axes.size()) return;
    table_ = table_of(kernel_, first);
    if (table_.offsets.empty()) return;
    outer_axes_ = first;
    row_ = row;
  }

  struct Jump {
    Int offset;  // from that of the row
    Int bytes;
  };

  // What the processor, which guesses that reading goes on as it went, does not have ready at the
  // start of a row: the row itself where it is not right behind the one before, and pieces that
  // are read out of turn. Rows with gaps are long, and asked for a little at a time.
  void see_jumps() {
    constexpr Int size = sizeof(T);
    if (pieces_.empty() || pieces_.size() > fetched_pieces_max) return;
    const auto count_of = [](const Piece& piece) {
      return piece.outside || piece.stride == 0 ? 0 : piece.count;
    };
    const Piece& longest = *std::max_element(
        pieces_.begin(), pieces_.end(),
        [&](const Piece& a, const Piece& b) { return count_of(a) < count_of(b); });
    const Int reach = static_cast<Int>(longest.count - 1) * longest.stride;
    const Int begin = longest.offset + std::min<Int>(0, reach);
    const Int bytes = (std::abs(reach) + 1) * size;
    const Int gap = kernel_.axes[outer_axes_ - 1].stride * size - bytes;
    if (bytes < near_bytes || std::abs(longest.stride) * size > near_bytes) return;
    const bool jumps = gap < 0 || gap > near_bytes;
    spreads_ = jumps && std::abs(longest.stride) > 1;
    if (jumps && !spreads_) jumps_.push_back({begin, std::min(bytes, fetched_max)});
    for (const Piece& piece : pieces_) {
      const Int turn = &piece < &longest ? begin : begin + std::abs(reach);
      const bool out_of_turn = std::abs(piece.offset - turn) * size > near_bytes;
      if (!piece.outside && &piece != &longest && out_of_turn)
        jumps_.push_back({piece.offset, size});
    }
  }

  // Asks for what the next row reads.
  void fetch_next(const Rows& rows, Int offset) const {
    for (const Jump& jump : jumps_)
      fetch(source(offset + rows.step() + jump.offset), static_cast<std::uint64_t>(jump.bytes));
  }

  const std::byte* source(Int offset) const {
    return inputs_[0].data() + offset * static_cast<Int>(sizeof(T));
  }

  // The next `count` elements, from index o of the row on.
  void stretch(Rows& rows, std::uint64_t& o, std::uint64_t count, std::byte* output) const {
    while (count > 0) {
      std::uint64_t done;
      if (o == 0 && count >= row_ && !kernel_.reversal) {
        const std::uint64_t rows_done = std::min(count / row_, rows.run());
        whole_rows(rows, rows_done, output);
        rows.next(rows_done);
        done = rows_done * row_;
      } else {
        done = std::min(row_ - o, count);
        row_part(rows, o, done, output);
        o += done;
        if (o == row_) {
          o = 0;
          rows.next(1);
        }
      }
      output += done * sizeof(T);
      count -= done;
    }
  }

  void whole_rows(const Rows& rows, std::uint64_t count, std::byte* output) const {
    if (rows.outside()) return fill_elements(output, count * row_, fill_);
    Int offset = rows.offset();
    for (std::uint64_t r = 0; r < count; ++r, offset += rows.step(), output += row_ * sizeof(T)) {
      if (r + 1 < rows.run()) fetch_next(rows, offset);
      if (turns_ != 0) {
        in_turns(offset, 0, row_, output);
      } else if (!table_.offsets.empty()) {
        looked_up(offset, 0, row_, output);
      } else if (!pieces_.empty()) {
        std::byte* to = output;
        const Int ahead = r + 1 < rows.run() ? rows.step() : 0;
        for (const Piece& piece : pieces_) to = put(piece, offset, ahead, piece.count, to);
      } else {
        mapped(offset, r + 1 < rows.run() ? rows.step() : 0, 0, row_, output);
      }
    }
  }

  void row_part(const Rows& rows, std::uint64_t o, std::uint64_t count, std::byte* output) const {
    if (rows.outside()) return fill_elements(output, count, fill_);
    if (turns_ != 0) return in_turns(rows.offset(), o, count, output);
    if (!table_.offsets.empty()) return looked_up(rows.offset(), o, count, output);
    if (!kernel_.reversal) {
      if (o == 0 && rows.run() > 1) fetch_next(rows, rows.offset());
      return mapped(rows.offset(), rows.run() > 1 ? rows.step() : 0, o, count, output);
    }
    if (kernel_.reversal->axis + 1 == kernel_.axes.size())
      return reversed_row(rows, o, count, output);
    reversed_columns(rows, o, count, output);
  }

  // Whole turns, and parts of one before and behind them.
  void in_turns(Int offset, std::uint64_t o, std::uint64_t count, std::byte* output) const {
    const auto one_by_one = [&](std::uint64_t end) {
      for (; o < end; ++o, output += sizeof(T)) {
        const Int from =
            static_cast<Int>(o / turns_) + static_cast<Int>(o % turns_) * inner_.stride;
        store(output, load<T>(source(offset + from)));
      }
    };
    const std::uint64_t end = o + count;
    one_by_one(std::min(end, (o + turns_ - 1) / turns_ * turns_));
    const std::uint64_t whole = (end - o) / turns_;
    copy_in_turns(sizeof(T), turns_, output, source(offset + static_cast<Int>(o / turns_)),
                  inner_.stride, whole);
    o += whole * turns_;
    output += whole * turns_ * sizeof(T);
    one_by_one(end);
  }

  void looked_up(Int offset, std::uint64_t o, std::uint64_t count, std::byte* output) const {
    const std::int32_t* from = table_.offsets.data() + o;
    const std::byte* input = source(offset);
    if (!table_.fills) {
      for (std::uint64_t k = 0; k < count; ++k) {
        const std::byte* at = input + from[k] * static_cast<Int>(sizeof(T));
        store(output + k * sizeof(T), load<T>(at));
      }
      return;
    }
    // A choice of addresses, which takes no branch.
    const T fill = fill_;
    const auto* fill_at = reinterpret_cast<const std::byte*>(&fill);
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::byte* at = input + from[k] * static_cast<Int>(sizeof(T));
      store(output + k * sizeof(T), load<T>(from[k] == RowTable::outside ? fill_at : at));
    }
  }

  // `ahead` is how far the next row is, or 0.
  void mapped(Int offset, Int ahead, std::uint64_t o, std::uint64_t count,
              std::byte* output) const {
    while (count > 0) {
      const Piece piece = piece_at(inner_, o);
      const std::uint64_t part = std::min(piece.count, count);
      output = put(piece, offset, ahead, part, output);
      o += part;
      count -= part;
    }
  }

  std::byte* put(const Piece& piece, Int offset, Int ahead, std::uint64_t count,
                 std::byte* output) const {
    if (piece.outside) {
      fill_elements(output, count, fill_);
    } else if (spreads_ && ahead != 0 && piece.stride != 0) {
      put_and_fetch(piece.stride, offset + piece.offset, ahead, count, output);
    } else {
      move<T>(output, source(offset + piece.offset), piece.stride, count);
    }
    return output + count * sizeof(T);
  }

  // Asks for the same piece of the next row meanwhile, a little at a time.
  void put_and_fetch(Int stride, Int offset, Int ahead, std::uint64_t count,
                     std::byte* output) const {
    const std::uint64_t each = static_cast<std::uint64_t>(std::abs(stride)) * sizeof(T);
    const std::uint64_t at_once = std::max<std::uint64_t>(1, spread_bytes / each);
    while (count > 0) {
      const std::uint64_t part = std::min(count, at_once);
      const Int reach = static_cast<Int>(part - 1) * stride;
      fetch(source(offset + ahead + std::min<Int>(0, reach)), part * each);
      move<T>(output, source(offset), stride, part);
      offset += reach + stride;
      output += part * sizeof(T);
      count -= part;
    }
  }

  std::uint64_t length_at(std::uint64_t offset) const {
    const std::uint64_t length = visit_type_among<DataType::UInt32, DataType::UInt64>(
        kernel_.reversal->lengths_type, [&]<typename Length>(Length) -> std::uint64_t {
          return load<Length>(inputs_[1].data() + offset * sizeof(Length));
        });
    return std::min(length, kernel_.axes[kernel_.reversal->axis].extent);
  }

  // The reversed axis is the row: its first `length` elements backwards, then the rest.
  void reversed_row(const Rows& rows, std::uint64_t o, std::uint64_t count,
                    std::byte* output) const {
    const std::uint64_t length = length_at(rows.lengths_offset());
    const Int offset = rows.offset();
    if (o < length) {
      const std::uint64_t part = std::min(length - o, count);
      move<T>(output, source(offset + static_cast<Int>(length - 1 - o) * inner_.stride),
              -inner_.stride, part);
      output += part * sizeof(T);
      o += part;
      count -= part;
    }
    if (count > 0)
      move<T>(output, source(offset + static_cast<Int>(o) * inner_.stride), inner_.stride, count);
  }

  // The reversed axis is an outer one: all of the row have the same length, or each its own. What
  // has many of these is better computed in blocks (cpu/sequences.hpp).
  void reversed_columns(const Rows& rows, std::uint64_t o, std::uint64_t count,
                        std::byte* output) const {
    const Int offset = rows.offset() + static_cast<Int>(o) * inner_.stride;
    const IndexMapAxis& axis = kernel_.axes[kernel_.reversal->axis];
    const std::uint64_t index = rows.index(kernel_.reversal->axis);
    const std::uint64_t lengths = rows.lengths_offset() + o * inner_.lengths_stride;
    if (inner_.lengths_stride == 0) {
      const std::uint64_t length = length_at(lengths);
      const std::uint64_t from = index < length ? length - 1 - index : index;
      return move<T>(output, source(offset + static_cast<Int>(from) * axis.stride), inner_.stride,
                     count);
    }
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t length = length_at(lengths + k * inner_.lengths_stride);
      const std::uint64_t from = index < length ? length - 1 - index : index;
      const Int at =
          offset + static_cast<Int>(from) * axis.stride + static_cast<Int>(k) * inner_.stride;
      store(output + k * sizeof(T), load<T>(source(at)));
    }
  }

  const IndexMapKernel& kernel_;
  const IndexMapAxis& inner_;
  Inputs inputs_;
  T fill_;
  std::size_t outer_axes_;     // the axes outside of a row
  std::uint64_t row_;          // its elements
  std::uint64_t steps_each_;   // of an element
  std::uint64_t turns_ = 0;    // how many runs a row takes elements of in turns; 0: it does not
  RowTable table_;             // where pieces are short
  std::vector<Piece> pieces_;  // of a whole row; empty when there are too many
  std::vector<Jump> jumps_;
  bool spreads_ = false;  // the next row is asked for while this one is moved
};

}  // namespace

namespace {

template <typename T>
class Mover : public IndexMapMover {
 public:
  Mover(const IndexMapKernel& kernel, Inputs inputs) : map_(kernel, inputs) {}
  void run(std::uint64_t begin, std::uint64_t end, Output& output) const override {
    map_.run(begin, end, output);
  }

 private:
  IndexMap<T> map_;
};

}  // namespace

void execute_index_map(const IndexMapKernel& kernel, Inputs inputs, std::uint64_t begin,
                       std::uint64_t end, Output& output) {
  with_bits(kernel.element_size, [&](auto element) {
    IndexMap<decltype(element)>(kernel, inputs).run(begin, end, output);
  });
}

std::unique_ptr<IndexMapMover> make_mover(const IndexMapKernel& kernel, Inputs inputs) {
  return with_bits(kernel.element_size, [&](auto element) -> std::unique_ptr<IndexMapMover> {
    return std::make_unique<Mover<decltype(element)>>(kernel, inputs);
  });
}

}  // namespace dmlop::cpu
