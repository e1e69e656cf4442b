// Data movement on the CPU: rows of the innermost axis, each a few pieces that copy, fill, reverse
// or gather. All of it is by element size; no element is ever interpreted.
#include "ops/index_map.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cpu/execute.hpp"

namespace dmlop::cpu {
namespace {

using Int = std::int64_t;

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
void fill(std::byte* output, std::uint64_t count, T value) {
  for (std::uint64_t k = 0; k < count; ++k) store(output + k * sizeof(T), value);
}

/// output[k] = input[k * stride] for k in [0, count); `input` points at the first source element.
template <typename T>
void move(std::byte* output, const std::byte* input, Int stride, std::uint64_t count) {
  constexpr Int size = sizeof(T);
  if (stride == 1) {
    std::memcpy(output, input, count * sizeof(T));
  } else if (stride == 0) {
    fill(output, count, load<T>(input));
  } else if (stride == -1) {
    const std::byte* last = input - static_cast<Int>(count - 1) * size;
    for (std::uint64_t k = 0; k < count; ++k) {
      store(output + k * sizeof(T), load<T>(last + (count - 1 - k) * sizeof(T)));
    }
  } else {
    for (std::uint64_t k = 0; k < count; ++k) {
      store(output + k * sizeof(T), load<T>(input + static_cast<Int>(k) * stride * size));
    }
  }
}

/// The position of one output row: indices of all axes but the innermost, and what follows from
/// them.
class Rows {
 public:
  Rows(const IndexMapPlan& plan, std::uint64_t first_row)
      : plan_(plan), places_(plan.axes.size() - 1) {
    for (std::size_t i = places_.size(); i-- > 0;) {
      places_[i].index = first_row % plan_.axes[i].extent;
      first_row /= plan_.axes[i].extent;
      refresh(i);
    }
  }

  void next() {
    for (std::size_t i = places_.size(); i-- > 0;) {
      if (++places_[i].index < plan_.axes[i].extent) return refresh(i);
      places_[i].index = 0;
      refresh(i);
    }
  }

  /// Whether a constant boundary of an outer axis fills the whole row.
  bool outside() const {
    return std::any_of(places_.begin(), places_.end(), [](const Place& p) { return p.outside; });
  }
  /// Source offset in elements; the axis of an outer reversal is left out.
  Int offset() const {
    Int sum = plan_.offset;
    for (const Place& place : places_) sum += place.offset;
    return sum;
  }
  std::uint64_t lengths_offset() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < places_.size(); ++i)
      sum += places_[i].index * plan_.axes[i].lengths_stride;
    return sum;
  }
  std::uint64_t index(std::size_t axis) const { return places_[axis].index; }

 private:
  struct Place {
    std::uint64_t index = 0;
    Int offset = 0;
    bool outside = false;
  };

  void refresh(std::size_t i) {
    const bool reversed = plan_.reversal && plan_.reversal->axis == i;
    const Piece piece = reversed ? Piece{} : piece_at(plan_.axes[i], places_[i].index);
    places_[i].offset = piece.offset;
    places_[i].outside = piece.outside;
  }

  const IndexMapPlan& plan_;
  std::vector<Place> places_;
};

template <typename T>
class IndexMap {
 public:
  IndexMap(const IndexMapPlan& plan, Inputs inputs)
      : plan_(plan), inner_(plan.axes.back()), inputs_(inputs), fill_(load<T>(plan.fill.data())) {
    for (std::uint64_t o = 0; o < inner_.extent && pieces_.size() <= pieces_kept;) {
      pieces_.push_back(piece_at(inner_, o));
      o += pieces_.back().count;
    }
    if (pieces_.size() > pieces_kept) pieces_.clear();
  }

  void run(std::uint64_t begin, std::uint64_t end, std::byte* output) const {
    Rows rows(plan_, begin / inner_.extent);
    std::uint64_t o = begin % inner_.extent;
    while (begin < end) {
      const std::uint64_t count = std::min(inner_.extent - o, end - begin);
      row(rows, o, count, output);
      output += count * sizeof(T);
      begin += count;
      o = 0;
      if (begin < end) rows.next();
    }
  }

 private:
  // Rows of at most so many pieces have them worked out once; others work them out as they go.
  static constexpr std::size_t pieces_kept = 4096;

  const std::byte* source(Int offset) const {
    return inputs_[0].data() + offset * static_cast<Int>(sizeof(T));
  }

  void row(const Rows& rows, std::uint64_t o, std::uint64_t count, std::byte* output) const {
    if (rows.outside()) return fill(output, count, fill_);
    if (!plan_.reversal) return mapped_row(rows.offset(), o, count, output);
    if (plan_.reversal->axis + 1 == plan_.axes.size()) return reversed_row(rows, o, count, output);
    reversed_columns(rows, o, count, output);
  }

  void mapped_row(Int offset, std::uint64_t o, std::uint64_t count, std::byte* output) const {
    if (o == 0 && count == inner_.extent && !pieces_.empty()) {
      for (const Piece& piece : pieces_) output = put(piece, offset, piece.count, output);
      return;
    }
    while (count > 0) {
      const Piece piece = piece_at(inner_, o);
      const std::uint64_t part = std::min(piece.count, count);
      output = put(piece, offset, part, output);
      o += part;
      count -= part;
    }
  }

  std::byte* put(const Piece& piece, Int offset, std::uint64_t count, std::byte* output) const {
    if (piece.outside) {
      fill(output, count, fill_);
    } else {
      move<T>(output, source(offset + piece.offset), piece.stride, count);
    }
    return output + count * sizeof(T);
  }

  std::uint64_t length_at(std::uint64_t offset) const {
    const bool wide = plan_.reversal->lengths_type == DataType::UInt64;
    const std::byte* at = inputs_[1].data() + offset * (wide ? 8 : 4);
    const std::uint64_t length = wide ? load<std::uint64_t>(at) : load<std::uint32_t>(at);
    return std::min(length, plan_.axes[plan_.reversal->axis].extent);
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

  // The reversed axis is an outer one: every element of the row has a length of its own.
  void reversed_columns(const Rows& rows, std::uint64_t o, std::uint64_t count,
                        std::byte* output) const {
    const Int offset = rows.offset();
    const std::uint64_t lengths = rows.lengths_offset();
    const std::uint64_t index = rows.index(plan_.reversal->axis);
    const Int step = plan_.axes[plan_.reversal->axis].stride;
    for (std::uint64_t j = o; j < o + count; ++j, output += sizeof(T)) {
      const std::uint64_t length = length_at(lengths + j * inner_.lengths_stride);
      const std::uint64_t from = index < length ? length - 1 - index : index;
      const Int at = offset + static_cast<Int>(from) * step + static_cast<Int>(j) * inner_.stride;
      store(output, load<T>(source(at)));
    }
  }

  const IndexMapPlan& plan_;
  const IndexMapAxis& inner_;
  Inputs inputs_;
  T fill_;
  std::vector<Piece> pieces_;  // of a whole row; empty when there are too many
};

}  // namespace

void execute_index_map(const IndexMapPlan& plan, Inputs inputs, std::uint64_t begin,
                       std::uint64_t end, std::byte* output) {
  switch (plan.element_size) {
    case 1:
      return IndexMap<std::uint8_t>(plan, inputs).run(begin, end, output);
    case 2:
      return IndexMap<std::uint16_t>(plan, inputs).run(begin, end, output);
    case 4:
      return IndexMap<std::uint32_t>(plan, inputs).run(begin, end, output);
    default:
      return IndexMap<std::uint64_t>(plan, inputs).run(begin, end, output);
  }
}

}  // namespace dmlop::cpu
