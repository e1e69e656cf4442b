// What a Vulkan device and its streams share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "gpu/launches.hpp"
#include "gpu/vulkan/api.hpp"
#include "gpu/vulkan/pipelines.hpp"

namespace dmlop::gpu::vulkan {

struct Context {
  VkPhysicalDevice physical;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::uint32_t family = 0;
  std::unique_ptr<Pipelines> pipelines;
  double seconds_per_tick = 0;  // 0: no timestamps
  std::uint64_t timestamp_mask = 0;
  std::mutex queue_mutex;
  Paces paces;
  // A dispatch did not end: what it may use is left to it, and nothing more is run.
  std::atomic<bool> hung{false};

  ~Context() {
    if (device == VK_NULL_HANDLE) return;
    if (hung) {
      static_cast<void>(pipelines.release());
      return;
    }
    pipelines.reset();
    vkDestroyDevice(device, nullptr);
  }
};

}  // namespace dmlop::gpu::vulkan
