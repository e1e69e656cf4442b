#include "model/runtime.hpp"

#include <algorithm>
#include <cstring>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "gpu/commands.hpp"
#include "gpu/launches.hpp"
#include "job/strict_indices.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

// As many kernels as a list of commands has: then the device need not be waited for while they are
// recorded. What they write takes memory that no later one can use meanwhile.
constexpr std::size_t enqueued_most = gpu::binds_most;
constexpr std::uint64_t enqueued_bytes_most = std::uint64_t{128} << 20;

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::less<>()(a.data(), b.data() + b.size()) &&
         std::less<>()(b.data(), a.data() + a.size());
}

std::size_t kernels_of(const gpu::ResidentWork& work) {
  std::size_t count = 0;
  for (const gpu::Step& step : work.steps) count += step.dispatches.size();
  return count;
}

/// Writes packed elements to the places that an output's strides give them.
class Scatter {
 public:
  Scatter(const Runtime::HostTensor& output, std::size_t element_size)
      : output_(output), size_(element_size) {}

  /// Writes bytes of the packed output from `offset` on.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const {
    if (output_.strides.empty()) return copy_in_pieces(bytes, output_.bytes.data() + offset);
    const std::uint64_t first = offset / size_;
    in_pieces(bytes.size() / size_, far_steps, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i)
        std::memcpy(output_.bytes.data() + position(first + i) * size_, &bytes[i * size_], size_);
    });
  }

 private:
  std::uint64_t position(std::uint64_t index) const {
    std::uint64_t position = 0;
    for (std::size_t i = output_.sizes.size(); i-- > 0;) {
      position += index % output_.sizes[i] * output_.strides[i];
      index /= output_.sizes[i];
    }
    return position;
  }

  const Runtime::HostTensor& output_;
  std::size_t size_;
};

/// Whether an output overlaps an input, which is still to be read.
bool overlaps_inputs(const Runtime::Step& step) {
  for (const std::size_t output : step.plan.slots_of(SlotKind::output)) {
    for (const std::size_t input : step.plan.slots_of(SlotKind::input)) {
      if (overlap(step.slots[input].bytes, step.slots[output].bytes)) return true;
    }
  }
  return false;
}

bool has_packed_outputs(const Runtime::Step& step) {
  const std::vector<std::size_t> outputs = step.plan.slots_of(SlotKind::output);
  return std::all_of(outputs.begin(), outputs.end(),
                     [&](std::size_t slot) { return step.slots[slot].strides.empty(); });
}

}  // namespace

Runtime::Runtime(const Model& model, Backend& backend, const ExecutionOptions& options)
    : Runtime(model, backend, options, std::make_shared<PreparedModel>(model)) {}

Runtime::Runtime(const Model& model, Backend& backend, const ExecutionOptions& options,
                 std::shared_ptr<PreparedModel> prepared)
    : model_(model), backend_(backend), options_(options), prepared_(std::move(prepared)) {
  for (std::size_t i = 0; i < model.resources.size(); ++i) {
    memories_.push_back(filled(model.resources[i], prepared_->is_written(i)));
    if (prepared_->is_kept(i)) memories_.back().constant = i;
  }
  keep_owned(model);
}

void Runtime::copy_mapped(std::size_t resource) {
  Memory& memory = memories_[resource];
  if (memory.source == nullptr) return;
  memory.make_host(true);
  copy_in_pieces(memory.mapped, memory.host.data());
  if (memory.source->require_intact) memory.source->require_intact();
  memory.source = nullptr;
  memory.mapped = {};
}

void Runtime::Memory::make_host(bool is_overwritten) {
  const std::string what = '"' + printable(std::string(name)) + '"';
  host = is_overwritten ? Buffer::to_overwrite(bytes, what) : Buffer(bytes, what);
}

Runtime::Memory Runtime::filled(const Resource& resource, bool is_written) {
  const InitialValues& initial = resource.initial;
  Memory memory{.name = resource.name, .bytes = resource.size};
  const bool is_there = !initial.mapped.empty() && initial.mapped.size() >= resource.size;
  if (is_there && !is_written && resource.offset == 0) {
    memory.source = &initial;
    memory.mapped = initial.mapped.first(resource.size);
  } else if (initial.fill) {
    memory.make_host(false);
    initial.fill(memory.host.bytes().subspan(resource.offset, initial.bytes));
  }
  return memory;
}

void Runtime::require_intact(const BoundPlan& bound) {
  for (const Place& place : bound.slots) {
    const InitialValues* source = place.memory != nullptr ? place.memory->source : nullptr;
    if (source != nullptr && source->require_intact) source->require_intact();
  }
}

void Runtime::keep_owned(const Model& model) {
  owned_.resize(model.dispatchables.size());
  for (std::size_t i = 0; i < model.dispatchables.size(); ++i) {
    for (const TensorBinding& binding : model.dispatchables[i].owned) {
      const auto bytes =
          contents(binding.range.resource).subspan(binding.range.offset, binding.range.size);
      Memory& copy = owned_[i].emplace_back(
          Memory{.name = model.resources[binding.range.resource].name, .bytes = bytes.size()});
      copy.make_host(true);
      copy_in_pieces(bytes, copy.host.data());
    }
  }
}

Runtime::Place Runtime::place_of(const Slot& slot, const DispatchCommand& command) {
  const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
  const auto is_it = [&](const TensorBinding& binding) {
    return binding.is(slot.field, slot.element);
  };
  const auto& bindings = command.bindings;
  const auto binding = std::find_if(bindings.begin(), bindings.end(), is_it);
  if (binding == bindings.end()) {
    const auto& kept = dispatchable.owned;
    const auto at = std::find_if(kept.begin(), kept.end(), is_it) - kept.begin();
    Memory& memory = owned_[command.dispatchable][static_cast<std::size_t>(at)];
    return {&memory, 0, memory.size()};
  }
  Place place{&memories_[binding->range.resource], binding->range.offset, binding->range.size};
  if (slot.kind == SlotKind::input) return place;
  const TensorDesc& desc = *dispatchable.description->find_tensor(slot.field, slot.element);
  place.sizes = desc.sizes;
  place.strides = desc.strides.value_or(Strides{});
  return place;
}

Runtime::BoundPlan Runtime::bind(const DispatchCommand& command) {
  BoundPlan bound{prepared_->plan(command.dispatchable), {}};
  for (const Slot& slot : bound.plan.slots) {
    const bool is_bound = slot.kind != SlotKind::temporary;
    bound.slots.push_back(is_bound ? place_of(slot, command) : Place{});
  }
  return bound;
}

std::vector<std::span<const std::byte>> Runtime::Step::inputs() const {
  std::vector<std::span<const std::byte>> inputs(slots.size());
  for (const std::size_t slot : plan.slots_of(SlotKind::input)) inputs[slot] = slots[slot].bytes;
  return inputs;
}

std::vector<std::span<std::byte>> Runtime::Step::outputs() const {
  std::vector<std::span<std::byte>> outputs(slots.size());
  for (const std::size_t slot : plan.slots_of(SlotKind::output))
    outputs[slot] = slots[slot].bytes.first(plan.slots[slot].bytes());
  return outputs;
}

Runtime::Step Runtime::step(const BoundPlan& bound) {
  Step step{bound.plan, {}};
  for (std::size_t i = 0; i < bound.slots.size(); ++i) {
    const Place& place = bound.slots[i];
    HostTensor& tensor = step.slots.emplace_back();
    if (place.memory == nullptr) continue;
    const std::span<std::byte> whole = on_host(*place.memory, is_overwritten(bound, i));
    tensor = {whole.subspan(place.offset, place.bytes), place.sizes, place.strides};
  }
  return step;
}

Runtime::Step Runtime::step(const DispatchCommand& command) {
  return step(bind(command));
}

std::span<std::byte> Runtime::on_host(Memory& memory, bool is_overwritten) {
  // Only outputs are written to, and none of these is one.
  if (memory.source != nullptr)
    return {const_cast<std::byte*>(memory.mapped.data()), memory.size()};
  if (memory.host.data() == nullptr) memory.make_host(is_overwritten || !memory.host_is_current);
  if (!memory.host_is_current) {
    finish();
    backend_.read_resident({memory.device.get(), 0, memory.size()}, memory.host.bytes());
  }
  memory.host_is_current = true;
  return memory.host.bytes();
}

std::shared_ptr<gpu::ResidentBuffer> Runtime::uploaded(Memory& memory) {
  auto buffer = memory.device ? memory.device : backend_.make_resident_buffer(memory.size());
  if (buffer) backend_.write_resident({buffer.get(), 0, memory.size()}, on_host(memory));
  return buffer;
}

bool Runtime::on_device(Memory& memory) {
  if (memory.device_is_current) return true;
  if (memory.constant) memory.device = prepared_->constant(*memory.constant);
  if (!memory.constant || !memory.device) {
    memory.device = uploaded(memory);
    if (memory.constant) prepared_->keep_constant(*memory.constant, memory.device);
  }
  memory.device_is_current = memory.device != nullptr;
  return memory.device_is_current;
}

bool Runtime::has_room_on_device(Memory& memory) {
  if (!memory.device) memory.device = backend_.make_resident_buffer(memory.size());
  return memory.device != nullptr;
}

// Whether a dispatch writes all bytes that an output has before, and reads none of them.
bool Runtime::is_overwritten(const BoundPlan& bound, std::size_t slot) {
  const Place& place = bound.slots[slot];
  if (bound.plan.slots[slot].kind != SlotKind::output || place.offset != 0 ||
      bound.plan.slots[slot].bytes() != place.memory->size())
    return false;
  const std::vector<std::size_t> inputs = bound.plan.slots_of(SlotKind::input);
  return std::ranges::none_of(
      inputs, [&](std::size_t input) { return bound.slots[input].memory == place.memory; });
}

std::optional<gpu::ResidentWork> Runtime::resident_work(const BoundPlan& bound) {
  // A memory limit for the device is kept by cutting the work into tiles, which come from the host.
  if (!backend_.is_gpu() || options_.device_memory_bytes != 0) return std::nullopt;
  std::vector<gpu::ResidentRange> ranges;
  std::vector<std::shared_ptr<gpu::ResidentBuffer>> buffers;
  for (std::size_t i = 0; i < bound.slots.size(); ++i) {
    const Place& place = bound.slots[i];
    const Slot& slot = bound.plan.slots[i];
    if (!place.strides.empty()) return std::nullopt;
    if (place.memory != nullptr &&
        !(is_overwritten(bound, i) ? has_room_on_device(*place.memory) : on_device(*place.memory)))
      return std::nullopt;
    if (place.memory != nullptr) buffers.push_back(place.memory->device);
    gpu::ResidentBuffer* buffer = place.memory != nullptr ? place.memory->device.get() : nullptr;
    const bool is_output = slot.kind == SlotKind::output;
    ranges.push_back({buffer, place.offset, is_output ? slot.bytes() : place.bytes});
  }
  auto work = backend_.make_resident_work(bound.plan, ranges);
  if (!work) return std::nullopt;
  work->held.insert(work->held.end(), buffers.begin(), buffers.end());
  for (const std::size_t slot : bound.plan.slots_of(SlotKind::output)) {
    bound.slots[slot].memory->host_is_current = false;
    bound.slots[slot].memory->device_is_current = true;
  }
  ++resident_dispatches_;
  return work;
}

Execution Runtime::dispatch_from_host(const BoundPlan& bound, const DispatchCommand& command) {
  const Step step = this->step(bound);
  const auto outputs = step.plan.slots_of(SlotKind::output);
  for (const std::size_t slot : outputs) bound.slots[slot].memory->device_is_current = false;
  const bool is_in_place = overlaps_inputs(step);
  if (!is_in_place && has_packed_outputs(step)) {
    // What is kept would count as temporary.
    const bool is_kept = !backend_.is_gpu() && options_.host_memory_bytes == 0;
    return backend_.execute_into(step.plan, step.inputs(), step.outputs(), options_,
                                 is_kept ? &prepared_->host_plan(command.dispatchable) : nullptr);
  }
  const auto scatter = [&](std::size_t slot, std::uint64_t offset,
                           std::span<const std::byte> bytes) {
    Scatter(step.slots[slot], step.plan.slots[slot].element_size).write(offset, bytes);
  };
  if (!is_in_place) return backend_.execute(step.plan, step.inputs(), options_, scatter);
  std::vector<Buffer> kept(step.plan.slots.size());
  std::vector<std::span<std::byte>> memory(step.plan.slots.size());
  for (const std::size_t slot : outputs) {
    kept[slot] = Buffer::to_overwrite(step.plan.slots[slot].bytes(), step.plan.slots[slot].field);
    memory[slot] = kept[slot].bytes();
  }
  const Execution execution = backend_.execute_into(step.plan, step.inputs(), memory, options_);
  for (const std::size_t slot : outputs) scatter(slot, 0, kept[slot].bytes());
  return execution;
}

// Also those that the model computed, wherever they are.
void Runtime::require_indices(const BoundPlan& bound, const DispatchCommand& command) {
  if (!options_.strict_indices) return;
  const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
  const auto is_it = [&](const ModelCommand& other) {
    return std::get_if<DispatchCommand>(&other) == &command;
  };
  const auto& commands = model_.commands;
  const auto number = std::find_if(commands.begin(), commands.end(), is_it) - commands.begin();
  check_indices(
      bound.plan, *dispatchable.description, options_,
      [&](std::size_t slot) -> InputSource {
        const Place& place = bound.slots[slot];
        const auto first = memories_.begin(), last = memories_.end();
        const auto memory =
            std::find_if(first, last, [&](const Memory& other) { return &other == place.memory; });
        return {
            on_host(*place.memory).subspan(place.offset, place.bytes),
            memory == last
                ? "the copy that DirectML owns"
                : std::string("what the ") + model_.words.resource + " \"" +
                      printable(model_.resources[static_cast<std::size_t>(memory - first)].name) +
                      "\" holds at this step"};
      },
      (model_.words.has_commands ? "commands[" + std::to_string(number) + "], dispatch of \""
                                 : std::string("node \"")) +
          printable(dispatchable.name) + "\": ");
}

std::string Runtime::title_of(const DispatchCommand& command) const {
  const Dispatchable& operation = model_.dispatchables[command.dispatchable];
  return '"' + printable(operation.name) + "\" (" + operation.description->spec->name + ")";
}

void Runtime::note_device(const std::string& device) {
  if (std::ranges::find(devices_, device) == devices_.end()) devices_.push_back(device);
}

Execution Runtime::dispatch(const DispatchCommand& command) {
  finish();
  const BoundPlan bound = bind(command);
  require_indices(bound, command);
  Execution execution{.times = {}, .device = backend_.spec(), .notice = {}};
  const auto run = [&] {
    const auto work = resident_work(bound);
    if (work)
      backend_.execute_resident(std::span(&*work, 1), execution.times);
    else
      execution = dispatch_from_host(bound, command);
  };
  if (model_.dispatchables.size() > 1)
    with_context(title_of(command), run);
  else
    run();
  require_intact(bound);
  note_device(execution.device);
  return execution;
}

std::string Runtime::enqueue(const DispatchCommand& command) {
  if (!backend_.is_gpu()) return dispatch(command).notice;
  const BoundPlan bound = bind(command);
  require_indices(bound, command);
  const auto work_of_device = [&] { return resident_work(bound); };
  auto work = with_context(title_of(command), work_of_device);
  if (!work && has_unfinished()) {  // which may hold the room that it needs
    finish();
    work = with_context(title_of(command), work_of_device);
  }
  if (!work) return dispatch(command).notice;
  require_intact(bound);
  note_device(backend_.spec());
  const std::size_t kernels = kernels_of(*work);
  if (enqueued_kernels_ + kernels > enqueued_most) submit();
  if (enqueued_.empty()) enqueued_from_ = &command;
  last_enqueued_ = &command;
  enqueued_kernels_ += kernels;
  enqueued_seconds_ += backend_.estimated_seconds(*work);
  for (std::size_t i = 0; i < bound.slots.size(); ++i) {
    const Place& place = bound.slots[i];
    if (bound.plan.slots[i].kind != SlotKind::input)
      enqueued_bytes_ += bound.plan.slots[i].bytes();
    else if (place.offset % gpu::range_alignment != 0)  // it is copied
      enqueued_bytes_ += place.bytes;
  }
  enqueued_.push_back(std::move(*work));
  if (enqueued_kernels_ >= enqueued_most || enqueued_bytes_ > enqueued_bytes_most ||
      enqueued_seconds_ >= gpu::Pace::wanted_seconds)
    submit();
  return "";
}

std::string Runtime::title_of_unfinished() const {
  const DispatchCommand* const first =
      submitted_from_ != nullptr ? submitted_from_ : enqueued_from_;
  return first == last_enqueued_ ? title_of(*first)
                                 : title_of(*first) + " to " + title_of(*last_enqueued_);
}

// While the device does it, the next ones are recorded.
void Runtime::submit() {
  if (enqueued_.empty()) return;
  const std::vector<gpu::ResidentWork> works = std::exchange(enqueued_, {});
  enqueued_kernels_ = 0;
  enqueued_bytes_ = 0;
  enqueued_seconds_ = 0;
  with_context(title_of_unfinished(), [&] { backend_.submit_resident(works); });
  submitted_from_ = enqueued_from_;
}

void Runtime::finish() {
  submit();
  if (submitted_from_ == nullptr) return;
  const std::string title = title_of_unfinished();
  submitted_from_ = nullptr;
  with_context(title, [&] { backend_.finish_resident(); });
}

}  // namespace dmlop
