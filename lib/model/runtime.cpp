#include "model/runtime.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/text.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::less<>()(a.data(), b.data() + b.size()) &&
         std::less<>()(b.data(), a.data() + a.size());
}

/// Puts packed elements where the strides of an output have them.
class Scatter {
 public:
  explicit Scatter(const Runtime::Step& step)
      : step_(step), size_(output_element_size(step.plan)) {}

  /// Bytes of the packed output from `offset` on.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const {
    if (step_.strides.empty()) {
      std::memcpy(step_.output.data() + offset, bytes.data(), bytes.size());
      return;
    }
    std::uint64_t index = offset / size_;
    for (std::size_t at = 0; at < bytes.size(); at += size_, ++index)
      std::memcpy(step_.output.data() + position(index) * size_, &bytes[at], size_);
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
  for (const Resource& resource : model.resources) buffers_.push_back(filled(resource));
  keep_owned(model);
}

Runtime::Buffer Runtime::filled(const Resource& resource) {
  try {
    Buffer buffer(resource.size);
    if (resource.initial.fill)
      resource.initial.fill(std::span(buffer).subspan(resource.offset, resource.initial.bytes));
    return buffer;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::run_failed, "out of memory for \"" + printable(resource.name) +
                                           "\" of " + counted(resource.size, "byte"));
  }
}

void Runtime::keep_owned(const Model& model) {
  owned_.resize(model.dispatchables.size());
  for (std::size_t i = 0; i < model.dispatchables.size(); ++i) {
    for (const TensorBinding& binding : model.dispatchables[i].owned) {
      const auto bytes =
          contents(binding.range.resource).subspan(binding.range.offset, binding.range.size);
      owned_[i].emplace_back(bytes.begin(), bytes.end());
    }
  }
}

Runtime::Step Runtime::step(const DispatchCommand& command) {
  const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
  const Description& description = *dispatchable.description;
  Step step{.plan = make_plan(description), .inputs = {}, .output = {}, .sizes = {}, .strides = {}};
  const auto is_of = [](const FieldSpec& field) {
    return [&field](const TensorBinding& binding) { return binding.tensor == field.name; };
  };
  for (const FieldSpec& field : description.spec->fields) {
    if (!field.is_tensor()) continue;
    const auto& bindings = command.bindings;
    const auto bound = std::find_if(bindings.begin(), bindings.end(), is_of(field));
    if (bound == bindings.end()) {
      const auto& kept = dispatchable.owned;
      const auto at = std::find_if(kept.begin(), kept.end(), is_of(field)) - kept.begin();
      step.inputs.push_back(owned_[command.dispatchable][static_cast<std::size_t>(at)]);
      continue;
    }
    const std::span<std::byte> bytes =
        std::span(buffers_[bound->range.resource]).subspan(bound->range.offset, bound->range.size);
    if (field.kind == FieldKind::input_tensor) {
      step.inputs.push_back(bytes);
      continue;
    }
    const TensorDesc& desc = description.tensor(field.name);
    step.output = bytes;
    step.sizes = desc.sizes;
    step.strides = desc.strides.value_or(Strides{});
  }
  return step;
}

gpu::DispatchTimes Runtime::dispatch(const DispatchCommand& command) {
  const Step step = this->step(command);
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
  // In place: what is written may still be read.
  Buffer output(output_elements(step.plan) * output_element_size(step.plan));
  const gpu::DispatchTimes times = backend_.execute(
      step.plan, step.inputs, options_,
      [&](std::uint64_t offset, std::span<const std::byte> bytes) {
        std::copy(bytes.begin(), bytes.end(), output.begin() + static_cast<std::ptrdiff_t>(offset));
      });
  scatter.write(0, output);
  return times;
}

}  // namespace dmlop
