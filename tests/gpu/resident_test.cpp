// Kernels on whole tensors of a GPU (Stream::run, Executor::execute_resident): what they may be
// given, and that they touch nothing else.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <vector>

#include "gpu/dispatch.hpp"
#include "gpu/execute.hpp"
#include "gpu_device.hpp"

namespace dmlop::test::resident_test {
namespace {

using Words = std::vector<std::uint32_t>;

/// a + b of so many elements.
ElementWiseKernel sum_kernel(std::uint64_t elements) {
  const ElementWiseInput input{.type = DataType::Int32, .strides = {1}};
  return {.expression = Expression::add,
          .compute = ComputeType::int32,
          .extents = {elements},
          .inputs = {input, input},
          .output_type = DataType::Int32};
}

/// A buffer of the device and what is known of it.
class DeviceWords {
 public:
  DeviceWords(gpu::Device& device, gpu::Executor& executor, const Words& words)
      : executor_(executor), buffer_(device.make_resident_buffer(words.size() * 4)) {
    executor.write(range(0, words.size()), std::as_bytes(std::span(words)));
  }
  gpu::ResidentRange range(std::uint64_t first, std::uint64_t words) const {
    return {buffer_.get(), first * 4, words * 4};
  }
  Words read() const {
    Words words(buffer_->bytes() / 4);
    executor_.read(range(0, words.size()), std::as_writable_bytes(std::span(words)));
    return words;
  }

 private:
  gpu::Executor& executor_;
  std::unique_ptr<gpu::ResidentBuffer> buffer_;
};

struct Gpu {
  std::unique_ptr<gpu::Device> device = open_gpu();
  gpu::Executor executor{*device};
};

void execute(Gpu& gpu, const std::vector<gpu::ResidentWork>& works) {
  for (const gpu::ResidentWork& work : works) REQUIRE(gpu.executor.resident_refusal(work) == "");
  gpu::DispatchTimes times;
  gpu.executor.execute_resident(works, times);
}

/// Runs a kernel of one output.
void run(Gpu& gpu, const Kernel& kernel, std::vector<gpu::ResidentRange> reads,
         const gpu::ResidentRange& write) {
  const std::vector steps{gpu::step_of(gpu::make_dispatches(kernel).dispatches, reads.size(), 1)};
  reads.push_back(write);
  execute(gpu, {{steps, reads}});
}

Words counting(std::size_t count, std::uint32_t from) {
  Words words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = from + static_cast<std::uint32_t>(i);
  return words;
}

TEST_CASE("resident: a kernel reads and writes its ranges and nothing beside them") {
  if (!has_gpu()) return;
  Gpu gpu;
  const DeviceWords inputs(*gpu.device, gpu.executor, counting(256, 0));
  const DeviceWords outputs(*gpu.device, gpu.executor, counting(256, 5000));
  run(gpu, sum_kernel(20), {inputs.range(64, 20), inputs.range(128, 20)}, outputs.range(64, 20));
  Words expected = counting(256, 5000);
  for (std::uint32_t i = 0; i < 20; ++i) expected[64 + i] = 64 + i + 128 + i;
  CHECK(outputs.read() == expected);
  CHECK(inputs.read() == counting(256, 0));
}

TEST_CASE("resident: an output that ends within 16 bytes of another tensor leaves that alone") {
  if (!has_gpu()) return;
  Gpu gpu;
  const DeviceWords inputs(*gpu.device, gpu.executor, counting(256, 0));
  const DeviceWords outputs(*gpu.device, gpu.executor, counting(256, 5000));
  run(gpu, sum_kernel(19), {inputs.range(64, 19), inputs.range(128, 19)}, outputs.range(64, 19));
  Words expected = counting(256, 5000);
  for (std::uint32_t i = 0; i < 19; ++i) expected[64 + i] = 64 + i + 128 + i;
  CHECK(outputs.read() == expected);
}

TEST_CASE("resident: inputs and outputs may share a buffer, and an input may stand twice") {
  if (!has_gpu()) return;
  Gpu gpu;
  const DeviceWords words(*gpu.device, gpu.executor, counting(256, 0));
  const DeviceWords other(*gpu.device, gpu.executor, counting(64, 7000));
  const auto add = [&](const gpu::ResidentRange& a, const gpu::ResidentRange& b) {
    run(gpu, sum_kernel(20), {a, b}, words.range(128, 20));
  };
  Words expected = counting(256, 0);
  const auto check = [&](std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t i = 0; i < 20; ++i) expected[128 + i] = a + i + b + i;
    CHECK(words.read() == expected);
  };
  add(words.range(64, 20), words.range(192, 20));
  check(64, 192);
  add(words.range(64, 20), words.range(64, 20));
  check(64, 64);
  add(other.range(0, 20), words.range(64, 20));
  check(7000, 64);
  add(other.range(0, 20), other.range(0, 20));
  check(7000, 7000);
  CHECK(other.read() == counting(64, 7000));
}

#ifndef _WIN32  // Direct3D takes a minute to compile them
TEST_CASE("resident: more kernels than a device keeps, twice") {
  if (!has_gpu()) return;
  Gpu gpu;
  const DeviceWords inputs(*gpu.device, gpu.executor, Words(256, 3));
  const DeviceWords outputs(*gpu.device, gpu.executor, Words(64, 0));
  const std::vector<DataType> types{DataType::Int32, DataType::Int16, DataType::Int8,
                                    DataType::UInt16, DataType::UInt8};
  int kernels = 0;
  for (int round = 0; round < 2; ++round) {
    for (const DataType a : types) {
      for (const DataType b : types) {
        for (const auto& [expression, result] :
             {std::pair{Expression::add, 6U}, std::pair{Expression::subtract, 0U},
              std::pair{Expression::multiply, 9U}}) {
          ElementWiseKernel kernel = sum_kernel(1);
          kernel.expression = expression;
          kernel.inputs[0].type = a;
          kernel.inputs[1].type = b;
          run(gpu, kernel, {inputs.range(0, 1), inputs.range(64, 1)}, outputs.range(0, 64));
          REQUIRE(outputs.read()[0] == result);
          ++kernels;
        }
      }
    }
  }
  CHECK(kernels == 2 * 75);
}
#endif

TEST_CASE("resident: tensors may begin and end anywhere, and an output may overlap an input") {
  if (!has_gpu()) return;
  Gpu gpu;
  struct Row {
    std::uint64_t a, b, output, count;
  };
  for (const Row& row :
       {Row{4, 64, 128, 20}, Row{0, 65, 128, 20}, Row{0, 64, 129, 20}, Row{0, 64, 0, 20},
        Row{0, 64, 70, 20}, Row{3, 66, 129, 19}, Row{0, 64, 192, 58}, Row{0, 1, 2, 100}}) {
    CAPTURE(row.output);
    const DeviceWords words(*gpu.device, gpu.executor, counting(250, 0));
    run(gpu, sum_kernel(row.count), {words.range(row.a, row.count), words.range(row.b, row.count)},
        words.range(row.output, row.count));
    const Words before = counting(250, 0);
    Words expected = before;
    for (std::uint64_t i = 0; i < row.count; ++i)
      expected[row.output + i] = before[row.a + i] + before[row.b + i];
    CHECK(words.read() == expected);
  }
}

// Sums of sums: each kernel reads what the one before it wrote, and the last output overlaps an
// input that all read. More kernels than a list of commands binds.
TEST_CASE("resident: kernels in one go see what those before them wrote, and inputs as they were") {
  if (!has_gpu()) return;
  Gpu gpu;
  for (const std::size_t kernels : {1U, 2U, 3U, 64U, 65U, 150U}) {
    CAPTURE(kernels);
    const DeviceWords words(*gpu.device, gpu.executor, counting(250, 1));
    const DeviceWords between(*gpu.device, gpu.executor, Words(64 * kernels, 0));
    std::vector<gpu::ResidentRange> slots{words.range(3, 40)};
    std::vector<gpu::Step> steps;
    for (std::size_t i = 0; i < kernels; ++i) {
      steps.push_back({gpu::make_dispatches(sum_kernel(40)).dispatches, {0, i}, {i + 1}});
      slots.push_back(between.range(64 * i, 40));
    }
    slots.back() = words.range(20, 40);
    const auto factor = static_cast<std::uint32_t>(kernels + 1);
    const auto check = [&](const std::vector<gpu::ResidentWork>& works) {
      const Words start = counting(250, 1);
      gpu.executor.write(words.range(0, 250), std::as_bytes(std::span(start)));
      execute(gpu, works);
      Words expected = start;
      for (std::uint32_t i = 0; i < 40; ++i) expected[20 + i] = factor * (1 + 3 + i);
      CHECK(words.read() == expected);
    };
    check({{steps, slots}});
    std::vector<gpu::ResidentWork> one_each;
    for (const gpu::Step& step : steps) one_each.push_back({{step}, slots});
    check(one_each);
  }
}

// The first output begins in front of the input that both kernels read, and ends in it.
TEST_CASE("resident: an input that an output reaches into is as it was for all kernels") {
  if (!has_gpu()) return;
  Gpu gpu;
  for (const auto& [from, to] : {std::pair{64U, 0U}, {0U, 64U}, {64U, 64U}}) {
    CAPTURE(from);
    CAPTURE(to);
    const DeviceWords words(*gpu.device, gpu.executor, counting(256, 1));
    const DeviceWords sums(*gpu.device, gpu.executor, Words(128, 0));
    const std::vector slots{words.range(from, 100), words.range(to, 100), sums.range(0, 100)};
    const auto dispatches = gpu::make_dispatches(sum_kernel(100)).dispatches;
    const std::vector steps{gpu::Step{dispatches, {0, 0}, {1}}, gpu::Step{dispatches, {0, 1}, {2}}};
    execute(gpu, {{steps, slots}});
    Words expected = counting(256, 1), expected_sums(128, 0);
    for (std::uint32_t i = 0; i < 100; ++i) {
      expected[to + i] = 2 * (1 + from + i);
      expected_sums[i] = 3 * (1 + from + i);
    }
    CHECK(words.read() == expected);
    CHECK(sums.read() == expected_sums);
  }
}

TEST_CASE("resident: tensors that are larger than the device's buffers are refused") {
  if (!has_gpu()) return;
  Gpu gpu;
  const DeviceWords words(*gpu.device, gpu.executor, counting(64, 0));
  gpu::ResidentRange large = words.range(0, 20);
  const std::uint64_t limit = gpu.device->buffer_bytes_limit();
  large.bytes = limit + 1;
  CHECK(gpu.executor.resident_refusal({{}, {words.range(0, 20), large}}) ==
        "its tensors do not fit the device's buffers of " + std::to_string(limit) + " bytes");
}

TEST_CASE(
    "resident: kinds without a kernel, and types that kernels lack, are refused with a reason") {
  ElementWiseKernel kernel = sum_kernel(4);
  CHECK(gpu::make_dispatches(kernel).refusal == "");
  kernel.extents.assign(9, 1);
  for (ElementWiseInput& input : kernel.inputs) input.strides.assign(9, 1);
  CHECK(gpu::make_dispatches(kernel).refusal ==
        "it has more than 8 axes, where a dimension in blocks counts as two");
  kernel = sum_kernel(4);
  kernel.compute = ComputeType::float64;
  CHECK(gpu::make_dispatches(kernel).refusal == "GPU kernels do not compute with FLOAT64");
}

TEST_CASE("resident: a dispatch names a kernel, its specialization and where each input is bound") {
  ElementWiseKernel kernel = sum_kernel(1000);
  kernel.inputs[0].constant = 3;
  const auto dispatches = gpu::make_dispatches(kernel).dispatches;
  REQUIRE(dispatches.size() == 1);
  CHECK(dispatches[0].kernel == "element_wise_2_int");
  CHECK(dispatches[0].inputs == std::vector<std::size_t>{0, 0});
  REQUIRE(dispatches[0].stages.size() == 1);
  CHECK(dispatches[0].stages[0].end == 250);  // 16 bytes a thread
  CHECK(dispatches[0].parameters[0] == 1000);
}

}  // namespace
}  // namespace dmlop::test::resident_test
