// Selection of the first k elements of sorted sequences on the CPU. Every element becomes a key
// that sorts as the elements are to stand, with its index behind it, so that equal ones keep their
// order. All threads together select from few long sequences (cpu/long_selection.hpp).
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/buffer.hpp"
#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/key_bounds.hpp"
#include "cpu/kinds.hpp"
#include "cpu/long_selection.hpp"
#include "cpu/packing.hpp"
#include "cpu/preparation.hpp"
#include "cpu/sort_keys.hpp"
#include "cpu/walk.hpp"

namespace dmlop::cpu {
namespace {

/// Whether sequences are few and long, so that all threads select from each.
bool is_cut(const TopKKernel& top) {
  const StridedAxis& along = top.axes.along;
  const bool is_far = along.stride() * size_of(top.data_type) >= page_bytes;
  return !is_far && top.output_elements() / top.k < enough_rows() &&
         along.extent / 2 >= block_elements();
}

/// Finds the first k entries of a sequence, in order. Where k is small, only entries are kept that
/// may be among these: no more than twice k, or a few hundred.
template <typename Bits>
class Selector {
 public:
  Selector(const KeyReader<Bits>& reader, std::uint64_t count, std::uint64_t k,
           std::uint64_t steps_each)
      : reader_(reader), count_(count), k_(k), steps_each_(steps_each), room_(count) {
    const std::uint64_t enough = std::max<std::uint64_t>(2 * k, kept_min);
    if (8 * enough < count && enough < sorted_at_once) room_ = enough;
    entries_ = Buffer(room_ * sizeof(Entry<Bits>), "the elements to sort");
    if (room_ > sorted_at_once)
      other_ = Buffer(room_ * sizeof(Entry<Bits>), "the elements to sort");
  }

  const Entry<Bits>* select(const std::byte* from) {
    kept_ = 0;
    bound_.reset();
    is_complete_ = false;
    in_pieces(count_, steps_each_, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end && !is_complete_; i += keys_max) {
        const std::uint64_t count = std::min(keys_max, end - i);
        read(reader_.at(from, i), count);
        add(i, count);
      }
    });
    return sort();
  }

 private:
  static constexpr std::uint64_t keys_at_once = KeyReader<Bits>::keys_at_once;
  static constexpr std::uint64_t keys_max = 2048;  // that are read together
  static constexpr Threshold kept_min{512, 7};
  // More would take long without a look for a stop.
  static constexpr Threshold sorted_at_once{std::uint64_t{1} << 18, 9};

  static Entry<Bits>* at(Buffer& buffer) { return reinterpret_cast<Entry<Bits>*>(buffer.data()); }

  // Keys to keys_, and the largest ones behind them up to a whole number of lanes.
  void read(const std::byte* from, std::uint64_t count) {
    static_assert(keys_at_once == key_lanes && keys_max % key_lanes == 0);
    for (std::uint64_t i = 0; i < count; i += keys_at_once)
      reader_.read(reader_.at(from, i), std::min(keys_at_once, count - i), &keys_[i]);
    std::fill(keys_.begin() + static_cast<std::ptrdiff_t>(count), keys_.begin() + whole(count),
              static_cast<Bits>(~Bits{0}));
  }
  static std::ptrdiff_t whole(std::uint64_t count) {
    return static_cast<std::ptrdiff_t>(divided_up(count, key_lanes) * key_lanes);
  }

  // Keeps those of the keys that may be among the first k; the first has this index.
  void add(std::uint64_t index, std::uint64_t count) {
    if (!bound_ && k_ <= key_lanes && count >= 4 * key_lanes) bound_ = bound_of_lanes(count);
    if (!bound_ && count <= room_ - kept_) {
      for (std::uint64_t i = 0; i < count; ++i) at(entries_)[kept_++] = {keys_[i], index + i};
      return;
    }
    const Bits largest = static_cast<Bits>(~Bits{0});
    const std::size_t found = places_up_to(bound_.value_or(largest), keys_.data(),
                                           static_cast<std::size_t>(whole(count)), places_.data());
    for (std::size_t i = 0; i < found && places_[i] < count; ++i) {
      const Bits key = keys_[places_[i]];
      if (key > bound_.value_or(largest)) continue;
      if (kept_ == room_ && !makes_room(key)) {
        if (is_complete_) return;
        continue;
      }
      at(entries_)[kept_++] = {key, index + places_[i]};
    }
  }

  // Lane j has its least key, and k lanes have k such: no key above the k-th of these is among the
  // first k.
  Bits bound_of_lanes(std::uint64_t count) const {
    std::array<Bits, key_lanes> least;
    least_keys(keys_.data(), static_cast<std::size_t>(whole(count)), least.data());
    std::nth_element(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(k_ - 1),
                     least.end());
    return least[k_ - 1];
  }

  // Leaves the first k of all that is kept. Whether `key`, which comes later, may be among them
  // still: of equal keys the first ones stay.
  bool makes_room(Bits key) {
    Entry<Bits>* entries = at(entries_);
    std::nth_element(entries, entries + k_ - 1, entries + kept_);
    kept_ = k_;
    const Bits last = entries[k_ - 1].key();
    is_complete_ = last == 0;
    if (!is_complete_) bound_ = static_cast<Bits>(last - 1);
    return key < last;
  }

  const Entry<Bits>* sort() {
    Entry<Bits>* entries = at(entries_);
    if (kept_ > sorted_at_once) return sort_by_digits<Bits>(entries, at(other_), kept_);
    if (k_ < kept_) std::nth_element(entries, entries + k_, entries + kept_);
    std::sort(entries, entries + k_);
    return entries;
  }

  const KeyReader<Bits>& reader_;
  std::uint64_t count_, k_, steps_each_;
  std::uint64_t room_;  // for entries that are kept
  std::uint64_t kept_ = 0;
  std::optional<Bits> bound_;  // no larger key is among the first k
  bool is_complete_ = false;   // no later key is
  std::array<Bits, keys_max> keys_;
  std::array<std::uint32_t, keys_max> places_;
  Buffer entries_, other_;
};

// The indices of the first k of each sequence, in order.
struct SelectedIndices : Preparation {
  SelectedIndices(std::uint64_t sequences, std::uint64_t k)
      : memory(sequences * k * sizeof(std::uint32_t), "the selected elements") {}

  std::uint32_t* indices() { return reinterpret_cast<std::uint32_t*>(memory.data()); }
  const std::uint32_t* indices() const {
    return reinterpret_cast<const std::uint32_t*>(memory.data());
  }

  Buffer memory;
};

template <typename Bits>
class TopK {
 public:
  TopK(const TopKKernel& kernel, std::span<const std::byte> input)
      : kernel_(kernel),
        input_(input),
        index_size_(size_of(kernel.index_type)),
        along_(kernel.axes.along),
        reader_(kernel.data_type, kernel.is_descending, along_.stride()),
        outer_axes_(kernel.axes.outer),
        inner_axes_(kernel.axes.inner),
        inner_(inner_axes_.elements()) {}

  std::uint64_t inner() const { return inner_; }

  // Sequences [begin, end) of an outer index.
  void run(std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Destinations outputs) {
    if (!selector_)
      selector_.emplace(reader_, along_.extent, kernel_.k,
                        along_.stride() * size_ >= 4096 ? far_steps : 4);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t offset = offset_of(outer, i);
      const Entry<Bits>* selected = selector_->select(&input_[offset * size_]);
      write(i - begin, offset, kernel_.k, outputs,
            [&](std::uint64_t rank) { return selected[rank].index(); });
    }
  }

  // Ranks [first, last) of them from what all threads selected.
  void run(const SelectedIndices& selected, std::uint64_t outer, std::uint64_t begin,
           std::uint64_t end, std::uint64_t first, std::uint64_t last, Destinations outputs) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint32_t* indices = selected.indices() + (outer * inner_ + i) * kernel_.k + first;
      write(i - begin, offset_of(outer, i), last - first, outputs,
            [&](std::uint64_t rank) { return std::uint64_t{indices[rank]}; });
    }
  }

  void select(std::uint64_t sequence, unsigned threads, SelectedIndices& to) const {
    const std::uint64_t offset = offset_of(sequence / inner_, sequence % inner_);
    // Two threads sort most of a sequence no faster than one by its digits.
    if (threads <= 2 && kernel_.k > along_.extent / 8) {
      Selector<Bits> selector(reader_, along_.extent, kernel_.k, 4);
      const Entry<Bits>* selected = selector.select(&input_[offset * size_]);
      for (std::uint64_t i = 0; i < kernel_.k; ++i)
        to.indices()[sequence * kernel_.k + i] = static_cast<std::uint32_t>(selected[i].index());
      return;
    }
    LongSelection<Bits>(reader_, &input_[offset * size_], along_.extent, kernel_.k, threads)
        .run(to.indices() + sequence * kernel_.k);
  }

 private:
  static constexpr std::size_t size_ = sizeof(Bits);

  template <typename IndexOf>
  void write(std::uint64_t sequence, std::uint64_t offset, std::uint64_t count,
             Destinations outputs, IndexOf&& index_of) {
    in_pieces(count, 4, [&](std::uint64_t rank, std::uint64_t end) {
      for (; rank < end; ++rank) {
        const std::uint64_t index = index_of(rank);
        const std::byte* value = &input_[(offset + index * along_.stride()) * size_];
        std::memcpy(outputs[0].to + sequence * size_ + rank * outputs[0].pitch, value, size_);
        std::byte* to = outputs[1].to + sequence * index_size_ + rank * outputs[1].pitch;
        if (index_size_ == sizeof(std::uint32_t))
          put_number<std::uint32_t>(to, static_cast<std::uint32_t>(index));
        else
          put_number<std::uint64_t>(to, index);
      }
    });
  }

  std::uint64_t offset_of(std::uint64_t outer, std::uint64_t inner) const {
    return outer_axes_.offsets(outer)[0] + inner_axes_.offsets(inner)[0];
  }

  const TopKKernel& kernel_;
  std::span<const std::byte> input_;
  std::size_t index_size_;
  StridedAxis along_;
  KeyReader<Bits> reader_;
  std::optional<Selector<Bits>> selector_;
  Walk<1> outer_axes_, inner_axes_;
  std::uint64_t inner_;
};

/// Calls action with an unsigned integer as wide as the type.
template <typename Action>
void with_bits(DataType type, Action&& action) {
  const std::size_t size = size_of(type);
  if (size == 8) return action(std::uint64_t{});
  if (size == 4) return action(std::uint32_t{});
  if (size == 2) return action(std::uint16_t{});
  action(std::uint8_t{});
}

}  // namespace

// Ranks of few long sequences, or whole sequences. A part is of about so many bytes of the input.
PartShape part_shape(const TopKKernel& top, std::uint64_t bytes) {
  constexpr Threshold ranks_of_part{std::uint64_t{1} << 16, 3};
  const std::uint64_t inner = elements_of(top.axes.inner), extent = top.axes.along.extent;
  if (is_cut(top))
    return {.blocks = Blocks{.ranges = std::clamp<std::uint64_t>(ranks_of_part / inner, 1, top.k),
                             .inner = inner,
                             .length = inner,
                             .of = top.k}};
  const std::uint64_t size = size_of(top.data_type), total = top.output_elements();
  const PartShape shape = sequences_shape(top.k, inner, size, bytes);
  if (shape.blocks) return shape;
  const std::uint64_t block = top.k * inner;
  const std::uint64_t blocks = std::max<std::uint64_t>(1, bytes / size / extent / inner);
  return {.blocks = Blocks{1, total, std::min(total, block * blocks)}};
}

std::unique_ptr<const Preparation> prepare(const TopKKernel& kernel, Inputs inputs,
                                           unsigned threads) {
  if (!is_cut(kernel)) return nullptr;
  const std::uint64_t sequences = kernel.output_elements() / kernel.k;
  auto selected = std::make_unique<SelectedIndices>(sequences, kernel.k);
  with_bits(kernel.data_type, [&](auto bits) {
    const TopK<decltype(bits)> top(kernel, inputs.front());
    for (std::uint64_t i = 0; i < sequences; ++i) top.select(i, threads, *selected);
  });
  return selected;
}

void run_part(const TopKKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores, Destinations outputs) {
  const std::array<std::size_t, 2> sizes{size_of(kernel.data_type), size_of(kernel.index_type)};
  const auto* selected = static_cast<const SelectedIndices*>(prepared);
  with_bits(kernel.data_type, [&](auto bits) {
    TopK<decltype(bits)> top(kernel, inputs.front());
    const std::uint64_t inner = top.inner(), whole = kernel.k * inner;
    if (selected != nullptr && part.length <= inner) {
      const std::uint64_t first = part.begin % whole / inner, column = part.begin % inner;
      return top.run(*selected, part.begin / whole, column, column + part.length, first,
                     first + part.count, outputs);
    }
    for_each_sequences(
        part, kernel.k, inner, sizes, outputs,
        [&](std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Destinations to) {
          if (selected != nullptr) return top.run(*selected, outer, begin, end, 0, kernel.k, to);
          top.run(outer, begin, end, to);
        });
  });
}

}  // namespace dmlop::cpu
