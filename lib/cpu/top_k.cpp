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

/// Puts the first k entries of a sequence in order to its front.
template <typename Bits>
class Selector {
 public:
  Selector(const KeyReader<Bits>& reader, std::uint64_t count, std::uint64_t k,
           std::uint64_t steps_each)
      : reader_(reader), count_(count), k_(k), steps_each_(steps_each) {
    if (selects_by_bound()) {
      keys_.resize(divided_up(count, key_lanes) * key_lanes);
      places_.resize(keys_.size());
    }
    if (k <= few) return;
    entries_ = Buffer(count * sizeof(Entry<Bits>), "the elements to sort");
    if (count > sorted_at_once)
      other_ = Buffer(count * sizeof(Entry<Bits>), "the elements to sort");
  }

  const Entry<Bits>* select(const std::byte* from) {
    if (selects_by_bound()) return select_by_bound(from);
    added_ = 0;
    in_pieces(count_, steps_each_, [&](std::uint64_t i, std::uint64_t end) {
      std::array<Bits, keys_at_once> keys;
      for (; i < end; i += keys_at_once) {
        const std::uint64_t count = std::min(keys_at_once, end - i);
        reader_.read(reader_.at(from, i), count, keys.data());
        add(keys.data(), i, count);
      }
    });
    return finish();
  }

 private:
  static constexpr std::uint64_t keys_at_once = KeyReader<Bits>::keys_at_once;
  // So few are kept in order while the others go by.
  static constexpr Threshold few{32, 3};
  // More would take long without a look for a stop.
  static constexpr Threshold sorted_at_once{std::uint64_t{1} << 18, 9};
  // The keys of such sequences stay in the nearest cache.
  static constexpr std::uint64_t bound_bytes = std::uint64_t{16} << 10;

  static Entry<Bits>* at(Buffer& buffer) { return reinterpret_cast<Entry<Bits>*>(buffer.data()); }

  bool selects_by_bound() const {
    return k_ <= few && count_ >= 4 * keys_at_once && count_ <= bound_bytes / sizeof(Bits) &&
           steps_each_ < far_steps;
  }

  // Lane j of a chunk has its least key, and k lanes have k such: no later key than the k-th of
  // these is among the first k.
  const Entry<Bits>* select_by_bound(const std::byte* from) {
    for (std::uint64_t i = 0; i < count_; i += keys_at_once) {
      const std::uint64_t count = std::min(keys_at_once, count_ - i);
      reader_.read(reader_.at(from, i), count, &keys_[i]);
      std::fill_n(&keys_[i + count], keys_at_once - count, static_cast<Bits>(~Bits{0}));
    }
    std::array<Bits, key_lanes> least;
    least_keys(keys_.data(), keys_.size(), least.data());
    std::nth_element(least.begin(), least.begin() + (k_ - 1), least.end());
    const std::size_t found =
        places_up_to(least[k_ - 1], keys_.data(), keys_.size(), places_.data());
    added_ = 0;
    for (std::size_t i = 0; i < found; ++i) {
      const Bits key = keys_[places_[i]];
      if (places_[i] < count_ && (added_ < k_ || key < few_[k_ - 1].key()))
        insert({key, places_[i]});
    }
    return few_.data();
  }

  // Adds the entries of so many keys, whose indices follow one another.
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
    if (count_ > sorted_at_once) return sort_by_digits<Bits>(entries, at(other_), count_);
    if (k_ < count_) std::nth_element(entries, entries + k_, entries + count_);
    std::sort(entries, entries + k_);
    return entries;
  }

  void insert(const Entry<Bits>& entry) {
    std::uint64_t place = added_ < k_ ? added_++ : k_ - 1;
    for (; place > 0 && entry < few_[place - 1]; --place) few_[place] = few_[place - 1];
    few_[place] = entry;
  }

  const KeyReader<Bits>& reader_;
  std::uint64_t count_, k_, steps_each_;
  std::array<Entry<Bits>, few.most()> few_{};
  std::uint64_t added_ = 0;
  std::vector<Bits> keys_;
  std::vector<std::uint32_t> places_;
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
