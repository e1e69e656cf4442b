// What all runs of a model on one device have in common: the plans of its operators, on a GPU the
// resources that no dispatch writes, and on the CPU what its kernels made of these.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/device.hpp"
#include "job/host_plan.hpp"
#include "model/model.hpp"
#include "ops/plan.hpp"

namespace dmlop {

/// Several threads may use it.
class PreparedModel {
 public:
  enum class Keep { plans, plans_and_constants };

  /// Constants are those resources that have values now and that no dispatch writes. They, and what
  /// is made of them, are kept for the next run only if `keep` says so. The model must outlive it.
  explicit PreparedModel(const Model& model, Keep keep = Keep::plans);

  /// The plan of a dispatchable, which is made when it is first asked for. Errors: as make_plan().
  const Plan& plan(std::size_t dispatchable);
  /// The same plan as the CPU runs it. Errors: the same.
  HostPlan& host_plan(std::size_t dispatchable);
  /// Whether a dispatch writes the resource.
  bool is_written(std::size_t resource) const { return is_written_[resource]; }
  /// Whether the resource is a constant that is kept.
  bool is_kept(std::size_t resource) const { return is_kept_[resource]; }
  /// Such a constant on the device; null if it is not there.
  std::shared_ptr<gpu::ResidentBuffer> constant(std::size_t resource);
  /// Keeps one that was uploaded.
  void keep_constant(std::size_t resource, std::shared_ptr<gpu::ResidentBuffer> buffer);
  /// Keeps none any more; the device's memory is free as soon as no run uses it. False if there was
  /// none.
  bool give_up_constants();

 private:
  const Plan& made_plan(std::size_t dispatchable);
  bool is_constant(std::size_t dispatchable, const Slot& slot) const;

  const Model& model_;
  std::vector<bool> is_written_;                                 // each resource
  std::vector<bool> is_kept_;                                    // each resource
  std::vector<std::vector<const DispatchCommand*>> dispatches_;  // of each dispatchable
  std::mutex mutex_;
  // Of each dispatchable; null: not made yet.
  std::vector<std::unique_ptr<const Plan>> plans_;
  std::vector<std::unique_ptr<HostPlan>> host_plans_;
  std::vector<std::shared_ptr<gpu::ResidentBuffer>>
      constants_;  // of each resource; null: not there
};

/// Reads the initial values of resources that no dispatch writes into memory, so that runs need not
/// copy them any more. Files that are mapped stay where they are. Errors: run_failed without
/// memory for them; io_failed.
void keep_constants_in_memory(Model& model);

}  // namespace dmlop
