#include "job/device_plan.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "gpu/dispatch.hpp"

namespace dmlop {
namespace {

// Outputs of a resident plan come from the device in pieces of this size.
constexpr std::uint64_t piece_bytes = std::uint64_t{64} << 20;

// Slices of a join take so much of the device, inputs and output together, unless a limit is given.
constexpr std::uint64_t slice_bytes = std::uint64_t{256} << 20;

/// Buffers of the device for some slots of a plan.
struct ResidentSlots {
  std::vector<std::unique_ptr<gpu::ResidentBuffer>> buffers;
  std::vector<gpu::ResidentRange> ranges;  // by slot

  /// False where the device has no room.
  bool add(gpu::Device& device, std::size_t slot, std::uint64_t bytes) {
    buffers.push_back(try_resident_buffer(device, bytes));
    ranges[slot] = {buffers.back().get(), 0, bytes};
    return buffers.back() != nullptr;
  }
};

/// The plan's kernel, if it is a join and nothing else.
const JoinKernel* only_join(const Plan& plan) {
  return plan.passes.size() == 1 ? std::get_if<JoinKernel>(&plan.passes.front().kernel) : nullptr;
}

// Whether an input lies in memory as it goes into the output.
bool is_one_run(const IndexMapKernel& part) {
  return part.axes.size() == 1 && part.axes.front().boundary == Boundary::none &&
         (part.axes.front().stride == 1 || part.axes.front().extent == 1);
}

// Whether each pass runs in tiles, from the host's memory to the sink.
bool is_of_tiles(const Plan& plan) {
  return plan.slots_of(SlotKind::temporary).empty() &&
         std::all_of(plan.passes.begin(), plan.passes.end(),
                     [](const Pass& pass) { return is_tiled(pass.kernel); });
}

std::string no_room_for(const Slot& slot) {
  return "the device has no room for the " + counted(slot.bytes(), "byte") + " of " + slot.field;
}

}  // namespace

bool is_streamed(const Plan& plan) {
  return is_of_tiles(plan) || only_join(plan) != nullptr;
}

std::unique_ptr<gpu::ResidentBuffer> try_resident_buffer(gpu::Device& device, std::uint64_t bytes) {
  try {
    return device.make_resident_buffer(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::run_failed) throw;
  } catch (const std::bad_alloc&) {  // no room on the host's side of it
  }
  return nullptr;
}

std::string DevicePlan::run(SlotBytes inputs, const gpu::ExecuteOptions& options,
                            const OutputSink& sink, gpu::DispatchTimes& times) {
  if (is_of_tiles(plan_)) return stream(inputs, options, sink, times);
  const std::string refusal = upload_and_run(inputs, options.device_memory_bytes, sink, times);
  if (refusal.empty() || only_join(plan_) == nullptr) return refusal;
  return stream_join(inputs, options, sink, times);
}

std::string DevicePlan::stream_join(SlotBytes inputs, const gpu::ExecuteOptions& options,
                                    const OutputSink& sink, gpu::DispatchTimes& times) {
  const JoinKernel& join = *only_join(plan_);
  for (const IndexMapKernel& part : join.parts) {
    std::string refusal = executor_.refusal(part, options);
    if (!refusal.empty()) return refusal;
  }
  const std::uint64_t limit = options.device_memory_bytes;
  const std::uint64_t room =
      std::min(device_.buffer_bytes_limit(), limit != 0 ? limit : slice_bytes);
  const std::uint64_t row_bytes = join.output_elements() / join.outer * output_element_size(join);
  const std::uint64_t rows_at_once = room / 2 / row_bytes;
  const bool are_runs = std::all_of(join.parts.begin(), join.parts.end(), is_one_run);
  if (are_runs && rows_at_once > 0)
    stream_rows(join, rows_at_once, inputs, options, sink, times);
  else
    stream_parts(join, inputs, options, sink, times);
  return "";
}

void DevicePlan::stream_rows(const JoinKernel& join, std::uint64_t rows_at_once, SlotBytes inputs,
                             const gpu::ExecuteOptions& options, const OutputSink& sink,
                             gpu::DispatchTimes& times) {
  const Pass& pass = plan_.passes.front();
  const std::size_t output = pass.writes.front();
  const std::uint64_t size = plan_.slots[output].element_size;
  const std::uint64_t row_bytes = plan_.slots[output].bytes() / join.outer;
  for (std::uint64_t row = 0; row < join.outer; row += rows_at_once) {
    const std::uint64_t rows = std::min(rows_at_once, join.outer - row);
    JoinKernel slice{.parts = {}, .outer = rows};
    std::vector<std::span<const std::byte>> slices(inputs.begin(), inputs.end());
    Plan plan = plan_;
    for (std::size_t i = 0; i < join.parts.size(); ++i) {
      const IndexMapKernel& part = join.parts[i];
      const std::uint64_t run = part.output_elements() / join.outer;
      const std::uint64_t first = static_cast<std::uint64_t>(part.offset) + row * run;
      slice.parts.push_back({.element_size = size, .axes = {{.extent = rows * run, .stride = 1}}});
      slices[pass.reads[i]] = inputs[pass.reads[i]].subspan(first * size, rows * run * size);
      plan.slots[pass.reads[i]].elements = rows * run;
    }
    plan.slots[output].elements = slice.output_elements();
    plan.passes.front().kernel = std::move(slice);
    const std::string refusal =
        DevicePlan(plan, device_, executor_)
            .upload_and_run(
                slices, options.device_memory_bytes,
                [&](std::size_t slot, std::uint64_t offset, std::span<const std::byte> bytes) {
                  sink(slot, row * row_bytes + offset, bytes);
                },
                times);
    if (!refusal.empty()) throw Error(ErrorKind::run_failed, "a slice of a join: " + refusal);
  }
}

void DevicePlan::stream_parts(const JoinKernel& join, SlotBytes inputs,
                              const gpu::ExecuteOptions& options, const OutputSink& sink,
                              gpu::DispatchTimes& times) {
  const Pass& pass = plan_.passes.front();
  const std::size_t output = pass.writes.front();
  const std::uint64_t row_bytes = plan_.slots[output].bytes() / join.outer;
  std::uint64_t start = 0;  // of the part in a row
  for (std::size_t i = 0; i < join.parts.size(); ++i) {
    const IndexMapKernel& part = join.parts[i];
    const std::uint64_t run_bytes = part.output_elements() / join.outer * part.element_size;
    const std::span<const std::byte> input = inputs[pass.reads[i]];
    executor_.execute(
        part, {&input, 1}, options,
        [&](std::uint64_t offset, std::span<const std::byte> bytes) {
          while (!bytes.empty()) {
            const std::uint64_t row = offset / run_bytes, column = offset % run_bytes;
            const std::uint64_t count = std::min<std::uint64_t>(run_bytes - column, bytes.size());
            sink(output, row * row_bytes + start + column, bytes.first(count));
            bytes = bytes.subspan(count);
            offset += count;
          }
        },
        times);
    start += run_bytes;
  }
}

std::string DevicePlan::stream(SlotBytes inputs, const gpu::ExecuteOptions& options,
                               const OutputSink& sink, gpu::DispatchTimes& times) {
  for (const Pass& pass : plan_.passes) {
    std::string refusal = executor_.refusal(pass.kernel, options);
    if (!refusal.empty()) return refusal;
  }
  for (const Pass& pass : plan_.passes) {
    std::vector<std::span<const std::byte>> read;
    for (const std::size_t slot : pass.reads) read.push_back(inputs[slot]);
    const std::size_t output = pass.writes.front();
    executor_.execute(
        pass.kernel, read, options,
        [&](std::uint64_t offset, std::span<const std::byte> bytes) {
          sink(output, offset, bytes);
        },
        times);
  }
  return "";
}

std::string DevicePlan::upload_and_run(SlotBytes inputs, std::uint64_t device_memory_bytes,
                                       const OutputSink& sink, gpu::DispatchTimes& times) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < plan_.slots.size(); ++i)
    bytes += plan_.slots[i].kind == SlotKind::input ? inputs[i].size() : plan_.slots[i].bytes();
  if (device_memory_bytes != 0 && bytes > device_memory_bytes)
    return "its tensors need " + counted(bytes, "byte") + ", and --device-memory allows " +
           std::to_string(device_memory_bytes);
  for (const Pass& pass : plan_.passes) {  // before anything is uploaded
    std::string refusal = gpu::kernel_refusal(pass.kernel);
    if (!refusal.empty()) return refusal;
  }
  ResidentSlots resident{{}, std::vector<gpu::ResidentRange>(plan_.slots.size())};
  for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
    const Slot& slot = plan_.slots[i];
    if (slot.kind == SlotKind::temporary) continue;
    const std::uint64_t size = slot.kind == SlotKind::input ? inputs[i].size() : slot.bytes();
    if (!resident.add(device_, i, size)) return no_room_for(slot);
  }
  for (const std::size_t slot : plan_.slots_of(SlotKind::input))
    executor_.write(resident.ranges[slot], inputs[slot]);
  std::string refusal = run_resident(resident.ranges, times);
  if (!refusal.empty()) return refusal;
  for (const std::size_t slot : plan_.slots_of(SlotKind::output)) {
    const gpu::ResidentRange whole = resident.ranges[slot];
    Buffer piece(std::min(whole.bytes, piece_bytes), "a piece of " + plan_.slots[slot].field);
    for (std::uint64_t at = 0; at < whole.bytes; at += piece_bytes) {
      const std::uint64_t count = std::min(piece_bytes, whole.bytes - at);
      executor_.read({whole.buffer, at, count}, piece.bytes().first(count));
      sink(slot, at, piece.bytes().first(count));
    }
  }
  return "";
}

std::string DevicePlan::run_resident(std::span<const gpu::ResidentRange> slots,
                                     gpu::DispatchTimes& times) {
  for (const Pass& pass : plan_.passes) {
    std::string refusal = gpu::kernel_refusal(pass.kernel);
    if (!refusal.empty()) return refusal;
  }
  const std::vector<gpu::Step> steps = gpu::steps_of(plan_);
  const auto is_needed = [&](std::size_t slot) {
    return std::any_of(steps.begin(), steps.end(), [&](const gpu::Step& step) {
      return std::count(step.writes.begin(), step.writes.end(), slot) != 0;
    });
  };
  ResidentSlots resident{{}, {slots.begin(), slots.end()}};
  for (const std::size_t slot : plan_.slots_of(SlotKind::temporary)) {
    if (is_needed(slot) && !resident.add(device_, slot, plan_.slots[slot].bytes()))
      return no_room_for(plan_.slots[slot]);
  }
  const auto ranges_of = [&](const std::vector<std::size_t>& slots_used) {
    std::vector<gpu::ResidentRange> ranges;
    for (const std::size_t slot : slots_used) ranges.push_back(resident.ranges[slot]);
    return ranges;
  };
  for (const gpu::Step& step : steps) {
    std::string refusal =
        executor_.resident_refusal(step, ranges_of(step.reads), ranges_of(step.writes));
    if (!refusal.empty()) return refusal;
  }
  for (const gpu::Step& step : steps)
    executor_.execute_resident(step, ranges_of(step.reads), ranges_of(step.writes), times);
  return "";
}

}  // namespace dmlop
