// A job that is checked and planned once, and then runs many times on buffers in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "job/planned.hpp"

namespace dmlop {

class PreparedJob {
 public:
  /// An input or an output of each run.
  struct Tensor {
    std::string name;
    const TensorDesc* desc;
    std::size_t slot;
    std::uint64_t bytes;  // of an input: what its desc reaches
  };

  /// The job's inputs that have elements keep them; all others are inputs of each run. Errors:
  /// run_failed without memory.
  explicit PreparedJob(Job job);
  PreparedJob(const PreparedJob&) = delete;
  PreparedJob& operator=(const PreparedJob&) = delete;

  const std::vector<Tensor>& inputs() const { return inputs_; }    // in the order of the fields
  const std::vector<Tensor>& outputs() const { return outputs_; }  // the same
  const Diagnostics& warnings() const { return job_.warnings; }

  /// Several threads may call it. An output may overlap an input. Errors: usage for another number
  /// of buffers or bytes; invalid_input for elements that do not fit 4 bits; else as run_job.
  Execution run(Backend& backend, const ExecutionOptions& options,
                std::span<const std::span<const std::byte>> inputs,
                std::span<const std::span<std::byte>> outputs) const;

 private:
  void add_input(const FieldSpec& field, std::optional<std::size_t> element);
  void require_buffers(std::span<const std::span<const std::byte>> inputs,
                       std::span<const std::span<std::byte>> outputs) const;
  void require_indices(SlotBytes bytes, const ExecutionOptions& options) const;
  void require_intact() const;

  Job job_;
  Plan plan_;
  std::vector<NativeInput> natives_;
  std::vector<std::span<const std::byte>> kept_;  // by slot; empty where each run gives it
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

}  // namespace dmlop
