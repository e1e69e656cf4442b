#include "batch/digest_table.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace dmlop {

DigestTable::DigestTable() {
  std::random_device random;
  multiplier_ = std::uint64_t{random()} << 32 | random() | 1;
}

std::uint32_t DigestTable::add(std::uint64_t digest, std::uint32_t number) {
  if (4 * used_ >= 3 * numbers_.size()) grow();
  const std::size_t at = place_of(digest);
  if (numbers_[at] != 0) return numbers_[at];
  digests_[at] = digest;
  numbers_[at] = number;
  ++used_;
  return 0;
}

std::uint32_t DigestTable::find(std::uint64_t digest) const {
  return numbers_.empty() ? 0 : numbers_[place_of(digest)];
}

// Where the digest is or belongs. Probing starts at its own place.
std::size_t DigestTable::place_of(std::uint64_t digest) const {
  std::size_t at = (digest * multiplier_ >> 32) % numbers_.size();
  while (numbers_[at] != 0 && digests_[at] != digest) at = (at + 1) % numbers_.size();
  return at;
}

void DigestTable::grow() {
  constexpr std::size_t places_min = 64;
  const std::vector<std::uint64_t> digests = std::exchange(
      digests_, std::vector<std::uint64_t>(std::max(places_min, 2 * numbers_.size())));
  const std::vector<std::uint32_t> numbers =
      std::exchange(numbers_, std::vector<std::uint32_t>(digests_.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    const std::size_t at = place_of(digests[i]);
    digests_[at] = digests[i];
    numbers_[at] = numbers[i];
  }
}

}  // namespace dmlop
