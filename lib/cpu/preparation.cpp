#include "cpu/preparation.hpp"

#include <atomic>
#include <limits>

namespace dmlop::cpu {
namespace {

// Of FLOAT32, half a megabyte: enough for the taking not to matter.
constexpr std::uint64_t usual_elements = std::uint64_t{1} << 17;
constexpr std::uint64_t usual_rows = 64;

std::atomic<std::uint64_t> elements_of_a_block{usual_elements};
std::atomic<std::uint64_t> rows_that_are_enough{usual_rows};

}  // namespace

std::uint64_t block_elements() {
  return elements_of_a_block.load(std::memory_order_relaxed);
}

std::uint64_t enough_rows() {
  return rows_that_are_enough.load(std::memory_order_relaxed);
}

SmallBlocks::SmallBlocks(std::uint64_t elements) {
  elements_of_a_block = elements;
  rows_that_are_enough = std::numeric_limits<std::uint64_t>::max();
}

SmallBlocks::~SmallBlocks() {
  elements_of_a_block = usual_elements;
  rows_that_are_enough = usual_rows;
}

}  // namespace dmlop::cpu
