// The first k entries of one long sequence, found by all threads. Splitters, which are entries of a
// sample, say into which bucket an entry goes. Blocks of the sequence count and collect the entries
// of those buckets that hold the first k, and each bucket is sorted. Entries differ from each
// other, so that the result is the same however they are found.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/preparation.hpp"
#include "cpu/sort_keys.hpp"

namespace dmlop::cpu {

template <typename Bits>
class LongSelection {
 public:
  LongSelection(const KeyReader<Bits>& reader, const std::byte* from, std::uint64_t count,
                std::uint64_t k, unsigned threads)
      : reader_(reader),
        from_(from),
        count_(count),
        k_(k),
        threads_(threads),
        block_(std::max(block_elements(), divided_up(count, blocks_most))),
        blocks_(divided_up(count, block_)) {}

  /// Writes the indices of the first k entries in order.
  void run(std::uint32_t* indices) {
    choose_splitters();
    count_buckets();
    const std::size_t needed = place_buckets();
    collect(needed);
    parallel_for(threads_, needed, [&](unsigned, std::uint64_t bucket) {
      sort(begins_[bucket], begins_[bucket + 1], indices);
    });
  }

 private:
  static constexpr Threshold blocks_most{1024, 3}, samples{4096, 11};
  static constexpr Threshold by_digits_min{2048, 5};
  static constexpr std::uint64_t keys_at_once = KeyReader<Bits>::keys_at_once;

  // Splitters up to where the first k most likely end; behind the last one is all the rest.
  void choose_splitters() {
    const std::uint64_t size = std::min<std::uint64_t>(samples, count_);
    std::vector<Entry<Bits>> sample;
    for (std::uint64_t i = 0; i < size; ++i) {
      // Not evenly: elements often repeat in even distances.
      const std::uint64_t within = i * 0x9E3779B97F4A7C15ULL >> 32, step = count_ / size;
      const std::uint64_t index = i * step + within % step;
      sample.emplace_back(reader_.key(from_, index), index);
    }
    std::sort(sample.begin(), sample.end());
    const double expected =
        static_cast<double>(k_) / static_cast<double>(count_) * static_cast<double>(size);
    const auto last = static_cast<std::uint64_t>(expected + 4 * std::sqrt(expected) + 8);
    const std::uint64_t end = std::min(size, last + 1);
    const std::uint64_t buckets = std::clamp<std::uint64_t>(
        count_ / size * end / block_elements() * 4, 1, std::min<std::uint64_t>(end, 256));
    for (std::uint64_t b = 1; b <= buckets; ++b)
      splitters_.push_back(sample[end * b / buckets - 1]);
    tree_ = splitters_;
    tree_.resize(std::bit_ceil(buckets + 1) - 1, Entry<Bits>(static_cast<Bits>(~Bits{0}), ~0U));
  }

  // How many splitters are less, found without a branch.
  std::size_t bucket_of(const Entry<Bits>& entry) const {
    std::size_t bucket = 0;
    for (std::size_t step = (tree_.size() + 1) / 2; step > 0; step /= 2)
      bucket += tree_[bucket + step - 1] < entry ? step : 0;
    return bucket;
  }

  /// Calls action(bucket, entry) for the entries of a block that are in one of the first `buckets`.
  template <typename Action>
  void for_each_entry(std::uint64_t block, std::size_t buckets, Action&& action) const {
    const std::uint64_t first = block * block_, end = std::min(count_, first + block_);
    const bool takes_rest = buckets > splitters_.size();
    const Bits most = splitters_[std::min(buckets, splitters_.size()) - 1].key();
    Bits keys[keys_at_once];
    in_pieces(end - first, 8, [&](std::uint64_t begin, std::uint64_t stop) {
      for (std::uint64_t i = first + begin; i < first + stop; i += keys_at_once) {
        const std::uint64_t count = std::min(keys_at_once, first + stop - i);
        reader_.read(reader_.at(from_, i), count, keys);
        if (!takes_rest && *std::min_element(keys, keys + count) > most) continue;
        for (std::uint64_t j = 0; j < count; ++j) {
          if (!takes_rest && keys[j] > most) continue;
          const Entry<Bits> entry(keys[j], i + j);
          if (const std::size_t bucket = bucket_of(entry); bucket < buckets) action(bucket, entry);
        }
      }
    });
  }

  void count_buckets() {
    const std::size_t buckets = splitters_.size();
    counts_.assign(blocks_ * (buckets + 1), 0);
    parallel_for(threads_, blocks_, [&](unsigned, std::uint64_t block) {
      std::uint64_t* counts = &counts_[block * (buckets + 1)];
      for_each_entry(block, buckets, [&](std::size_t bucket, const auto&) { ++counts[bucket]; });
      std::uint64_t inside = 0;
      for (std::size_t b = 0; b < buckets; ++b) inside += counts[b];
      counts[buckets] = std::min(block_, count_ - block * block_) - inside;
    });
  }

  // Where each block's entries of each bucket go. How many buckets hold the first k.
  std::size_t place_buckets() {
    const std::size_t buckets = splitters_.size() + 1;
    std::uint64_t place = 0;
    std::size_t needed = 0;
    begins_.push_back(0);
    for (; place < k_; ++needed) {
      for (std::uint64_t block = 0; block < blocks_; ++block) {
        std::uint64_t& count = counts_[block * buckets + needed];
        const std::uint64_t next = place + count;
        count = place;
        place = next;
      }
      begins_.push_back(place);
    }
    return needed;
  }

  void collect(std::size_t needed) {
    entries_ = Buffer(begins_.back() * sizeof(Entry<Bits>), "the elements to sort");
    parallel_for(threads_, blocks_, [&](unsigned, std::uint64_t block) {
      std::uint64_t* places = &counts_[block * (splitters_.size() + 1)];
      for_each_entry(block, needed, [&](std::size_t bucket, const Entry<Bits>& entry) {
        entries()[places[bucket]++] = entry;
      });
    });
  }

  Entry<Bits>* entries() { return reinterpret_cast<Entry<Bits>*>(entries_.data()); }

  // Ranks [begin, end), as far as they are among the first k.
  void sort(std::uint64_t begin, std::uint64_t end, std::uint32_t* indices) {
    const std::uint64_t last = std::min(end, k_);
    check_for_stop();
    const Entry<Bits>* sorted = entries() + begin;
    Buffer other;
    if (last == end && end - begin >= by_digits_min) {  // they are in the order of the indices
      other = Buffer((end - begin) * sizeof(Entry<Bits>), "the elements to sort");
      sorted = sort_by_digits<Bits>(entries() + begin, reinterpret_cast<Entry<Bits>*>(other.data()),
                                    end - begin);
    } else {
      if (last < end) std::nth_element(entries() + begin, entries() + last, entries() + end);
      check_for_stop();
      std::sort(entries() + begin, entries() + last);
    }
    for (std::uint64_t i = begin; i < last; ++i)
      indices[i] = static_cast<std::uint32_t>(sorted[i - begin].index());
  }

  const KeyReader<Bits>& reader_;
  const std::byte* from_;
  std::uint64_t count_, k_;
  unsigned threads_;
  std::uint64_t block_, blocks_;
  std::vector<Entry<Bits>> splitters_;
  std::vector<Entry<Bits>> tree_;      // the same, to one less than a power of two
  std::vector<std::uint64_t> counts_;  // of each block, and in it of each bucket; then their places
  std::vector<std::uint64_t> begins_;  // of the buckets
  Buffer entries_;
};

}  // namespace dmlop::cpu
