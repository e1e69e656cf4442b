// What a batch keeps of each of its jobs, of which there may be millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dmlop {

/// Digests, each with a number: 12 bytes of a table that is at least 3/8 full.
class DigestTable {
 public:
  DigestTable();

  /// Adds a digest with a number other than 0, unless it is there. Returns the number that it was
  /// added with before; 0 where it is new.
  std::uint32_t add(std::uint64_t digest, std::uint32_t number);

 private:
  std::size_t place_of(std::uint64_t digest) const;
  void grow();

  std::uint64_t multiplier_;  // chosen anew each time, so that nobody can fill places on purpose
  std::vector<std::uint64_t> digests_;
  std::vector<std::uint32_t> numbers_;  // 0: nothing is here
  std::size_t used_ = 0;
};

}  // namespace dmlop
