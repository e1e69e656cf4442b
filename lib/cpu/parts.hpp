// How an output is cut into parts that one thread computes at a time: as a rule a stretch of it.
// A reversal along an outer axis reads far apart for every stretch, and the next index along the
// axis reads the same places again: there a part is a block of sequences, a range for each index.
#pragma once

#include <cstdint>

#include "ops/kernel.hpp"

namespace dmlop::cpu {

struct PartShape;  // cpu/kinds.hpp

/// For each i < count the output elements from begin + i * step, `length` of them.
struct Part {
  std::uint64_t begin;
  std::uint64_t length;
  std::uint64_t step;
  std::uint64_t count;
};

/// The bytes of a part: at most `most`, and few enough for every core to have several parts of an
/// output of `total` bytes, unless these would be too small to be worth a thread.
std::uint64_t bytes_of_part(std::uint64_t most, std::uint64_t total);

class Parts {
 public:
  /// Parts of about bytes_of_part().
  Parts(const Kernel& kernel, std::uint64_t most);
  /// Parts of this shape of an output of `elements`, which have `size` bytes: about so many bytes.
  Parts(const PartShape& shape, std::uint64_t elements, std::size_t size, std::uint64_t bytes);

  std::uint64_t elements() const { return total_; }
  std::uint64_t count() const { return count_; }
  Part operator[](std::uint64_t index) const;

 private:
  std::uint64_t total_;         // elements of the output
  std::uint64_t sequence_;      // indices along the reversed axis; 1 where parts are stretches
  std::uint64_t ranges_;        // of them in a block
  std::uint64_t inner_;         // elements of one index; the whole output where parts are stretches
  std::uint64_t length_;        // elements of a range
  std::uint64_t per_sequence_;  // blocks that inner_ is cut into
  std::uint64_t per_axis_;      // and those that the axis is cut into
  std::uint64_t count_;
};

}  // namespace dmlop::cpu
