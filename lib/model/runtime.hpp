// Where a model's buffers live while it runs, here in the host's memory. All that needs what is in
// them goes through this class: values at the start, dispatches, and reading back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "job/backend.hpp"
#include "model/model.hpp"

namespace dmlop {

class Runtime {
 public:
  /// Fills the buffers with their initial values and plans every dispatch. All must outlive this.
  /// Errors: run_failed without memory for a buffer.
  Runtime(const Model& model, Backend& backend, const ExecutionOptions& options);

  /// Executes an operator; its output replaces what its buffer had there, no byte more.
  /// Errors: as Backend::execute.
  gpu::DispatchTimes dispatch(const DispatchCommand& command);

  /// The bytes of a resource as they are now; valid until the next dispatch.
  std::span<const std::byte> contents(std::size_t resource) const { return buffers_[resource]; }

  /// A dispatch as it is executed: for measurements.
  struct Step {
    Plan plan;
    std::vector<std::span<const std::byte>> inputs;  // in the plan's order
    std::span<std::byte> output;
    Sizes sizes;      // of the output
    Strides strides;  // of the output; empty: packed
  };
  Step step(const DispatchCommand& command);

 private:
  using Buffer = std::vector<std::byte>;

  static Buffer filled(const Resource& resource);
  /// Buffers that inputs owned by DirectML keep as they were when the model started.
  void keep_owned(const Model& model);

  const Model& model_;
  Backend& backend_;
  ExecutionOptions options_;
  std::vector<Buffer> buffers_;             // of each resource
  std::vector<std::vector<Buffer>> owned_;  // of each dispatchable, for each owned input
};

}  // namespace dmlop
