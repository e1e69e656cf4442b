#include "job/prepared_job.hpp"

#include <algorithm>

#include "base/findings_error.hpp"
#include "base/text.hpp"
#include "job/strict_indices.hpp"
#include "ops/operator.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::less<>()(a.data(), b.data() + b.size()) &&
         std::less<>()(b.data(), a.data() + a.size());
}

bool is_aligned(std::span<const std::byte> bytes, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % size == 0;
}

[[noreturn]] void refuse_bytes(const PreparedJob::Tensor& tensor, std::size_t bytes) {
  throw Error(ErrorKind::usage, tensor.name + " has a buffer of " + counted(bytes, "byte") +
                                    ", but " + std::string(name_of(*tensor.desc->data_type)) + " " +
                                    list_of(tensor.desc->sizes) + " has " +
                                    std::to_string(tensor.bytes));
}

void require_count(std::size_t given, std::size_t needed, const std::string& what) {
  if (given != needed)
    throw Error(ErrorKind::usage, "there are buffers for " + counted(given, what) +
                                      ", but the operation has " + std::to_string(needed));
}

// A desc of 4 bits allows fewer numbers than a byte of the buffer.
void require_4_bits(const PreparedJob::Tensor& tensor, std::span<const std::byte> bytes) {
  const DataType type = *tensor.desc->data_type;
  if (!has_4_bits(type)) return;
  const auto wrong = first_beyond_4_bits(type, bytes);
  if (!wrong) return;
  throw FindingsError(
      {{.message = "element " + std::to_string(*wrong) + " of " + tensor.name + " is " +
                   element_text(stored_as(type), &bytes[*wrong]) + ", which does not fit " +
                   std::string(name_of(type)),
        .rule = tensor.name + " has a byte for each element, from " + range_text(type)}});
}

}  // namespace

PreparedJob::PreparedJob(Job job)
    : job_(std::move(job)), plan_(make_plan(job_.description)), kept_(plan_.slots.size()) {
  natives_.reserve(job_.inputs.size());
  for (const BoundInput& input : job_.inputs) {
    const auto slot = plan_.find(input.tensor, input.element);
    if (!slot || input.file.data().data() == nullptr) continue;
    kept_[*slot] = natives_.emplace_back(input).bytes();
  }
  for (const FieldSpec& field : job_.description.spec->fields) {
    if (!field.is_input()) continue;
    if (plan_.find(field.name)) add_input(field, std::nullopt);
    for (std::size_t i = 0; plan_.find(field.name, i); ++i) add_input(field, i);
  }
  for (const PlannedOutput& output : planned_outputs(plan_, job_.description))
    outputs_.push_back(
        {tensor_name(output.field, output.element), output.desc, output.slot, output.bytes()});
}

void PreparedJob::add_input(const FieldSpec& field, std::optional<std::size_t> element) {
  const std::size_t slot = *plan_.find(field.name, element);
  if (kept_[slot].data() != nullptr) return;
  const TensorDesc* desc = job_.description.find_tensor(field.name, element);
  const auto elements =
      desc->strides ? reached_elements(desc->sizes, *desc->strides) : element_count(desc->sizes);
  inputs_.push_back({tensor_name(field.name, element), desc, slot,
                     elements.value_or(0) * size_of(*desc->data_type)});
}

void PreparedJob::require_buffers(std::span<const std::span<const std::byte>> inputs,
                                  std::span<const std::span<std::byte>> outputs) const {
  require_count(inputs.size(), inputs_.size(), "input");
  require_count(outputs.size(), outputs_.size(), "output");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() != inputs_[i].bytes) refuse_bytes(inputs_[i], inputs[i].size());
    require_4_bits(inputs_[i], inputs[i]);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].size() != outputs_[i].bytes) refuse_bytes(outputs_[i], outputs[i].size());
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(outputs[i], outputs[j]))
        throw Error(ErrorKind::usage,
                    "the buffers of " + outputs_[j].name + " and " + outputs_[i].name + " overlap");
    }
  }
}

void PreparedJob::require_indices(SlotBytes bytes, const ExecutionOptions& options) const {
  if (!options.strict_indices) return;
  check_indices(plan_, job_.description, options, [&](std::size_t slot) -> InputSource {
    const Slot& input = plan_.slots[slot];
    return {bytes[slot], tensor_name(input.field, input.element)};
  });
}

void PreparedJob::require_intact() const {
  for (const BoundInput& input : job_.inputs) dmlop::require_intact(input.file, input.path);
}

Execution PreparedJob::run(Backend& backend, const ExecutionOptions& options,
                           std::span<const std::span<const std::byte>> inputs,
                           std::span<const std::span<std::byte>> outputs) const {
  require_buffers(inputs, outputs);
  std::vector<std::span<const std::byte>> bytes = kept_;
  for (std::size_t i = 0; i < inputs.size(); ++i) bytes[inputs_[i].slot] = inputs[i];
  require_indices(bytes, options);
  // What kernels cannot write in place is computed beside it.
  std::vector<std::span<std::byte>> memory(plan_.slots.size());
  std::vector<Buffer> beside(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Slot& slot = plan_.slots[outputs_[i].slot];
    const bool is_input = std::ranges::any_of(
        bytes, [&](std::span<const std::byte> input) { return overlap(input, outputs[i]); });
    const bool is_direct = !is_input && is_aligned(outputs[i], slot.element_size);
    if (!is_direct) beside[i] = Buffer(slot.bytes(), outputs_[i].name);
    memory[outputs_[i].slot] = is_direct ? outputs[i] : beside[i].bytes();
  }
  Execution execution = backend.execute_into(plan_, bytes, memory, options);
  // An output may be an input, too. A stop leaves it with all of its old elements or all of its new
  // ones, so that the job can be run again.
  const StopDeferred copies_all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (beside[i].size() != 0) copy_in_pieces(beside[i].bytes(), outputs[i].data());
  }
  require_intact();
  return execution;
}

}  // namespace dmlop
