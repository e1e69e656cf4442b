// Runner of <dmlop/dmlop.hpp>.
#include <algorithm>

#include "interface/translate.hpp"
#include "job/backend.hpp"
#include "ops/operator.hpp"
#include "ops/plan.hpp"

namespace dmlop {

struct Runner::State {
  Backend backend;
  ExecutionOptions execution;
};

namespace {

Job prepared_job(const Operation& operation, const std::vector<Input>& inputs,
                 const std::vector<Target>* targets) {
  Prepared prepared = prepare(operation, inputs, targets, Purpose::run);
  if (!prepared.job) throw to_failure(prepared.findings);
  return std::move(*prepared.job);
}

std::vector<TensorUse> outputs_of(Job& job) {
  std::vector<TensorUse> uses = tensors_of(job.description);
  std::erase_if(uses, [](const TensorUse& use) { return !use.spec->is_output(); });
  return uses;
}

std::vector<std::byte> room_for(const Slot& slot) {
  try {
    return std::vector<std::byte>(slot.bytes());
  } catch (const std::exception&) {  // bad_alloc, length_error
    throw Error(ErrorKind::run_failed, "out of memory for the " + std::to_string(slot.bytes()) +
                                           " bytes of " + slot.field);
  }
}

}  // namespace

Runner::Runner(const RunnerOptions& options)
    : state_(with_failures([&] {
        return std::unique_ptr<State>(new State{Backend(gpu::DeviceRequest{options.device}),
                                                {.threads = options.threads,
                                                 .device_memory_bytes = options.device_memory_bytes,
                                                 .host_memory_bytes = options.host_memory_bytes}});
      })) {}

Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;
Runner::~Runner() = default;

std::string Runner::device() const {
  return state_->backend.spec();
}

std::vector<Tensor> Runner::run(const Operation& operation, const std::vector<Input>& inputs) {
  return with_failures([&] {
    Job job = prepared_job(operation, inputs, nullptr);
    const Plan plan = make_plan(job.description);
    std::vector<Tensor> outputs;
    std::vector<std::byte*> memory(plan.slots.size());
    for (const TensorUse& use : outputs_of(job)) {
      const std::size_t slot = plan.find(use.spec->name, use.element).value();
      outputs.push_back({to_info(use), room_for(plan.slots[slot])});
      memory[slot] = outputs.back().bytes.data();
    }
    execute_job(job, state_->backend, state_->execution,
                [&](std::size_t slot, std::uint64_t offset, std::span<const std::byte> bytes) {
                  std::copy(bytes.begin(), bytes.end(), memory[slot] + offset);
                });
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
    for (const TensorUse& use : outputs_of(job)) outputs.push_back(to_info(use));
    return outputs;
  });
}

}  // namespace dmlop
