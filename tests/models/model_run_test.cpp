// Models that run: buffers, offsets, strides and several dispatches, on every backend.
#include <doctest/doctest.h>

#include <cstdlib>

#include "folder.hpp"
#include "gpu_device.hpp"
#include "model.hpp"
#include "model/outputs.hpp"
#include "model/runtime.hpp"
#include "model/tolerances.hpp"
#include "paths.hpp"
#include "sweep.hpp"

namespace dmlop::test::model_run_test {
namespace {

using dmlop::Model;
using dmlop::Runtime;

/// Calls `action` with a device for each backend of this test, and what it may use.
template <typename Action>
void on_every_backend(Action&& action) {
  for (const SweptBackend& backend : available_backends()) {
    CAPTURE(backend.name);
    const bool tiles = backend.name.find("tiles") != std::string_view::npos;
    const std::string spec = backend.name == "cpu" ? "cpu" : tested_device();
    dmlop::Backend opened(dmlop::gpu::DeviceRequest{spec});
    CHECK(opened.is_gpu() == (backend.name != "cpu"));
    action(opened,
           dmlop::ExecutionOptions{.threads = 2, .device_memory_bytes = tiles ? 4096U : 0U});
  }
}

void run_dispatches(const Model& model, Runtime& runtime) {
  for (const auto& command : model.commands) {
    if (const auto* dispatch = std::get_if<dmlop::DispatchCommand>(&command))
      runtime.dispatch(*dispatch);
  }
}

template <typename T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// The resource "Out" after all dispatches of a model.
template <typename T>
void check_out(const std::string& text, const std::vector<T>& expected) {
  const Model model = valid_model(text);
  on_every_backend([&](dmlop::Backend& backend, const dmlop::ExecutionOptions& options) {
    Runtime runtime(model, backend, options);
    run_dispatches(model, runtime);
    const auto index = model.find_resource("Out") - model.resources.data();
    CHECK(values_of<T>(runtime.contents(static_cast<std::size_t>(index))) == expected);
  });
}

std::string resource(const std::string& name, const std::string& type, const std::string& values) {
  return "\"" + name + "\": {\"initialValuesDataType\": \"" + type +
         "\", \"initialValues\": " + values + "}";
}

std::string model_text(const std::string& resources, const std::string& dispatchables,
                       const std::string& commands) {
  return "{\"resources\": {" + resources + "}, \"dispatchables\": {" + dispatchables +
         "}, \"commands\": [" + commands + "]}";
}

std::string dispatch(const std::string& name, const std::string& input, const std::string& output) {
  return R"({"type": "dispatch", "dispatchable": ")" + name + R"(", "bindings": {"InputTensor": )" +
         input + R"(, "OutputTensor": )" + output + "}}";
}

/// EDGE padding by one at the start, of `sizes` elements in one dimension.
std::string edge(const std::string& name, const std::string& input, const std::string& output) {
  return "\"" + name + R"(": {"type": "PADDING", "InputTensor": )" + input +
         R"(, "OutputTensor": )" + output +
         R"(, "PaddingMode": "EDGE", "PaddingValue": 0, "DimensionCount": 1, "StartPadding": [1],
            "EndPadding": [0]})";
}

/// SLICE1 that takes all of a tensor backwards.
std::string backwards(const std::string& name, const std::string& tensor, const std::string& size,
                      const std::string& output = "") {
  return "\"" + name + R"(": {"type": "SLICE1", "InputTensor": )" + tensor +
         R"(, "OutputTensor": )" + (output.empty() ? tensor : output) +
         R"(, "DimensionCount": 1, "InputWindowOffsets": [0], "InputWindowSizes": [)" + size +
         R"(], "InputWindowStrides": [-1]})";
}

const std::string four = R"({"DataType": "INT32", "Sizes": [4]})";
const std::string five = R"({"DataType": "INT32", "Sizes": [5]})";
const std::string zeros = R"({"valueCount": 10, "value": 0})";

}  // namespace

// clang-format off

TEST_CASE("model runs: offsets into larger buffers; nothing else is written") {
  check_out<std::int32_t>(
      model_text(resource("In", "INT32", "[9, 9, 1, 2, 3, 4, 9]") + ", " + resource("Out", "INT32", R"({"valueCount": 10, "value": -1})"),
                 edge("pad", four, five),
                 dispatch("pad", R"({"name": "In", "elementOffset": 2})", R"({"name": "Out", "elementOffset": 3})")),
      {-1, -1, -1, 1, 1, 2, 3, 4, -1, -1});
}

TEST_CASE("model runs: what nothing writes of a buffer without values is zeros") {
  constexpr std::size_t count = 40'000;  // so many that its memory may be that of an earlier buffer
  const std::string resources = resource("In", "INT32", "[1, 2, 3, 4]") + ", " + resource("Out", "INT32", R"({"valueCount": 40000, "value": 0})");
  for (const int offset : {-1, 0, 3}) {  // -1: nothing is dispatched
    CAPTURE(offset);
    Model model = valid_model(model_text(resources, edge("pad", four, five),
                                         offset < 0 ? "" : dispatch("pad", "\"In\"", R"({"name": "Out", "elementOffset": )" + std::to_string(offset) + "}")));
    model.resources[1].initial.fill = nullptr;
    std::vector<std::int32_t> expected(count, 0);
    const std::vector<std::int32_t> padded{1, 1, 2, 3, 4};
    if (offset >= 0) std::ranges::copy(padded, expected.begin() + offset);
    on_every_backend([&](dmlop::Backend& backend, const dmlop::ExecutionOptions& options) {
      std::ranges::fill(dmlop::Buffer::to_overwrite(count * 4, "a test").bytes(), std::byte{0xA5});
      Runtime runtime(model, backend, options);
      run_dispatches(model, runtime);
      CHECK((values_of<std::int32_t>(runtime.contents(1)) == expected));
    });
  }
}

TEST_CASE("model runs: an offset counts elements of the resource's type, or of the size given") {
  const std::string bytes = R"({"valueCount": 24, "valueStart": 0, "valueDelta": 1})";
  const std::string tensors = edge("pad", R"({"DataType": "UINT8", "Sizes": [4]})", R"({"DataType": "UINT8", "Sizes": [5]})");
  const auto check = [&](const std::string& input, std::uint8_t first) {
    std::vector<std::uint8_t> expected{first};
    for (int i = 0; i < 4; ++i) expected.push_back(static_cast<std::uint8_t>(first + i));
    expected.resize(12);
    check_out<std::uint8_t>(model_text(resource("In", "UINT8", bytes) + ", " + resource("Out", "UINT8", zeros), tensors,
                                       dispatch("pad", input, "\"Out\"")), expected);
  };
  check(R"({"name": "In", "elementOffset": 3})", 3);
  check(R"({"name": "In", "elementOffset": 3, "elementSizeInBytes": 4})", 12);
  check(R"({"name": "In", "elementOffset": 3, "elementSizeInBytes": 0, "elementCount": 1})", 3);
}

TEST_CASE("model runs: strides of inputs and outputs") {
  // Every second element, and repeated; between those of the output nothing is written.
  check_out<std::int32_t>(
      model_text(resource("In", "INT32", "[1, 9, 2, 9, 3, 9, 4]") + ", " + resource("Out", "INT32", R"({"valueCount": 13, "value": -1})"),
                 edge("pad", R"({"DataType": "INT32", "Sizes": [4], "Strides": [2]})", R"({"DataType": "INT32", "Sizes": [5], "Strides": [3]})"),
                 dispatch("pad", "\"In\"", "\"Out\"")),
      {1, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4});
  check_out<std::int32_t>(
      model_text(resource("In", "INT32", "[7]") + ", " + resource("Out", "INT32", R"({"valueCount": 5, "value": -1})"),
                 edge("pad", R"({"DataType": "INT32", "Sizes": [4], "Strides": [0]})", five),
                 dispatch("pad", "\"In\"", "\"Out\"")),
      {7, 7, 7, 7, 7});
  // A transposed output.
  check_out<std::uint16_t>(
      model_text(resource("In", "UINT16", "[1, 2, 3, 4, 5, 6]") + ", " + resource("Out", "UINT16", R"({"valueCount": 6, "value": 0})"),
                 R"("copy": {"type": "SLICE1", "InputTensor": {"DataType": "UINT16", "Sizes": [2, 3]},
                     "OutputTensor": {"DataType": "UINT16", "Sizes": [2, 3], "Strides": [1, 2]}, "DimensionCount": 2,
                     "InputWindowOffsets": [0, 0], "InputWindowSizes": [2, 3], "InputWindowStrides": [1, 1]})",
                 dispatch("copy", "\"In\"", "\"Out\"")),
      {1, 4, 2, 5, 3, 6});
}

TEST_CASE("model runs: several dispatches in order over the same buffers") {
  const std::string six = R"({"DataType": "INT32", "Sizes": [6]})";
  check_out<std::int32_t>(
      model_text(resource("In", "INT32", "[1, 2, 3, 4]") + ", " + resource("Mid", "INT32", zeros) + ", " + resource("Out", "INT32", R"({"valueCount": 6, "value": 0})"),
                 edge("first", four, five) + ", " + edge("second", five, six) + ", " + backwards("back", four, "4"),
                 dispatch("first", "\"In\"", "\"Mid\"") + ", " + dispatch("second", "\"Mid\"", "\"Out\"") + ", " +
                 dispatch("back", "\"Mid\"", "\"In\"") + ", " + dispatch("first", "\"In\"", "\"Mid\"") + ", " +
                 dispatch("back", "\"Mid\"", R"({"name": "Out", "elementOffset": 2})")),
      {1, 1, 1, 2, 3, 3});
}

TEST_CASE("model runs: buffers stay on a GPU between dispatches, unless one needs the host") {
  const Model model = valid_model(
      model_text(resource("In", "INT32", "[1, 2, 3, 4]") + ", " + resource("Middle", "INT32", zeros) + ", " +
                     resource("Wide", "INT32", R"({"valueCount": 9, "value": -1})") + ", " + resource("Out", "INT32", zeros),
                 edge("pad", four, five) + ", " + backwards("turn", five, "5") + ", " +
                     backwards("spread", five, "5", R"({"DataType": "INT32", "Sizes": [5], "Strides": [2]})"),
                 dispatch("pad", "\"In\"", "\"Middle\"") + ", " + dispatch("turn", "\"Middle\"", "\"Wide\"") + ", " +
                     dispatch("turn", "\"Middle\"", R"({"name": "Out", "elementOffset": 5})") + ", " +
                     dispatch("spread", R"({"name": "Out", "elementOffset": 5})", "\"Wide\"") + ", " + dispatch("turn", "\"Wide\"", "\"Out\"")));
  on_every_backend([&](dmlop::Backend& backend, const dmlop::ExecutionOptions& options) {
    Runtime runtime(model, backend, options);
    run_dispatches(model, runtime);
    // "spread" has an output with strides, so it runs from the host and what follows goes back.
    const bool stays = backend.is_gpu() && options.device_memory_bytes == 0;
    CHECK(runtime.resident_dispatches() == (stays ? 4 : 0));
    using Values = std::vector<std::int32_t>;
    CHECK(values_of<std::int32_t>(runtime.contents(0)) == Values{1, 2, 3, 4});
    CHECK(values_of<std::int32_t>(runtime.contents(1)) == Values{1, 1, 2, 3, 4, 0, 0, 0, 0, 0});
    CHECK(values_of<std::int32_t>(runtime.contents(2)) == Values{1, 3, 1, 1, 2, -1, 3, -1, 4});
    CHECK(values_of<std::int32_t>(runtime.contents(3)) == Values{2, 1, 1, 3, 1, 4, 3, 2, 1, 1});
  });
}

TEST_CASE("model runs: runs that share constants and memory compute each from its own input") {
  Model model = valid_model(
      model_text(resource("In", "INT32", "[1, 2, 3, 4]") + ", " + resource("Constant", "INT32", "[10, 20, 30, 40, 50]") + ", " +
                     resource("Middle", "INT32", zeros) + ", " + resource("Out", "INT32", zeros),
                 edge("pad", four, five) + ", " + R"("add": {"type": "ELEMENT_WISE_ADD", "desc": {"ATensor": )" + five + R"(, "BTensor": )" + five + R"(, "OutputTensor": )" + five + "}}",
                 dispatch("pad", "\"In\"", "\"Middle\"") +
                     R"(, {"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "Middle", "BTensor": "Constant", "OutputTensor": "Out"}})"));
  model.resources[0].initial.fill = nullptr;
  on_every_backend([&](dmlop::Backend& backend, const dmlop::ExecutionOptions& options) {
    const auto prepared = std::make_shared<dmlop::PreparedModel>(model, dmlop::PreparedModel::Keep::plans_and_constants);
    for (const std::int32_t more : {0, 100, -7}) {
      Model bound = model;
      bound.resources[0].initial.fill = [&](std::span<std::byte> to) {
        const std::vector<std::int32_t> input{1 + more, 2 + more, 3 + more, 4 + more};
        std::memcpy(to.data(), input.data(), to.size());
      };
      const auto check = [&](Runtime& runtime) {
        const auto out = values_of<std::int32_t>(runtime.contents(3));
        CHECK(std::vector<std::int32_t>(out.begin(), out.begin() + 5) ==
              std::vector<std::int32_t>{11 + more, 21 + more, 32 + more, 43 + more, 54 + more});
      };
      Runtime runtime(bound, backend, options, prepared);
      run_dispatches(bound, runtime);
      check(runtime);
      Runtime later(bound, backend, options, prepared);
      for (const auto& command : bound.commands) later.enqueue(std::get<dmlop::DispatchCommand>(command));
      check(later);
    }
  });
}

TEST_CASE("model runs: what an output does not reach stays as it was, also within a word") {
  const std::string text = R"({
    "resources": {"In": {"initialValuesDataType": "UINT8", "initialValues": [1, 2, 3, 4, 5]},
                  "Out": {"initialValuesDataType": "UINT8", "initialValues": [11, 12, 13, 14, 15, 16, 17, 18]}},
    "dispatchables": {"copy": {"type": "ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": {"DataType": "UINT8", "Sizes": [5]},
                                                                        "OutputTensor": {"DataType": "UINT8", "Sizes": [5]}}}},
    "commands": [{"type": "dispatch", "dispatchable": "copy", "bindings": {"InputTensor": "In", "OutputTensor": "Out"}}]})";
  check_out<std::uint8_t>(text, {1, 2, 3, 4, 5, 16, 17, 18});
}

TEST_CASE("model runs: an output may be another part of the resource that holds the input") {
  check_out<std::int32_t>(
      model_text(resource("Out", "INT32", "[1, 2, 3, 4, 0, 0, 0, 0, 0]"), edge("pad", four, five),
                 dispatch("pad", "\"Out\"", R"({"name": "Out", "elementOffset": 4})")),
      {1, 2, 3, 4, 1, 1, 2, 3, 4});
}

TEST_CASE("model runs: an input owned by DirectML is as it was when the model started") {
  const std::string owned = R"({"DataType": "INT32", "Sizes": [4], "Flags": "OWNED_BY_DML"})";
  std::string keep = edge("keep", owned, five);
  keep.insert(keep.size() - 1, R"(, "bindings": {"InputTensor": "In"})");
  check_out<std::int32_t>(
      model_text(resource("In", "INT32", "[1, 2, 3, 4]") + ", " + resource("Out", "INT32", R"({"valueCount": 5, "value": 0})"),
                 keep + ", " + backwards("back", four, "4"),
                 dispatch("back", R"({"name": "Out"})", "\"In\"") + R"(, {"type": "dispatch", "dispatchable": "keep", "bindings": {"OutputTensor": "Out"}})"),
      {1, 1, 2, 3, 4});
}

// clang-format on

TEST_CASE(
    "model runs: in place, where an operator allows it, nothing is read after it is written") {
  Model model = valid_model(model_text(
      resource("Out", "INT32", R"({"valueCount": 5000, "valueStart": 0, "valueDelta": 1})") + ", " +
          resource("Other", "INT32", R"({"valueCount": 5000, "value": 0})"),
      backwards("back", R"({"DataType": "INT32", "Sizes": [5000]})", "5000"),
      dispatch("back", "\"Out\"", "\"Other\"")));
  // As read_model would have it of an operator whose page allows it; SLICE1's does not.
  for (auto& binding : std::get<dmlop::DispatchCommand>(model.commands[0]).bindings)
    binding.range.resource = 0;
  on_every_backend([&](dmlop::Backend& backend, const dmlop::ExecutionOptions& options) {
    Runtime runtime(model, backend, options);
    run_dispatches(model, runtime);
    std::vector<std::int32_t> expected(5000);
    for (int i = 0; i < 5000; ++i) expected[static_cast<std::size_t>(i)] = 4999 - i;
    CHECK(values_of<std::int32_t>(runtime.contents(0)) == expected);
  });
}

TEST_CASE("model runs: the samples compute what the operators' samples do") {
  const std::string samples = source_path("samples/");
  for (const std::string name : {"padding", "lp_pooling", "slice1", "reverse_subsequences"}) {
    CAPTURE(name);
    const std::string path = samples + "dxdispatch/" + name + ".json";
    ReadModel found = read(read_file(path), {}, path);
    REQUIRE_MESSAGE(found.model, found.findings);
    CHECK(found.warnings.empty());
    const Model& model = *found.model;
    dmlop::Diagnostics diagnostics;
    const auto golden =
        dmlop::name_resources(model, {{"Out", samples + name + "/expected/OutputTensor.npy"}},
                              "--expect", true, diagnostics);
    REQUIRE(golden.size() == 1);
    on_every_backend([&](dmlop::Backend& backend, const dmlop::ExecutionOptions& options) {
      Runtime runtime(model, backend, options);
      run_dispatches(model, runtime);
      const std::size_t output = golden[0].resource;
      const auto compared =
          dmlop::compare_resource(model, golden[0], runtime.contents(output),
                                  dmlop::ResultTolerances(model, std::nullopt).of(output));
      CHECK(compared.comparison.verdict() == dmlop::Verdict::passed);
      CHECK(compared.comparison.elements > 0);
    });
  }
}

TEST_CASE("model runs: a resource at the end is the tensor that was written last") {
  const Model model = valid_model(
      model_text(resource("In", "INT32", "[1, 2, 3, 4]") + ", " + resource("Out", "INT32", zeros),
                 edge("pad", four, R"({"DataType": "INT32", "Sizes": [5], "Strides": [2]})"),
                 dispatch("pad", "\"In\"", "\"Out\"")));
  const auto tensor = dmlop::tensor_of(model, 1);
  CHECK(tensor.sizes == dmlop::Sizes{5});
  CHECK(tensor.writer->spec->name == "PADDING");
  const auto untouched = dmlop::tensor_of(model, 0);
  CHECK(untouched.sizes == dmlop::Sizes{4});
  CHECK(untouched.writer == nullptr);
  dmlop::Backend cpu;
  Runtime runtime(model, cpu, {});
  run_dispatches(model, runtime);
  CHECK(values_of<std::int32_t>(dmlop::packed_elements(tensor, runtime.contents(1)).bytes()) ==
        std::vector<std::int32_t>{1, 1, 2, 3, 4});
}

}  // namespace dmlop::test::model_run_test
