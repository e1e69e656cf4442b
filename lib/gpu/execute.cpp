#include "gpu/execute.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "cpu/execute.hpp"
#include "gpu/dispatch.hpp"
#include "ops/tiling.hpp"

namespace dmlop::gpu {
namespace {

// Tiles in flight: one filled or emptied by the host, one transferred, one computed.
constexpr std::size_t stream_count = 3;

// A tile's buffer by default: large enough for transfers to run at full rate, small enough to
// overlap.
constexpr std::uint64_t tile_bytes = std::uint64_t{64} << 20;

// The host copies in parts of this many bytes.
constexpr std::uint64_t part_bytes = std::uint64_t{1} << 20;

// What a stream holds on the device beside its tiles: slack around three inputs, roundings, a
// table.
constexpr std::uint64_t stream_overhead_bytes =
    std::uint64_t{3} * 2 * input_slack_bytes + std::uint64_t{4} * 16 + 256;

// Streams keep their largest buffers, so each has room for an input, its lengths or a state, and an
// output whatever the kernel is.
TileLimits limits_for(const Device& device, const ExecuteOptions& options) {
  std::uint64_t bytes = std::min(device.buffer_bytes_limit(), tile_bytes);
  if (options.device_memory_bytes != 0) {
    const std::uint64_t stream_bytes = options.device_memory_bytes / stream_count;
    bytes = std::min(bytes, (stream_bytes - std::min(stream_bytes, stream_overhead_bytes)) / 3);
  }
  return {.buffer_bytes = std::max<std::uint64_t>(bytes, 256)};
}

void add(DispatchTimes& sum, const DispatchTimes& times) {
  const auto add_one = [](std::optional<double>& total, const std::optional<double>& part) {
    if (part) total = total.value_or(0) + *part;
  };
  add_one(sum.upload, times.upload);
  add_one(sum.kernel, times.kernel);
  add_one(sum.download, times.download);
}

// Whether kernels that write whole vectors of 16 bytes write nothing behind the range.
bool ends_well(const ResidentRange& range) {
  return range.bytes % 16 == 0 || range.offset + range.bytes == range.buffer->bytes();
}

bool overlap(const ResidentRange& a, const ResidentRange& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// Why a resident kernel cannot be given the ranges.
std::string range_refusal(std::span<const ResidentRange> inputs,
                          std::span<const ResidentRange> outputs, std::uint64_t bytes_limit) {
  const auto is_unfit = [&](const ResidentRange& range) {
    return range.offset % resident_alignment != 0 || range.offset + range.bytes > bytes_limit;
  };
  if (std::any_of(inputs.begin(), inputs.end(), is_unfit) ||
      std::any_of(outputs.begin(), outputs.end(), is_unfit))
    return "its tensors do not fit the device's buffers of " + std::to_string(bytes_limit) +
           " bytes";
  for (const ResidentRange& output : outputs) {
    if (!ends_well(output)) return "an output ends within 16 bytes that belong to another tensor";
    for (const ResidentRange& input : inputs) {
      if (overlap(input, output)) return "an output overlaps an input";
    }
  }
  return "";
}

class TileRunner {
 public:
  TileRunner(const TileGrid& grid, const TileLimits& limits,
             std::span<const std::span<const std::byte>> inputs, unsigned threads, const Sink& sink)
      : grid_(grid), limits_(limits), inputs_(inputs), threads_(threads), sink_(sink) {}

  void start(Stream& stream, std::uint64_t index) {
    Tile tile = grid_.tile(index);
    for (std::size_t i = 0; i < tile.gathers.size(); ++i) fill(stream, i, tile.gathers[i]);
    stream.submit(make_dispatch(tile.kernel, limits_.buffer_bytes));
  }

  void finish(Stream& stream, std::uint64_t index) {
    const Tile tile = grid_.tile(index);
    const std::uint64_t size = output_element_size(tile.kernel);
    const std::span<const std::byte> bytes = stream.finish();
    struct Part {
      std::uint64_t offset;
      std::span<const std::byte> bytes;
    };
    std::vector<Part> parts;
    grid_.for_each_run(tile, [&](std::uint64_t begin, std::uint64_t from, std::uint64_t count) {
      for (std::uint64_t at = 0; at < count * size; at += part_bytes) {
        parts.push_back({begin * size + at,
                         bytes.subspan(from * size + at, std::min(part_bytes, count * size - at))});
      }
    });
    parallel_for(threads_, parts.size(),
                 [&](unsigned, std::uint64_t i) { sink_(parts[i].offset, parts[i].bytes); });
  }

 private:
  void fill(Stream& stream, std::size_t input, const IndexMapKernel& gather) {
    const Kernel kernel(gather);
    const std::span<std::byte> staging =
        stream.input(input, output_elements(kernel) * gather.element_size);
    cpu::execute_all(kernel, inputs_.subspan(input), threads_, staging.data());
  }

  const TileGrid& grid_;
  const TileLimits& limits_;
  std::span<const std::span<const std::byte>> inputs_;
  unsigned threads_;
  const Sink& sink_;
};

}  // namespace

std::string Executor::refusal(const Kernel& kernel, const ExecuteOptions& options) const {
  if (std::string refusal = kernel_refusal(kernel); !refusal.empty()) return refusal;
  if (!TileGrid::make(kernel, limits_for(device_, options)))
    return "no part of it is small enough for the device's buffers";
  return "";
}

std::string Executor::resident_refusal(const Kernel& kernel, std::span<const ResidentRange> inputs,
                                       std::span<const ResidentRange> outputs) const {
  if (std::string refusal = kernel_refusal(kernel); !refusal.empty()) return refusal;
  return is_tiled(kernel) ? tiled_refusal(kernel) : untiled_refusal(inputs, outputs);
}

std::string Executor::resident_refusal(const Step& step, std::span<const ResidentRange> inputs,
                                       std::span<const ResidentRange> outputs) const {
  return step.tiled != nullptr ? tiled_refusal(*step.tiled) : untiled_refusal(inputs, outputs);
}

std::string Executor::untiled_refusal(std::span<const ResidentRange> inputs,
                                      std::span<const ResidentRange> outputs) const {
  if (std::string refusal = device_.resident_refusal(); !refusal.empty()) return refusal;
  return range_refusal(inputs, outputs, device_.buffer_bytes_limit());
}

std::string Executor::tiled_refusal(const Kernel& kernel) const {
  const auto grid = TileGrid::make(kernel, {.buffer_bytes = device_.buffer_bytes_limit()});
  return grid && grid->is_whole() ? "" : "its tensors do not fit the device's buffers";
}

bool Executor::execute(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
                       const ExecuteOptions& options, const Sink& sink, DispatchTimes& times) {
  if (!kernel_refusal(kernel).empty()) return false;
  const TileLimits limits = limits_for(device_, options);
  const auto grid = TileGrid::make(kernel, limits);
  if (!grid) return false;
  const auto streams =
      static_cast<std::size_t>(std::min<std::uint64_t>(grid->size(), stream_count));
  while (streams_.size() < streams) streams_.push_back(device_.make_stream());
  TileRunner runner(*grid, limits, inputs, std::max(1U, options.threads), sink);
  for (std::uint64_t index = 0; index < grid->size() + streams; ++index) {
    Stream& stream = *streams_[index % streams];
    if (index >= streams) {
      runner.finish(stream, index - streams);
      add(times, stream.times());
    }
    if (index < grid->size()) runner.start(stream, index);
  }
  return true;
}

Stream& Executor::first_stream() {
  if (streams_.empty()) streams_.push_back(device_.make_stream());
  return *streams_.front();
}

void Executor::execute_resident(const Kernel& kernel, std::span<const ResidentRange> inputs,
                                std::span<const ResidentRange> outputs, DispatchTimes& times) {
  if (is_tiled(kernel)) return execute_tiled(kernel, inputs, outputs.front(), times);
  execute_untiled(make_resident_dispatches(kernel), inputs, outputs, times);
}

void Executor::execute_resident(const Step& step, std::span<const ResidentRange> inputs,
                                std::span<const ResidentRange> outputs, DispatchTimes& times) {
  if (step.tiled != nullptr) return execute_tiled(*step.tiled, inputs, outputs.front(), times);
  execute_untiled(step.dispatches, inputs, outputs, times);
}

void Executor::execute_untiled(std::span<const ResidentDispatch> dispatches,
                               std::span<const ResidentRange> inputs,
                               std::span<const ResidentRange> outputs, DispatchTimes& times) {
  Stream& stream = first_stream();
  for (const ResidentDispatch& usual : dispatches) {
    const ResidentDispatch& dispatch = chosen_dispatch(usual, device_.info());
    std::vector<ResidentRange> read;
    for (const std::size_t input : dispatch.inputs) read.push_back(inputs[input]);
    stream.run(dispatch, read, outputs);
    stream.finish();
    add(times, stream.times());
  }
}

void Executor::execute_tiled(const Kernel& kernel, std::span<const ResidentRange> inputs,
                             const ResidentRange& output, DispatchTimes& times) {
  const auto grid = TileGrid::make(kernel, {.buffer_bytes = device_.buffer_bytes_limit()});
  Stream& stream = first_stream();
  const Tile tile = grid->tile(0);
  for (std::size_t i = 0; i < tile.gathers.size(); ++i) {
    const IndexMapKernel& run = tile.gathers[i];
    const auto begin = static_cast<std::uint64_t>(run.offset) * run.element_size;
    stream.input(i, ResidentRange{inputs[i].buffer, inputs[i].offset + begin,
                                  output_elements(Kernel(run)) * run.element_size});
  }
  stream.submit(make_dispatch(tile.kernel, device_.buffer_bytes_limit()), &output);
  stream.finish();
  add(times, stream.times());
}

void Executor::write(const ResidentRange& to, std::span<const std::byte> bytes) {
  first_stream().write(to, bytes);
}

void Executor::read(const ResidentRange& from, std::span<std::byte> bytes) {
  first_stream().read(from, bytes);
}

}  // namespace dmlop::gpu
