// The choice of a device (gpu/device_info.hpp), with invented devices.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "gpu/d3d12/software_adapter.hpp"
#include "gpu/device_info.hpp"
#include "gpu/memory_budget.hpp"

namespace dmlop::test::device_choice_test {
namespace {

using gpu::DeviceInfo;
using gpu::DeviceKind;
using Devices = std::vector<DeviceInfo>;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

DeviceInfo device(std::size_t index, const std::string& name, DeviceKind kind,
                  std::uint64_t memory_bytes = gib) {
  return {.backend = "vulkan",
          .index = index,
          .name = name,
          .kind = kind,
          .memory_bytes = memory_bytes,
          .id_name = "uuid",
          .id = "0000000" + std::to_string(index) + "-aB"};
}

const DeviceInfo software = device(0, "llvmpipe (LLVM 15.0.6, 256 bits)", DeviceKind::software);
const DeviceInfo integrated = device(1, "Intel Iris", DeviceKind::integrated, 16 * gib);
const DeviceInfo small_card = device(2, "NVIDIA GeForce GTX 1050", DeviceKind::discrete, 2 * gib);
const DeviceInfo large_card = device(3, "NVIDIA H100", DeviceKind::discrete, 80 * gib);
const DeviceInfo virtual_card = device(4, "Virtio", DeviceKind::virtual_gpu, 100 * gib);
const Devices all{software, integrated, small_card, large_card, virtual_card};

gpu::DeviceList list(const Devices& devices, const std::string& unavailable = "") {
  return {{"vulkan", "d3d12"}, devices, unavailable};
}

/// The chosen device's spec; "cpu"; or the error's kind and text.
std::string chosen(const std::string& request, const Devices& devices,
                   const std::string& unavailable = "") {
  try {
    const gpu::DeviceChoice choice = gpu::choose_device({request}, list(devices, unavailable));
    return choice.cpu ? "cpu" : devices.at(choice.index).spec();
  } catch (const Error& error) {
    const bool usage = error.kind() == ErrorKind::usage;
    const bool absent = error.kind() == ErrorKind::unavailable;
    return std::string(usage ? "usage" : absent ? "unavailable" : "other") + ": " + error.what();
  }
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("device choice: the best hardware, by kind, then memory, then order") {
  for (const char* request : {"", "gpu", "vulkan"}) {
    CAPTURE(request);
    CHECK(chosen(request, all) == "vulkan:3");
    CHECK(chosen(request, {software, integrated, small_card}) == "vulkan:2");
    CHECK(chosen(request, {software, integrated, virtual_card}) == "vulkan:1");
    CHECK(chosen(request, {software, virtual_card}) == "vulkan:4");
    CHECK(chosen(request, {small_card, device(5, "twin", DeviceKind::discrete, 2 * gib)}) ==
          "vulkan:2");
    CHECK(chosen(request, {software, device(6, "?", DeviceKind::other)}) == "vulkan:6");
  }
}

TEST_CASE("device choice: software is taken only when it is named") {
  const gpu::DeviceChoice choice = gpu::choose_device({""}, list({software}));
  CHECK(choice.cpu);
  CHECK(
      choice.notice ==
      "running on the CPU: only software drivers were found: vulkan:0 (llvmpipe (LLVM 15.0.6, 256 "
      "bits), software)");
  for (const char* request : {"gpu", "vulkan"}) {
    const std::string found = chosen(request, {software});
    CHECK(found.starts_with("unavailable: no GPU for \"" + std::string(request) + "\""));
    CHECK(has(found, "vulkan:0"));
  }
  CHECK(chosen("vulkan:0", {software}) == "vulkan:0");
  CHECK(chosen("vulkan:llvmpipe", all) == "vulkan:0");
}

TEST_CASE("device choice: without any device the CPU, with the reason") {
  const gpu::DeviceChoice choice = gpu::choose_device({""}, list({}, "no Vulkan driver was found"));
  CHECK(choice.cpu);
  CHECK(choice.notice == "running on the CPU: no Vulkan driver was found");
  CHECK(gpu::choose_device({""}, list({})).notice == "running on the CPU: no GPU was found");
  CHECK(has(chosen("gpu", {}, "no loader"), "no loader"));
  CHECK(has(chosen("gpu", {}), "no GPU was found"));
  CHECK(has(chosen("vulkan:0", {}, "no loader"), "no loader"));
  CHECK(chosen("gpu", {}).starts_with("unavailable"));
  CHECK(chosen("vulkan:0", {}).starts_with("unavailable"));
}

TEST_CASE("device choice: a device that was chosen needs no notice") {
  CHECK(gpu::choose_device({""}, list(all)).notice == "");
  CHECK(gpu::choose_device({"cpu"}, list(all)).notice == "");
  CHECK(gpu::choose_device({"cpu"}, list({}, "no loader")).notice == "");
  CHECK(chosen("cpu", all) == "cpu");
}

TEST_CASE("device choice: by number, part of the name or uuid") {
  CHECK(chosen("vulkan:1", all) == "vulkan:1");
  CHECK(chosen("vulkan:4", all) == "vulkan:4");
  CHECK(chosen("vulkan:h100", all) == "vulkan:3");
  CHECK(chosen("vulkan:Iris", all) == "vulkan:1");
  CHECK(chosen("vulkan:NVIDIA GeForce", all) == "vulkan:2");
  CHECK(chosen("vulkan:uuid=00000002-ab", all) == "vulkan:2");
  CHECK(chosen("vulkan:uuid=00000002-AB", all) == "vulkan:2");
  // A number is the device's own, not its place in the list.
  CHECK(chosen("vulkan:3", {large_card}) == "vulkan:3");
}

TEST_CASE("device choice: what fits none is refused, with those there are") {
  for (const char* request : {"vulkan:5", "vulkan:Radeon", "vulkan:uuid=00000002",
                              "vulkan:uuid=", "vulkan:-1", "vulkan:99999999999999999999"}) {
    const std::string found = chosen(request, all);
    CAPTURE(found);
    CHECK(found.starts_with("unavailable: "));
    CHECK(has(found, request));
    CHECK(has(found, "vulkan:3 (NVIDIA H100, discrete)"));
  }
}

TEST_CASE("device choice: a name that fits several is refused, with these") {
  const std::string found = chosen("vulkan:nvidia", all);
  CHECK(found.starts_with("usage: "));
  CHECK(has(found, "vulkan:2"));
  CHECK(has(found, "vulkan:3"));
  CHECK_FALSE(has(found, "vulkan:1"));
}

TEST_CASE("device choice: of one backend, when it is named") {
  DeviceInfo direct = device(0, "NVIDIA H100", DeviceKind::discrete, 80 * gib);
  direct.backend = "d3d12";
  direct.id_name = "luid";
  DeviceInfo warp = device(1, "Microsoft Basic Render Driver", DeviceKind::software);
  warp.backend = "d3d12";
  const Devices both{software, large_card, direct, warp};
  CHECK(chosen("", both) == "vulkan:3");
  CHECK(chosen("d3d12", both) == "d3d12:0");
  CHECK(chosen("vulkan:H100", both) == "vulkan:3");
  CHECK(chosen("d3d12:H100", both) == "d3d12:0");
  CHECK(chosen("d3d12:luid=00000000-AB", both) == "d3d12:0");
  CHECK(chosen("d3d12:uuid=00000000-AB", both).starts_with("unavailable: "));
  CHECK(chosen("d3d12:1", both) == "d3d12:1");
  CHECK(chosen("d3d12", {software, large_card, warp}) ==
        "unavailable: no GPU for \"d3d12\": only software drivers were found: d3d12:1 (Microsoft "
        "Basic Render Driver, software); name one to use it: --device d3d12:1");
  CHECK(has(chosen("cuda", both),
            "vulkan:NUMBER, vulkan:PART-OF-NAME, d3d12, d3d12:NUMBER, d3d12:PART-OF-NAME"));
}

TEST_CASE("device choice: what is no spec is wrong usage") {
  for (const char* request : {"cuda", "vulkan:", "VULKAN", "gpu:0", "cpu:0", "0", " "}) {
    CAPTURE(request);
    CHECK(chosen(request, all).starts_with("usage: "));
    CHECK(chosen(request, {}, "no loader").starts_with("usage: "));
  }
}

TEST_CASE("device choice: which adapters of Direct3D are software") {
  using gpu::d3d12::is_software_adapter;
  constexpr std::uint32_t microsoft = 0x1414, mesa = 0x10005, nvidia = 0x10DE;
  CHECK(is_software_adapter({.has_software_flag = true, .vendor = microsoft, .device = 0x8C}));
  CHECK(is_software_adapter({.has_software_flag = false, .vendor = microsoft, .device = 0x8C}));
  CHECK(is_software_adapter({.has_software_flag = true, .vendor = nvidia, .device = 0x2330}));
  CHECK(is_software_adapter({.has_software_flag = false, .vendor = mesa, .device = 0}));
  CHECK_FALSE(
      is_software_adapter({.has_software_flag = false, .vendor = microsoft, .device = 0x8E}));
  CHECK_FALSE(is_software_adapter({.has_software_flag = false, .vendor = nvidia, .device = 0x8C}));
}

TEST_CASE("device memory: what has room within the budget of the system") {
  using gpu::MemoryBudget;
  const MemoryBudget budget{.budget = 1000, .used = 400};
  CHECK(budget.has_room_for(600));
  CHECK_FALSE(budget.has_room_for(601));
  CHECK_FALSE(budget.has_room_for(~std::uint64_t{0}));
  // Others may take from the budget what is in use already.
  CHECK_FALSE(MemoryBudget{.budget = 300, .used = 400}.has_room_for(1));
  CHECK(MemoryBudget{}.has_room_for(~std::uint64_t{0}));  // the system does not tell
}

}  // namespace
}  // namespace dmlop::test::device_choice_test
