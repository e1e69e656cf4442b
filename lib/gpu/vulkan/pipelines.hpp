// Compute pipelines by kernel and specialization, made at first use; those used last are kept. The
// driver's cache of them is kept on disk between runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/vulkan/api.hpp"

namespace dmlop::gpu::vulkan {

/// The buffers of a kernel at bindings 0, 1, ..., and its push constants.
struct PipelineLayout {
  std::uint32_t buffers = 0;
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
  VkPipelineLayout handle = VK_NULL_HANDLE;
};

/// A pipeline. Who runs it owns it until the device is done with it.
class Pipeline {
 public:
  Pipeline(VkDevice device, VkPipeline handle) : device_(device), handle_(handle) {}
  ~Pipeline() { vkDestroyPipeline(device_, handle_, nullptr); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  VkPipeline handle() const { return handle_; }

 private:
  VkDevice device_;
  VkPipeline handle_;
};

class Pipelines {
 public:
  /// So many are kept: a driver may take megabytes for one.
  static constexpr std::size_t kept_most = 64;

  Pipelines(VkPhysicalDevice physical, VkDevice device);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// Errors: run_failed when the kernel does not exist or the driver refuses it.
  std::shared_ptr<const Pipeline> find(const Dispatch& dispatch);
  std::shared_ptr<const Pipeline> find(const ResidentDispatch& dispatch);
  /// Of kernels that include shaders/common.hlsli, and shaders/resident.hlsli.
  const PipelineLayout& tiled() const { return tiled_; }
  const PipelineLayout& resident() const { return resident_; }

 private:
  /// Delegated to, so that the destructor takes back what was created before a failure.
  explicit Pipelines(VkDevice device) : device_(device) {}
  void load_cache(VkPhysicalDevice physical);
  PipelineLayout make_layout(std::uint32_t buffers, std::uint32_t constant_bytes) const;
  std::shared_ptr<const Pipeline> find(const std::string& kernel,
                                       std::span<const std::uint32_t> specialization,
                                       const PipelineLayout& layout);
  void forget_the_oldest();
  VkPipeline make(const std::string& kernel, std::span<const std::uint32_t> specialization,
                  const PipelineLayout& layout);
  void save_cache() const;

  VkDevice device_;
  PipelineLayout tiled_;
  PipelineLayout resident_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::string cache_path_;
  struct Kept {
    std::shared_ptr<const Pipeline> pipeline;
    std::uint64_t last_use = 0;  // counts calls of find
  };
  std::map<std::pair<std::string, std::vector<std::uint32_t>>, Kept> kept_;
  std::uint64_t uses_ = 0;
  bool grown_ = false;  // pipelines were made that the cache on disk may lack
  std::mutex mutex_;
};

}  // namespace dmlop::gpu::vulkan
