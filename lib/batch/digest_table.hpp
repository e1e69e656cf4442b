// What a batch remembers about each of its jobs, of which there may be millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dmlop {

/// Digests, each with a number. Each takes 12 bytes in a table that is at least 3/8 full.
class DigestTable {
 public:
  DigestTable();

  /// Adds a digest with a number other than 0, unless it is there already. Returns the number with
  /// which it was added before, or 0 if it is new.
  std::uint32_t add(std::uint64_t digest, std::uint32_t number);
  /// The number with which a digest was added; 0 if it was not.
  std::uint32_t find(std::uint64_t digest) const;

 private:
  std::size_t place_of(std::uint64_t digest) const;
  void grow();

  std::uint64_t
      multiplier_;  // chosen anew for each table, so that nobody can cause collisions on purpose
  std::vector<std::uint64_t> digests_;
  std::vector<std::uint32_t> numbers_;  // 0: the place is free
  std::size_t used_ = 0;
};

}  // namespace dmlop
