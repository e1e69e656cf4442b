// Several threads compile kernels beside one another, and each kernel once.
#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "gpu/vulkan/api.hpp"
#include "gpu_device.hpp"

namespace dmlop::test::vulkan_pipelines_test {
namespace {

/// Makes each call of vkCreateComputePipelines wait until so many are under way.
struct Meeting {
  std::mutex mutex;
  std::condition_variable met;
  int wanted = 1, here = 0, calls = 0;
  bool all_met = true;
};
Meeting* meeting = nullptr;
PFN_vkCreateComputePipelines real_create = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL create_together(VkDevice device, VkPipelineCache cache,
                                               std::uint32_t count,
                                               const VkComputePipelineCreateInfo* infos,
                                               const VkAllocationCallbacks* callbacks,
                                               VkPipeline* pipelines) {
  {
    std::unique_lock lock(meeting->mutex);
    ++meeting->calls;
    ++meeting->here;
    meeting->met.notify_all();
    const bool met = meeting->met.wait_for(lock, std::chrono::seconds(20),
                                           [] { return meeting->here >= meeting->wanted; });
    meeting->all_met = meeting->all_met && met;
  }
  return real_create(device, cache, count, infos, callbacks, pipelines);
}

/// Two threads prepare a dispatch each.
void prepare_both(gpu::Device& device, Meeting& watched, const gpu::Dispatch& first,
                  const gpu::Dispatch& second) {
  meeting = &watched;
  real_create = vkCreateComputePipelines;
  vkCreateComputePipelines = create_together;
  std::thread other([&] { device.prepare(second); });
  device.prepare(first);
  other.join();
  vkCreateComputePipelines = real_create;
}

TEST_CASE("Vulkan: two threads compile two kernels at the same time") {
  if (!has_gpu()) return;
  const std::unique_ptr<gpu::Device> device = open_gpu();
  Meeting two{.wanted = 2};
  prepare_both(*device, two, {.kernel = "cast", .specialization = {1, 2}},
               {.kernel = "cast", .specialization = {2, 1}});
  CHECK(two.all_met);
  CHECK(two.calls == 2);
}

TEST_CASE("Vulkan: two threads that want the same kernel compile it once") {
  if (!has_gpu()) return;
  const std::unique_ptr<gpu::Device> device = open_gpu();
  Meeting one{.wanted = 1};
  const gpu::Dispatch cast{.kernel = "cast", .specialization = {1, 2}};
  prepare_both(*device, one, cast, cast);
  CHECK(one.calls == 1);
}

}  // namespace
}  // namespace dmlop::test::vulkan_pipelines_test
