// A buffer with memory of its own that only ever grows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/vulkan/api.hpp"

namespace dmlop::gpu::vulkan {

enum class Place { device, upload, download };

class Buffer {
 public:
  Buffer(VkPhysicalDevice physical, VkDevice device, Place place)
      : physical_(physical), device_(device), place_(place) {}
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Makes the buffer at least `bytes` large; its content is lost when it grows. True when it grew.
  /// Errors: run_failed.
  bool grow(std::uint64_t bytes);
  /// Leaves its memory to a dispatch that may use it until the process ends.
  void abandon();
  VkBuffer handle() const { return buffer_; }
  std::uint64_t size() const { return size_; }
  /// Host address; null for Place::device.
  std::byte* data() const { return mapped_; }

 private:
  void release();
  std::uint32_t memory_type(std::uint32_t allowed) const;

  VkPhysicalDevice physical_;
  VkDevice device_;
  Place place_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::byte* mapped_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace dmlop::gpu::vulkan
