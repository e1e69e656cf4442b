#include "gpu/vulkan/stream.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "gpu/launches.hpp"
#include "gpu/staging.hpp"
#include "gpu/vulkan/buffer.hpp"

namespace dmlop::gpu::vulkan {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t timestamp_count = 4;  // begin, uploaded, computed, downloaded

class VulkanResidentBuffer : public ResidentBuffer {
 public:
  VulkanResidentBuffer(Context& context, std::uint64_t bytes)
      : ResidentBuffer(bytes),
        context_(context),
        buffer_(context.physical, context.device, Place::device) {
    buffer_.grow(rounded_up(bytes));
  }
  ~VulkanResidentBuffer() override {
    if (context_.hung) buffer_.abandon();
  }
  VkBuffer handle() const { return buffer_.handle(); }

 private:
  Context& context_;
  Buffer buffer_;
};

VkBuffer handle_of(const ResidentRange& range) {
  return static_cast<const VulkanResidentBuffer*>(range.buffer)->handle();
}

/// Where an input of the next dispatch comes from: staging, or a buffer of the device.
struct InputSource {
  VkBuffer buffer = VK_NULL_HANDLE;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // 0: there is no such input
};

class VulkanStream : public Stream {
 public:
  explicit VulkanStream(Context& context) : VulkanStream(context, Nothing{}) {
    create_commands();
    create_descriptors();
    const VkQueryPoolCreateInfo queries{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = timestamp_count};
    check(vkCreateQueryPool(context_.device, &queries, nullptr, &queries_),
          "creating a query pool");
  }

  ~VulkanStream() override {
    if (!becomes_idle()) {
      abandon();
      return;
    }
    vkDestroyQueryPool(context_.device, queries_, nullptr);
    vkDestroyDescriptorPool(context_.device, descriptor_pool_, nullptr);
    vkDestroyFence(context_.device, fence_, nullptr);
    vkDestroyCommandPool(context_.device, command_pool_, nullptr);
  }

  std::span<std::byte> input(std::size_t index, std::uint64_t bytes) override {
    wait();
    uploads_[index]->grow(rounded_up(bytes));
    sources_[index] = {uploads_[index]->handle(), 0, bytes};
    return {uploads_[index]->data(), bytes};
  }

  void input(std::size_t index, const ResidentRange& range) override {
    wait();
    sources_[index] = {handle_of(range), range.offset, range.bytes};
  }

  void submit(const Dispatch& dispatch, const ResidentRange* output) override {
    wait();
    if (!dispatch.table.empty()) {
      const auto table = std::as_bytes(std::span(dispatch.table));
      std::copy(table.begin(), table.end(), input(2, table.size()).begin());
    }
    for (std::size_t i = 0; i < input_count; ++i) {
      const std::uint64_t bytes = i == 1 ? dispatch.state_bytes : 0;
      inputs_[i]->grow(rounded_up(std::max(bytes, sources_[i].bytes) + 2 * input_slack_bytes));
    }
    output_bytes_ = output != nullptr ? 0 : dispatch.output_bytes;
    output_.grow(rounded_up(dispatch.output_bytes));
    download_.grow(rounded_up(output_bytes_));
    write_descriptors();
    times_ = {};
    begin_commands();
    record_upload();
    stamp(1, VK_PIPELINE_STAGE_TRANSFER_BIT);
    const auto record = [&](const Submission& launches) { record_launches(dispatch, launches); };
    run_kernel(dispatch.kernel, dispatch.stages, record, [&] {
      if (output != nullptr) {
        record_output(handle_of(*output), output->offset, output->bytes);
      } else {
        record_output(download_.handle(), 0, output_bytes_);
      }
    });
    sources_ = {};
  }

  void run(const ResidentDispatch& dispatch, std::span<const ResidentRange> inputs,
           std::span<const ResidentRange> outputs) override {
    wait();
    output_bytes_ = 0;
    parameters_.grow(rounded_up(dispatch.parameters.size() * 4));
    scratch_.grow(rounded_up(dispatch.scratch_bytes));
    write_resident_descriptors(inputs, outputs);
    times_ = {};
    begin_commands();
    await_earlier_work();
    record_parameters(dispatch.parameters);
    stamp(1, VK_PIPELINE_STAGE_TRANSFER_BIT);
    const auto record = [&](const Submission& launches) { record_launches(dispatch, launches); };
    run_kernel(dispatch.kernel, dispatch.stages, record, [] {});
  }

  std::span<const std::byte> finish() override {
    wait();
    return {download_.data(), output_bytes_};
  }

  void write(const ResidentRange& to, std::span<const std::byte> bytes) override {
    in_staging_steps(bytes.size(), [&](std::uint64_t at, std::uint64_t count) {
      uploads_[0]->grow(rounded_up(std::min<std::uint64_t>(bytes.size(), staging_bytes)));
      std::memcpy(uploads_[0]->data(), bytes.data() + at, count);
      copy(uploads_[0]->handle(), 0, handle_of(to), to.offset + at, count);
    });
  }

  void read(const ResidentRange& from, std::span<std::byte> bytes) override {
    in_staging_steps(bytes.size(), [&](std::uint64_t at, std::uint64_t count) {
      download_.grow(rounded_up(std::min<std::uint64_t>(bytes.size(), staging_bytes)));
      copy(handle_of(from), from.offset + at, download_.handle(), 0, count);
      std::memcpy(bytes.data() + at, download_.data(), count);
    });
  }

  DispatchTimes times() const override { return times_; }

  std::optional<double> repeat(const Dispatch& dispatch) override {
    write_descriptors();
    times_ = {};
    begin_commands();
    stamp(1, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    const auto record = [&](const Submission& launches) { record_launches(dispatch, launches); };
    run_kernel(dispatch.kernel, dispatch.stages, record, [] {});
    wait();
    return times_.kernel;
  }

 private:
  struct Nothing {};

  // Delegated to, so that the destructor takes back what was created before a failure.
  VulkanStream(Context& context, Nothing)
      : context_(context),
        output_(context.physical, context.device, Place::device),
        download_(context.physical, context.device, Place::download),
        parameters_(context.physical, context.device, Place::device),
        scratch_(context.physical, context.device, Place::device) {
    for (std::size_t i = 0; i < input_count; ++i) {
      inputs_.push_back(std::make_unique<Buffer>(context.physical, context.device, Place::device));
      uploads_.push_back(std::make_unique<Buffer>(context.physical, context.device, Place::upload));
    }
  }

  // False where a dispatch may still run. A lost device runs none.
  bool becomes_idle() {
    if (!busy_) return true;
    if (timed_out_ || context_.hung) return false;
    const VkResult result =
        vkWaitForFences(context_.device, 1, &fence_, VK_TRUE, timeout_seconds * 1'000'000'000);
    return result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST;
  }

  void abandon() {
    context_.hung = true;
    static_cast<void>(new std::shared_ptr(std::move(pipeline_)));  // never destroyed
    for (const auto& buffer : inputs_) buffer->abandon();
    for (const auto& buffer : uploads_) buffer->abandon();
    for (Buffer* buffer : {&output_, &download_, &parameters_, &scratch_}) buffer->abandon();
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
    const Pipelines& pipelines = *context_.pipelines;
    std::vector layouts{&pipelines.tiled(), &pipelines.tiled()};
    if (pipelines.resident().buffers != 0) layouts.push_back(&pipelines.resident());
    const auto sets = static_cast<std::uint32_t>(layouts.size());
    VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0};
    std::vector<VkDescriptorSetLayout> handles;
    for (const PipelineLayout* layout : layouts) {
      size.descriptorCount += layout->buffers;
      handles.push_back(layout->set);
    }
    const VkDescriptorPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                          .maxSets = sets,
                                          .poolSizeCount = 1,
                                          .pPoolSizes = &size};
    check(vkCreateDescriptorPool(context_.device, &pool, nullptr, &descriptor_pool_),
          "creating a descriptor pool");
    const VkDescriptorSetAllocateInfo allocate{
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = descriptor_pool_,
        .descriptorSetCount = sets,
        .pSetLayouts = handles.data()};
    check(vkAllocateDescriptorSets(context_.device, &allocate, descriptors_.data()),
          "allocating a descriptor set");
  }

  void write_descriptors() {
    const auto input = [&](std::size_t i) { return inputs_[i]->handle(); };
    const auto whole = [](VkBuffer buffer) {
      return VkDescriptorBufferInfo{buffer, 0, VK_WHOLE_SIZE};
    };
    write_descriptors(descriptors_[0],
                      {whole(input(0)), whole(input(1)), whole(input(2)), whole(output_.handle())});
    // A stage that writes the state reads no input 1 or 2.
    write_descriptors(descriptors_[1],
                      {whole(input(0)), whole(input(2)), whole(input(2)), whole(input(1))});
  }

  // Bindings that the kernel does not use hold the parameters.
  void write_resident_descriptors(std::span<const ResidentRange> inputs,
                                  std::span<const ResidentRange> outputs) {
    std::vector<VkDescriptorBufferInfo> buffers(resident_buffers,
                                                {parameters_.handle(), 0, VK_WHOLE_SIZE});
    const auto put = [&](std::size_t first, std::span<const ResidentRange> ranges) {
      for (std::size_t i = 0; i < ranges.size(); ++i)
        buffers.at(first + i) = {handle_of(ranges[i]), ranges[i].offset, VK_WHOLE_SIZE};
    };
    put(1, inputs);
    put(1 + resident_inputs_most, outputs);
    buffers.back().buffer = scratch_.handle();
    write_descriptors(descriptors_[2], buffers);
  }

  void write_descriptors(VkDescriptorSet set, const std::vector<VkDescriptorBufferInfo>& buffers) {
    std::vector<VkWriteDescriptorSet> writes(buffers.size());
    for (std::uint32_t i = 0; i < buffers.size(); ++i) {
      writes[i] = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                   .dstSet = set,
                   .dstBinding = i,
                   .descriptorCount = 1,
                   .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                   .pBufferInfo = &buffers[i]};
    }
    vkUpdateDescriptorSets(context_.device, static_cast<std::uint32_t>(writes.size()),
                           writes.data(), 0, nullptr);
  }

  void begin_commands() {
    check(vkResetCommandBuffer(commands_, 0), "resetting a command buffer");
    const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check(vkBeginCommandBuffer(commands_, &begin), "beginning a command buffer");
    if (context_.seconds_per_tick > 0) vkCmdResetQueryPool(commands_, queries_, 0, timestamp_count);
    stamp(0, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
  }

  void stamp(std::uint32_t query, VkPipelineStageFlagBits stage) {
    if (context_.seconds_per_tick > 0) vkCmdWriteTimestamp(commands_, stage, queries_, query);
  }

  void barrier(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
               VkAccessFlags read) {
    const VkMemoryBarrier memory{
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written, .dstAccessMask = read};
    vkCmdPipelineBarrier(commands_, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
  }

  void record_upload() {
    await_earlier_work();
    for (std::size_t i = 0; i < input_count; ++i) {
      const InputSource& source = sources_[i];
      if (source.bytes == 0) continue;
      const VkBufferCopy copy{source.offset, i == 0 ? input_slack_bytes : 0, source.bytes};
      vkCmdCopyBuffer(commands_, source.buffer, inputs_[i]->handle(), 1, &copy);
    }
    barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
  }

  // Runs the launches of a dispatch, as many at a time as the pace allows; the last ones are left
  // to be waited for, with what `record_end` records behind them.
  template <typename Record, typename RecordEnd>
  void run_kernel(const std::string& kernel, std::span<const Stage> stages, Record&& record,
                  RecordEnd&& record_end) {
    const std::string doing = "running " + kernel;
    Launches launches(stages);
    for (;;) {
      const Submission submission = launches.next(context_.pace.work());
      record(submission);
      work_ = submission.work;
      stamp(2, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
      if (launches.done()) break;
      stamp(3, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
      end_commands(doing);
      wait();
      begin_commands();
      stamp(1, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
    }
    record_end();
    stamp(3, VK_PIPELINE_STAGE_TRANSFER_BIT);
    end_commands(doing);
  }

  void record_launches(const Dispatch& dispatch, const Submission& submission) {
    bind(context_.pipelines->find(dispatch));
    std::array<std::uint32_t, 32> constants{};
    std::copy(dispatch.constants.begin(), dispatch.constants.end(), constants.begin());
    for (const Launch& launch : submission.launches) {
      std::copy(launch.row.begin(), launch.row.end(), constants.end() - launch.row.size());
      record_launch(launch, context_.pipelines->tiled(), descriptors_[launch.writes_state ? 1 : 0],
                    constants);
    }
  }

  void record_launches(const ResidentDispatch& dispatch, const Submission& submission) {
    bind(context_.pipelines->find(dispatch));
    for (const Launch& launch : submission.launches)
      record_launch(launch, context_.pipelines->resident(), descriptors_[2], launch.row);
  }

  void bind(std::shared_ptr<const Pipeline> pipeline) {
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle());
    pipeline_ = std::move(pipeline);
  }

  void record_launch(const Launch& launch, const PipelineLayout& layout, VkDescriptorSet set,
                     std::span<const std::uint32_t> constants) {
    if (launch.awaits_writes) {
      barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
              VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
              VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    }
    vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout.handle, 0, 1, &set, 0,
                            nullptr);
    vkCmdPushConstants(commands_, layout.handle, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       static_cast<std::uint32_t>(constants.size_bytes()), constants.data());
    vkCmdDispatch(commands_, launch.groups[0], launch.groups[1], 1);
  }

  void record_parameters(std::span<const std::uint32_t> parameters) {
    constexpr std::size_t most = 65536 / 4;  // words of an update
    for (std::size_t at = 0; at < parameters.size(); at += most) {
      const auto part = parameters.subspan(at, std::min(most, parameters.size() - at));
      vkCmdUpdateBuffer(commands_, parameters_.handle(), at * 4, part.size_bytes(), part.data());
    }
    barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
  }

  // Resident buffers hold what earlier command buffers copied and computed there.
  void await_earlier_work() {
    constexpr VkPipelineStageFlags stages =
        VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    barrier(stages, VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT, stages,
            VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT |
                VK_ACCESS_SHADER_WRITE_BIT);
  }

  void record_output(VkBuffer to, std::uint64_t offset, std::uint64_t bytes) {
    barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    const VkBufferCopy copy{0, offset, bytes};
    vkCmdCopyBuffer(commands_, output_.handle(), to, 1, &copy);
    barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  }

  // One copy by itself, done on return.
  void copy(VkBuffer from, std::uint64_t from_offset, VkBuffer to, std::uint64_t to_offset,
            std::uint64_t bytes) {
    wait();
    begin_commands();
    await_earlier_work();
    const VkBufferCopy region{from_offset, to_offset, bytes};
    vkCmdCopyBuffer(commands_, from, to, 1, &region);
    barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    end_commands("copying " + std::to_string(bytes) + " bytes");
    wait();
  }

  void end_commands(const std::string& doing) {
    check(vkEndCommandBuffer(commands_), doing);
    check(vkResetFences(context_.device, 1, &fence_), doing);
    const VkSubmitInfo submit{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .commandBufferCount = 1,
                              .pCommandBuffers = &commands_};
    const std::scoped_lock lock(context_.queue_mutex);
    check(vkQueueSubmit(context_.queue, 1, &submit, fence_), doing);
    busy_ = true;
    doing_ = doing;
    submitted_ = Clock::now();
  }

  // Whoever gives up here frees what the commands work on, so they must be done in any case.
  void wait() {
    if (!busy_) return;
    try {
      wait_for_fence();
    } catch (...) {
      busy_ = !becomes_idle();
      if (busy_) context_.hung = true;
      throw;
    }
    if (work_ > 0) take_times();
    work_ = 0;
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

  // Of launches that are done.
  void take_times() {
    const double waited = std::chrono::duration<double>(Clock::now() - submitted_).count();
    const auto ticks = timestamps();
    context_.pace.took(work_, ticks ? seconds((*ticks)[1], (*ticks)[2]) : waited);
    if (!ticks) return;
    const auto add = [&](std::optional<double>& sum, std::size_t begin) {
      sum = sum.value_or(0) + seconds((*ticks)[begin], (*ticks)[begin + 1]);
    };
    add(times_.upload, 0);
    add(times_.kernel, 1);
    add(times_.download, 2);
  }

  std::optional<std::array<std::uint64_t, timestamp_count>> timestamps() const {
    if (context_.seconds_per_tick == 0) return std::nullopt;
    std::array<std::uint64_t, timestamp_count> ticks{};
    const VkResult result =
        vkGetQueryPoolResults(context_.device, queries_, 0, timestamp_count, sizeof ticks,
                              ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT);
    return result == VK_SUCCESS ? std::optional(ticks) : std::nullopt;
  }

  double seconds(std::uint64_t begin, std::uint64_t end) const {
    return static_cast<double>((end - begin) & context_.timestamp_mask) * context_.seconds_per_tick;
  }

  Context& context_;
  std::vector<std::unique_ptr<Buffer>> inputs_;
  std::vector<std::unique_ptr<Buffer>> uploads_;
  Buffer output_;
  Buffer download_;
  Buffer parameters_;
  Buffer scratch_;
  std::array<InputSource, input_count> sources_{};
  std::uint64_t output_bytes_ = 0;
  VkCommandPool command_pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptor_pool_ = VK_NULL_HANDLE;
  std::array<VkDescriptorSet, 3> descriptors_{};  // for the output, for the state, resident
  VkQueryPool queries_ = VK_NULL_HANDLE;
  bool busy_ = false;
  bool timed_out_ = false;
  std::shared_ptr<const Pipeline> pipeline_;  // of the launches in flight
  std::string doing_;
  std::uint64_t work_ = 0;  // of the launches in flight
  Clock::time_point submitted_;
  DispatchTimes times_;
};

}  // namespace

std::unique_ptr<Stream> make_stream(Context& context) {
  return std::make_unique<VulkanStream>(context);
}

std::unique_ptr<ResidentBuffer> make_resident_buffer(Context& context, std::uint64_t bytes) {
  return std::make_unique<VulkanResidentBuffer>(context, bytes);
}

}  // namespace dmlop::gpu::vulkan
