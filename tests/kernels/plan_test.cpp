// Plans (ops/plan.hpp): what a builder lets through, what temporaries take, and that a plan of
// several passes gives the same on the CPU and on a GPU, or says why it cannot run.
#include <doctest/doctest.h>

#include <mutex>
#include <numeric>

#include "described.hpp"
#include "gpu_device.hpp"
#include "job/backend.hpp"
#include "norm_windows.hpp"
#include "ops/operator.hpp"
#include "random.hpp"
#include "sweep.hpp"

namespace dmlop::test::plan_test {
namespace {

using Json = nlohmann::ordered_json;

/// out[i] = in[count - 1 - i], of elements of one byte.
IndexMapKernel backwards(std::uint64_t count) {
  return {.element_size = 1,
          .offset = static_cast<std::int64_t>(count) - 1,
          .axes = {{.extent = count, .stride = -1}}};
}

/// Every second element of `count`.
IndexMapKernel halved(std::uint64_t count) {
  return {.element_size = 1, .offset = 0, .axes = {{.extent = count / 2, .stride = 2}}};
}

/// Reverses `count` bytes twice, through two temporaries, and halves them: two outputs, one of a
/// temporary and one of the input.
Plan four_passes(std::uint64_t count) {
  Plan plan;
  plan.slots = {{SlotKind::input, "InputTensor", {}, count, 1},
                {SlotKind::temporary, "the reversal", {}, count, 1},
                {SlotKind::temporary, "its reversal", {}, count, 1},
                {SlotKind::output, "A", {}, count / 2, 1},
                {SlotKind::output, "B", {}, count, 1}};
  plan.passes = {{backwards(count), {0}, {1}},
                 {backwards(count), {1}, {2}},
                 {halved(count), {2}, {3}},
                 {backwards(count), {0}, {4}}};
  return plan;
}

using Bytes = std::vector<std::byte>;

Bytes counting(std::uint64_t count) {
  Bytes bytes(count);
  for (std::uint64_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

/// What four_passes() gives for `input`, by slot.
void check_four_passes(const Bytes& input, const std::vector<Bytes>& found) {
  REQUIRE(found[3].size() == input.size() / 2);
  REQUIRE(found[4].size() == input.size());
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (i < input.size() / 2) wrong += found[3][i] != input[2 * i] ? 1 : 0;
    wrong += found[4][i] != input[input.size() - 1 - i] ? 1 : 0;
  }
  CHECK(wrong == 0);
}

struct Executed {
  Execution execution;
  std::vector<Bytes> outputs;  // by slot
};

Executed execute(dmlop::Backend& backend, const Plan& plan, const Bytes& input,
                 const ExecutionOptions& options = {.threads = 3}) {
  Executed result;
  for (const Slot& slot : plan.slots)
    result.outputs.emplace_back(slot.kind == SlotKind::output ? slot.bytes() : 0);
  std::vector<std::span<const std::byte>> inputs(plan.slots.size());
  inputs[0] = input;
  std::mutex mutex;
  result.execution = backend.execute(
      plan, inputs, options,
      [&](std::size_t slot, std::uint64_t offset, std::span<const std::byte> bytes) {
        const std::scoped_lock lock(mutex);
        REQUIRE(offset + bytes.size() <= result.outputs[slot].size());
        std::copy(bytes.begin(), bytes.end(),
                  result.outputs[slot].begin() + static_cast<std::ptrdiff_t>(offset));
      });
  return result;
}

constexpr const char* padding_json = R"({"type": "DML_OPERATOR_PADDING", "desc": {
  "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]}, "PaddingMode": "EDGE",
  "StartPadding": [0, 1], "EndPadding": [0, 1]}})";

Description padding_description() {
  Diagnostics diagnostics;
  auto description = read_description("op.json", padding_json, newest_feature_level, diagnostics);
  REQUIRE(description);
  check_description(*description, diagnostics);
  REQUIRE(diagnostics.empty());
  return std::move(*description);
}

TEST_CASE("plan: passes run in order on the CPU, each output whole") {
  dmlop::Backend cpu;
  for (const std::uint64_t count : {2U, 1000U, 5'000'000U}) {
    CAPTURE(count);
    const Bytes input = counting(count);
    const Executed result = execute(cpu, four_passes(count), input);
    check_four_passes(input, result.outputs);
    CHECK(result.execution.device == "cpu");
    CHECK(result.execution.notice == "");
  }
}

TEST_CASE("plan: temporaries take the bytes of those that live at the same time") {
  Plan plan = four_passes(1000);
  CHECK(plan.temporary_bytes() == 2000);
  // The third pass reads the second temporary alone, so a third one shares its time with that only.
  plan.slots.push_back({SlotKind::temporary, "a third", {}, 500, 4});
  plan.passes[2].writes = {5};
  plan.passes.push_back({halved(1000), {5}, {3}});
  CHECK(plan.temporary_bytes() == 3000);
}

TEST_CASE("plan: temporaries beyond --host-memory fail before anything runs") {
  dmlop::Backend cpu;
  const Bytes input = counting(1000);
  const auto run = [&](std::uint64_t limit) {
    return ending_of([&] {
      execute(cpu, four_passes(1000), input, {.threads = 1, .host_memory_bytes = limit});
    });
  };
  CHECK_FALSE(run(2000).kind);
  const Ending refused = run(1999);
  CHECK(refused.kind == ErrorKind::run_failed);
  CHECK(refused.message ==
        "temporary tensors need 2000 bytes, and --host-memory allows 1999: allow more, or use "
        "smaller tensors");
}

TEST_CASE("plan: passes run in order on a GPU, with temporaries on the device") {
  if (!has_gpu()) return;
  dmlop::Backend gpu(open_gpu());
  for (const std::uint64_t count : {2U, 1000U, 3'000'000U}) {
    CAPTURE(count);
    const Bytes input = counting(count);
    const Executed result = execute(gpu, four_passes(count), input);
    check_four_passes(input, result.outputs);
    CHECK(result.execution.device == gpu.spec());
    CHECK(result.execution.notice == "");
  }
}

/// A window of more elements than a GPU kernel counts, over an input that repeats one element.
Plan too_large_for_a_gpu() {
  WindowKernel kernel = norm_windows();
  kernel.axes[along_width].reach = Windows{.size = std::uint64_t{1} << 28};
  Plan plan;
  plan.slots = {{SlotKind::input, "InputTensor", {}, 1, 4},
                {SlotKind::output, "OutputTensor", {}, 1, 4}};
  plan.passes = {{kernel, {0}, {1}}};
  return plan;
}

TEST_CASE(
    "plan: what a GPU cannot run goes to the CPU with a notice, unless the GPU was asked for") {
  if (!has_gpu()) return;
  const Bytes input(4);
  dmlop::Backend chosen(open_gpu());
  const Executed result = execute(chosen, too_large_for_a_gpu(), input);
  CHECK(result.execution.device == "cpu");
  CHECK(result.execution.notice ==
        "running on the CPU, because its numbers do not fit the 32 bits of a GPU kernel");
  CHECK(result.outputs[1] == input);

  dmlop::Backend asked_for(gpu::DeviceRequest{chosen.spec()});
  const Ending refused = ending_of([&] { execute(asked_for, too_large_for_a_gpu(), input); });
  CHECK(refused.kind == ErrorKind::unavailable);
  CHECK(refused.message ==
        chosen.spec() +
            " cannot run this operator, because its numbers do not fit the 32 bits of a GPU "
            "kernel: use --cpu, or leave the choice to dmlop");
}

TEST_CASE("plan: temporaries beyond --device-memory go to the CPU") {
  if (!has_gpu()) return;
  dmlop::Backend gpu(open_gpu());
  const Bytes input = counting(100'000);
  const Executed result =
      execute(gpu, four_passes(100'000), input, {.threads = 1, .device_memory_bytes = 449'999});
  check_four_passes(input, result.outputs);
  CHECK(result.execution.notice ==
        "running on the CPU, because its tensors need 450000 bytes, and --device-memory allows "
        "449999");
  CHECK(execute(gpu, four_passes(100'000), input, {.threads = 1, .device_memory_bytes = 450'000})
            .execution.notice == "");
}

TEST_CASE("plan: a builder names slots by field, and refuses what no backend could run") {
  const Description description = padding_description();
  const IndexMapKernel same{.element_size = 4, .axes = {{.extent = 10, .stride = 1}}};
  const IndexMapKernel larger{.element_size = 4, .axes = {{.extent = 11, .stride = 1}}};
  const IndexMapKernel narrower{.element_size = 2, .axes = {{.extent = 10, .stride = 1}}};

  PlanBuilder builder(description);
  const std::size_t input = builder.tensor("InputTensor");
  const std::size_t output = builder.tensor("OutputTensor");
  const std::size_t temporary = builder.temporary("the sums", 10, 4);
  CHECK(builder.tensor("InputTensor") == input);
  CHECK_FALSE(builder.find("NoTensor"));
  CHECK_THROWS_AS(builder.tensor("NoTensor"), std::logic_error);
  CHECK_THROWS_AS(builder.add(same, {temporary}, {output}), std::logic_error);  // not written yet
  CHECK_THROWS_AS(builder.add(larger, {input}, {output}), std::logic_error);
  CHECK_THROWS_AS(builder.add(narrower, {input}, {output}), std::logic_error);
  CHECK_THROWS_AS(builder.add(same, {input}, {}), std::logic_error);
  CHECK_THROWS_AS(builder.add(same, {input}, {input}), std::logic_error);
  builder.add(same, {input}, {temporary});
  builder.add(same, {temporary}, {output});
  CHECK_THROWS_AS(builder.add(same, {temporary}, {output}), std::logic_error);  // written twice
  CHECK_THROWS_AS(builder.add(same, {output}, {builder.temporary("more", 10, 4)}),
                  std::logic_error);

  const Plan plan = builder.take();
  CHECK(plan.passes.size() == 2);
  CHECK(plan.slots[*plan.find("OutputTensor")].elements == 10);
  CHECK(plan.slots[*plan.find("InputTensor")].elements == 6);
  CHECK_FALSE(plan.find("the sums"));
}

/// The first kernel of an operator's plan.
template <typename Kind>
Kind planned(const std::string& name, const Json& desc) {
  const Checked checked = check_desc(name, desc);
  REQUIRE(messages_of(checked.diagnostics) == "");
  return std::get<Kind>(make_plan(*checked.description).passes.front().kernel);
}

TEST_CASE("plans: axes that tensors have in common are merged, for all devices") {
  const auto tensor = [](const Json& sizes) {
    return Json{{"DataType", "FLOAT32"}, {"Sizes", sizes}};
  };
  const Json image = tensor({2, 3, 4, 5});
  const Json indices{{"DataType", "UINT32"}, {"Sizes", {2, 3, 4, 5}}};
  const auto gather = planned<GatherKernel>(
      "GATHER", {{"InputTensor", image},
                 {"IndicesTensor", {{"DataType", "UINT32"}, {"Sizes", {1, 1, 1, 14}}}},
                 {"Axis", 2},
                 {"IndexDimensions", 1}});
  CHECK(gather.axes == StridedAxes{{6, {20}}, {14, {0, 1}}, {5, {1}}});
  const auto scatter = planned<ScatterKernel>(
      "SCATTER_ELEMENTS",
      {{"InputTensor", image}, {"IndicesTensor", indices}, {"UpdatesTensor", image}, {"Axis", 1}});
  CHECK(scatter.outer == StridedAxes{{2, {60, 60, 60}}});
  CHECK(scatter.inner == StridedAxes{{20, {1, 1, 1}}});
  const auto unpool =
      planned<UnpoolKernel>("MAX_UNPOOLING", {{"InputTensor", image},
                                              {"IndicesTensor", indices},
                                              {"OutputTensor", tensor({2, 3, 8, 10})}});
  CHECK(unpool.axes == StridedAxes{{120, {1, 1}}});
  const auto band = planned<BandKernel>("DIAGONAL_MATRIX1", {{"InputTensor", image},
                                                             {"OutputTensor", image},
                                                             {"ValueDataType", "FLOAT32"},
                                                             {"Value", 1},
                                                             {"DiagonalFillBegin", 0},
                                                             {"DiagonalFillEnd", 1}});
  CHECK(band.lines == StridedAxes{{24, {5}}});
  const auto count = planned<NonzeroCountKernel>(
      "NONZERO_COORDINATES",
      {{"InputTensor", image},
       {"OutputCountTensor", {{"DataType", "UINT32"}, {"Sizes", {1}}}},
       {"OutputCoordinatesTensor", {{"DataType", "UINT32"}, {"Sizes", {120, 4}}}}});
  CHECK(count.axes == StridedAxes{{120, {1}}});
  const auto fold = planned<FoldKernel>("FOLD", {{"InputTensor", tensor({2, 12, 6})},
                                                 {"OutputTensor", tensor({2, 3, 3, 4})},
                                                 {"WindowSizes", {2, 2}},
                                                 {"Strides", {1, 1}},
                                                 {"Dilations", {1, 1}},
                                                 {"StartPadding", {0, 0}},
                                                 {"EndPadding", {0, 0}}});
  CHECK(fold.batches == StridedAxes{{6, {24}}});
  const auto gemm = [&](const Json& right) {
    return Json{{"ATensor", image}, {"BTensor", right}, {"TransA", "NONE"},
                {"TransB", "NONE"}, {"Alpha", 1},       {"Beta", 0}};
  };
  const auto product = planned<ProductKernel>("GEMM", gemm(tensor({2, 3, 5, 6})));
  CHECK(product.batches == std::vector<std::uint64_t>{6});
  CHECK(product.right.batch_strides == std::vector<std::uint64_t>{30});
  Json shared = tensor({2, 3, 5, 6});
  shared["Strides"] = {0, 0, 6, 1};
  const auto rows = planned<ProductKernel>("GEMM", gemm(shared));
  CHECK(rows.batches.empty());
  CHECK(rows.rows == 24);
}

}  // namespace
}  // namespace dmlop::test::plan_test
