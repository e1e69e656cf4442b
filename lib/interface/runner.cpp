// Runner of <dmlop/dmlop.hpp>.
#include "interface/runner.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "job/prepared_job.hpp"

namespace dmlop {
namespace {

Job prepared_job(const Operation& operation, const std::vector<Input>& inputs,
                 const std::vector<Target>* targets) {
  CheckedOperation prepared = check_operation(operation, inputs, targets, Purpose::run);
  if (!prepared.job) throw to_failure(prepared.findings);
  return std::move(*prepared.job);
}

std::vector<TensorUse> output_uses(Job& job) {
  std::vector<TensorUse> uses = tensors_of(job.description);
  std::erase_if(uses, [](const TensorUse& use) { return !use.spec->is_output(); });
  return uses;
}

const OutputBuffer* find(const std::vector<OutputBuffer>& buffers, const std::string& name) {
  const auto found = std::ranges::find(buffers, name, &OutputBuffer::name);
  return found == buffers.end() ? nullptr : &*found;
}

void refuse_unknown(const std::vector<OutputBuffer>& buffers, const std::vector<Tensor>& outputs) {
  std::vector<std::string> names;
  for (const Tensor& output : outputs) names.push_back(output.name);
  for (const OutputBuffer& buffer : buffers) {
    if (std::ranges::count(names, buffer.name) == 0)
      throw Error(ErrorKind::usage, "the operation has no output \"" + printable(buffer.name) +
                                        "\": outputs: " + join(names));
    if (std::ranges::count(buffers, buffer.name, &OutputBuffer::name) > 1)
      throw Error(ErrorKind::usage, buffer.name + " is given two buffers: keep one of them");
  }
}

void refuse_unfit(const OutputBuffer& buffer, const Tensor& output) {
  const auto refuse = [&](const std::string& what, const std::string& given,
                          const std::string& computed) {
    throw Error(ErrorKind::usage, "the buffer of " + buffer.name + " has the " + what + " " +
                                      given + ", but " + buffer.name + " has " + computed +
                                      ": give it that, or none");
  };
  if (buffer.type && *buffer.type != output.type)
    refuse("type", std::string(name_of(*buffer.type)), std::string(name_of(output.type)));
  if (buffer.sizes && *buffer.sizes != output.sizes)
    refuse("sizes", list_of(*buffer.sizes), list_of(output.sizes));
}

// All fields of both by name: one that is added to either compiles only when it is passed on.
ExecutionOptions execution_options(const RunnerOptions& options) {
  const auto& [device, threads, device_memory_bytes, host_memory_bytes, strict_indices] = options;
  ExecutionOptions execution;
  auto& [cpu_threads, gpu_bytes, cpu_bytes, are_indices_strict] = execution;
  cpu_threads = threads;
  gpu_bytes = device_memory_bytes;
  cpu_bytes = host_memory_bytes;
  are_indices_strict = strict_indices;
  return execution;
}

}  // namespace

Runner::Runner(const RunnerOptions& options)
    : state_(with_failures([&] {
        return std::shared_ptr<State>(
            new State(Backend(gpu::DeviceRequest{options.device}), execution_options(options)));
      })) {}

Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;
Runner::~Runner() = default;

std::string Runner::device() const {
  return state_->backend.spec();
}

std::vector<Tensor> Runner::run(const Operation& operation, const std::vector<Input>& inputs,
                                const std::vector<OutputBuffer>& buffers) {
  return with_failures([&] {
    const PreparedJob job(prepared_job(operation, inputs, nullptr));
    std::vector<Tensor> outputs;
    std::vector<std::span<std::byte>> memory;
    outputs.reserve(job.outputs().size());
    for (const PreparedJob::Tensor& output : job.outputs()) {
      Tensor& tensor = outputs.emplace_back(
          to_tensor(output.name, *output.desc->data_type, output.desc->sizes, {}));
      const OutputBuffer* buffer = find(buffers, output.name);
      if (buffer == nullptr) tensor.bytes.resize(output.bytes);
      memory.push_back(buffer != nullptr ? buffer->bytes : std::span(tensor.bytes));
    }
    refuse_unknown(buffers, outputs);
    for (const Tensor& output : outputs) {
      const OutputBuffer* buffer = find(buffers, output.name);
      if (buffer != nullptr) refuse_unfit(*buffer, output);
    }
    job.run(state_->backend, state_->execution, {}, memory);
    return outputs;
  });
}

std::vector<TensorInfo> Runner::run_to_files(const Operation& operation,
                                             const std::vector<Input>& inputs,
                                             const std::vector<Target>& targets) {
  return with_failures([&] {
    Job job = prepared_job(operation, inputs, &targets);
    run_job(job, state_->backend, state_->execution);
    std::vector<TensorInfo> outputs;
    for (const TensorUse& use : output_uses(job)) outputs.push_back(to_info(use));
    return outputs;
  });
}

}  // namespace dmlop
