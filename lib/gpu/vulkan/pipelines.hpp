// Compute pipelines by kernel and specialization, made at first use; those used last are kept. The
// driver's cache of them is kept on disk between runs.
#pragma once

#include <atomic>
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
#include "gpu/vulkan/float_modes.hpp"

namespace dmlop::gpu::vulkan {

/// The buffers of a kernel at bindings 0, 1, ..., and its push constants.
struct PipelineLayout {
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
  /// So many are kept: a driver may take megabytes for one. Data movement alone can need eighty for
  /// one size of elements.
  static constexpr std::size_t kept_most = 128;

  Pipelines(VkPhysicalDevice physical, VkDevice device, const FloatModes& modes);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// May be called by several threads at once, which then compile beside one another.
  /// Errors: run_failed when the kernel does not exist or the driver refuses it.
  std::shared_ptr<const Pipeline> find(const Dispatch& dispatch);
  /// That of all kernels (shaders/bindings.hlsli). Null where the device has too few buffers.
  const PipelineLayout& layout() const { return layout_; }

 private:
  /// Delegated to, so that the destructor takes back what was created before a failure.
  Pipelines(VkDevice device, const FloatModes& modes) : device_(device), modes_(modes) {}
  void load_cache(VkPhysicalDevice physical);
  void make_layout(std::uint32_t buffers);
  /// The place of a pipeline, whether or not it has been made.
  struct Slot {
    std::mutex mutex;  // of who makes it
    std::shared_ptr<const Pipeline> pipeline;
  };
  std::shared_ptr<Slot> find_slot(const std::string& kernel,
                                  std::span<const std::uint32_t> specialization);
  void forget_the_oldest();
  VkPipeline make(const std::string& kernel, std::span<const std::uint32_t> specialization);
  void save_cache() const;

  VkDevice device_;
  FloatModes modes_;
  PipelineLayout layout_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::string cache_path_;
  struct Kept {
    std::shared_ptr<Slot> slot;
    std::uint64_t last_use = 0;  // counts calls of find
  };
  std::map<std::pair<std::string, std::vector<std::uint32_t>>, Kept> kept_;
  std::uint64_t uses_ = 0;
  std::atomic<bool> grown_{false};  // pipelines were made that the cache on disk may lack
  std::mutex mutex_;                // of kept_ and uses_
};

}  // namespace dmlop::gpu::vulkan
