// What a Vulkan driver that fails costs. The test replaces entry points that volk loads by ones
// that return an error once, and counts what is created, destroyed, submitted and waited for.
#include <doctest/doctest.h>
#include <volk.h>

#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>

#include "base/error.hpp"
#include "folder.hpp"
#include "gpu_device.hpp"
#include "job/job.hpp"
#include "model.hpp"
#include "model/runtime.hpp"
#include "sanitized.hpp"

namespace dmlop::test::vulkan_fault_test {
namespace {

/// What the replaced entry points know. Calls take turns.
struct Driver {
  // Call number `wanted`, from 0, of those that can return `error` does so.
  VkResult error = VK_SUCCESS;
  std::uint64_t wanted = 0;
  std::uint64_t calls = 0;
  std::string fired;  // the entry point that failed; "" where none did
  bool lost = false;  // submits and waits return VK_ERROR_DEVICE_LOST
  bool hung = false;  // waits return VK_TIMEOUT

  int objects = 0;  // created and not destroyed
  int destroyed = 0;
  std::set<VkFence> in_flight;
  int destroyed_in_flight = 0;
  int awaited_in_vain = 0;  // waits for a fence that nothing signals
  VkDevice device = VK_NULL_HANDLE;

  VkResult result_of(const std::string& name);
};
Driver driver;

bool waits(const std::string& name) {
  return name == "vkQueueSubmit" || name == "vkWaitForFences";
}

VkResult Driver::result_of(const std::string& name) {
  if (lost && waits(name)) return VK_ERROR_DEVICE_LOST;
  if (hung && name == "vkWaitForFences") return VK_TIMEOUT;
  const bool can_fail = error != VK_ERROR_DEVICE_LOST || waits(name) || name == "vkCreateDevice";
  if (error == VK_SUCCESS || !can_fail || calls++ != wanted) return VK_SUCCESS;
  fired = name;
  if (error == VK_ERROR_DEVICE_LOST && waits(name)) {
    vkDeviceWaitIdle(device);  // a lost device runs nothing
    in_flight.clear();
    lost = true;
  }
  return error;
}

/// Stands in front of one entry point of the driver.
template <typename Tag, typename Function>
struct Hook;

template <typename Tag, typename... Arguments>
struct Hook<Tag, VkResult(VKAPI_PTR*)(Arguments...)> {
  static inline VkResult(VKAPI_PTR* real)(Arguments...) = nullptr;
  static inline std::string name;

  static VkResult VKAPI_CALL call(Arguments... arguments) {
    if (const VkResult result = driver.result_of(name); result != VK_SUCCESS) return result;
    const auto all = std::tie(arguments...);
    if constexpr (std::is_same_v<decltype(real), PFN_vkWaitForFences>) {
      if (driver.in_flight.count(*std::get<2>(all)) == 0) {
        ++driver.awaited_in_vain;
        return VK_TIMEOUT;
      }
    }
    const VkResult result = real(arguments...);
    if (result != VK_SUCCESS) return result;
    if constexpr (std::is_same_v<decltype(real), PFN_vkCreateDevice>) {
      driver.device = *std::get<3>(all);
    } else if constexpr (std::is_same_v<decltype(real), PFN_vkQueueSubmit>) {
      driver.in_flight.insert(std::get<3>(all));
    } else if constexpr (std::is_same_v<decltype(real), PFN_vkWaitForFences>) {
      driver.in_flight.erase(*std::get<2>(all));
    } else if (name.starts_with("vkCreate") || name == "vkAllocateMemory") {
      ++driver.objects;
    }
    return result;
  }
};

template <typename Tag, typename Handle>
struct Hook<Tag, void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*)> {
  static inline void(VKAPI_PTR* real)(VkDevice, Handle, const VkAllocationCallbacks*) = nullptr;
  static inline std::string name;

  static void VKAPI_CALL call(VkDevice device, Handle handle,
                              const VkAllocationCallbacks* allocator) {
    if (handle != VK_NULL_HANDLE) {
      --driver.objects;
      ++driver.destroyed;
    }
    if constexpr (std::is_same_v<Handle, VkFence>) {
      driver.destroyed_in_flight += static_cast<int>(driver.in_flight.erase(handle));
    }
    real(device, handle, allocator);
  }
};

struct HookRow {
  PFN_vkVoidFunction call;
  std::function<void(PFN_vkVoidFunction)> set_real;
};

template <typename Tag, typename Function>
HookRow hook_row(const char* name) {
  using Chosen = Hook<Tag, Function>;
  Chosen::name = name;
  return {reinterpret_cast<PFN_vkVoidFunction>(Chosen::call),
          [](PFN_vkVoidFunction real) { Chosen::real = reinterpret_cast<Function>(real); }};
}

/// Every entry point of a device that the library calls and that can fail, and those that destroy.
const std::map<std::string, HookRow>& hooks() {
  static const std::map<std::string, HookRow> rows = [] {
    std::map<std::string, HookRow> made;
#define DMLOP_HOOK(entry)                                     \
  {                                                           \
    struct Tag {};                                            \
    made.emplace(#entry, hook_row<Tag, PFN_##entry>(#entry)); \
  }
    DMLOP_HOOK(vkAllocateCommandBuffers)
    DMLOP_HOOK(vkAllocateDescriptorSets)
    DMLOP_HOOK(vkAllocateMemory)
    DMLOP_HOOK(vkBeginCommandBuffer)
    DMLOP_HOOK(vkBindBufferMemory)
    DMLOP_HOOK(vkCreateBuffer)
    DMLOP_HOOK(vkCreateCommandPool)
    DMLOP_HOOK(vkCreateComputePipelines)
    DMLOP_HOOK(vkCreateDescriptorPool)
    DMLOP_HOOK(vkCreateDescriptorSetLayout)
    DMLOP_HOOK(vkCreateDevice)
    DMLOP_HOOK(vkCreateFence)
    DMLOP_HOOK(vkCreatePipelineCache)
    DMLOP_HOOK(vkCreatePipelineLayout)
    DMLOP_HOOK(vkCreateQueryPool)
    DMLOP_HOOK(vkCreateShaderModule)
    DMLOP_HOOK(vkEndCommandBuffer)
    DMLOP_HOOK(vkGetPipelineCacheData)
    DMLOP_HOOK(vkGetQueryPoolResults)
    DMLOP_HOOK(vkMapMemory)
    DMLOP_HOOK(vkQueueSubmit)
    DMLOP_HOOK(vkResetCommandBuffer)
    DMLOP_HOOK(vkResetFences)
    DMLOP_HOOK(vkWaitForFences)
    DMLOP_HOOK(vkDestroyBuffer)
    DMLOP_HOOK(vkDestroyCommandPool)
    DMLOP_HOOK(vkDestroyDescriptorPool)
    DMLOP_HOOK(vkDestroyDescriptorSetLayout)
    DMLOP_HOOK(vkDestroyFence)
    DMLOP_HOOK(vkDestroyPipeline)
    DMLOP_HOOK(vkDestroyPipelineCache)
    DMLOP_HOOK(vkDestroyPipelineLayout)
    DMLOP_HOOK(vkDestroyQueryPool)
    DMLOP_HOOK(vkDestroyShaderModule)
    DMLOP_HOOK(vkFreeMemory)
#undef DMLOP_HOOK
    return made;
  }();
  return rows;
}

PFN_vkGetDeviceProcAddr real_get_device_proc_addr = nullptr;

PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char* name) {
  const PFN_vkVoidFunction real = real_get_device_proc_addr(device, name);
  const auto row = hooks().find(name);
  if (row == hooks().end() || real == nullptr) return real;
  row->second.set_real(real);
  return row->second.call;
}

/// While one lives, devices that are opened have the replaced entry points, and `error` is what
/// call number `wanted` of them returns; with VK_SUCCESS none fails.
class FaultyDriver {
 public:
  explicit FaultyDriver(VkResult error, std::uint64_t wanted = 0)
      : create_device_(vkCreateDevice), get_device_proc_addr_(vkGetDeviceProcAddr) {
    driver = Driver{.error = error, .wanted = wanted};
    const HookRow& create = hooks().at("vkCreateDevice");
    create.set_real(reinterpret_cast<PFN_vkVoidFunction>(create_device_));
    vkCreateDevice = reinterpret_cast<PFN_vkCreateDevice>(create.call);
    real_get_device_proc_addr = get_device_proc_addr_;
    vkGetDeviceProcAddr = get_device_proc_addr;
  }
  FaultyDriver(const FaultyDriver&) = delete;
  FaultyDriver& operator=(const FaultyDriver&) = delete;
  ~FaultyDriver() {
    driver = Driver{};
    vkCreateDevice = create_device_;
    vkGetDeviceProcAddr = get_device_proc_addr_;
  }

 private:
  PFN_vkCreateDevice create_device_;
  PFN_vkGetDeviceProcAddr get_device_proc_addr_;
};

/// Whether the failure of a call may change nothing. The list is closed: whatever else fails ends
/// the work with the reason.
bool may_be_ignored(const std::string& call, VkResult error) {
  // A pipeline is compiled once more, and times are not told.
  if (call == "vkCreatePipelineCache" || call == "vkGetQueryPoolResults") return true;
  // Memory of the host takes the place of the device's, and a model runs from the host.
  const std::set<std::string> of_buffers{"vkCreateBuffer", "vkAllocateMemory",
                                         "vkBindBufferMemory"};
  return error != VK_ERROR_DEVICE_LOST && of_buffers.contains(call);
}

/// Work that is done on a device again and again.
struct Work {
  std::function<void()> prepare;
  std::function<void(Backend&)> run;
  std::function<bool()> is_right;
  std::function<bool()> is_untouched;
};

/// One run of the work on a device of its own whose driver fails once, and one more without fault.
/// False when the fault was not reached.
bool check_fault(const Work& work, VkResult error, std::uint64_t call,
                 std::map<std::string, unsigned>& failed) {
  CAPTURE(error);
  CAPTURE(call);
  const FaultyDriver scope(error, call);
  {
    std::optional<Backend> backend;
    work.prepare();
    const Ending ending = ending_of([&] {
      backend.emplace(open_gpu());
      work.run(*backend);
    });
    CAPTURE(driver.fired);
    CAPTURE(ending.message);
    if (!ending.kind) {
      CHECK(work.is_right());
      CHECK_MESSAGE((driver.fired.empty() || may_be_ignored(driver.fired, error)),
                    "the program ignored that " << driver.fired << " failed");
    }
    if (ending.kind) {
      const bool is_loss = error == VK_ERROR_DEVICE_LOST;
      ++failed[driver.fired];
      CHECK(driver.fired != "");
      CHECK(*ending.kind == (is_loss ? ErrorKind::device_lost : ErrorKind::run_failed));
      CHECK(ending.message.ends_with(error == VK_ERROR_DEVICE_LOST ? ": the device was lost"
                                     : error == VK_ERROR_OUT_OF_HOST_MEMORY
                                         ? ": out of host memory"
                                         : ": out of device memory"));
      CHECK(work.is_untouched());
    }
    driver.error = VK_SUCCESS;
    if (backend) {
      work.prepare();
      const Ending next = ending_of([&] { work.run(*backend); });
      CAPTURE(next.message);
      CHECK(next.kind == (driver.lost ? std::optional(ErrorKind::device_lost) : std::nullopt));
      if (!driver.lost) CHECK(work.is_right());
    }
  }
  CHECK_MESSAGE(driver.objects == 0, "objects outlived their device");
  CHECK_MESSAGE(driver.awaited_in_vain == 0, "what was not submitted was waited for");
  CHECK_MESSAGE(driver.destroyed_in_flight == 0, "a dispatch in flight lost its buffers");
  return !driver.fired.empty();
}

void check_every_fault(const std::string& what, const Work& work) {
  for (const VkResult error :
       {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST}) {
    std::map<std::string, unsigned> failed;
    std::uint64_t call = 0;
    while (check_fault(work, error, call, failed)) REQUIRE(++call < 2000);
    CHECK(call > 0);
    std::string text;
    for (const auto& [name, count] : failed)
      text += ", " + name + (count > 1 ? " x" + std::to_string(count) : "");
    MESSAGE(what << ": " << call << " faults " << error << "; the job failed in" << text.substr(1));
  }
}

/// Four tiles of a padding that wraps around: one more than there are streams.
class TiledJob {
 public:
  TiledJob() {
    std::string elements(800, '\0');
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<char>(i % 251);
    expected_ = npy("|u1", "(803,)", elements.substr(799) + elements + elements.substr(0, 2));
    folder_.write("in.npy", npy("|u1", "(800,)", elements));
    folder_.write("op.json", R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "UINT8", )"
                             R"("Sizes": [800]}, "PaddingMode": "WRAP", "StartPadding": [1], )"
                             R"("EndPadding": [2]}})");
    Diagnostics diagnostics;
    job_ = prepare_job({.description_path = folder_ / "op.json",
                        .inputs = {{"InputTensor", folder_ / "in.npy"}},
                        .outputs = {{"OutputTensor", outputs_ / "out.npy"}}},
                       Purpose::run, diagnostics);
    REQUIRE(diagnostics.empty());
  }

  Work work() {
    const auto run = [this](Backend& backend) {
      run_job(*job_, backend, {.threads = 1, .device_memory_bytes = 4 << 10});
    };
    return {
        .prepare = [this] { outputs_.write("out.npy", "older"); },
        .run = run,
        .is_right = [this] { return outputs_.read("out.npy") == expected_; },
        .is_untouched =
            [this] { return outputs_.list() == "out.npy" && outputs_.read("out.npy") == "older"; }};
  }

 private:
  Folder folder_;
  Folder outputs_;
  std::string expected_;
  std::optional<Job> job_;
};

TEST_CASE("vulkan faults: each call that fails once costs one job, and after a loss all") {
  if (!has_gpu()) return;
  TiledJob job;
  check_every_fault("job", job.work());
}

TEST_CASE("vulkan faults: a model fails as a whole, or runs from the host") {
  if (!has_gpu()) return;
  const Model model = valid_model("{" + usual_members() + R"(, "commands": [
    {"type": "dispatch", "dispatchable": "pad",
     "bindings": {"InputTensor": "In", "OutputTensor": "Out"}}]})");
  std::vector<float> found;
  const auto run = [&](Backend& backend) {
    Runtime runtime(model, backend, {.threads = 1});
    runtime.dispatch(std::get<DispatchCommand>(model.commands[0]));
    const auto bytes = runtime.contents(1);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    found = values;
  };
  check_every_fault("model",
                    {.prepare = [&] { found.clear(); },
                     .run = run,
                     .is_right = [&] { return found == std::vector<float>{1, 1, 2, 3, 4, 4}; },
                     .is_untouched = [&] { return found.empty(); }});
}

TEST_CASE("vulkan faults: what a dispatch that never ends may use is left to it") {
  if (!has_gpu()) return;
  const LeaksOnPurpose leaks;
  TiledJob job;
  const Work work = job.work();
  const FaultyDriver scope(VK_SUCCESS);
  std::optional<Backend> backend(open_gpu());
  work.run(*backend);
  work.prepare();
  driver.hung = true;
  driver.destroyed = 0;
  const Ending ending = ending_of([&] { work.run(*backend); });
  CHECK(ending.kind == ErrorKind::run_failed);
  CHECK(ending.message.ends_with(": timeout"));
  CHECK(work.is_untouched());
  const Ending next = ending_of([&] { work.run(*backend); });
  CHECK(next.kind == ErrorKind::device_lost);
  CHECK(next.message.find(" hangs: a dispatch did not end within ") != std::string::npos);
  backend.reset();
  CHECK(driver.destroyed == 0);
  CHECK(driver.destroyed_in_flight == 0);
  vkDeviceWaitIdle(driver.device);
}

}  // namespace
}  // namespace dmlop::test::vulkan_fault_test
