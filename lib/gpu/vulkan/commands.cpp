#include "gpu/vulkan/commands.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "gpu/staging.hpp"
#include "gpu/vulkan/buffer.hpp"

namespace dmlop::gpu::vulkan {
namespace {

class VulkanBuffer : public ResidentBuffer {
 public:
  VulkanBuffer(Context& context, Place place, std::uint64_t bytes)
      : ResidentBuffer(bytes),
        context_(context),
        first_(place == Place::device ? slack_bytes : 0),
        is_read_by_host_(place == Place::download),
        buffer_(context.physical, context.device, place, rounded_up(bytes) + 2 * first_) {}
  ~VulkanBuffer() override {
    if (context_.hung) buffer_.abandon();
  }
  std::span<std::byte> mapped() override { return {buffer_.data(), bytes()}; }
  VkBuffer handle() const { return buffer_.handle(); }
  /// Where its first byte stands, behind the slack.
  std::uint64_t first() const { return first_; }
  bool is_read_by_host() const { return is_read_by_host_; }

 private:
  Context& context_;
  std::uint64_t first_;
  bool is_read_by_host_;
  Buffer buffer_;
};

const VulkanBuffer& buffer_of(const ResidentRange& range) {
  return static_cast<const VulkanBuffer&>(*range.buffer);
}

class VulkanCommands : public Commands {
 public:
  explicit VulkanCommands(Context& context) : VulkanCommands(context, Nothing{}) {
    create_commands();
    create_descriptors();
    const VkQueryPoolCreateInfo queries{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = moment_count};
    check(vkCreateQueryPool(context_.device, &queries, nullptr, &queries_),
          "creating a query pool");
  }

  ~VulkanCommands() override {
    if (!becomes_idle()) {
      context_.hung = true;
      static_cast<void>(new auto(std::move(pipelines_)));  // never destroyed
      return;
    }
    vkDestroyQueryPool(context_.device, queries_, nullptr);
    vkDestroyDescriptorPool(context_.device, descriptor_pool_, nullptr);
    vkDestroyFence(context_.device, fence_, nullptr);
    vkDestroyCommandPool(context_.device, command_pool_, nullptr);
  }

  void begin() override {
    check(vkResetCommandBuffer(commands_, 0), "resetting a command buffer");
    const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check(vkBeginCommandBuffer(commands_, &begin), "beginning a command buffer");
    if (context_.seconds_per_tick > 0) vkCmdResetQueryPool(commands_, queries_, 0, moment_count);
    is_read_by_host_ = false;
    pipelines_.clear();
  }

  void stamp(Moment moment) override {
    if (context_.seconds_per_tick == 0) return;
    constexpr std::array<VkPipelineStageFlagBits, moment_count> stages{
        VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT};
    const auto query = static_cast<std::uint32_t>(moment);
    vkCmdWriteTimestamp(commands_, stages[query], queries_, query);
  }

  void copy(const ResidentRange& from, const ResidentRange& to) override {
    const VulkanBuffer &source = buffer_of(from), &target = buffer_of(to);
    const VkBufferCopy region{source.first() + from.offset, target.first() + to.offset, from.bytes};
    vkCmdCopyBuffer(commands_, source.handle(), target.handle(), 1, &region);
    is_read_by_host_ = is_read_by_host_ || target.is_read_by_host();
  }

  void bind(const Dispatch& dispatch, const Bindings& bindings) override {
    const VkDescriptorSet descriptors = next_descriptors();
    std::array<VkDescriptorBufferInfo, slot_count> buffers;
    std::array<VkWriteDescriptorSet, slot_count> writes;
    for (std::uint32_t i = 0; i < slot_count; ++i) {
      const auto& [range, slack] = bindings[i];
      const VulkanBuffer& buffer = buffer_of(range);
      buffers[i] = {buffer.handle(), buffer.first() + range.offset - slack,
                    rounded_up(range.bytes) + 2 * slack};
      writes[i] = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                   .dstSet = descriptors,
                   .dstBinding = i,
                   .descriptorCount = 1,
                   .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                   .pBufferInfo = &buffers[i]};
    }
    vkUpdateDescriptorSets(context_.device, slot_count, writes.data(), 0, nullptr);
    pipelines_.push_back(context_.pipelines->find(dispatch));
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.back()->handle());
    vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE,
                            context_.pipelines->layout().handle, 0, 1, &descriptors, 0, nullptr);
  }

  void launch(std::array<std::uint32_t, 2> groups, std::span<const std::uint32_t> words) override {
    vkCmdPushConstants(commands_, context_.pipelines->layout().handle, VK_SHADER_STAGE_COMPUTE_BIT,
                       0, static_cast<std::uint32_t>(words.size_bytes()), words.data());
    vkCmdDispatch(commands_, groups[0], groups[1], 1);
  }

  void barrier() override {
    constexpr VkPipelineStageFlags stages =
        VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    constexpr VkAccessFlags writes = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    constexpr VkAccessFlags reads = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_SHADER_READ_BIT;
    wait_between(stages, writes, stages, reads | writes);
  }

  void submit(const std::string& doing) override {
    if (is_read_by_host_) {
      wait_between(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    }
    check(vkEndCommandBuffer(commands_), doing);
    check(vkResetFences(context_.device, 1, &fence_), doing);
    const VkSubmitInfo submit{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .commandBufferCount = 1,
                              .pCommandBuffers = &commands_};
    const std::scoped_lock lock(context_.queue_mutex);
    check(vkQueueSubmit(context_.queue, 1, &submit, fence_), doing);
    busy_ = true;
    doing_ = doing;
  }

  // Whoever gives up here frees what the commands work on, so they must be done in any case.
  void wait() override {
    if (!busy_) return;
    try {
      wait_for_fence();
    } catch (...) {
      busy_ = !becomes_idle();
      if (busy_) context_.hung = true;
      throw;
    }
  }

  std::optional<std::array<double, moment_count - 1>> seconds() const override {
    const auto ticks = timestamps();
    if (!ticks) return std::nullopt;
    return seconds_between(*ticks, context_.seconds_per_tick, context_.timestamp_mask);
  }

 private:
  struct Nothing {};

  // Delegated to, so that the destructor takes back what was created before a failure.
  VulkanCommands(Context& context, Nothing) : context_(context) {}

  // False where a dispatch may still run. A lost device runs none.
  bool becomes_idle() {
    if (!busy_) return true;
    if (timed_out_ || context_.hung) return false;
    const VkResult result =
        vkWaitForFences(context_.device, 1, &fence_, VK_TRUE, timeout_seconds * 1'000'000'000);
    return result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST;
  }

  void create_commands() {
    const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                       .queueFamilyIndex = context_.family};
    check(vkCreateCommandPool(context_.device, &pool, nullptr, &command_pool_),
          "creating a command pool");
    const VkCommandBufferAllocateInfo allocate{
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = command_pool_,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    check(vkAllocateCommandBuffers(context_.device, &allocate, &commands_),
          "allocating a command buffer");
    const VkFenceCreateInfo fence{.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    check(vkCreateFence(context_.device, &fence, nullptr, &fence_), "creating a fence");
  }

  void create_descriptors() {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, slot_count * binds_most};
    const VkDescriptorPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                          .maxSets = binds_most,
                                          .poolSizeCount = 1,
                                          .pPoolSizes = &size};
    check(vkCreateDescriptorPool(context_.device, &pool, nullptr, &descriptor_pool_),
          "creating a descriptor pool");
  }

  // Those of the kernel that is bound next; they are kept from list to list.
  VkDescriptorSet next_descriptors() {
    if (pipelines_.size() < descriptors_.size()) return descriptors_[pipelines_.size()];
    VkDescriptorSet descriptors = VK_NULL_HANDLE;
    const VkDescriptorSetAllocateInfo allocate{
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = descriptor_pool_,
        .descriptorSetCount = 1,
        .pSetLayouts = &context_.pipelines->layout().set};
    check(vkAllocateDescriptorSets(context_.device, &allocate, &descriptors),
          "allocating a descriptor set");
    return descriptors_.emplace_back(descriptors);
  }

  void wait_between(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
                    VkAccessFlags read) {
    const VkMemoryBarrier memory{
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written, .dstAccessMask = read};
    vkCmdPipelineBarrier(commands_, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
  }

  void wait_for_fence() {
    // In steps, so that what asks to stop is seen, and no later dispatch begins.
    constexpr std::uint64_t step = 100'000'000;
    VkResult result = VK_TIMEOUT;
    for (std::uint64_t waited = 0; result == VK_TIMEOUT && waited < timeout_seconds * 1'000'000'000;
         waited += step) {
      check_for_stop();
      result = vkWaitForFences(context_.device, 1, &fence_, VK_TRUE, step);
    }
    // Waiting can fail for lack of memory: the dispatch then goes on.
    busy_ = result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST;
    timed_out_ = result == VK_TIMEOUT;
    check(result, doing_);
  }

  std::optional<std::array<std::uint64_t, moment_count>> timestamps() const {
    if (context_.seconds_per_tick == 0) return std::nullopt;
    std::array<std::uint64_t, moment_count> ticks{};
    const VkResult result =
        vkGetQueryPoolResults(context_.device, queries_, 0, moment_count, sizeof ticks,
                              ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT);
    return result == VK_SUCCESS ? std::optional(ticks) : std::nullopt;
  }

  Context& context_;
  VkCommandPool command_pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptor_pool_ = VK_NULL_HANDLE;
  std::vector<VkDescriptorSet> descriptors_;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  bool busy_ = false;
  bool timed_out_ = false;
  bool is_read_by_host_ = false;                            // what the commands copy
  std::vector<std::shared_ptr<const Pipeline>> pipelines_;  // that they bind, in order
  std::string doing_;
};

}  // namespace

std::unique_ptr<Commands> make_commands(Context& context) {
  return std::make_unique<VulkanCommands>(context);
}

std::unique_ptr<ResidentBuffer> make_buffer(Context& context, Place place, std::uint64_t bytes) {
  return std::make_unique<VulkanBuffer>(context, place, bytes);
}

}  // namespace dmlop::gpu::vulkan
