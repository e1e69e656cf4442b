#include "gpu/vulkan/pipelines.hpp"

#include <array>
#include <cstdio>
#include <vector>

#include "base/error.hpp"
#include "gpu/cache_file.hpp"
#include "gpu/vulkan/kernels.hpp"

namespace dmlop::gpu::vulkan {
namespace {

constexpr std::uint32_t input_count = 3;
constexpr std::uint32_t constant_bytes = 128;

// One file per device and driver version.
std::string cache_path_for(VkPhysicalDevice physical) {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "vulkan-%08x-%08x-%08x-", properties.vendorID,
                properties.deviceID, properties.driverVersion);
  std::string text = name.data();
  for (const std::uint8_t byte : properties.pipelineCacheUUID) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", byte);
    text += hex.data();
  }
  return cache_path(text + ".cache");
}

}  // namespace

Pipelines::Pipelines(VkPhysicalDevice physical, VkDevice device) : Pipelines(device) {
  std::array<VkDescriptorSetLayoutBinding, input_count + 1> bindings{};
  for (std::uint32_t i = 0; i < bindings.size(); ++i) {
    bindings[i] = {.binding = i,
                   .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                   .descriptorCount = 1,
                   .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  }
  const VkDescriptorSetLayoutCreateInfo set{
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = static_cast<std::uint32_t>(bindings.size()),
      .pBindings = bindings.data()};
  check(vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_),
        "creating the descriptor set layout");
  const VkPushConstantRange constants{.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                      .size = constant_bytes};
  const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .setLayoutCount = 1,
                                          .pSetLayouts = &set_layout_,
                                          .pushConstantRangeCount = 1,
                                          .pPushConstantRanges = &constants};
  check(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_),
        "creating the pipeline layout");
  load_cache(physical);
}

void Pipelines::load_cache(VkPhysicalDevice physical) {
  cache_path_ = cache_path_for(physical);
  const std::vector<std::byte> data = read_cache(cache_path_);
  VkPipelineCacheCreateInfo create{.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                   .initialDataSize = data.size(),
                                   .pInitialData = data.data()};
  if (vkCreatePipelineCache(device_, &create, nullptr, &cache_) == VK_SUCCESS) return;
  create.initialDataSize = 0;  // the driver refused the data: begin anew
  check(vkCreatePipelineCache(device_, &create, nullptr, &cache_), "creating the pipeline cache");
}

VkPipeline Pipelines::find(const std::string& kernel) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = pipelines_.find(kernel); found != pipelines_.end()) return found->second;
  const auto code = find_kernel(kernel);
  if (code.empty()) throw Error(ErrorKind::run_failed, "no kernel is called " + kernel);
  const VkShaderModuleCreateInfo module_info{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .codeSize = code.size_bytes(),
                                             .pCode = code.data()};
  VkShaderModule module;
  check(vkCreateShaderModule(device_, &module_info, nullptr, &module), "loading kernel " + kernel);
  const VkComputePipelineCreateInfo create{
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main"},
      .layout = layout_};
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result = vkCreateComputePipelines(device_, cache_, 1, &create, nullptr, &pipeline);
  vkDestroyShaderModule(device_, module, nullptr);
  check(result, "compiling kernel " + kernel);
  grown_ = true;
  return pipelines_[kernel] = pipeline;
}

void Pipelines::save_cache() const {
  std::size_t size = 0;
  if (!grown_ || cache_path_.empty() ||
      vkGetPipelineCacheData(device_, cache_, &size, nullptr) != VK_SUCCESS)
    return;
  std::vector<std::byte> data(size);
  if (vkGetPipelineCacheData(device_, cache_, &size, data.data()) != VK_SUCCESS) return;
  data.resize(size);
  if (data != read_cache(cache_path_)) write_cache(cache_path_, data);
}

Pipelines::~Pipelines() {
  save_cache();
  for (const auto& [kernel, pipeline] : pipelines_) vkDestroyPipeline(device_, pipeline, nullptr);
  vkDestroyPipelineCache(device_, cache_, nullptr);
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
}

}  // namespace dmlop::gpu::vulkan
