#include "job/device_plan.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <vector>

#include "base/buffer.hpp"
#include "base/caller.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "gpu/steps.hpp"
#include "ops/tiling.hpp"

namespace dmlop {
namespace {

// Outputs of a resident plan come from the device in pieces of this size.
constexpr std::uint64_t piece_bytes = std::uint64_t{64} << 20;

// False where an action fails because the device, or the host's side of it, has no room.
template <typename Action>
bool has_room(Action&& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::run_failed) throw;
  } catch (const std::bad_alloc&) {
  }
  return false;
}

std::uint64_t tensor_bytes(const std::vector<Slot>& slots, SlotBytes inputs) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < slots.size(); ++i)
    bytes += slots[i].kind == SlotKind::input ? inputs[i].size() : slots[i].bytes();
  return bytes;
}

std::string no_room_for(const Slot& slot) {
  return "the device has no room for the " + counted(slot.bytes(), "byte") + " of " + slot.field;
}

/// How a plan could be streamed.
struct Streaming {
  bool is_possible = false;
  bool is_best = false;  // also where all tensors fit the device
};

Streaming streaming_of(const Plan& plan, const gpu::Device& device,
                       const gpu::ExecuteOptions& options) {
  constexpr double copies_most = 1.5;
  if (!can_be_streamed(plan)) return {};
  Streaming found{true, true};
  for (const Pass& pass : plan.passes) {
    const gpu::TileUse use = gpu::tile_use(device, pass.kernel, options);
    if (!use.refusal.empty()) return {};
    found.is_best = found.is_best && use.copies <= copies_most;
  }
  return found;
}

}  // namespace

bool can_be_streamed(const Plan& plan) {
  return plan.slots_of(SlotKind::temporary).empty() &&
         std::all_of(plan.passes.begin(), plan.passes.end(),
                     [](const Pass& pass) { return has_tiles(pass.kernel); });
}

void prepare(gpu::Device& device, const Plan& plan, const gpu::ExecuteOptions& options) {
  if (!streaming_of(plan, device, options).is_best) return gpu::prepare(device, plan);
  for (const Pass& pass : plan.passes) gpu::prepare_tiles(device, pass.kernel, options);
}

std::shared_ptr<gpu::ResidentBuffer> try_resident_buffer(gpu::Executor& executor,
                                                         std::uint64_t bytes) {
  std::shared_ptr<gpu::ResidentBuffer> buffer;
  const auto make = [&] { buffer = executor.make_resident_buffer(bytes); };
  if (has_room(make)) return buffer;
  const bool has_held = executor.finish_resident();  // what is submitted may hold the room
  return has_held && has_room(make) ? std::move(buffer) : nullptr;
}

std::string DevicePlan::run(SlotBytes inputs, const gpu::ExecuteOptions& options,
                            const OutputSink& sink, gpu::DispatchTimes& times) {
  if (std::string refusal = device_.refusal(); !refusal.empty()) return refusal;
  if (options.device_memory_bytes != 0) executor_.free_unused_memory();  // it would count
  const Streaming streaming = streaming_of(plan_, device_, options);
  if (streaming.is_best) return stream(inputs, options, sink, times);
  std::string refusal = upload_and_run(inputs, options.device_memory_bytes, sink, times);
  if (refusal.empty() || !streaming.is_possible) return refusal;
  return stream(inputs, options, sink, times);
}

std::string DevicePlan::stream(SlotBytes inputs, const gpu::ExecuteOptions& options,
                               const OutputSink& sink, gpu::DispatchTimes& times) {
  for (const Pass& pass : plan_.passes) {
    std::vector<std::span<const std::byte>> read;
    for (const std::size_t slot : pass.reads) read.push_back(inputs[slot]);
    const std::size_t output = pass.writes.front();
    const bool done = executor_.execute(
        pass.kernel, read, options,
        [&](std::uint64_t offset, std::span<const std::byte> bytes) {
          sink(output, offset, bytes);
        },
        times);
    if (!done) throw std::logic_error("a kernel that was not refused is refused");
  }
  return "";
}

std::string DevicePlan::upload_and_run(SlotBytes inputs, std::uint64_t device_memory_bytes,
                                       const OutputSink& sink, gpu::DispatchTimes& times) {
  gpu::Steps found = gpu::steps_of(plan_);
  if (!found.refusal.empty()) return found.refusal;
  const std::uint64_t scratch = gpu::scratch_bytes(found.steps, device_.info());
  const std::uint64_t bytes = tensor_bytes(found.slots, inputs) + scratch;
  if (device_memory_bytes != 0 && bytes > device_memory_bytes)
    return (scratch == 0 ? "its tensors need " : "its tensors and its kernels' scratch need ") +
           counted(bytes, "byte") + ", and " + option_text("--device-memory") + " allows " +
           std::to_string(device_memory_bytes);
  std::vector<std::shared_ptr<gpu::ResidentBuffer>> buffers;
  std::vector<gpu::ResidentRange> ranges(plan_.slots.size());
  for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
    const Slot& slot = plan_.slots[i];
    if (slot.kind == SlotKind::temporary) continue;
    const std::uint64_t size = slot.kind == SlotKind::input ? inputs[i].size() : slot.bytes();
    buffers.push_back(try_resident_buffer(executor_, size));
    if (!buffers.back()) return no_room_for(slot);
    ranges[i] = {buffers.back().get(), 0, size};
  }
  gpu::ResidentWork work;
  std::string refusal = make_work(std::move(found), ranges, work);
  if (!refusal.empty()) return refusal;  // before anything is uploaded
  if (!executor_.make_room(work))
    return "the device has no room for the parameters of its kernels and their scratch of " +
           counted(scratch, "byte");
  for (const std::size_t slot : plan_.slots_of(SlotKind::input))
    executor_.write(ranges[slot], inputs[slot]);
  executor_.execute_resident(std::span(&work, 1), times);
  for (const std::size_t slot : plan_.slots_of(SlotKind::output)) {
    const gpu::ResidentRange whole = ranges[slot];
    Buffer piece(std::min(whole.bytes, piece_bytes), "a piece of " + plan_.slots[slot].field);
    for (std::uint64_t at = 0; at < whole.bytes; at += piece_bytes) {
      const std::uint64_t count = std::min(piece_bytes, whole.bytes - at);
      executor_.read({whole.buffer, at, count}, piece.bytes().first(count));
      sink(slot, at, piece.bytes().first(count));
    }
  }
  return "";
}

std::string DevicePlan::make_resident_work(std::span<const gpu::ResidentRange> slots,
                                           gpu::ResidentWork& work) {
  gpu::Steps found = gpu::steps_of(plan_);
  return found.refusal.empty() ? make_work(std::move(found), slots, work) : found.refusal;
}

std::string DevicePlan::make_work(gpu::Steps found, std::span<const gpu::ResidentRange> slots,
                                  gpu::ResidentWork& work) {
  work = {std::move(found.steps), {slots.begin(), slots.end()}};
  work.slots.resize(found.slots.size());
  for (std::size_t i = 0; i < found.slots.size(); ++i) {
    const Slot& slot = found.slots[i];
    if (slot.kind != SlotKind::temporary) continue;
    work.held.push_back(try_resident_buffer(executor_, slot.bytes()));
    if (!work.held.back()) return no_room_for(slot);
    work.slots[i] = {work.held.back().get(), 0, slot.bytes()};
  }
  return executor_.resident_refusal(work);
}

}  // namespace dmlop
