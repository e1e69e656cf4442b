#include "gpu/vulkan/matrices.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gpu/vulkan/extensions.hpp"

namespace dmlop::gpu::vulkan {
namespace {

constexpr std::array<const char*, 3> extensions{VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME,
                                                VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME,
                                                VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME};

bool has_features(VkPhysicalDevice physical) {
  VkPhysicalDeviceCooperativeMatrixFeaturesNV matrices{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV};
  VkPhysicalDeviceShaderFloat16Int8Features halves{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, .pNext = &matrices};
  VkPhysicalDeviceVulkanMemoryModelFeatures memory{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, .pNext = &halves};
  VkPhysicalDeviceFeatures2 features{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &memory};
  vkGetPhysicalDeviceFeatures2(physical, &features);
  return matrices.cooperativeMatrix == VK_TRUE && halves.shaderFloat16 == VK_TRUE &&
         memory.vulkanMemoryModel == VK_TRUE;
}

// What the kernels take: subgroups of 32 threads, and of a group 512 threads and 48 KiB of shared
// memory.
bool has_limits(VkPhysicalDevice physical) {
  constexpr std::uint32_t threads = 32, group_threads = 512, group_bytes = 48 * 1024;
  VkPhysicalDeviceSubgroupProperties subgroups{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &subgroups};
  vkGetPhysicalDeviceProperties2(physical, &properties);
  const VkPhysicalDeviceLimits& limits = properties.properties.limits;
  return subgroups.subgroupSize == threads && limits.maxComputeSharedMemorySize >= group_bytes &&
         limits.maxComputeWorkGroupInvocations >= group_threads &&
         limits.maxComputeWorkGroupSize[0] >= group_threads;
}

bool is_wanted(const VkCooperativeMatrixPropertiesNV& shape) {
  constexpr std::uint32_t side = 16;
  return shape.MSize == side && shape.NSize == side && shape.KSize == side &&
         shape.AType == VK_COMPONENT_TYPE_FLOAT16_NV &&
         shape.BType == VK_COMPONENT_TYPE_FLOAT16_NV &&
         shape.CType == VK_COMPONENT_TYPE_FLOAT32_NV &&
         shape.DType == VK_COMPONENT_TYPE_FLOAT32_NV && shape.scope == VK_SCOPE_SUBGROUP_NV;
}

bool has_shape(VkPhysicalDevice physical) {
  std::uint32_t count = 0;
  if (vkGetPhysicalDeviceCooperativeMatrixPropertiesNV(physical, &count, nullptr) < 0) return false;
  std::vector<VkCooperativeMatrixPropertiesNV> shapes(
      count, {.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV});
  if (vkGetPhysicalDeviceCooperativeMatrixPropertiesNV(physical, &count, shapes.data()) < 0)
    return false;
  shapes.resize(count);
  return std::any_of(shapes.begin(), shapes.end(), is_wanted);
}

}  // namespace

bool has_matrices(VkPhysicalDevice physical) {
  return has_extensions(physical, extensions) && has_features(physical) && has_limits(physical) &&
         has_shape(physical);
}

const void* MatrixFeatures::add_to(std::vector<const char*>& names) {
  names.insert(names.end(), extensions.begin(), extensions.end());
  return &memory_;
}

}  // namespace dmlop::gpu::vulkan
