// The buffers of a running model. They live in the host's memory, and also on a GPU as long as
// dispatches use them there. All access to their contents goes through this class: initial values,
// dispatches, and reading back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"
#include "job/backend.hpp"
#include "model/model.hpp"
#include "model/prepared_model.hpp"

namespace dmlop {

class Runtime {
 public:
  /// Fills the buffers with their initial values; files that nothing writes over are read where
  /// they are. The arguments must
  /// outlive this. Errors: run_failed if there is no memory for a buffer.
  Runtime(const Model& model, Backend& backend, const ExecutionOptions& options);
  /// One of several runs on the backend, which have prepared it together. The prepared model may
  /// be of another copy of this model, whose inputs have no values.
  Runtime(const Model& model, Backend& backend, const ExecutionOptions& options,
          std::shared_ptr<PreparedModel> prepared);

  /// Executes an operator. Its output replaces exactly its own bytes in the buffer. Errors: as
  /// check_indices and Backend::execute.
  Execution dispatch(const DispatchCommand& command);

  /// The same, but a GPU may do it later, together with others: when contents() asks for what it
  /// writes, or finish() is called. Returns Execution::notice. Errors: as dispatch(), also of
  /// earlier ones.
  std::string enqueue(const DispatchCommand& command);
  /// Executes what is enqueued. Errors: as dispatch().
  void finish();

  /// The current bytes of a resource, valid until the next dispatch. Those of a file are a copy,
  /// which nobody can change. Errors: as dispatch(); io_failed if the file changed meanwhile.
  std::span<const std::byte> contents(std::size_t resource) {
    copy_mapped(resource);
    return on_host(memories_[resource]);
  }

  /// The same bytes, to be changed before the next dispatch. Errors: as dispatch().
  std::span<std::byte> changed_contents(std::size_t resource) {
    finish();
    copy_mapped(resource);
    const auto bytes = on_host(memories_[resource]);
    memories_[resource].device_is_current = false;
    return bytes;
  }

  /// Gives the memory of a resource back, which nothing may use afterwards.
  void release(std::size_t resource) { memories_[resource] = {}; }

  /// What ran the dispatches so far: "cpu", GPUs' specs.
  const std::vector<std::string>& devices() const { return devices_; }

  /// How many dispatches ran on buffers of the GPU.
  std::uint64_t resident_dispatches() const { return resident_dispatches_; }

  /// A tensor of a dispatch on the host.
  struct HostTensor {
    std::span<std::byte> bytes;
    Sizes sizes;
    Strides strides;  // of an output; empty: packed
  };
  /// A dispatch as it is executed on the host, for measurements.
  struct Step {
    const Plan& plan;               // the runtime's
    std::vector<HostTensor> slots;  // of the plan; its temporaries are empty

    /// The plan's inputs, by slot.
    std::vector<std::span<const std::byte>> inputs() const;
    /// The memory of its outputs, by slot, as packed outputs fill it.
    std::vector<std::span<std::byte>> outputs() const;
  };
  Step step(const DispatchCommand& command);

 private:
  /// The bytes of a resource, or of an input that DirectML owns, on the host, on the device or
  /// both. The host has memory for them as soon as it needs it.
  struct Memory {
    std::string_view name;
    std::uint64_t bytes = 0;
    Buffer host = {};
    const InitialValues* source = nullptr;   // of `mapped`; null: the bytes are in `host`
    std::span<const std::byte> mapped = {};  // that nothing writes
    std::shared_ptr<gpu::ResidentBuffer> device = nullptr;
    bool host_is_current = true;
    bool device_is_current = false;
    std::optional<std::size_t> constant = {};  // the resource that all runs share on the device

    std::uint64_t size() const { return bytes; }
    /// Makes the memory on the host: of zeros, or of anything if a dispatch overwrites all of it.
    void make_host(bool is_overwritten);
  };
  /// A tensor of a dispatch, and where it is.
  struct Place {
    Memory* memory = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    Sizes sizes = {};
    Strides strides = {};  // of an output; empty: packed
  };
  struct BoundPlan {
    const Plan& plan;
    std::vector<Place> slots;  // of the plan; a temporary has no memory
  };

  static Memory filled(const Resource& resource, bool is_written);
  void copy_mapped(std::size_t resource);
  /// Errors: io_failed if a file that a dispatch read was changed meanwhile.
  static void require_intact(const BoundPlan& bound);
  /// Copies buffers for inputs that DirectML owns, which keep the values that they have when the
  /// model starts.
  void keep_owned(const Model& model);
  BoundPlan bind(const DispatchCommand& command);
  Place place_of(const Slot& slot, const DispatchCommand& command);
  void require_indices(const BoundPlan& bound, const DispatchCommand& command);
  Step step(const BoundPlan& bound);
  std::span<std::byte> on_host(Memory& memory, bool is_overwritten = false);
  /// Null if the GPU has no room.
  std::shared_ptr<gpu::ResidentBuffer> uploaded(Memory& memory);
  /// Returns false if the GPU has no room.
  bool on_device(Memory& memory);
  /// The same without the bytes, which a dispatch overwrites.
  bool has_room_on_device(Memory& memory);
  static bool is_overwritten(const BoundPlan& bound, std::size_t slot);
  /// The plan on the device's buffers, which then count as written. Nothing, with nothing done, if
  /// it has to run from the host's memory.
  std::optional<gpu::ResidentWork> resident_work(const BoundPlan& bound);
  Execution dispatch_from_host(const BoundPlan& bound, const DispatchCommand& command);
  std::string title_of(const DispatchCommand& command) const;
  std::string title_of_unfinished() const;
  bool has_unfinished() const { return !enqueued_.empty() || submitted_from_ != nullptr; }
  /// Gives the device what is enqueued. What it was given before is done then.
  void submit();
  void note_device(const std::string& device);

  const Model& model_;
  Backend& backend_;
  ExecutionOptions options_;
  std::shared_ptr<PreparedModel> prepared_;
  std::vector<Memory> memories_;            // of each resource
  std::vector<std::vector<Memory>> owned_;  // of each dispatchable, for each owned input
  std::vector<std::string> devices_;
  std::vector<gpu::ResidentWork> enqueued_;
  std::size_t enqueued_kernels_ = 0;
  std::uint64_t enqueued_bytes_ = 0;  // that it writes or copies
  double enqueued_seconds_ = 0;  // estimated
  const DispatchCommand* submitted_from_ = nullptr;  // null: nothing is submitted
  const DispatchCommand* enqueued_from_ = nullptr;
  const DispatchCommand* last_enqueued_ = nullptr;
  std::uint64_t resident_dispatches_ = 0;
};

}  // namespace dmlop
