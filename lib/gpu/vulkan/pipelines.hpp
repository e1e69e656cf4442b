// Compute pipelines by kernel name, made at first use and kept; the driver's cache of them is kept
// on disk between runs.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "gpu/vulkan/api.hpp"

namespace dmlop::gpu::vulkan {

class Pipelines {
 public:
  Pipelines(VkPhysicalDevice physical, VkDevice device);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// Errors: run_failed when the kernel does not exist or the driver refuses it.
  VkPipeline find(const std::string& kernel);
  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }

 private:
  /// Delegated to, so that the destructor takes back what was created before a failure.
  explicit Pipelines(VkDevice device) : device_(device) {}
  void load_cache(VkPhysicalDevice physical);
  void save_cache() const;

  VkDevice device_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::string cache_path_;
  std::map<std::string, VkPipeline> pipelines_;
  bool grown_ = false;  // pipelines were made that the cache on disk may lack
  std::mutex mutex_;
};

}  // namespace dmlop::gpu::vulkan
