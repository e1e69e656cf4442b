#include "cpu/sequences.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/elements.hpp"

namespace dmlop::cpu {
namespace {

// The elements that the outputs of the plan would be without its reversal.
IndexMapPlan unreversed(const IndexMapPlan& plan) {
  IndexMapPlan result = plan;
  result.reversal.reset();
  return result;
}

// The length of every output's sequence.
IndexMapPlan lengths_of(const IndexMapPlan& plan) {
  IndexMapPlan result{.element_size = size_of(plan.reversal->lengths_type)};
  for (const IndexMapAxis& axis : plan.axes) {
    result.axes.push_back(
        {.extent = axis.extent, .stride = static_cast<std::int64_t>(axis.lengths_stride)});
  }
  return result;
}

void copy_range(const IndexMapPlan& plan, Inputs inputs, std::uint64_t begin, std::uint64_t count,
                std::byte* to) {
  Output output(to, Stores::cached);
  execute_index_map(plan, inputs, begin, begin + count, output);
}

// The lengths of the sequences through [begin, begin + count), none beyond `longest`.
std::vector<std::int32_t> read_lengths(const IndexMapPlan& plan, Inputs inputs, std::uint64_t begin,
                                       std::uint64_t count, std::uint64_t longest) {
  const IndexMapPlan lengths_plan = lengths_of(plan);
  std::vector<std::byte> bytes(count * lengths_plan.element_size);
  copy_range(lengths_plan, inputs.subspan(1), begin, count, bytes.data());
  std::vector<std::int32_t> lengths(count);
  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t length = 0;
    if (lengths_plan.element_size == sizeof length) {
      std::memcpy(&length, &bytes[k * sizeof length], sizeof length);
    } else {
      std::uint32_t narrow;
      std::memcpy(&narrow, &bytes[k * sizeof narrow], sizeof narrow);
      length = narrow;
    }
    lengths[k] = static_cast<std::int32_t>(std::min(length, longest));
  }
  return lengths;
}

}  // namespace

void execute_sequences(const IndexMapPlan& plan, Inputs inputs, const Part& part, Stores stores,
                       std::byte* output, std::uint64_t pitch) {
  constexpr std::uint64_t line = 64;
  constexpr std::uint64_t nearest_bytes = std::uint64_t{16} << 10;
  const std::uint64_t size = plan.element_size;
  const IndexMapPlan plain = unreversed(plan);
  // Rows a power of two apart would fall on the same places of a cache.
  const std::uint64_t row = (part.length * size + line - 1) / line * line + line;
  // Kept from part to part: new memory of this size would be new pages each time.
  thread_local std::vector<std::byte> block;
  if (block.size() < part.count * row) block.resize(part.count * row);
  for (std::uint64_t i = 0; i < part.count; ++i) {
    copy_range(plain, inputs, part.begin + i * part.step, part.length, &block[i * row]);
  }
  const std::vector<std::int32_t> lengths =
      read_lengths(plan, inputs, part.begin, part.length, part.count);
  // So few columns that all of theirs stays in the nearest cache, where every index reads it.
  const std::uint64_t columns = std::clamp(nearest_bytes / (part.count * size) / line * line,
                                           line / size, Output::stretch / size);
  for (std::uint64_t k = 0; k < part.length; k += columns) {
    const std::uint64_t count = std::min(part.length - k, columns);
    for (std::uint64_t i = 0; i < part.count; ++i) {
      Output range(output + i * pitch + k * size, stores);
      gather_reversed(size, range.take(count * size), &block[k * size], row, &lengths[k],
                      static_cast<std::int32_t>(i), count);
      range.finish();
    }
  }
}

}  // namespace dmlop::cpu
