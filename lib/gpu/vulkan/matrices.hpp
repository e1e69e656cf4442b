// Cooperative matrices: products of small matrices that a subgroup of threads computes together, on
// units of their own (VK_NV_cooperative_matrix). shaders/product_matrices.comp and
// attention_matrices.comp need them.
#pragma once

#include <vector>

#include "gpu/vulkan/api.hpp"

namespace dmlop::gpu::vulkan {

/// Whether a device multiplies 16x16 matrices of FLOAT16 into sums of FLOAT32, and has what else
/// the kernel needs.
bool has_matrices(VkPhysicalDevice physical);

/// What a device that has them is asked for when it is opened.
class MatrixFeatures {
 public:
  MatrixFeatures() = default;
  MatrixFeatures(const MatrixFeatures&) = delete;
  MatrixFeatures& operator=(const MatrixFeatures&) = delete;
  /// Adds extensions; returns the features, which are this object's.
  const void* add_to(std::vector<const char*>& names);

 private:
  VkPhysicalDeviceCooperativeMatrixFeaturesNV matrices_{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV,
      .cooperativeMatrix = VK_TRUE};
  VkPhysicalDeviceShaderFloat16Int8Features halves_{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
      .pNext = &matrices_,
      .shaderFloat16 = VK_TRUE};
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
      .pNext = &halves_,
      .vulkanMemoryModel = VK_TRUE};
};

}  // namespace dmlop::gpu::vulkan
