#include "cpu/preparation.hpp"

#include <atomic>
#include <limits>

#include "base/threshold.hpp"

namespace dmlop::cpu {
namespace {

// Of FLOAT32, half a megabyte: enough for the taking not to matter.
constexpr Threshold usual_elements{std::uint64_t{1} << 17, 5};
constexpr Threshold usual_rows{64, std::numeric_limits<std::uint64_t>::max()};

// 0: as usual.
std::atomic<std::uint64_t> elements_of_small_blocks{0};

}  // namespace

std::uint64_t block_elements() {
  const std::uint64_t elements = elements_of_small_blocks.load(std::memory_order_relaxed);
  return elements != 0 ? elements : usual_elements;
}

std::uint64_t enough_rows() {
  const bool are_small = elements_of_small_blocks.load(std::memory_order_relaxed) != 0;
  return are_small ? std::numeric_limits<std::uint64_t>::max() : usual_rows;
}

SmallBlocks::SmallBlocks(std::uint64_t elements) {
  elements_of_small_blocks = elements;
}

SmallBlocks::~SmallBlocks() {
  elements_of_small_blocks = 0;
}

}  // namespace dmlop::cpu
