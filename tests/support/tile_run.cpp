#include "tile_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "cpu/execute.hpp"
#include "end_of_page.hpp"
#include "job/host_plan.hpp"

namespace dmlop::test {
namespace {

using Bytes = std::vector<std::byte>;

/// The input buffers of a tile: what its gathers read. Nothing can be read behind them.
std::deque<EndOfPage> gathered(const Tile& tile, std::span<const std::span<const std::byte>> inputs,
                               const TileLimits& limits) {
  std::deque<EndOfPage> buffers;
  for (const Gather& gather : tile.gathers) {
    Bytes bytes(gather.elements() * gather.map.element_size);
    CHECK_MESSAGE(bytes.size() <= limits.buffer_bytes, "a buffer is larger than the limit");
    cpu::execute(Kernel(gather.map), inputs.subspan(gather.input, 1), gather.begin, gather.end,
                 bytes.data());
    buffers.emplace_back(bytes);
  }
  return buffers;
}

// As a plan, because the CPU may have to expand a kernel.
Bytes run_on_cpu(const Kernel& kernel, const std::deque<EndOfPage>& inputs) {
  Plan plan{.slots = {}, .passes = {{kernel, {}, {inputs.size()}}}};
  std::vector<std::span<const std::byte>> spans;
  for (const EndOfPage& input : inputs) {
    plan.passes.front().reads.push_back(spans.size());
    spans.push_back(input.bytes());
    plan.slots.push_back({SlotKind::input, "an input", {}, input.bytes().size(), 1});
  }
  plan.slots.push_back(
      {SlotKind::output, "the output", {}, output_elements(kernel), output_element_size(kernel)});
  spans.emplace_back();
  Bytes output(plan.slots.back().bytes());
  run_on_host(
      plan, spans, 1, [&](std::size_t, std::uint64_t offset, std::span<const std::byte> bytes) {
        std::copy(bytes.begin(), bytes.end(), output.begin() + static_cast<std::ptrdiff_t>(offset));
      });
  return output;
}

}  // namespace

Bytes run_in_tiles(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
                   const TileGrid& grid, const TileLimits& limits) {
  const std::size_t size = output_element_size(kernel);
  const std::uint64_t count = output_elements(kernel);
  Bytes output(count * size);
  std::vector<unsigned> written(count, 0);
  for (std::uint64_t number = 0; number < grid.size(); ++number) {
    const Tile tile = grid.tile(number);
    const Bytes part = run_on_cpu(tile.kernel, gathered(tile, inputs, limits));
    const bool fits =
        part.size() <= limits.buffer_bytes && part.size() / size <= limits.buffer_elements;
    CHECK_MESSAGE(fits, "an output is larger than the limit");
    std::uint64_t handed_out = 0;
    grid.for_each_run(tile, [&](std::uint64_t to, std::uint64_t from, std::uint64_t elements) {
      REQUIRE(to + elements <= count);
      REQUIRE((from + elements) * size <= part.size());
      std::copy_n(&part[from * size], elements * size, &output[to * size]);
      for (std::uint64_t i = 0; i < elements; ++i) ++written[to + i];
      handed_out += elements;
    });
    CHECK_MESSAGE(handed_out * size == part.size(), "outputs of a tile were not handed out");
  }
  CHECK(std::all_of(written.begin(), written.end(), [](unsigned times) { return times == 1; }));
  return output;
}

TileLimits cutting_limits(const Kernel& kernel,
                          std::span<const std::span<const std::byte>> inputs) {
  constexpr std::uint64_t least = 16, tiles = 3;
  std::uint64_t largest = output_elements(kernel) * output_element_size(kernel);
  for (const auto& input : inputs) largest = std::max<std::uint64_t>(largest, input.size());
  return {.buffer_bytes = std::max(least, largest / tiles)};
}

}  // namespace dmlop::test
