// A buffer with memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/device.hpp"
#include "gpu/vulkan/api.hpp"

namespace dmlop::gpu::vulkan {

class Buffer {
 public:
  /// Errors: run_failed.
  Buffer(VkPhysicalDevice physical, VkDevice device, Place place, std::uint64_t bytes);
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Leaves its memory to a dispatch that may use it until the process ends.
  void abandon();
  VkBuffer handle() const { return buffer_; }
  /// Host address; null for Place::device.
  std::byte* data() const { return mapped_; }

 private:
  struct Nothing {};

  /// Delegated to, so that the destructor takes back what was created before a failure.
  Buffer(VkDevice device, Nothing) : device_(device) {}
  void release();
  static std::uint32_t memory_type(VkPhysicalDevice physical, Place place, std::uint32_t allowed);

  VkDevice device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::byte* mapped_ = nullptr;
};

}  // namespace dmlop::gpu::vulkan
