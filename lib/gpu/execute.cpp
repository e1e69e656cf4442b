#include "gpu/execute.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/execute.hpp"
#include "gpu/dispatch.hpp"
#include "ops/tiling.hpp"

namespace dmlop::gpu {
namespace {

// Tiles in flight: one filled or emptied by the host, one transferred, one computed.
constexpr std::size_t stream_count = 3;

// A tile's buffer by default: large enough for transfers to run at full rate, small enough to
// overlap.
constexpr Threshold tile_bytes{std::uint64_t{64} << 20, 140'016};

// The host copies in parts of this many bytes.
constexpr Threshold part_bytes{std::uint64_t{1} << 20, 40};

// What a tile's set holds on the device beside its tensors: slack and roundings of all buffers, and
// parameters.
std::uint64_t overhead_bytes(std::size_t tensors) {
  constexpr std::uint64_t other_buffers = 2, parameter_bytes = 1024;
  return (tensors + other_buffers) * (2 * slack_bytes + 16) + parameter_bytes;
}

/// The tiles of a kernel, or why no GPU runs them.
struct Tiles {
  std::string refusal = {};
  std::optional<TileGrid> grid = {};      // nothing where no tile is small enough
  std::vector<Dispatch> dispatches = {};  // of the first tile
  std::uint64_t scratch_bytes = 0;        // of the first tile and of the last one, at most
};

Tiles tiles_within(const Kernel& kernel, std::uint64_t buffer_bytes, const DeviceInfo& device) {
  auto grid = TileGrid::make(kernel, {.buffer_bytes = buffer_bytes});
  if (!grid) return {.refusal = "no part of it is small enough for the device's buffers"};
  Dispatches first = make_dispatches(grid->tile(0).kernel);
  std::uint64_t scratch = scratch_bytes(first.dispatches, device);
  if (first.refusal.empty() && grid->size() > 1) {
    Dispatches last = make_dispatches(grid->tile(grid->size() - 1).kernel);
    scratch = std::max(scratch, scratch_bytes(last.dispatches, device));
    first.refusal = std::move(last.refusal);
  }
  return {std::move(first.refusal), std::move(grid), std::move(first.dispatches), scratch};
}

// Why a device cannot give kernels so much scratch; "" where it can.
std::string scratch_refusal(std::uint64_t scratch, const Device& device) {
  const std::uint64_t most = device.buffer_bytes_limit();
  if (scratch <= most) return "";
  return "the " + std::to_string(scratch) +
         " bytes of its kernels' scratch do not fit the device's buffers of " +
         std::to_string(most) + " bytes";
}

// Tiles so small that each buffer fits the device, and that all sets together fit the memory.
Tiles tiles_of(const Kernel& kernel, const Device& device, const ExecuteOptions& options) {
  constexpr std::uint64_t least = 256;
  const std::uint64_t limit = device.buffer_bytes_limit();
  const std::uint64_t most = std::min<std::uint64_t>(limit, tile_bytes);
  const auto within = [&](std::uint64_t bytes) {
    return tiles_within(kernel, std::clamp(bytes, least, most), device.info());
  };
  Tiles tiles = within(most);
  if (!tiles.grid) return tiles;
  const std::size_t tensors = tiles.grid->tile(0).gathers.size() + 1;
  std::uint64_t room = ~std::uint64_t{0}, bytes = most;
  if (options.device_memory_bytes != 0) {
    const std::uint64_t share = options.device_memory_bytes / stream_count;
    room = share - std::min(share, overhead_bytes(tensors));
    bytes = room / tensors;
    tiles = within(bytes);
  }
  const auto fit = [&] {
    return tiles.scratch_bytes <= limit && bytes * tensors + tiles.scratch_bytes <= room;
  };
  while (tiles.refusal.empty() && bytes > least && !fit()) tiles = within(bytes /= 2);
  if (tiles.refusal.empty()) tiles.refusal = scratch_refusal(tiles.scratch_bytes, device);
  return tiles;
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

bool is_aligned(const ResidentRange& range) {
  return range.offset % range_alignment == 0;
}

// The slots that the steps use, each once.
struct UsedSlots {
  explicit UsedSlots(std::span<const Step> steps) {
    for (const Step& step : steps) {
      read.insert(step.reads.begin(), step.reads.end());
      written.insert(step.writes.begin(), step.writes.end());
    }
  }
  std::set<std::size_t> read, written;
};

// Whether kernels can write the range of a slot in place.
bool is_written_in_place(std::size_t slot, const UsedSlots& used,
                         std::span<const ResidentRange> slots) {
  return is_aligned(slots[slot]) && ends_well(slots[slot]) &&
         std::none_of(used.read.begin(), used.read.end(), [&](std::size_t other) {
           return other != slot && overlap(slots[other], slots[slot]);
         });
}

// The kernels of the steps, on the ranges of their slots.
std::vector<KernelRun> kernel_runs(std::span<const Step> steps,
                                   std::span<const ResidentRange> slots, const DeviceInfo& device) {
  std::vector<KernelRun> runs;
  for (const Step& step : steps) {
    for (const Dispatch& usual : step.dispatches) {
      KernelRun& run = runs.emplace_back();
      run.dispatch = &chosen_dispatch(usual, device);
      for (const std::size_t input : run.dispatch->inputs)
        run.inputs.push_back(slots[step.reads[input]]);
      for (const std::size_t slot : step.writes) run.outputs.push_back(slots[slot]);
    }
  }
  return runs;
}

}  // namespace

ResidentRange Executor::Set::range(BufferPool& pool, std::size_t index, std::uint64_t bytes) {
  if (buffers.size() <= index) buffers.resize(index + 1);
  std::unique_ptr<ResidentBuffer>& buffer = buffers[index];
  if (!buffer || buffer->bytes() < bytes) {
    buffer.reset();
    buffer = pool.make(Place::device, bytes);
  }
  return {buffer.get(), 0, bytes};
}

/// Runs the tiles of a kernel in sets of buffers.
class Executor::TileRunner {
 public:
  /// `first` are the dispatches of the first tile.
  TileRunner(const TileGrid& grid, std::span<const Dispatch> first, Executor& executor,
             std::span<const std::span<const std::byte>> inputs, unsigned threads, const Sink& sink)
      : grid_(grid),
        first_(first),
        device_(executor.device_.info()),
        pool_(*executor.pool_),
        inputs_(inputs),
        threads_(threads),
        sink_(sink) {}

  void start(Set& set, std::uint64_t index) {
    const Tile tile = grid_.tile(index);
    std::vector<ResidentRange> inputs;
    for (const Gather& gather : tile.gathers) {
      const std::uint64_t bytes = gather.elements() * gather.map.element_size;
      inputs.push_back(set.range(pool_, inputs.size(), bytes));
      fill(set.stream.upload(inputs.back()), gather);
    }
    const std::uint64_t bytes = output_elements(tile.kernel) * output_element_size(tile.kernel);
    const ResidentRange output = set.range(pool_, inputs.size(), bytes);
    const Dispatches made = index == 0 ? Dispatches() : make_dispatches(tile.kernel);
    const std::span<const Dispatch> dispatches = index == 0 ? first_ : made.dispatches;
    if (dispatches.empty()) throw std::logic_error("a tile of a kernel is refused");
    const Step step = step_of({dispatches.begin(), dispatches.end()}, inputs.size(), 1);
    inputs.push_back(output);
    set.stream.run({.kernels = kernel_runs(std::span(&step, 1), inputs, device_)}, &output);
  }

  void finish(Set& set, std::uint64_t index) {
    const Tile tile = grid_.tile(index);
    const std::uint64_t size = output_element_size(tile.kernel);
    const std::span<const std::byte> bytes = set.stream.finish();
    add(times_, set.stream.times());
    struct Part {
      std::uint64_t offset;
      std::span<const std::byte> bytes;
    };
    std::vector<Part> parts;
    grid_.for_each_run(tile, [&](std::uint64_t begin, std::uint64_t from, std::uint64_t count) {
      for (std::uint64_t at = 0; at < count * size; at += part_bytes) {
        parts.push_back({begin * size + at,
                         bytes.subspan(from * size + at,
                                       std::min<std::uint64_t>(part_bytes, count * size - at))});
      }
    });
    parallel_for(threads_, parts.size(),
                 [&](unsigned, std::uint64_t i) { sink_(parts[i].offset, parts[i].bytes); });
  }

  const DispatchTimes& times() const { return times_; }

 private:
  void fill(std::span<std::byte> staging, const Gather& gather) {
    const Kernel kernel(gather.map);
    const auto input = inputs_.subspan(gather.input, 1);
    if (gather.elements() == output_elements(kernel))
      return cpu::execute_all(kernel, input, threads_, staging.data());
    const std::uint64_t size = gather.map.element_size, step = part_bytes / size;
    parallel_for(threads_, divided_up(gather.elements(), step), [&](unsigned, std::uint64_t i) {
      const std::uint64_t begin = gather.begin + i * step;
      cpu::execute(kernel, input, begin, std::min(begin + step, gather.end),
                   &staging[i * step * size]);
    });
  }

  const TileGrid& grid_;
  std::span<const Dispatch> first_;
  const DeviceInfo& device_;
  BufferPool& pool_;
  std::span<const std::span<const std::byte>> inputs_;
  unsigned threads_;
  const Sink& sink_;
  DispatchTimes times_;
};

TileUse tile_use(const Device& device, const Kernel& kernel, const ExecuteOptions& options) {
  if (std::string refusal = device.refusal(); !refusal.empty()) return {std::move(refusal)};
  Tiles tiles = tiles_of(kernel, device, options);
  return {std::move(tiles.refusal), tiles.grid ? tiles.grid->copies() : 1};
}

std::string Executor::resident_refusal(const ResidentWork& work) const {
  if (std::string refusal = device_.refusal(); !refusal.empty()) return refusal;
  const std::uint64_t most = device_.buffer_bytes_limit();
  const bool fit =
      std::all_of(work.slots.begin(), work.slots.end(),
                  [&](const ResidentRange& range) { return range.offset + range.bytes <= most; });
  if (!fit)
    return "its tensors do not fit the device's buffers of " + std::to_string(most) + " bytes";
  return scratch_refusal(scratch_bytes(work.steps, device_.info()), device_);
}

void prepare_tiles(Device& device, const Kernel& kernel, const ExecuteOptions& options) {
  if (!device.refusal().empty()) return;
  const Tiles tiles = tiles_of(kernel, device, options);
  if (!tiles.refusal.empty()) return;
  for (const Dispatch& dispatch : tiles.dispatches)
    device.prepare(chosen_dispatch(dispatch, device.info()));
}

bool Executor::execute(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
                       const ExecuteOptions& options, const Sink& sink, DispatchTimes& times) {
  if (!device_.refusal().empty()) return false;
  const Tiles tiles = tiles_of(kernel, device_, options);
  if (!tiles.refusal.empty()) return false;
  const std::optional<TileGrid>& grid = tiles.grid;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(grid->size(), stream_count));
  set(count - 1);
  TileRunner runner(*grid, tiles.dispatches, *this, inputs, std::max(1U, options.threads), sink);
  for (std::uint64_t index = 0; index < grid->size() + count; ++index) {
    Set& set = *sets_[index % count];
    if (index >= count) runner.finish(set, index - count);
    if (index < grid->size()) runner.start(set, index);
  }
  add(times, runner.times());
  return true;
}

void Executor::Set::finish() {
  stream.finish();
  held.clear();
}

Executor::Set& Executor::set(std::size_t index) {
  while (sets_.size() <= index) sets_.push_back(std::make_unique<Set>(device_, pool_));
  return *sets_[index];
}

// Tensors that stand where kernels cannot read or write them are copied.
StreamWork Executor::stream_work(const ResidentWork& resident,
                                 std::vector<std::shared_ptr<ResidentBuffer>>& held) {
  const UsedSlots used(resident.steps);
  StreamWork work;
  std::vector<ResidentRange> placed = resident.slots;
  const auto place = [&](std::size_t slot) {
    held.push_back(make_resident_buffer(resident.slots[slot].bytes));
    placed[slot] = {held.back().get(), 0, resident.slots[slot].bytes};
  };
  for (const std::size_t slot : used.read) {
    if (is_aligned(resident.slots[slot]) || used.written.contains(slot)) continue;
    place(slot);
    work.copies_before.push_back({resident.slots[slot], placed[slot]});
  }
  for (const std::size_t slot : used.written) {
    if (is_written_in_place(slot, used, resident.slots)) continue;
    place(slot);
    work.copies_after.push_back({placed[slot], resident.slots[slot]});
  }
  work.kernels = kernel_runs(resident.steps, placed, device_.info());
  return work;
}

bool Executor::make_room(const ResidentWork& work) {
  std::vector<std::shared_ptr<ResidentBuffer>> held;
  const StreamWork made = stream_work(work, held);
  return first_stream().make_room(std::span(&made, 1), MakeRoom::of_kept_also);
}

void Executor::execute_resident(std::span<const ResidentWork> works, DispatchTimes& times) {
  std::vector<StreamWork> all;
  std::vector<std::shared_ptr<ResidentBuffer>> held;
  for (const ResidentWork& work : works) {
    all.push_back(stream_work(work, held));
    if (all.back().kernels.empty()) all.pop_back();
  }
  if (all.empty()) return;
  Stream& stream = first_stream();
  stream.run(all);
  stream.finish();
  add(times, stream.times());
}

// Two sets take turns: the host records the works of one while the device does those of the other.
// Where there is no room for the second one's scratch, the first one does all.
void Executor::submit_resident(std::span<const ResidentWork> works) {
  Set& next = set(next_set_);
  next.finish();
  std::vector<std::shared_ptr<ResidentBuffer>> held;
  std::vector<StreamWork> all;
  for (const ResidentWork& work : works) {
    all.push_back(stream_work(work, held));
    if (all.back().kernels.empty()) all.pop_back();
    held.insert(held.end(), work.held.begin(), work.held.end());
  }
  if (!next.stream.make_room(all, MakeRoom::of_unused)) finish_resident();
  Set& now = set(next_set_);
  now.held = std::move(held);
  if (!all.empty()) now.stream.run(all);
  next_set_ = 1 - next_set_;
  set(next_set_).finish();
}

bool Executor::finish_resident() {
  bool has_held = false;
  for (const std::unique_ptr<Set>& one : sets_) {
    has_held = has_held || !one->held.empty();
    one->finish();
  }
  next_set_ = 0;  // few works then need the staging memory of one set only
  return has_held;
}

void Executor::write(const ResidentRange& to, std::span<const std::byte> bytes) {
  first_stream().write(to, bytes);
}

void Executor::read(const ResidentRange& from, std::span<std::byte> bytes) {
  first_stream().read(from, bytes);
}

}  // namespace dmlop::gpu
