#include "gpu/vulkan/pipelines.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/error.hpp"
#include "gpu/cache_file.hpp"
#include "gpu/commands.hpp"
#include "gpu/launches.hpp"
#include "gpu/vulkan/kernels.hpp"
#include "gpu/vulkan/specialize.hpp"

namespace dmlop::gpu::vulkan {
namespace {

// A launch's row and a dispatch's constants: what every device has room for.
constexpr std::uint32_t constant_bytes = sizeof(Launch::row) + constants_most * 4;
static_assert(constant_bytes == 128);

bool has_room_for_kernels(VkPhysicalDevice physical) {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  return properties.limits.maxPerStageDescriptorStorageBuffers >= slot_count;
}

// One file per device, driver version and modes.
std::string cache_path_for(VkPhysicalDevice physical, const FloatModes& modes) {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "vulkan-%08x-%08x-%08x-%02x-%02x-", properties.vendorID,
                properties.deviceID, properties.driverVersion, modes.special_values,
                modes.denormals);
  std::string text = name.data();
  for (const std::uint8_t byte : properties.pipelineCacheUUID) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", byte);
    text += hex.data();
  }
  return cache_path(text + ".cache");
}

}  // namespace

Pipelines::Pipelines(VkPhysicalDevice physical, VkDevice device, const FloatModes& modes)
    : Pipelines(device, modes) {
  if (has_room_for_kernels(physical)) make_layout(slot_count);
  load_cache(physical);
}

void Pipelines::make_layout(std::uint32_t buffers) {
  std::vector<VkDescriptorSetLayoutBinding> bindings(buffers);
  for (std::uint32_t i = 0; i < buffers; ++i) {
    bindings[i] = {.binding = i,
                   .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                   .descriptorCount = 1,
                   .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  }
  const VkDescriptorSetLayoutCreateInfo set{
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = buffers,
      .pBindings = bindings.data()};
  check(vkCreateDescriptorSetLayout(device_, &set, nullptr, &layout_.set),
        "creating a descriptor set layout");
  const VkPushConstantRange constants{.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                      .size = constant_bytes};
  const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .setLayoutCount = 1,
                                          .pSetLayouts = &layout_.set,
                                          .pushConstantRangeCount = 1,
                                          .pPushConstantRanges = &constants};
  check(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_.handle),
        "creating a pipeline layout");
}

void Pipelines::load_cache(VkPhysicalDevice physical) {
  cache_path_ = cache_path_for(physical, modes_);
  const std::vector<std::byte> data = read_cache(cache_path_);
  VkPipelineCacheCreateInfo create{.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                   .initialDataSize = data.size(),
                                   .pInitialData = data.data()};
  if (vkCreatePipelineCache(device_, &create, nullptr, &cache_) == VK_SUCCESS) return;
  create.initialDataSize = 0;  // the driver refused the data: begin anew
  check(vkCreatePipelineCache(device_, &create, nullptr, &cache_), "creating the pipeline cache");
}

std::shared_ptr<const Pipeline> Pipelines::find(const Dispatch& dispatch) {
  const std::shared_ptr<Slot> slot = find_slot(dispatch.kernel, dispatch.specialization);
  const std::scoped_lock lock(slot->mutex);  // others compile meanwhile
  if (!slot->pipeline)
    slot->pipeline =
        std::make_shared<Pipeline>(device_, make(dispatch.kernel, dispatch.specialization));
  return slot->pipeline;
}

std::shared_ptr<Pipelines::Slot> Pipelines::find_slot(
    const std::string& kernel, std::span<const std::uint32_t> specialization) {
  const std::scoped_lock lock(mutex_);
  Kept& kept = kept_[{kernel, std::vector(specialization.begin(), specialization.end())}];
  kept.last_use = ++uses_;
  if (!kept.slot) kept.slot = std::make_shared<Slot>();
  std::shared_ptr<Slot> found = kept.slot;
  if (kept_.size() > kept_most) forget_the_oldest();
  return found;
}

void Pipelines::forget_the_oldest() {
  kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
    return a.second.last_use < b.second.last_use;
  }));
}

VkPipeline Pipelines::make(const std::string& kernel,
                           std::span<const std::uint32_t> specialization) {
  const Kernel* found = find_kernel(kernel);
  if (found == nullptr) throw Error(ErrorKind::run_failed, "no kernel is called " + kernel);
  const std::array<std::uint32_t, 1> of_device{modes_.rounds_halves ? 1U : 0U};
  const std::vector<std::uint32_t> code =
      with_float_modes(specialized(found->spirv(), specialization, of_device), modes_);
  const VkShaderModuleCreateInfo module_info{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .codeSize = code.size() * sizeof code[0],
                                             .pCode = code.data()};
  VkShaderModule module;
  check(vkCreateShaderModule(device_, &module_info, nullptr, &module), "loading kernel " + kernel);
  const VkComputePipelineCreateInfo create{
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main"},
      .layout = layout_.handle};
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result = vkCreateComputePipelines(device_, cache_, 1, &create, nullptr, &pipeline);
  vkDestroyShaderModule(device_, module, nullptr);
  check(result, "compiling kernel " + kernel);
  grown_ = true;
  return pipeline;
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
  kept_.clear();
  vkDestroyPipelineCache(device_, cache_, nullptr);
  vkDestroyPipelineLayout(device_, layout_.handle, nullptr);
  vkDestroyDescriptorSetLayout(device_, layout_.set, nullptr);
}

}  // namespace dmlop::gpu::vulkan
