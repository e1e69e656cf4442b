// Selection of the first k elements of sorted sequences on the CPU. Every element becomes a key
// that sorts as the elements are to stand, with its index behind it, so that equal ones keep their
// order.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "cpu/kinds.hpp"

namespace dmlop::cpu {
namespace {

struct Entry {
  std::uint64_t key;
  std::uint32_t index;
  bool operator<(const Entry& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

/// The bits of an element as a number that sorts as the elements do.
class KeyMaker {
 public:
  KeyMaker(DataType type, bool is_descending)
      : bits_(info(type).size * 8), kind_(info(type).kind), is_descending_(is_descending) {
    if (kind_ != NumberKind::floating) return;
    infinity_ = type == DataType::Float16   ? 0x7c00
                : type == DataType::Float32 ? 0x7f800000
                                            : std::uint64_t{0x7ff} << 52;
  }

  std::uint64_t key(std::uint64_t element) const {
    const std::uint64_t ascending = ascending_key(element);
    return is_descending_ ? mask() - ascending : ascending;
  }
  std::size_t bits() const { return bits_; }

 private:
  std::uint64_t mask() const { return ~std::uint64_t{0} >> (64 - bits_); }
  std::uint64_t sign() const { return std::uint64_t{1} << (bits_ - 1); }

  std::uint64_t ascending_key(std::uint64_t element) const {
    if (kind_ == NumberKind::unsigned_integer) return element;
    if (kind_ == NumberKind::signed_integer) return element ^ sign();
    const std::uint64_t magnitude = element & (sign() - 1);
    if (magnitude > infinity_) return mask();  // NaN
    const bool is_negative = (element & sign()) != 0 && magnitude != 0;
    return is_negative ? sign() - 1 - magnitude : sign() + magnitude;
  }

  std::size_t bits_;
  NumberKind kind_;
  bool is_descending_;
  std::uint64_t infinity_ = 0;
};

/// Puts the first k entries of a sequence in order to its front.
class Selector {
 public:
  Selector(std::uint64_t count, std::uint64_t k, std::size_t key_bits)
      : count_(count), k_(k), key_bits_(key_bits) {
    if (k <= few) return;
    entries_ = Buffer(count * sizeof(Entry), "the elements to sort");
    if (count > sorted_at_once) other_ = Buffer(count * sizeof(Entry), "the elements to sort");
  }

  void begin() { few_.clear(), added_ = 0; }

  void add(const Entry& entry) {
    if (k_ > few) {
      at(entries_)[added_++] = entry;
    } else if (few_.size() < k_ || entry < few_.back()) {
      if (few_.size() == k_) few_.pop_back();
      few_.insert(std::upper_bound(few_.begin(), few_.end(), entry), entry);
    }
  }

  const Entry* finish() {
    if (k_ <= few) return few_.data();
    Entry* entries = at(entries_);
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

  static Entry* at(Buffer& buffer) { return reinterpret_cast<Entry*>(buffer.data()); }

  // Eight bits of the keys after the other, the lowest first; equal keys keep their order.
  const Entry* sort_by_digits() {
    Entry* from = at(entries_);
    Entry* to = at(other_);
    for (std::size_t shift = 0; shift < key_bits_; shift += 8, std::swap(from, to)) {
      const auto digit = [&](const Entry& entry) { return entry.key >> shift & 0xff; };
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
  std::size_t key_bits_;
  std::vector<Entry> few_;
  std::uint64_t added_ = 0;
  Buffer entries_, other_;
};

class TopK {
 public:
  TopK(const TopKKernel& kernel, std::span<const std::byte> input)
      : kernel_(kernel),
        input_(input),
        size_(size_of(kernel.data_type)),
        index_size_(size_of(kernel.index_type)),
        along_(kernel.axes[kernel.axis]),
        keys_(kernel.data_type, kernel.is_descending),
        selector_(along_.extent, kernel.k, keys_.bits()) {
    for (std::size_t i = kernel.axis + 1; i < kernel.axes.size(); ++i)
      inner_ *= kernel.axes[i].extent;
  }

  std::uint64_t inner() const { return inner_; }

  // Sequences [begin, end) of an outer index.
  void run(std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Destinations outputs) {
    const std::uint64_t first = offset_of(outer, 0, kernel_.axis);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t offset = first + offset_of(i, kernel_.axis + 1, kernel_.axes.size());
      const Entry* selected = select(offset);
      steps_.add(kernel_.k * 4);
      for (std::uint64_t rank = 0; rank < kernel_.k; ++rank) {
        const std::uint64_t index = selected[rank].index;
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

  const Entry* select(std::uint64_t offset) {
    selector_.begin();
    const std::uint64_t far = along_.stride * size_ >= 4096 ? far_steps : 4;
    in_pieces(along_.extent, far, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i) {
        std::uint64_t element = 0;
        std::memcpy(&element, &input_[(offset + i * along_.stride) * size_], size_);
        selector_.add({keys_.key(element), static_cast<std::uint32_t>(i)});
      }
    });
    return selector_.finish();
  }

  const TopKKernel& kernel_;
  std::span<const std::byte> input_;
  std::size_t size_, index_size_;
  StridedAxis along_;
  KeyMaker keys_;
  Selector selector_;
  std::uint64_t inner_ = 1;
  Steps steps_;
};

}  // namespace

PartShape part_shape(const TopKKernel& top, std::uint64_t bytes) {
  std::uint64_t inner = 1;
  for (std::size_t i = top.axis + 1; i < top.axes.size(); ++i) inner *= top.axes[i].extent;
  return sequences_shape(top.k, inner, size_of(top.data_type), bytes);
}

void run_part(const TopKKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  const std::array<std::size_t, 2> sizes{size_of(kernel.data_type), size_of(kernel.index_type)};
  TopK top(kernel, inputs.front());
  for_each_sequences(part, kernel.k, top.inner(), sizes, outputs,
                     [&](std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                         Destinations to) { top.run(outer, begin, end, to); });
}

}  // namespace dmlop::cpu
