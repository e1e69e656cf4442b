#include "model/runtime.hpp"

#include <algorithm>
#include <cstring>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::less<>()(a.data(), b.data() + b.size()) &&
         std::less<>()(b.data(), a.data() + a.size());
}

/// Writes packed elements to the places that an output's strides give them.
class Scatter {
 public:
  explicit Scatter(const Runtime::Step& step)
      : step_(step), size_(output_element_size(step.plan)) {}

  /// Writes bytes of the packed output from `offset` on.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const {
    if (step_.strides.empty()) return copy_in_pieces(bytes, step_.output.data() + offset);
    const std::uint64_t first = offset / size_;
    in_pieces(bytes.size() / size_, far_steps, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i)
        std::memcpy(step_.output.data() + position(first + i) * size_, &bytes[i * size_], size_);
    });
  }

 private:
  std::uint64_t position(std::uint64_t index) const {
    std::uint64_t position = 0;
    for (std::size_t i = step_.sizes.size(); i-- > 0;) {
      position += index % step_.sizes[i] * step_.strides[i];
      index /= step_.sizes[i];
    }
    return position;
  }

  const Runtime::Step& step_;
  std::size_t size_;
};

}  // namespace

Runtime::Runtime(const Model& model, Backend& backend, const ExecutionOptions& options)
    : model_(model), backend_(backend), options_(options) {
  for (const Resource& resource : model.resources) memories_.push_back({filled(resource)});
  keep_owned(model);
}

Buffer Runtime::filled(const Resource& resource) {
  Buffer buffer(resource.size, '"' + printable(resource.name) + '"');
  if (resource.initial.fill)
    resource.initial.fill(buffer.bytes().subspan(resource.offset, resource.initial.bytes));
  return buffer;
}

void Runtime::keep_owned(const Model& model) {
  owned_.resize(model.dispatchables.size());
  for (std::size_t i = 0; i < model.dispatchables.size(); ++i) {
    for (const TensorBinding& binding : model.dispatchables[i].owned) {
      const auto bytes =
          contents(binding.range.resource).subspan(binding.range.offset, binding.range.size);
      owned_[i].push_back(
          {Buffer(bytes.size(), "the copy that DirectML owns of " + binding.tensor)});
      copy_in_pieces(bytes, owned_[i].back().host.data());
    }
  }
}

Runtime::BoundPlan Runtime::bind(const DispatchCommand& command) {
  const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
  const Description& description = *dispatchable.description;
  BoundPlan bound{
      .plan = make_plan(description), .inputs = {}, .output = {}, .sizes = {}, .strides = {}};
  const auto is_of = [](const FieldSpec& field) {
    return [&field](const TensorBinding& binding) { return binding.tensor == field.name; };
  };
  for (const FieldSpec& field : description.spec->fields) {
    if (!field.is_tensor()) continue;
    const auto& bindings = command.bindings;
    const auto binding = std::find_if(bindings.begin(), bindings.end(), is_of(field));
    if (binding == bindings.end()) {
      const auto& kept = dispatchable.owned;
      const auto at = std::find_if(kept.begin(), kept.end(), is_of(field)) - kept.begin();
      Memory& memory = owned_[command.dispatchable][static_cast<std::size_t>(at)];
      bound.inputs.push_back({&memory, 0, memory.host.size()});
      continue;
    }
    const Place place{&memories_[binding->range.resource], binding->range.offset,
                      binding->range.size};
    if (field.is_input()) {
      bound.inputs.push_back(place);
      continue;
    }
    const TensorDesc& desc = description.tensor(field.name);
    bound.output = place;
    bound.sizes = desc.sizes;
    bound.strides = desc.strides.value_or(Strides{});
  }
  return bound;
}

Runtime::Step Runtime::step(const BoundPlan& bound) {
  const auto bytes_at = [&](const Place& place) {
    return on_host(*place.memory).subspan(place.offset, place.bytes);
  };
  Step step{.plan = bound.plan,
            .inputs = {},
            .output = bytes_at(bound.output),
            .sizes = bound.sizes,
            .strides = bound.strides};
  for (const Place& input : bound.inputs) step.inputs.push_back(bytes_at(input));
  return step;
}

Runtime::Step Runtime::step(const DispatchCommand& command) {
  return step(bind(command));
}

std::span<std::byte> Runtime::on_host(Memory& memory) {
  if (!memory.host_is_current)
    backend_.read_resident({memory.device.get(), 0, memory.host.size()}, memory.host.bytes());
  memory.host_is_current = true;
  return memory.host.bytes();
}

bool Runtime::on_device(Memory& memory) {
  if (memory.device_is_current) return true;
  if (!memory.device) memory.device = backend_.make_resident_buffer(memory.host.size());
  if (!memory.device) return false;
  backend_.write_resident({memory.device.get(), 0, memory.host.size()}, memory.host.bytes());
  memory.device_is_current = true;
  return true;
}

bool Runtime::dispatch_on_device(const BoundPlan& bound, gpu::DispatchTimes& times) {
  // A memory limit for the device is kept by cutting the work into tiles, which come from the host.
  if (!backend_.is_gpu() || options_.device_memory_bytes != 0 || !bound.strides.empty())
    return false;
  const auto range_of = [](const Place& place) {
    return gpu::ResidentRange{place.memory->device.get(), place.offset, place.bytes};
  };
  std::vector<gpu::ResidentRange> inputs;
  for (const Place& input : bound.inputs) {
    if (!on_device(*input.memory)) return false;
    inputs.push_back(range_of(input));
  }
  if (!on_device(*bound.output.memory)) return false;
  gpu::ResidentRange output = range_of(bound.output);
  output.bytes = output_elements(bound.plan) * output_element_size(bound.plan);
  if (!backend_.execute_resident(bound.plan, inputs, output, times)) return false;
  bound.output.memory->host_is_current = false;
  ++resident_dispatches_;
  return true;
}

gpu::DispatchTimes Runtime::dispatch_from_host(const BoundPlan& bound) {
  const Step step = this->step(bound);
  bound.output.memory->device_is_current = false;
  const Scatter scatter(step);
  const auto is_output = [&](std::span<const std::byte> input) {
    return overlap(input, step.output);
  };
  if (std::none_of(step.inputs.begin(), step.inputs.end(), is_output)) {
    return backend_.execute(step.plan, step.inputs, options_,
                            [&](std::uint64_t offset, std::span<const std::byte> bytes) {
                              scatter.write(offset, bytes);
                            });
  }
  // The output may overlap its inputs, which are still to be read.
  Buffer output(output_elements(step.plan) * output_element_size(step.plan), "the output");
  const gpu::DispatchTimes times =
      backend_.execute(step.plan, step.inputs, options_,
                       [&](std::uint64_t offset, std::span<const std::byte> bytes) {
                         std::copy(bytes.begin(), bytes.end(), output.data() + offset);
                       });
  scatter.write(0, output.bytes());
  return times;
}

gpu::DispatchTimes Runtime::dispatch(const DispatchCommand& command) {
  const BoundPlan bound = bind(command);
  gpu::DispatchTimes times;
  return dispatch_on_device(bound, times) ? times : dispatch_from_host(bound);
}

}  // namespace dmlop
