// Runner of <dmlop/dmlop.hpp>.
#include "interface/translate.hpp"
#include "job/backend.hpp"

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

}  // namespace

Runner::Runner(const RunnerOptions& options)
    : state_(with_failures([&] {
        return std::unique_ptr<State>(new State{Backend(gpu::DeviceRequest{options.device}),
                                                {.threads = options.threads,
                                                 .device_memory_bytes = options.device_memory_bytes,
                                                 .host_memory_bytes = options.host_memory_bytes,
                                                 .strict_indices = options.strict_indices}});
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
    std::vector<Tensor> outputs;
    for (const OutputInMemory& output :
         outputs_in_memory(job, state_->backend, state_->execution)) {
      const auto bytes = output.bytes.bytes();
      outputs.push_back(
          {{output.name, to_element_type(*output.desc->data_type), output.desc->sizes},
           {bytes.begin(), bytes.end()}});
    }
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
