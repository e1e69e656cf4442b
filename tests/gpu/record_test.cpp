// What a device is given (gpu/stream.hpp), without a device: that what depends on earlier work
// waits for it, that no range reaches behind its buffer, and that copies land where they belong.
#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/commands.hpp"
#include "gpu/dispatch.hpp"
#include "gpu/execute.hpp"
#include "gpu/launches.hpp"
#include "job/backend.hpp"
#include "job/device_plan.hpp"
#include "norm_windows.hpp"
#include "ops/operator.hpp"
#include "recorded_device.hpp"
#include "spec/description.hpp"
#include "spec/spec.hpp"

namespace dmlop::test::record_test {
namespace {

using Bytes = std::vector<std::byte>;

std::string text_of(const Record& record) {
  std::string text;
  for (const std::string& fault : record.faults) text += fault + "\n";
  return text;
}

/// The plan of an operator's example.
std::optional<Plan> example_plan(const OperatorSpec& spec) {
  const nlohmann::ordered_json description{{"type", spec.name},
                                           {"desc", nlohmann::ordered_json::parse(spec.example)}};
  Diagnostics diagnostics;
  auto read = read_description("op.json", description.dump(), newest_feature_level, diagnostics);
  if (read) check_description(*read, diagnostics);
  if (!read || !diagnostics.empty()) return std::nullopt;
  return make_plan(*read);
}

/// Runs a plan on the record, in tiles where it can be.
std::string run(const Plan& plan, Record& record, std::uint64_t device_memory_bytes,
                std::uint64_t pace_work = gpu::Pace::first_work) {
  const auto device = make_recorded_device(record, pace_work);
  gpu::Executor executor(*device);
  std::vector<Bytes> bytes;
  std::vector<std::span<const std::byte>> inputs;
  for (const Slot& slot : plan.slots)
    bytes.emplace_back(slot.kind == SlotKind::input ? slot.bytes() : 0, std::byte{1});
  inputs.assign(bytes.begin(), bytes.end());
  gpu::DispatchTimes times;
  return DevicePlan(plan, *device, executor)
      .run(
          inputs, {.threads = 1, .device_memory_bytes = device_memory_bytes},
          [](std::size_t, std::uint64_t, std::span<const std::byte>) {}, times);
}

TEST_CASE("record: every operator's example waits for what it needs, within its buffers") {
  int ran = 0;
  for (const std::string& name : specified_operators()) {
    CAPTURE(name);
    const auto plan = example_plan(*find_spec(name));
    if (!plan) continue;
    for (const std::uint64_t memory : {0U, 16384U}) {
      Record record;
      if (run(*plan, record, memory) == "") ++ran;
      CHECK(text_of(record) == "");
    }
  }
  CHECK(ran > 250);
}

/// Norms of so many windows of a row; they overlap, and take scratch.
Plan plan_of_long_windows(std::uint64_t outputs) {
  constexpr std::uint64_t inputs = 90'000;
  WindowKernel kernel = norm_windows();
  kernel.axes[along_width] = {inputs, outputs, 1, Windows{.size = inputs - outputs + 1}};
  Plan plan;
  plan.slots = {{SlotKind::input, "InputTensor", {}, inputs, 4},
                {SlotKind::output, "OutputTensor", {}, outputs, 4}};
  plan.passes = {{kernel, {0}, {1}}};
  return plan;
}

/// Runs a plan on an executor that has run others.
std::string run_again(const Plan& plan, gpu::Device& device, gpu::Executor& executor,
                      std::uint64_t device_memory_bytes = 0) {
  std::vector<Bytes> bytes;
  for (const Slot& slot : plan.slots)
    bytes.emplace_back(slot.kind == SlotKind::input ? slot.bytes() : 0, std::byte{1});
  const std::vector<std::span<const std::byte>> inputs(bytes.begin(), bytes.end());
  gpu::DispatchTimes times;
  return DevicePlan(plan, device, executor)
      .run(
          inputs, {.threads = 1, .device_memory_bytes = device_memory_bytes},
          [](std::size_t, std::uint64_t, std::span<const std::byte>) {}, times);
}

TEST_CASE("record: the next plan gets the memory of the last one") {
  const auto plan = example_plan(*find_spec("BATCH_NORMALIZATION_TRAINING"));
  REQUIRE(plan);
  REQUIRE(plan->slots_of(SlotKind::temporary).size() > 0);
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  REQUIRE(run_again(*plan, *device, executor) == "");
  const std::uint64_t kept = record.device_bytes, made = record.device_buffers;
  REQUIRE(run_again(*plan, *device, executor) == "");
  CHECK(record.device_buffers == made);
  CHECK(record.device_bytes == kept);
  executor.free_unused_memory();
  CHECK(record.device_bytes < kept);
  CHECK(text_of(record) == "");
}

TEST_CASE("record: memory that nobody uses makes room for buffers, and does not exceed a limit") {
  const auto plan = example_plan(*find_spec("BATCH_NORMALIZATION_TRAINING"));
  REQUIRE(plan);
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  REQUIRE(run_again(*plan, *device, executor) == "");
  record.device_room = record.most_device_bytes;
  const std::uint64_t first_most = record.most_device_bytes;
  REQUIRE(run_again(*plan, *device, executor) == "");
  const std::uint64_t larger = record.device_room - record.device_bytes + 64;
  CHECK(executor.make_resident_buffer(larger)->bytes() == larger);
  CHECK_THROWS_AS(executor.make_resident_buffer(first_most), Error);
  REQUIRE(run_again(*plan, *device, executor) == "");
  record.most_device_bytes = 0;
  REQUIRE(run_again(*plan, *device, executor, std::uint64_t{1} << 20) == "");
  CHECK(record.most_device_bytes <= first_most);
  CHECK(text_of(record) == "");
}

TEST_CASE("record: a stage waits for the one before it, in one submission and across several") {
  const Plan plan = plan_of_long_windows(40'000);
  const auto check = [&](std::uint64_t pace_work) {
    Record record;
    REQUIRE(run(plan, record, 0, pace_work) == "");
    CHECK(text_of(record) == "");
    CHECK(record.stages > 10);
    return record.submissions;
  };
  CHECK(check(1) > check(gpu::Pace::first_work));
}

TEST_CASE("record: a plan is one submission, however many kernels it has") {
  const auto plan = example_plan(*find_spec("BATCH_NORMALIZATION_TRAINING"));
  REQUIRE(plan);
  REQUIRE(plan->passes.size() > 1);
  const auto submissions = [&](std::uint64_t pace_work) {
    Record record;
    REQUIRE(run(*plan, record, 0, pace_work) == "");
    CHECK(text_of(record) == "");
    return record.submissions;
  };
  const std::size_t transfers =
      plan->slots_of(SlotKind::input).size() + plan->slots_of(SlotKind::output).size();
  CHECK(submissions(gpu::Pace::first_work) == transfers + 1);
}

TEST_CASE(
    "record: tensors that begin anywhere are copied, and copies and kernels await each other") {
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  const auto from = device->make_resident_buffer(1024), to = device->make_resident_buffer(1024);
  const std::vector steps{gpu::step_of({gpu::copy_dispatch(256)}, 1, 1)};
  const auto copies = [&](std::uint64_t input, std::uint64_t output) {
    const std::array works{
        gpu::ResidentWork{steps, {{from.get(), input, 256}, {to.get(), output, 256}}}};
    const auto before = record.copies;
    gpu::DispatchTimes times;
    executor.execute_resident(works, times);
    CHECK(text_of(record) == "");
    return record.copies - before;
  };
  const auto of_parameters = copies(0, 0);
  CHECK(copies(4, 0) == of_parameters + 1);
  CHECK(copies(0, 4) == of_parameters + 1);
  CHECK(copies(4, 4) == of_parameters + 2);
}

TEST_CASE("record: works in one go await each other, with the copies that they need") {
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  const auto buffer = device->make_resident_buffer(4096);
  const std::vector steps{gpu::step_of({gpu::copy_dispatch(256)}, 1, 1)};
  const auto work = [&](std::uint64_t from, std::uint64_t to) {
    return gpu::ResidentWork{steps, {{buffer.get(), from, 256}, {buffer.get(), to, 256}}};
  };
  const auto submissions = [&](const std::vector<gpu::ResidentWork>& works) {
    const auto before = record.submissions;
    gpu::DispatchTimes times;
    executor.execute_resident(works, times);
    CHECK(text_of(record) == "");
    return record.submissions - before;
  };
  CHECK(submissions({work(0, 1024), work(1024, 2048), work(2048, 0)}) == 1);
  CHECK(submissions({work(4, 1028), work(1028, 2052), work(2052, 4)}) == 1);
  CHECK(submissions({work(0, 1028), work(1028, 2048), work(2048, 1028)}) == 1);
  CHECK(submissions(std::vector(gpu::binds_most + 1, work(0, 1024))) == 2);
  CHECK(submissions({}) == 0);
}

// The scratch of a tile, 16 bytes for each output, takes more of it than the tile's tensors.
TEST_CASE("record: tiles, with what kernels need beside them, fit the memory that is given") {
  const Plan plan = plan_of_long_windows(85'000);
  int ran = 0;
  for (std::uint64_t memory = 100'000; memory < 8'000'000; memory += memory / 16) {
    CAPTURE(memory);
    Record record;
    if (run(plan, record, memory) == "") ++ran;
    CHECK(record.most_device_bytes <= memory);
  }
  CHECK(ran > 30);
}

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

TEST_CASE("record: tiles are so small that their scratch fits the device's buffers") {
  const Plan plan = plan_of_long_windows(85'000);  // 1.3 MiB of scratch, on 0.7 MiB of tensors
  Record record;
  record.buffer_bytes_limit = mebibyte;
  CHECK(run(plan, record, 0) == "");
  CHECK(text_of(record) == "");
}

TEST_CASE("record: work whose scratch does not fit the device's buffers is not made resident") {
  const Plan plan = plan_of_long_windows(85'000);
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  const auto input = device->make_resident_buffer(90'000 * 4),
             output = device->make_resident_buffer(85'000 * 4);
  const std::array<gpu::ResidentRange, 2> ranges{
      {{input.get(), 0, input->bytes()}, {output.get(), 0, output->bytes()}}};
  gpu::ResidentWork work;
  const auto refusal = [&] {
    return DevicePlan(plan, *device, executor).make_resident_work(ranges, work);
  };
  CHECK(refusal() == "");
  record.buffer_bytes_limit = mebibyte;
  CHECK(refusal() ==
        "the 1360000 bytes of its kernels' scratch do not fit the device's buffers of 1048576 "
        "bytes");
  gpu::DispatchTimes times;
  CHECK_THROWS_AS(executor.execute_resident(std::span(&work, 1), times), std::logic_error);
}

TEST_CASE("record: memory that nobody uses makes room for tiles, scratch and parameters") {
  const Plan plan = plan_of_long_windows(85'000);
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  std::shared_ptr<gpu::ResidentBuffer> kept;
  executor.give_up_with([&] { return std::exchange(kept, nullptr) != nullptr; });
  const auto check = [&] {
    record.device_room = record.device_bytes + 100'000;
    CHECK(run_again(plan, *device, executor) == "");
    executor.reset();
    record.device_room = ~std::uint64_t{0};
  };
  { const auto unused = executor.make_resident_buffer(4 * mebibyte); }
  check();
  kept = executor.make_resident_buffer(4 * mebibyte);
  check();
  CHECK(text_of(record) == "");
}

TEST_CASE("record: a plan whose scratch has no room is refused before anything is uploaded") {
  Plan plan = plan_of_long_windows(85'000);
  plan.slots.push_back({SlotKind::temporary, "", {}, 1, 4});  // so its tensors stay on the device
  Record record;
  record.device_room = mebibyte;  // for its tensors
  CHECK(run(plan, record, 0) ==
        "the device has no room for the parameters of its kernels and their scratch of 1360000 "
        "bytes");
  CHECK(record.submissions == 0);
}

TEST_CASE("record: two works take turns with one scratch rather than that constants are given up") {
  const Plan plan = plan_of_long_windows(85'000);
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  int given_up = 0;
  executor.give_up_with([&] { return given_up++ == 0; });
  const auto input = device->make_resident_buffer(90'000 * 4),
             output = device->make_resident_buffer(85'000 * 4);
  gpu::ResidentWork work;
  REQUIRE(
      DevicePlan(plan, *device, executor)
          .make_resident_work(std::array<gpu::ResidentRange, 2>{{{input.get(), 0, 90'000 * 4},
                                                                 {output.get(), 0, 85'000 * 4}}},
                              work) == "");
  executor.submit_resident(std::span(&work, 1));
  record.device_room = record.device_bytes + mebibyte;
  executor.submit_resident(std::span(&work, 1));
  executor.finish_resident();
  CHECK(given_up == 0);
  CHECK(text_of(record) == "");
}

// Each kernel alone would be less than the pace allows.
TEST_CASE("record: kernels that are too much together are several submissions") {
  Record record;
  const auto device = make_recorded_device(record, gpu::Pace::least_work);
  gpu::Stream stream(*device);
  const auto from = device->make_resident_buffer(1024), to = device->make_resident_buffer(1024);
  gpu::Dispatch dispatch = gpu::copy_dispatch(1024);
  dispatch.stages.clear();
  dispatch.stages.emplace_back(0, 100, 50'000);
  gpu::Dispatch other = dispatch;
  other.specialization = {1};  // has a pace of its own
  const auto run_of = [&](const gpu::Dispatch& each) {
    return gpu::KernelRun{&each, {{from.get(), 0, 1024}}, {{to.get(), 0, 1024}}};
  };
  const auto submissions = [&](std::size_t kernels) {
    const auto before = record.submissions;
    std::vector<gpu::KernelRun> runs;
    for (std::size_t i = 0; i < kernels; ++i) runs.push_back(run_of(i % 2 == 0 ? dispatch : other));
    stream.run({.kernels = runs});
    stream.finish();
    return record.submissions - before;
  };
  CHECK(submissions(1) == 1);
  CHECK(submissions(2) == 2);
  CHECK(submissions(5) == 5);
  dispatch.stages = other.stages = {{0, 64, 1}};
  CHECK(submissions(gpu::binds_most) == 1);
  CHECK(submissions(gpu::binds_most + 1) == 2);
  CHECK(text_of(record) == "");
}

TEST_CASE("record: what a device takes is estimated of the kernels that it runs") {
  gpu::Dispatch dispatch = gpu::copy_dispatch(1024);
  dispatch.stages = {{0, 1000, 1000}};
  dispatch.with_matrices = {dispatch};
  dispatch.with_matrices[0].stages = {{0, 1000, 10}};
  const std::vector steps{gpu::step_of({dispatch}, 1, 1)};
  const auto seconds = [&](bool has_matrices) {
    Record record;
    record.has_matrices = has_matrices;
    return Backend(make_recorded_device(record, 1'000'000)).estimated_seconds({steps, {}});
  };
  CHECK(seconds(false) == doctest::Approx(0.1));
  CHECK(seconds(true) == doctest::Approx(0.001));
}

constexpr std::uint64_t staging = std::uint64_t{64} << 20;

TEST_CASE("record: uploads and downloads beyond one staging buffer land where they belong") {
  constexpr std::uint64_t bytes = staging + 1000;
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  const auto buffer = device->make_resident_buffer(bytes + 256);
  const gpu::ResidentRange range{buffer.get(), 256, bytes};
  Bytes written(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) written[i] = byte_at(i * 7);
  executor.write(range, written);
  Bytes read(bytes);
  executor.read(range, read);
  CHECK((read == written));
  // The first ones again, to be seen apart from what lies behind them.
  Bytes first(1000);
  executor.read({buffer.get(), 256, 1000}, first);
  CHECK(std::equal(first.begin(), first.end(), written.begin()));
  CHECK(text_of(record) == "");
}

TEST_CASE("record: an output beyond one staging buffer is handed out from its place") {
  constexpr std::uint64_t bytes = staging + 1000;
  Plan plan;
  plan.slots = {{SlotKind::output, "OutputTensor", {}, bytes, 1}};
  SequenceKernel kernel;
  kernel.data_type = DataType::UInt8;
  kernel.elements = bytes;
  plan.passes = {{kernel, {}, {0}}};
  Record record;
  const auto device = make_recorded_device(record);
  gpu::Executor executor(*device);
  gpu::DispatchTimes times;
  std::uint64_t handed_out = 0;
  bool is_right = true;
  const std::string refusal = DevicePlan(plan, *device, executor)
                                  .run(
                                      std::vector<std::span<const std::byte>>(1), {.threads = 1},
                                      [&](std::size_t, std::uint64_t offset, const auto& part) {
                                        is_right = is_right && offset == handed_out;
                                        for (std::uint64_t i = 0; i < part.size(); ++i)
                                          is_right = is_right && part[i] == byte_at(offset + i);
                                        handed_out += part.size();
                                      },
                                      times);
  CHECK(refusal == "");
  CHECK(handed_out == bytes);
  CHECK_MESSAGE(is_right, "bytes of another place");
  CHECK(text_of(record) == "");
}

}  // namespace
}  // namespace dmlop::test::record_test
