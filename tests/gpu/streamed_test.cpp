// Operators on tensors larger than the memory that these may have: a device's, which
// --device-memory limits, and the process's own on the CPU.
#include <doctest/doctest.h>

#include <map>

#include "described.hpp"
#include "gpu_device.hpp"
#include "job/backend.hpp"
#include "ops/operator.hpp"
#include "program.hpp"
#include "random.hpp"
#include "sanitized.hpp"

namespace dmlop::test::streamed_test {
namespace {

using Json = nlohmann::ordered_json;

struct Use {
  std::string name;
  std::string desc;
};

Description described(const Use& use) {
  Checked checked = check_desc(use.name, Json::parse(use.desc));
  for (const Diagnostic& finding : checked.diagnostics) FAIL(to_text(finding));
  return std::move(*checked.description);
}

/// Every kind of kernel that can be computed a piece at a time. Tensors have 24 KiB and
/// more.
const std::vector<Use> uses{
    {"SLICE", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [60, 101]},
       "Offsets": [1, 1], "Sizes": [59, 100], "Strides": [1, 1]})"},
    {"PADDING1", R"({"InputTensor": {"DataType": "UINT8", "Sizes": [150, 163]},
       "PaddingMode": "REFLECTION", "StartPadding": [3, 1], "EndPadding": [0, 4]})"},
    {"TILE", R"({"InputTensor": {"DataType": "INT64", "Sizes": [10, 11]}, "Repeats": [6, 7]})"},
    {"SPLIT", R"({"InputTensor": {"DataType": "FLOAT16", "Sizes": [110, 120]},
       "OutputTensors": [{"Sizes": [110, 50]}, {"Sizes": [110, 70]}], "Axis": 1})"},
    {"SPACE_TO_DEPTH", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3, 32, 36]},
       "BlockSize": 4})"},
    {"DEPTH_TO_SPACE", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 48, 8, 9]},
       "BlockSize": 4})"},
    // Rows of a few elements; the tensors in halves of a row; rows longer than the memory.
    {"JOIN", R"({"InputTensors": [{"DataType": "FLOAT32", "Sizes": [500, 4]},
       {"DataType": "FLOAT32", "Sizes": [500, 9]}], "Axis": 1})"},
    {"JOIN", R"({"InputTensors": [{"DataType": "UINT8", "Sizes": [12001]},
       {"DataType": "UINT8", "Sizes": [1]}, {"DataType": "UINT8", "Sizes": [13000]}], "Axis": 0})"},
    {"JOIN", R"({"InputTensors": [{"DataType": "INT64", "Sizes": [2, 700]},
       {"DataType": "INT64", "Sizes": [2, 900]}], "Axis": 1})"},
    {"JOIN",
     R"({"InputTensors": [{"DataType": "UINT16", "Sizes": [40, 90, 2], "Strides": [2, 80, 1]},
       {"DataType": "UINT16", "Sizes": [40, 90, 3], "Strides": [0, 3, 1]}], "Axis": 2})"},
    // Rows that stay whole: innermost, outermost, and with places of their elements.
    {"REDUCE", R"({"Function": "SUM", "InputTensor": {"DataType": "INT32", "Sizes": [110, 60]},
       "OutputTensor": {"DataType": "INT32", "Sizes": [110, 1]}, "Axes": [1]})"},
    {"REDUCE", R"({"Function": "MAX", "InputTensor": {"DataType": "UINT8", "Sizes": [5, 90, 60]},
       "OutputTensor": {"DataType": "UINT8", "Sizes": [5, 1, 60]}, "Axes": [1]})"},
    {"ARGMAX", R"({"InputTensor": {"DataType": "INT16", "Sizes": [90, 120]},
       "OutputTensor": {"DataType": "UINT32", "Sizes": [90, 1]}, "Axes": [1],
       "AxisDirection": "DECREASING"})"},
    {"CUMULATIVE_SUMMATION", R"({"InputTensor": {"DataType": "INT32", "Sizes": [80, 40]},
       "OutputTensor": {"DataType": "INT32", "Sizes": [80, 40]}, "Axis": 1,
       "AxisDirection": "DECREASING", "HasExclusiveSum": true})"},
    // Windows that overlap, and others that stand in the padding.
    {"MAX_POOLING2", R"({"InputTensor": {"DataType": "INT8", "Sizes": [2, 3, 60, 61]},
       "Strides": [2, 1], "WindowSize": [3, 4], "StartPadding": [1, 2], "EndPadding": [0, 1],
       "Dilations": [1, 2]})"},
    // Products whose sums stay whole, with zero points of rows and columns.
    {"MATRIX_MULTIPLY_INTEGER", R"({"ATensor": {"DataType": "UINT8", "Sizes": [1, 2, 70, 31]},
       "AZeroPointTensor": {"DataType": "UINT8", "Sizes": [1, 1, 70, 1]},
       "BTensor": {"DataType": "INT8", "Sizes": [1, 2, 31, 60]},
       "BZeroPointTensor": {"DataType": "INT8", "Sizes": [1, 1, 1, 60]},
       "OutputTensor": {"DataType": "INT32", "Sizes": [1, 2, 70, 60]}})"},
    {"CONVOLUTION_INTEGER", R"({"InputTensor": {"DataType": "UINT8", "Sizes": [9, 3, 10, 8]},
       "InputZeroPointTensor": {"DataType": "UINT8", "Sizes": [1, 1, 1, 1]},
       "FilterTensor": {"DataType": "UINT8", "Sizes": [12, 3, 3, 3]}, "Strides": [1, 1],
       "Dilations": [1, 1], "StartPadding": [1, 0], "EndPadding": [0, 1], "GroupCount": 1,
       "OutputTensor": {"DataType": "INT32", "Sizes": [9, 12, 9, 7]}})"},
};

std::vector<std::vector<std::byte>> run(dmlop::Backend& backend, const Plan& plan,
                                        const std::vector<std::span<const std::byte>>& inputs,
                                        std::uint64_t device_memory_bytes) {
  std::vector<std::vector<std::byte>> outputs;
  for (const Slot& slot : plan.slots)
    outputs.emplace_back(slot.kind == SlotKind::output ? slot.bytes() : 0);
  std::vector<std::uint64_t> handed_out(plan.slots.size());
  const ExecutionOptions options{.threads = 1, .device_memory_bytes = device_memory_bytes};
  const Execution execution = backend.execute(
      plan, inputs, options,
      [&](std::size_t slot, std::uint64_t offset, std::span<const std::byte> bytes) {
        REQUIRE(offset + bytes.size() <= outputs[slot].size());
        std::copy(bytes.begin(), bytes.end(),
                  outputs[slot].begin() + static_cast<std::ptrdiff_t>(offset));
        handed_out[slot] += bytes.size();
      });
  CHECK(execution.notice == "");  // it did not run elsewhere
  for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(handed_out[i] == outputs[i].size());
  return outputs;
}

}  // namespace

TEST_CASE("streamed: a GPU that may use 4 KiB gives what the CPU gives") {
  if (!has_gpu()) return;
  dmlop::Backend cpu, gpu(open_gpu());
  Random random(75);
  constexpr std::uint64_t device_memory = 4096;
  for (const Use& use : uses) {
    CAPTURE(use.name);
    CAPTURE(use.desc);
    const Description description = described(use);
    const Plan plan = make_plan(description);
    std::vector<std::vector<std::byte>> bytes;
    std::vector<std::span<const std::byte>> inputs(plan.slots.size());
    bytes.reserve(plan.slots.size());
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < plan.slots.size(); ++i) {
      all += plan.slots[i].bytes();
      if (plan.slots[i].kind != SlotKind::input) continue;
      bytes.emplace_back(plan.slots[i].bytes());
      for (std::byte& byte : bytes.back()) byte = static_cast<std::byte>(random.below(256));
      inputs[i] = bytes.back();
    }
    CHECK(all > 5 * device_memory);
    CHECK(run(gpu, plan, inputs, device_memory) == run(cpu, plan, inputs, 0));
  }
}

// What a process may write to is limited, which leaves out the files that it maps.
TEST_CASE("streamed: the CPU needs a fraction of the tensors' memory") {
  if (is_windows_program() || is_sanitized) return;
  const Folder folder;
  const auto write = [&](const std::string& name, const std::string& type, const std::string& shape,
                         std::uint64_t bytes) {
    const std::string header = npy(type, shape, "");
    folder.write(name, header);
    std::filesystem::resize_file(folder / name, header.size() + bytes);  // zeros, without a disk
  };
  constexpr std::uint64_t megabytes = 32;
  write("x.npy", "<f4", "(1, 8, 1024, 1024)", megabytes << 20);
  write("swapped.npy", ">f4", "(1, 8, 1024, 1024)", megabytes << 20);
  write("tile.npy", "<f4", "(1, 1, 1024, 1024)", megabytes << 17);
  const auto run = [&](const std::string& command) {
    const std::string limited = "ulimit -d 16000 && dmlop run " + command + " --cpu --threads 2 -q";
    const auto result = shell(limited, {.folder = folder.path()});
    CAPTURE(command);
    CAPTURE(result.error);
    return result.code;
  };
  const std::string in = " -i x.npy -o y.npy --set ";
  CHECK(run("SLICE" + in + "Offsets=0,0,0,1 --set Sizes=1,8,1024,1023 --set Strides=1,1,1,1") == 0);
  CHECK(run("PADDING1" + in +
            "PaddingMode=REFLECTION --set StartPadding=0,0,1,1 --set "
            "EndPadding=0,0,1,1") == 0);
  CHECK(run("SPACE_TO_DEPTH" + in + "BlockSize=2") == 0);
  CHECK(run("DEPTH_TO_SPACE" + in + "BlockSize=2") == 0);
  CHECK(run("TILE -i tile.npy -o y.npy --set Repeats=1,8,1,1") == 0);
  CHECK(
      run("JOIN -i 'InputTensors[0]=x.npy' -i 'InputTensors[1]=tile.npy' -o y.npy --set Axis=1") ==
      0);
  CHECK(run("SPLIT -i x.npy -o 'OutputTensors[0]=y.npy' -o 'OutputTensors[1]=z.npy' --set Axis=3 "
            "--set 'OutputTensors[0]=FLOAT32:1,8,1024,500' --set "
            "'OutputTensors[1]=FLOAT32:1,8,1024,524'") == 0);
  // The limit is one: a copy of an input in another byte order does not fit.
  CHECK(run("SPACE_TO_DEPTH -i swapped.npy -o y.npy --set BlockSize=2") == 5);
}

}  // namespace dmlop::test::streamed_test
