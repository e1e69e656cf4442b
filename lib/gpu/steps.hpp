// What a device is given of a plan whose tensors it holds. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "ops/plan.hpp"

namespace dmlop::gpu {

/// Dispatches in order, over slots.
struct Step {
  std::vector<Dispatch> dispatches = {};
  std::vector<std::size_t> reads = {};
  std::vector<std::size_t> writes = {};
};

/// The dispatches of a kernel alone: its inputs are the first slots, and its outputs those after.
Step step_of(std::vector<Dispatch> dispatches, std::size_t inputs, std::size_t outputs);

/// The most scratch that a device needs for one of these; they take turns with it.
std::uint64_t scratch_bytes(std::span<const Dispatch> dispatches, const DeviceInfo& device);
std::uint64_t scratch_bytes(std::span<const Step> steps, const DeviceInfo& device);

/// The steps of a plan, or why no GPU runs it. A kernel that no GPU runs has several where it has
/// passes (ops/expand.hpp).
struct Steps {
  std::string refusal = {};      // in words that follow "because"; "" where a GPU runs it
  std::vector<Slot> slots = {};  // of the plan, then temporaries of such passes
  std::vector<Step> steps = {};  // none where it is refused
};

Steps steps_of(const Plan& plan);

/// What a device runs of a dispatch.
const Dispatch& chosen_dispatch(const Dispatch& usual, const DeviceInfo& device);

/// Compiles what the plan runs on whole tensors. Several threads may do so at once, before they
/// take turns with the device. Errors: run_failed.
void prepare(Device& device, const Plan& plan);

}  // namespace dmlop::gpu
