// Prepared of <dmlop/dmlop.hpp>.
#include "interface/runner.hpp"
#include "job/prepared_job.hpp"

namespace dmlop {

struct Prepared::State {
  std::shared_ptr<Runner::State> runner;
  PreparedJob job;
  std::vector<BufferInfo> inputs = {};
  std::vector<BufferInfo> outputs = {};
  std::vector<Finding> warnings = {};

  State(std::shared_ptr<Runner::State> its_runner, Job its_job)
      : runner(std::move(its_runner)), job(std::move(its_job)) {
    for (const PreparedJob::Tensor& tensor : job.inputs())
      inputs.push_back({info_of(tensor), tensor.desc->strides.value_or(Strides{}), tensor.bytes});
    for (const PreparedJob::Tensor& tensor : job.outputs())
      outputs.push_back({info_of(tensor), {}, tensor.bytes});
    warnings = to_findings(job.warnings(), "warning");
  }

  static TensorInfo info_of(const PreparedJob::Tensor& tensor) {
    return {tensor.name, to_element_type(*tensor.desc->data_type), tensor.desc->sizes};
  }
};

Prepared Runner::prepare(const Operation& operation, const std::vector<Input>& inputs) {
  return with_failures([&] {
    CheckedOperation checked = check_operation(operation, inputs, nullptr, Purpose::check);
    if (!checked.job) throw to_failure(checked.findings);
    return Prepared(std::make_shared<const Prepared::State>(state_, std::move(*checked.job)));
  });
}

const std::vector<BufferInfo>& Prepared::inputs() const noexcept {
  return state_->inputs;
}
const std::vector<BufferInfo>& Prepared::outputs() const noexcept {
  return state_->outputs;
}
const std::vector<Finding>& Prepared::warnings() const noexcept {
  return state_->warnings;
}

void Prepared::run(std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) const {
  with_failures([&] {
    state_->job.run(state_->runner->backend, state_->runner->execution, inputs, outputs);
  });
}

}  // namespace dmlop
