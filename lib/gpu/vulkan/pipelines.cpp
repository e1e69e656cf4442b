#include "gpu/vulkan/pipelines.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "gpu/kernels.hpp"

namespace dmlop::gpu::vulkan {
namespace {

constexpr std::uint32_t input_count = 3;
constexpr std::uint32_t constant_bytes = 128;

// A cache file is this header and the driver's data. Whatever does not fit exactly is not used.
struct CacheHeader {
  std::array<char, 8> magic{'d', 'm', 'l', 'o', 'p', 'p', 'c', '1'};
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

// FNV-1a: finds damage, not attacks; the folder is the user's own.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const std::byte byte : bytes)
    sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
  return sum;
}

std::string cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder == '/') {
    return std::string(folder) + "/dmlop";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.cache/dmlop";
  }
  return "";
}

// One file per device and driver version.
std::string cache_path_for(VkPhysicalDevice physical) {
  const std::string folder = cache_folder();
  if (folder.empty()) return "";
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "/vulkan-%08x-%08x-%08x-", properties.vendorID,
                properties.deviceID, properties.driverVersion);
  std::string path = folder + name.data();
  for (const std::uint8_t byte : properties.pipelineCacheUUID) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", byte);
    path += hex.data();
  }
  return path + ".cache";
}

std::vector<std::byte> read_cache(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return {};
  try {
    const InputFile file = InputFile::open(path);
    CacheHeader header;
    if (file.bytes().size() < sizeof header) return {};
    std::memcpy(&header, file.bytes().data(), sizeof header);
    const auto data = file.bytes().subspan(sizeof header);
    const bool sound = header.magic == CacheHeader{}.magic && header.bytes == data.size() &&
                       header.checksum == checksum_of(data);
    return sound ? std::vector<std::byte>(data.begin(), data.end()) : std::vector<std::byte>{};
  } catch (const Error&) {
    return {};  // a cache that cannot be read is no cache
  }
}

}  // namespace

Pipelines::Pipelines(VkPhysicalDevice physical, VkDevice device) : device_(device) {
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

// Another process may do the same at the same time: files appear whole, the last one stays.
void Pipelines::save_cache() const {
  std::size_t size = 0;
  if (!grown_ || cache_path_.empty() ||
      vkGetPipelineCacheData(device_, cache_, &size, nullptr) != VK_SUCCESS)
    return;
  std::vector<std::byte> data(size);
  if (vkGetPipelineCacheData(device_, cache_, &size, data.data()) != VK_SUCCESS) return;
  data.resize(size);
  if (data == read_cache(cache_path_)) return;
  CacheHeader header;
  header.bytes = data.size();
  header.checksum = checksum_of(data);
  try {
    std::filesystem::create_directories(std::filesystem::path(cache_path_).parent_path());
    OutputFile file(cache_path_, sizeof header + data.size());
    file.write_at(0, std::as_bytes(std::span(&header, 1)));
    file.write_at(sizeof header, data);
    file.commit();
  } catch (const std::exception&) {
    // Without a cache the next start is slower; nothing else depends on it.
  }
}

Pipelines::~Pipelines() {
  save_cache();
  for (const auto& [kernel, pipeline] : pipelines_) vkDestroyPipeline(device_, pipeline, nullptr);
  vkDestroyPipelineCache(device_, cache_, nullptr);
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
}

}  // namespace dmlop::gpu::vulkan
