#include "gpu/vulkan/instance.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/output.hpp"
#include "base/per_process.hpp"
#include "gpu/vulkan/device.hpp"
#include "gpu/vulkan/float_modes.hpp"
#include "gpu/vulkan/matrices.hpp"

namespace dmlop::gpu::vulkan {
namespace {

std::atomic<unsigned> message_count{0};

VKAPI_ATTR VkBool32 VKAPI_CALL count_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                             VkDebugUtilsMessageTypeFlagsEXT,
                                             const VkDebugUtilsMessengerCallbackDataEXT* data,
                                             void*) {
  ++message_count;
  print(StandardStream::error,
        {"vulkan validation: ", Text::lines(std::string_view(data->pMessage)), "\n"});
  return VK_FALSE;
}

struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> devices;
  BackendDevices list;
};

DeviceKind kind_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return DeviceKind::discrete;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return DeviceKind::integrated;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return DeviceKind::virtual_gpu;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return DeviceKind::software;
    default:
      return DeviceKind::other;
  }
}

std::string uuid_text(const std::uint8_t* bytes) {
  std::string text;
  for (std::size_t i = 0; i < VK_UUID_SIZE; ++i) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex.data();
  }
  return text;
}

DeviceInfo describe(VkPhysicalDevice device, std::size_t index) {
  VkPhysicalDeviceDriverProperties driver{.sType =
                                              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceIDProperties id{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                  .pNext = &driver};
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &id};
  vkGetPhysicalDeviceProperties2(device, &properties);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(device, &memory);
  const FloatModes modes = float_modes_of(device);
  DeviceInfo info{.backend = "vulkan",
                  .index = index,
                  .name = properties.properties.deviceName,
                  .kind = kind_of(properties.properties.deviceType),
                  .driver = std::string(driver.driverName) + " " + driver.driverInfo,
                  .id_name = "uuid",
                  .id = uuid_text(id.deviceUUID),
                  .has_matrices = has_matrices(device),
                  .keeps_special_values = (modes.special_values & 32) != 0,
                  .keeps_denormals = (modes.denormals & 32) != 0};
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const bool local = (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    if (local) info.memory_bytes += memory.memoryHeaps[i].size;
  }
  return info;
}

// Empty on success, else why there is no instance.
std::string create_instance(Instance& instance) {
  if (volkInitialize() != VK_SUCCESS) return "the Vulkan loader (libvulkan.so.1) is not installed";
  const char* const wish =
      std::getenv("DMLOP_VULKAN_VALIDATION");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  const bool validated = wish != nullptr;
  const VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                      .pApplicationName = "dmlop",
                                      .apiVersion = VK_API_VERSION_1_1};
  const VkDebugUtilsMessengerCreateInfoEXT messenger{
      .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
      .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
      .pfnUserCallback = count_message};
  const char* layer = "VK_LAYER_KHRONOS_validation";
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const VkInstanceCreateInfo create{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                    .pNext = validated ? &messenger : nullptr,
                                    .pApplicationInfo = &application,
                                    .enabledLayerCount = validated ? 1U : 0U,
                                    .ppEnabledLayerNames = &layer,
                                    .enabledExtensionCount = validated ? 1U : 0U,
                                    .ppEnabledExtensionNames = &extension};
  const VkResult result = vkCreateInstance(&create, nullptr, &instance.handle);
  if (result == VK_ERROR_LAYER_NOT_PRESENT || result == VK_ERROR_EXTENSION_NOT_PRESENT) {
    return "DMLOP_VULKAN_VALIDATION is set, but VK_LAYER_KHRONOS_validation is not installed";
  }
  if (result != VK_SUCCESS) return "no Vulkan driver was found";
  volkLoadInstance(instance.handle);
  if (validated) {
    VkDebugUtilsMessengerEXT handle;
    vkCreateDebugUtilsMessengerEXT(instance.handle, &messenger, nullptr, &handle);
  }
  return "";
}

// Empty where a driver fails.
std::vector<VkPhysicalDevice> enumerate(VkInstance instance) {
  std::uint32_t count = 0;
  if (vkEnumeratePhysicalDevices(instance, &count, nullptr) < 0) return {};
  std::vector<VkPhysicalDevice> devices(count);
  if (vkEnumeratePhysicalDevices(instance, &count, devices.data()) < 0) return {};
  devices.resize(count);
  return devices;
}

// Lives until the process ends: drivers are not all safe to unload.
const Instance& instance() {
  return made_once([] {
    Instance fresh;
    fresh.list.unavailable = create_instance(fresh);
    if (!fresh.list.unavailable.empty()) return fresh;
    fresh.devices = enumerate(fresh.handle);
    for (std::size_t i = 0; i < fresh.devices.size(); ++i) {
      fresh.list.devices.push_back(describe(fresh.devices[i], i));
    }
    if (fresh.devices.empty()) fresh.list.unavailable = "no Vulkan driver was found";
    return fresh;
  });
}

}  // namespace

const BackendDevices& list_devices() {
  return instance().list;
}

std::unique_ptr<Device> open_device(const DeviceInfo& info) {
  return make_device(instance().devices.at(info.index), info);
}

unsigned validation_messages() {
  return message_count;
}

}  // namespace dmlop::gpu::vulkan
