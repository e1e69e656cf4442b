// Selection of the first k elements of sorted sequences on the CPU. Every element becomes a key
// that sorts as the elements are to stand, with its index behind it, so that equal ones keep their
// order.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "cpu/kinds.hpp"

namespace dmlop::cpu {
namespace {

/// A key with its index behind it.
template <typename Bits>
class Entry {
 public:
  Entry() = default;
  Entry(Bits key, std::uint64_t index)
      : bits_(std::uint64_t{key} << 32 | static_cast<std::uint32_t>(index)) {}
  Bits key() const { return static_cast<Bits>(bits_ >> 32); }
  std::uint64_t index() const { return static_cast<std::uint32_t>(bits_); }
  bool operator<(const Entry& other) const { return bits_ < other.bits_; }

 private:
  std::uint64_t bits_ = 0;
};
template <>
class Entry<std::uint64_t> {
 public:
  Entry() = default;
  Entry(std::uint64_t key, std::uint64_t index)
      : key_(key), index_(static_cast<std::uint32_t>(index)) {}
  std::uint64_t key() const { return key_; }
  std::uint64_t index() const { return index_; }
  bool operator<(const Entry& other) const {
    return key_ != other.key_ ? key_ < other.key_ : index_ < other.index_;
  }

 private:
  std::uint64_t key_ = 0;
  std::uint32_t index_ = 0;
};

/// The bits of an element as a number that sorts as the elements do.
template <typename Bits, NumberKind kind>
class KeyMaker {
 public:
  explicit KeyMaker(bool is_descending) : flip_(is_descending ? all : Bits{0}) {}

  Bits operator()(Bits element) const { return ascending_key(element) ^ flip_; }

 private:
  static constexpr Bits all = static_cast<Bits>(~Bits{0});
  static constexpr Bits sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  static constexpr Bits infinity = sizeof(Bits) == 2   ? static_cast<Bits>(0x7c00)
                                   : sizeof(Bits) == 4 ? static_cast<Bits>(0x7f800000)
                                                       : static_cast<Bits>(0x7ffULL << 52);

  static Bits ascending_key(Bits element) {
    if constexpr (kind == NumberKind::unsigned_integer) return element;
    if constexpr (kind == NumberKind::signed_integer) return element ^ sign;
    const auto magnitude = static_cast<Bits>(element & (sign - 1));
    const Bits positive = magnitude | sign;
    const auto negative = static_cast<Bits>(~element);
    const Bits key = (element & sign) != 0 && magnitude != 0 ? negative : positive;
    return magnitude > infinity ? all : key;  // NaN
  }

  Bits flip_;
};

/// Puts the first k entries of a sequence in order to its front.
template <typename Bits>
class Selector {
 public:
  Selector(std::uint64_t count, std::uint64_t k) : count_(count), k_(k) {
    if (k <= few) return;
    entries_ = Buffer(count * sizeof(Entry<Bits>), "the elements to sort");
    if (count > sorted_at_once)
      other_ = Buffer(count * sizeof(Entry<Bits>), "the elements to sort");
  }

  void begin() { added_ = 0; }

  /// Adds the entries of so many keys, whose indices follow one another.
  void add(const Bits* keys, std::uint64_t index, std::uint64_t count) {
    if (k_ > few) {
      for (std::uint64_t i = 0; i < count; ++i) at(entries_)[added_++] = {keys[i], index + i};
      return;
    }
    // Of equal keys the first one stays, so what is no smaller than the last of the few is none.
    if (added_ == k_ && *std::min_element(keys, keys + count) >= few_[k_ - 1].key()) return;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (added_ < k_ || keys[i] < few_[k_ - 1].key()) insert({keys[i], index + i});
    }
  }

  const Entry<Bits>* finish() {
    if (k_ <= few) return few_.data();
    Entry<Bits>* entries = at(entries_);
    if (count_ > sorted_at_once) return sort_by_digits();
    if (k_ < count_) std::nth_element(entries, entries + k_, entries + count_);
    std::sort(entries, entries + k_);
    return entries;
  }

 private:
  // So few are kept in order while the others go by.
  static constexpr std::uint64_t few = 32;
  // More would take long without a look for a stop.
  static constexpr std::uint64_t sorted_at_once = std::uint64_t{1} << 18;

  static Entry<Bits>* at(Buffer& buffer) { return reinterpret_cast<Entry<Bits>*>(buffer.data()); }

  void insert(const Entry<Bits>& entry) {
    std::uint64_t place = added_ < k_ ? added_++ : k_ - 1;
    for (; place > 0 && entry < few_[place - 1]; --place) few_[place] = few_[place - 1];
    few_[place] = entry;
  }

  // Eight bits of the keys after the other, the lowest first; equal keys keep their order.
  const Entry<Bits>* sort_by_digits() {
    Entry<Bits>* from = at(entries_);
    Entry<Bits>* to = at(other_);
    for (std::size_t shift = 0; shift < sizeof(Bits) * 8; shift += 8, std::swap(from, to)) {
      const auto digit = [&](const Entry<Bits>& entry) {
        return std::uint64_t{entry.key()} >> shift & 0xff;
      };
      std::array<std::uint64_t, 257> begins{};
      in_pieces(count_, 1, [&](std::uint64_t i, std::uint64_t end) {
        for (; i < end; ++i) ++begins[digit(from[i]) + 1];
      });
      for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
      in_pieces(count_, 4, [&](std::uint64_t i, std::uint64_t end) {
        for (; i < end; ++i) to[begins[digit(from[i])]++] = from[i];
      });
    }
    return from;
  }

  std::uint64_t count_, k_;
  std::array<Entry<Bits>, few> few_{};
  std::uint64_t added_ = 0;
  Buffer entries_, other_;
};

template <typename Bits, NumberKind kind>
class TopK {
 public:
  TopK(const TopKKernel& kernel, std::span<const std::byte> input)
      : kernel_(kernel),
        input_(input),
        index_size_(size_of(kernel.index_type)),
        along_(kernel.axes[kernel.axis]),
        key_of_(kernel.is_descending),
        selector_(along_.extent, kernel.k) {
    for (std::size_t i = kernel.axis + 1; i < kernel.axes.size(); ++i)
      inner_ *= kernel.axes[i].extent;
  }

  std::uint64_t inner() const { return inner_; }

  // Sequences [begin, end) of an outer index.
  void run(std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Destinations outputs) {
    const std::uint64_t first = offset_of(outer, 0, kernel_.axis);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t offset = first + offset_of(i, kernel_.axis + 1, kernel_.axes.size());
      const Entry<Bits>* selected = select(offset);
      steps_.add(kernel_.k * 4);
      for (std::uint64_t rank = 0; rank < kernel_.k; ++rank) {
        const std::uint64_t index = selected[rank].index();
        const std::byte* value = &input_[(offset + index * along_.stride) * size_];
        std::memcpy(outputs[0].to + (i - begin) * size_ + rank * outputs[0].pitch, value, size_);
        std::memcpy(outputs[1].to + (i - begin) * index_size_ + rank * outputs[1].pitch, &index,
                    index_size_);
      }
    }
  }

 private:
  // Of an index that counts through axes [from, to), the last one fastest.
  std::uint64_t offset_of(std::uint64_t index, std::size_t from, std::size_t to) const {
    std::uint64_t offset = 0;
    for (std::size_t i = to; i-- > from; index /= kernel_.axes[i].extent)
      offset += index % kernel_.axes[i].extent * kernel_.axes[i].stride;
    return offset;
  }

  const Entry<Bits>* select(std::uint64_t offset) {
    selector_.begin();
    const std::uint64_t far = along_.stride * size_ >= 4096 ? far_steps : 4;
    in_pieces(along_.extent, far, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end; i += keys_at_once) {
        const std::uint64_t count = std::min(keys_at_once, end - i);
        const std::byte* from = &input_[(offset + i * along_.stride) * size_];
        // The usual case is a loop of its own, which the compiler turns into vectors.
        if (along_.stride == 1 && count == keys_at_once) {
          make_keys(from, keys_at_once, size_);
        } else {
          make_keys(from, count, along_.stride * size_);
        }
        selector_.add(keys_.data(), i, count);
      }
    });
    return selector_.finish();
  }

  void make_keys(const std::byte* from, std::uint64_t count, std::uint64_t step) {
    for (std::uint64_t i = 0; i < count; ++i) {
      Bits element;
      std::memcpy(&element, from + i * step, size_);
      keys_[i] = key_of_(element);
    }
  }

  static constexpr std::size_t size_ = sizeof(Bits);
  static constexpr std::uint64_t keys_at_once = 64;

  const TopKKernel& kernel_;
  std::span<const std::byte> input_;
  std::size_t index_size_;
  StridedAxis along_;
  KeyMaker<Bits, kind> key_of_;
  Selector<Bits> selector_;
  std::array<Bits, keys_at_once> keys_{};
  std::uint64_t inner_ = 1;
  Steps steps_;
};

template <NumberKind kind, typename Action>
void with_bits(std::size_t size, Action&& action) {
  const std::integral_constant<NumberKind, kind> tag;
  if (size == 8) return action(std::uint64_t{}, tag);
  if (size == 4) return action(std::uint32_t{}, tag);
  if (size == 2) return action(std::uint16_t{}, tag);
  if constexpr (kind != NumberKind::floating) action(std::uint8_t{}, tag);
}

/// Calls action with an unsigned integer as wide as the type, and with the type's kind.
template <typename Action>
void with_keys(DataType type, Action&& action) {
  switch (info(type).kind) {
    case NumberKind::floating:
      return with_bits<NumberKind::floating>(size_of(type), action);
    case NumberKind::signed_integer:
      return with_bits<NumberKind::signed_integer>(size_of(type), action);
    case NumberKind::unsigned_integer:
      return with_bits<NumberKind::unsigned_integer>(size_of(type), action);
  }
}

}  // namespace

PartShape part_shape(const TopKKernel& top, std::uint64_t bytes) {
  std::uint64_t inner = 1;
  for (std::size_t i = top.axis + 1; i < top.axes.size(); ++i) inner *= top.axes[i].extent;
  return sequences_shape(top.k, inner, size_of(top.data_type), bytes);
}

void run_part(const TopKKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  const std::array<std::size_t, 2> sizes{size_of(kernel.data_type), size_of(kernel.index_type)};
  with_keys(kernel.data_type, [&](auto bits, auto kind) {
    TopK<decltype(bits), decltype(kind)::value> top(kernel, inputs.front());
    for_each_sequences(part, kernel.k, top.inner(), sizes, outputs,
                       [&](std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                           Destinations to) { top.run(outer, begin, end, to); });
  });
}

}  // namespace dmlop::cpu
