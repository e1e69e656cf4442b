#include "gpu/vulkan/device.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "gpu/staging.hpp"
#include "gpu/vulkan/commands.hpp"
#include "gpu/vulkan/kernels.hpp"
#include "gpu/vulkan/matrices.hpp"

namespace dmlop::gpu::vulkan {
namespace {

std::string text_of_version(std::uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
         std::to_string(VK_API_VERSION_MINOR(version));
}

// Why a device runs no kernels, as Device::refusal().
std::string refusal_of(const VkPhysicalDeviceProperties& device) {
  const auto lacks = [&](const std::string& what) {
    return std::string(device.deviceName) + " " + what;
  };
  const auto has = [](std::uint64_t value, const std::string& of_what, std::uint64_t needed) {
    return std::to_string(value) + " " + of_what + ", and kernels need " + std::to_string(needed);
  };
  const VkPhysicalDeviceLimits& limits = device.limits;
  constexpr std::uint32_t version = VK_API_VERSION_1_1;  // of the kernels' modules: SPIR-V 1.3
  if (device.apiVersion < version)
    return lacks("has Vulkan " + text_of_version(device.apiVersion) + ", and kernels need " +
                 text_of_version(version));
  if (limits.maxPerStageDescriptorStorageBuffers < slot_count)
    return lacks("gives a kernel " +
                 has(limits.maxPerStageDescriptorStorageBuffers, "buffers", slot_count));
  const std::uint32_t threads =
      std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  if (threads < group_threads)
    return lacks("runs groups of " + has(threads, "threads", group_threads));
  if (limits.maxComputeSharedMemorySize < shared_bytes)
    return lacks("gives a group of threads " +
                 has(limits.maxComputeSharedMemorySize, "bytes of shared memory", shared_bytes));
  return "";
}

class VulkanDevice : public Device {
 public:
  VulkanDevice(VkPhysicalDevice physical, const DeviceInfo& info) : info_(info) {
    context_.physical = physical;
    find_queue();
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                        .queueFamilyIndex = context_.family,
                                        .queueCount = 1,
                                        .pQueuePriorities = &priority};
    const FloatModes modes = float_modes_of(physical);
    MatrixFeatures matrices;
    std::vector<const char*> extensions;
    if (modes.any()) extensions.push_back(float_modes_extension);
    const void* features = info_.has_matrices ? matrices.add_to(extensions) : nullptr;
    // Every device has it: a load outside of a binding's range sees no other memory.
    const VkPhysicalDeviceFeatures checked_loads{.robustBufferAccess = VK_TRUE};
    const VkDeviceCreateInfo create{
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = static_cast<std::uint32_t>(extensions.size()),
        .ppEnabledExtensionNames = extensions.data(),
        .pEnabledFeatures = &checked_loads};
    check(vkCreateDevice(physical, &create, nullptr, &context_.device), "opening " + info_.name);
    volkLoadDevice(context_.device);
    vkGetDeviceQueue(context_.device, context_.family, 0, &context_.queue);
    context_.pipelines = std::make_unique<Pipelines>(physical, context_.device, modes);
    VkPhysicalDeviceMaintenance3Properties allocation{
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                           .pNext = &allocation};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    refusal_ = refusal_of(properties.properties);
    const std::uint64_t range = properties.properties.limits.maxStorageBufferRange;
    buffer_bytes_limit_ = std::min(range, allocation.maxMemoryAllocationSize) - 2 * slack_bytes;
  }

  const DeviceInfo& info() const override { return info_; }
  std::uint64_t buffer_bytes_limit() const override { return buffer_bytes_limit_; }
  std::string refusal() const override { return refusal_; }
  void prepare(const Dispatch& dispatch) override {
    static_cast<void>(context_.pipelines->find(dispatch));
  }
  std::unique_ptr<Commands> make_commands() override {
    check_alive();
    return vulkan::make_commands(context_);
  }
  std::unique_ptr<ResidentBuffer> make_buffer(Place place, std::uint64_t bytes) override {
    check_alive();
    return vulkan::make_buffer(context_, place, bytes);
  }
  Paces& paces() override { return context_.paces; }

 private:
  void check_alive() const {
    if (context_.hung) throw hanging(info_);
  }

  void find_queue() {
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(context_.physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(context_.physical, &count, families.data());
    for (std::uint32_t i = 0; i < count; ++i) {
      if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
      context_.family = i;
      set_timestamps(families[i].timestampValidBits);
      return;
    }
    throw Error(ErrorKind::unavailable, info_.name + " has no compute queue");
  }

  void set_timestamps(std::uint32_t valid_bits) {
    if (valid_bits == 0) return;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(context_.physical, &properties);
    context_.seconds_per_tick = static_cast<double>(properties.limits.timestampPeriod) * 1e-9;
    context_.timestamp_mask =
        valid_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits) - 1;
  }

  DeviceInfo info_;
  Context context_;
  std::string refusal_;
  std::uint64_t buffer_bytes_limit_ = 0;
};

}  // namespace

std::unique_ptr<Device> make_device(VkPhysicalDevice physical, const DeviceInfo& info) {
  return std::make_unique<VulkanDevice>(physical, info);
}

}  // namespace dmlop::gpu::vulkan
