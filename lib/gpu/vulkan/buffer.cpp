#include "gpu/vulkan/buffer.hpp"

#include <array>
#include <string>

#include "base/error.hpp"

namespace dmlop::gpu::vulkan {
namespace {

constexpr VkMemoryPropertyFlags host =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// The kinds of memory that suit a place, best first.
std::array<VkMemoryPropertyFlags, 2> wishes(Place place) {
  switch (place) {
    case Place::device:
      return {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    case Place::upload:
      return {host, host};
    case Place::download:
      break;
  }
  return {host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, host};
}

}  // namespace

std::uint32_t Buffer::memory_type(VkPhysicalDevice physical, Place place, std::uint32_t allowed) {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  for (const VkMemoryPropertyFlags wish : wishes(place)) {
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const bool suits = (memory.memoryTypes[i].propertyFlags & wish) == wish;
      if (suits && (allowed >> i & 1) != 0) return i;
    }
  }
  throw Error(ErrorKind::run_failed, "the device has no suitable memory");
}

Buffer::Buffer(VkPhysicalDevice physical, VkDevice device, Place place, std::uint64_t bytes)
    : Buffer(device, Nothing{}) {
  const std::string doing = "allocating " + std::to_string(bytes) + " bytes of " +
                            (place == Place::device ? "device memory" : "staging memory");
  const VkBufferCreateInfo create{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                  .size = bytes,
                                  .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                           VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                           VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  check(vkCreateBuffer(device_, &create, nullptr, &buffer_), doing);
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, buffer_, &needs);
  const VkMemoryAllocateInfo allocate{
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .allocationSize = needs.size,
      .memoryTypeIndex = memory_type(physical, place, needs.memoryTypeBits)};
  check(vkAllocateMemory(device_, &allocate, nullptr, &memory_), doing);
  check(vkBindBufferMemory(device_, buffer_, memory_, 0), doing);
  if (place != Place::device) {
    void* address = nullptr;
    check(vkMapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &address), doing);
    mapped_ = static_cast<std::byte*>(address);
  }
}

void Buffer::release() {
  vkDestroyBuffer(device_, buffer_, nullptr);
  vkFreeMemory(device_, memory_, nullptr);
  abandon();
}

void Buffer::abandon() {
  buffer_ = VK_NULL_HANDLE;
  memory_ = VK_NULL_HANDLE;
  mapped_ = nullptr;
}

}  // namespace dmlop::gpu::vulkan
