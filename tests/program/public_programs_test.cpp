// The newer half of the public interface: prepared operations, programs, comparisons, and what
// stops a run.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <dmlop/dmlop.hpp>
#include <string>
#include <thread>
#include <vector>

#include "folder.hpp"
#include "onnx_writer.hpp"
#include "paths.hpp"
#include "public_failure.hpp"

namespace dmlop::test::public_programs_test {
namespace {

using dmlop::ElementType;
using dmlop::FailureKind;
using dmlop::view;

const std::string samples = source_path("samples/");
const std::string graph_file = samples + "graph/graph.json";

const dmlop::Operation edge{
    .text =
        R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})"};
const std::vector<float> three{1, 2, 3};
const std::vector<float> three_padded{1, 1, 2, 3, 3, 3};

dmlop::Runner& cpu() {
  static dmlop::Runner runner({.device = "cpu"});
  return runner;
}

/// A view of sizes without elements.
dmlop::TensorView sizes_only(std::vector<std::uint64_t> sizes,
                             std::vector<std::uint64_t> strides = {}) {
  return {.type = ElementType::float32, .sizes = std::move(sizes), .strides = std::move(strides)};
}

/// Runs an operation with one input and one output.
void run(const dmlop::Prepared& prepared, std::span<const float> input, std::span<float> output) {
  const std::span<const std::byte> from = std::as_bytes(input);
  const std::span<std::byte> to = std::as_writable_bytes(output);
  prepared.run({&from, 1}, {&to, 1});
}

/// An addition of two vectors of FLOAT32.
const dmlop::Operation add{.text = R"({"type": "ELEMENT_WISE_ADD", "desc": {}})"};

/// 2^22 sums of 2^18 elements, which all are one: minutes of work for several threads.
const dmlop::Operation long_sums{
    .text = R"({"type": "REDUCE", "desc": {"Function": "SUM", "Axes": [1]}})"};

}  // namespace

TEST_CASE("public programs: a prepared operation says what it needs, and runs many times") {
  const dmlop::Prepared prepared = cpu().prepare(edge, {{"InputTensor", sizes_only({3})}});
  REQUIRE(prepared.inputs().size() == 1);
  CHECK(prepared.inputs()[0].name == "InputTensor");
  CHECK(prepared.inputs()[0].bytes == 12);
  REQUIRE(prepared.outputs().size() == 1);
  CHECK(prepared.outputs()[0].sizes == std::vector<std::uint64_t>{6});
  CHECK(prepared.outputs()[0].bytes == 24);
  std::vector<float> output(6, -1);
  run(prepared, three, output);
  CHECK(output == three_padded);
  run(prepared, std::vector<float>{7, 8, 9}, output);
  CHECK(output == std::vector<float>{7, 7, 8, 9, 9, 9});
}

TEST_CASE("public programs: the JSON alone may describe what a prepared operation needs") {
  const dmlop::Prepared prepared = cpu().prepare(
      {.text = R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
                   "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})"});
  std::vector<float> output(6);
  run(prepared, three, output);
  CHECK(output == three_padded);
}

TEST_CASE("public programs: inputs with elements stay what they are") {
  const std::vector<float> kept{10, 20, 30};
  const dmlop::Prepared prepared =
      cpu().prepare(add, {{"ATensor", sizes_only({3})}, {"BTensor", view(kept, {3})}});
  REQUIRE(prepared.inputs().size() == 1);
  CHECK(prepared.inputs()[0].name == "ATensor");
  std::vector<float> output(3);
  run(prepared, three, output);
  CHECK(output == std::vector<float>{11, 22, 33});
}

TEST_CASE("public programs: strides of a prepared input are reached in its buffer") {
  const dmlop::Operation copy{.text = R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE",
                                          "StartPadding": [0, 0], "EndPadding": [0, 0]}})"};
  const dmlop::Prepared prepared =
      cpu().prepare(copy, {{"InputTensor", sizes_only({3, 2}, {1, 3})}});
  CHECK(prepared.inputs()[0].strides == std::vector<std::uint64_t>{1, 3});
  CHECK(prepared.inputs()[0].bytes == 24);
  std::vector<float> output(6);
  run(prepared, std::vector<float>{1, 2, 3, 4, 5, 6}, output);
  CHECK(output == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("public programs: an output may be the buffer of an input, or lie anywhere") {
  const dmlop::Operation reverse{.text = R"({"type": "SLICE1", "desc": {"InputWindowOffsets": [0],
                                 "InputWindowSizes": [4], "InputWindowStrides": [-1]}})"};
  const dmlop::Prepared prepared = cpu().prepare(reverse, {{"InputTensor", sizes_only({4})}});
  std::vector<float> both{1, 2, 3, 4};
  run(prepared, both, both);
  CHECK(both == std::vector<float>{4, 3, 2, 1});
  // One byte off, so that no element is aligned.
  std::vector<std::byte> memory(17);
  const std::span<const std::byte> from = std::as_bytes(std::span<const float>(both));
  const std::span<std::byte> to = std::span(memory).subspan(1);
  prepared.run({&from, 1}, {&to, 1});
  std::vector<float> output(4);
  std::memcpy(output.data(), to.data(), to.size());
  CHECK(output == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("public programs: buffers of other numbers or sizes are refused") {
  const dmlop::Prepared prepared = cpu().prepare(edge, {{"InputTensor", sizes_only({3})}});
  std::vector<float> output(6);
  const auto message = [&](std::size_t inputs, std::size_t outputs) {
    std::vector<float> to(outputs);
    const std::vector<float> from(inputs);
    return std::string(failure_of([&] { run(prepared, from, to); }).what());
  };
  CHECK(message(2, 6) == "InputTensor has a buffer of 8 bytes, but FLOAT32 [3] has 12");
  CHECK(message(4, 6) == "InputTensor has a buffer of 16 bytes, but FLOAT32 [3] has 12");
  CHECK(message(3, 5) == "OutputTensor has a buffer of 20 bytes, but FLOAT32 [6] has 24");
  const auto none = failure_of([&] { prepared.run({}, {}); });
  CHECK(none.kind() == FailureKind::usage);
  CHECK(std::string(none.what()) == "there are buffers for 0 inputs, but the operation has 1");
}

TEST_CASE("public programs: elements beyond 4 bits are found in each run") {
  const dmlop::Operation dequantize{
      .text =
          R"({"type": "DEQUANTIZE", "desc": {"InputTensor": {"DataType": "UINT4", "Sizes": [1, 2]},
        "QuantizationType": "SCALE", "QuantizationTensors": [{"DataType": "FLOAT32", "Sizes": [1, 1]}],
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2]}}})"};
  const std::vector<float> scale{2};
  const dmlop::Prepared prepared =
      cpu().prepare(dequantize, {{"QuantizationTensors[0]", view(scale, {1, 1})}});
  const auto result_of = [&](std::uint8_t last) {
    const std::vector<std::uint8_t> input{3, last};
    std::vector<float> output(2);
    const std::span<const std::byte> from = std::as_bytes(std::span(input));
    const std::span<std::byte> to = std::as_writable_bytes(std::span(output));
    prepared.run({&from, 1}, {&to, 1});
    return output;
  };
  CHECK(result_of(15) == std::vector<float>{-10, 14});  // a UINT4 of 8 is 0
  const auto failure = failure_of([&] { result_of(16); });
  CHECK(failure.kind() == FailureKind::invalid_input);
  CHECK(failure.findings().size() == 1);
}

TEST_CASE("public programs: a prepared operation outlives its runner, and serves many threads") {
  std::optional<dmlop::Prepared> prepared;
  {
    dmlop::Runner runner({.device = "cpu", .threads = 1});
    prepared =
        runner.prepare(add, {{"ATensor", sizes_only({1000})}, {"BTensor", sizes_only({1000})}});
  }
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> a(1000, static_cast<float>(t)), b(1000, 1);
      std::vector<float> output(1000);
      const std::vector<std::span<const std::byte>> from{std::as_bytes(std::span(a)),
                                                         std::as_bytes(std::span(b))};
      const std::span<std::byte> to = std::as_writable_bytes(std::span(output));
      for (int i = 0; i < 100; ++i) {
        prepared->run(from, {&to, 1});
        if (std::ranges::count(output, static_cast<float>(t + 1)) != 1000) ++wrong;
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("public programs: outputs of a run go to the caller's buffers") {
  std::vector<float> output(6);
  const std::vector<dmlop::Input> inputs{{"InputTensor", view(three, {3})}};
  const auto to = std::as_writable_bytes(std::span(output));
  const auto outputs = cpu().run(edge, inputs, {{"OutputTensor", to}});
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].bytes.empty());
  CHECK(output == three_padded);
  CHECK(std::string(failure_of([&] {
                      cpu().run(edge, inputs, {{"Output", to}});
                    }).what()) == "the operation has no output \"Output\": outputs: OutputTensor");
  CHECK(failure_of([&] {
          cpu().run(edge, inputs, {{"OutputTensor", to}, {"OutputTensor", to}});
        }).kind() == FailureKind::usage);
}

TEST_CASE("public programs: a condition ends a long run on the thread that started it") {
  const std::vector<float> one{1};
  const std::vector<dmlop::Input> inputs{{"InputTensor", view(one, {1 << 22, 1 << 18}, {0, 0})}};
  for (const unsigned threads : {1U, 2U}) {
    CAPTURE(threads);
    dmlop::Runner runner({.device = "cpu", .threads = threads});
    const auto asker = std::this_thread::get_id();
    int questions = 0;
    const auto failure = failure_of([&] {
      const dmlop::StopCondition stop([&] {
        CHECK(std::this_thread::get_id() == asker);
        return ++questions == 3;
      });
      runner.run(long_sums, inputs);
    });
    CHECK(failure.kind() == FailureKind::canceled);
    CHECK(questions == 3);
  }
  // The next run is not stopped.
  CHECK(cpu().run(edge, {{"InputTensor", view(three, {3})}}).size() == 1);
}

// Who runs it again then does not compute it twice. The condition is asked every 50 ms, and a third
// of each run copies.
TEST_CASE("public programs: no stop leaves an input half replaced that is the output, too") {
  constexpr std::uint64_t count = std::uint64_t{1} << 22;
  std::vector<float> x(count, 1);
  const dmlop::Operation adding_one{
      .text =
          R"({"type": "ELEMENT_WISE_IDENTITY", "desc": {"ScaleBias": {"Scale": 1, "Bias": 1}}})"};
  const dmlop::Prepared prepared =
      cpu().prepare(adding_one, {{"InputTensor", sizes_only({count})}});
  const dmlop::StopCondition stop([&] { return x.front() != x.back(); });
  for (int i = 0; i < 20; ++i) run(prepared, x, x);
  CHECK(static_cast<std::uint64_t>(std::ranges::count(x, 21.0F)) == count);
}

TEST_CASE("public programs: a graph tells what it is, and runs with its edges") {
  const dmlop::Program program({.file = graph_file});
  REQUIRE(program.inputs().size() == 1);
  CHECK(program.inputs()[0].name == "image");
  CHECK(program.inputs()[0].bytes == 64);
  REQUIRE(program.outputs().size() == 1);
  CHECK(program.outputs()[0].name == "result");
  REQUIRE(program.nodes().size() == 3);
  CHECK(program.nodes()[1].name == "pool");
  CHECK(program.nodes()[1].operator_name == "MAX_POOLING");
  CHECK(program.nodes()[1].inputs == std::vector<std::string>{"padded"});
  CHECK(program.nodes()[1].outputs == std::vector<std::string>{"pooled"});

  std::vector<float> image(16);
  for (std::size_t i = 0; i < 16; ++i) image[i] = static_cast<float>(i);
  std::vector<dmlop::Tensor> edges;
  for (int i = 0; i < 2; ++i) {
    edges.clear();
    const auto outputs = cpu().run(program, {{"image", view(image, {1, 1, 4, 4})}}, &edges);
    REQUIRE(outputs.size() == 1);
    CHECK(std::ranges::equal(outputs[0].elements<float>(), std::vector<float>{6, 8, 14, 16}));
  }
  REQUIRE(edges.size() == 3);
  CHECK(edges[0].name == "padded");
  CHECK(edges[0].sizes == std::vector<std::uint64_t>{1, 1, 6, 6});
  CHECK(std::ranges::equal(edges[1].elements<float>(), std::vector<float>{5, 7, 13, 15}));
}

TEST_CASE("public programs: runners and programs may go in any order, and threads share them") {
  const std::vector<float> image(16, 2);
  const std::vector<dmlop::Input> inputs{{"image", view(image, {1, 1, 4, 4})}};
  const auto check_run = [&](dmlop::Runner& runner, const dmlop::Program& program) {
    const auto outputs = runner.run(program, inputs);
    REQUIRE(outputs.size() == 1);
    CHECK(outputs[0].elements<float>()[0] == 3);
  };
  std::vector<std::string> devices{"cpu"};
  for (const auto& device : dmlop::devices()) {
    if (device.spec == "vulkan:0") devices.push_back(device.spec);
  }
  for (const std::string& device : devices) {
    CAPTURE(device);
    auto program = std::make_unique<dmlop::Program>(dmlop::Operation{.file = graph_file});
    auto first = std::make_unique<dmlop::Runner>(dmlop::RunnerOptions{.device = device});
    dmlop::Runner second({.device = device});
    check_run(*first, *program);
    check_run(second, *program);
    first.reset();
    check_run(second, *program);
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto outputs = second.run(*program, inputs);
        if (outputs.size() == 1 && outputs[0].elements<float>()[0] == 3) ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 4);
    program.reset();
    const dmlop::Program other({.file = graph_file});
    check_run(second, other);
  }
}

TEST_CASE("public programs: threads share what weights are made into, from the first run on") {
  using namespace onnx_bytes;
  constexpr std::size_t rows = 40, depth = 300, columns = 200;
  std::vector<float> x(rows * depth), w(depth * columns), expected(rows * columns, 0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 13) - 6;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t k = 0; k < depth; ++k)
      expected[i] += x[i / columns * depth + k] * w[k * columns + i % columns];
  }
  const dmlop::Operation source{
      .text = model({.nodes = {node("MatMul", {"x", "w"}, {"y"})},
                     .initializers = {tensor("w", 1, {depth, columns}, raw_floats(w))},
                     .inputs = {value("x", {"40", "300"})},
                     .outputs = {value("y", {"40", "200"})}})};
  for (int round = 0; round < 3; ++round) {
    const dmlop::Program program(source);
    std::atomic<int> right = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int run = 0; run < 3; ++run) {
          const auto outputs = cpu().run(program, {{"x", view(x, {rows, depth})}});
          if (std::ranges::equal(outputs.at(0).elements<float>(), expected)) ++right;
        }
      });
    }
    threads.clear();
    CHECK(right == 12);
  }
}

TEST_CASE("public programs: a program is a file or a text, serialized, JSON or a model") {
  const std::string json = read_file(graph_file);
  CHECK(dmlop::Program({.text = json}).nodes().size() == 3);
  const std::string folder = conformance_path("graphs/");
  std::size_t graphs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("Partition_")) continue;
    const dmlop::Program program({.file = entry.path()});
    CHECK(!program.outputs().empty());
    CHECK(dmlop::check({.file = entry.path()}).findings.empty());
    // Of the text alone, but for the files of constants beside it.
    CHECK(dmlop::Program({.text = read_file(entry.path()), .file = entry.path()}).nodes().size() ==
          program.nodes().size());
    if (++graphs == 5) break;
  }
  CHECK(graphs == 5);
  const dmlop::Program model({.file = samples + "attention_block/model.json"});
  CHECK(model.inputs().empty());
  CHECK(!cpu().run(model, {}).empty());
}

TEST_CASE("public programs: an ONNX model, with the sizes of its dimensions") {
  dmlop::Operation source{.file = samples + "onnx/model.onnx"};
  const auto unknown = dmlop::check(source).findings;
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].help == "give \"batch\" a size in dimensions");
  source.dimensions = {{"batch", 2}};
  CHECK(dmlop::check(source).findings.empty());
  const dmlop::Program program(source);
  REQUIRE(program.inputs().size() == 1);
  CHECK(program.inputs()[0].sizes == std::vector<std::uint64_t>{2, 4});  // those of the model
  const auto outputs = cpu().run(program, {{program.inputs()[0].name, samples + "onnx/x.npy"}});
  CHECK(outputs.size() == program.outputs().size());
  source.text = read_file(samples + "onnx/model.onnx");
  const dmlop::Program of_text(source);
  CHECK(of_text.nodes().size() == program.nodes().size());
  source.text.assign(source.text.size(), '?');  // the program keeps what it needs
  const auto same = cpu().run(of_text, {{program.inputs()[0].name, samples + "onnx/x.npy"}});
  REQUIRE(same.size() == outputs.size());
  CHECK(std::ranges::equal(same[0].elements<float>(), outputs[0].elements<float>()));
  source.text = "bytes";
  source.dimensions.clear();
  CHECK(failure_of([&] { dmlop::Program none(source); }).kind() == FailureKind::invalid_input);
}

TEST_CASE("public programs: an input of an ONNX model that decides sizes is known from the start") {
  using namespace onnx_bytes;
  const dmlop::Operation source{
      .text = model({.nodes = {node("Reshape", {"x", "sizes"}, {"y"})},
                     .inputs = {value("x", {"2", "4"}), value("sizes", {"2"}, 7)},
                     .outputs = {value("y", {})},
                     .version = 14}),
      .file = "m.onnx"};
  const auto unknown = dmlop::check(source).findings;
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].help == "give its elements in known_inputs, or make it an initializer");
  // Every second number of the caller's, who may change them afterwards.
  std::vector<std::int64_t> numbers{4, 0, 2, 0};
  dmlop::Operation known = source;
  known.known_inputs = {{"sizes", dmlop::view(numbers, {2}, {2})}};
  const dmlop::Program program(known);
  numbers.assign(4, 7);
  REQUIRE(program.inputs().size() == 1);
  CHECK(program.outputs()[0].sizes == std::vector<std::uint64_t>{4, 2});
  const std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8};
  const auto outputs = cpu().run(program, {{"x", dmlop::view(x, {2, 4})}});
  CHECK(std::ranges::equal(outputs[0].elements<float>(), x));
  known.known_inputs = {{"shape", dmlop::view(numbers, {2}, {2})}};
  CHECK(failure_of([&] { dmlop::Program none(known); }).findings().at(0).message ==
        "the model has no input \"shape\"");
  const std::vector<float> reals{4, 2};
  known.known_inputs = {{"sizes", dmlop::view(reals, {2})}};
  CHECK(dmlop::check(known).findings.at(0).message ==
        "input \"sizes\" is INT64, but its array has FLOAT32 [2]");
  known.text = R"({"type": "PADDING"})";
  known.file.clear();
  CHECK(failure_of([&] { dmlop::check(known); }).what() ==
        std::string("known_inputs are those of an ONNX model"));
}

TEST_CASE("public programs: an input of an ONNX model that no node reads may be given") {
  using namespace onnx_bytes;
  const dmlop::Program program(
      dmlop::Operation{.text = model({.nodes = {node("Abs", {"x"}, {"y"})},
                                      .inputs = {value("x", {"3"}), value("unread", {"3"})},
                                      .outputs = {value("y", {"3"})}})});
  REQUIRE(program.inputs().size() == 1);
  const std::vector<float> numbers{-1, 2, -3};
  const dmlop::Input x{"x", view(numbers, {3})};
  for (const std::vector<dmlop::Input>& inputs :
       {std::vector{x}, {x, {"unread", view(numbers, {3})}}}) {
    const auto outputs = cpu().run(program, inputs);
    CHECK(std::ranges::equal(outputs.at(0).elements<float>(), std::vector<float>{1, 2, 3}));
  }
  CHECK(failure_of([&] {
          cpu().run(program, {x, {"other", view(numbers, {3})}});
        }).kind() == FailureKind::usage);
}

TEST_CASE("public programs: an input has the type of the model, also where DirectML has another") {
  using namespace onnx_bytes;
  const std::vector<std::string> axes{integer("batch_axis", 1), integer("time_axis", 0)};
  const dmlop::Program program(
      dmlop::Operation{.text = model({.nodes = {node("ReverseSequence", {"x", "l"}, {"y"}, axes)},
                                      .inputs = {value("x", {"2", "3"}), value("l", {"3"}, 7)},
                                      .outputs = {value("y", {"2", "3"})}})});
  REQUIRE(program.inputs().size() == 2);
  CHECK(program.inputs()[1].type == dmlop::ElementType::int64);
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> lengths{2, 1, 2};
  const auto outputs = cpu().run(program, {{"x", view(x, {2, 3})}, {"l", view(lengths, {3})}});
  CHECK(std::ranges::equal(outputs.at(0).elements<float>(), std::vector<float>{4, 2, 6, 1, 5, 3}));
}

TEST_CASE("public programs: nodes may read the bytes of an input as another type") {
  const std::string inputs =
      R"({"inputs": [{"name": "x", "DataType": "UINT8", "Sizes": [8]}], "nodes": [)";
  const std::string bytes =
      R"({"name": "a", "type": "ELEMENT_WISE_IDENTITY", "desc": {}, "bindings": {"InputTensor": "x", "OutputTensor": "bytes"}})";
  const std::string words =
      R"({"name": "b", "type": "ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": {"DataType": "UINT32", "Sizes": [2]}},
          "bindings": {"InputTensor": "x", "OutputTensor": "words"}})";
  const std::vector<std::uint8_t> x{1, 0, 0, 0, 0, 1, 0, 0};
  for (const std::string& nodes : {bytes + "," + words, words + "," + bytes, words}) {
    const dmlop::Program program({.text = inputs + nodes + "]}"});
    REQUIRE(program.inputs().size() == 1);
    CHECK(program.inputs()[0].type == ElementType::uint8);
    CHECK(program.inputs()[0].bytes == 8);
    for (const dmlop::Tensor& output : cpu().run(program, {{"x", view(x, {8})}})) {
      if (output.name == "words")
        CHECK(std::ranges::equal(output.elements<std::uint32_t>(),
                                 std::vector<std::uint32_t>{1, 256}));
      else
        CHECK(std::ranges::equal(output.elements<std::uint8_t>(), x));
    }
  }
}

TEST_CASE("public programs: a model without its path has no data beside it") {
  using namespace onnx_bytes;
  const std::string external = external_tensor("w", 1, {3}, "w.bin");
  const auto failure = failure_of([&] {
    dmlop::Program program(dmlop::Operation{
        .text = model({.nodes = {node("Add", {"x", "w"}, {"y"})}, .initializers = {external}})});
  });
  CHECK(std::string(failure.what()).find("load it from its file") != std::string::npos);
}

TEST_CASE("public programs: an array in another order than the input is refused") {
  const dmlop::Program program(
      dmlop::Operation{.file = samples + "onnx/model.onnx", .dimensions = {{"batch", 2}}});
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6, 7, 8};
  const auto run = [&](const std::vector<std::uint64_t>& sizes) {
    return cpu().run(program, {{"x", view(numbers, sizes)}}).size();
  };
  for (const std::vector<std::uint64_t>& same :
       {std::vector<std::uint64_t>{2, 4}, {8}, {2, 1, 4}, {2, 2, 2}, {1, 8}})
    CHECK(run(same) == 1);
  CHECK(std::string(failure_of([&] {
                      run({4, 2});
                    }).what())
            .ends_with("has FLOAT32 [4, 2], 32 bytes\n  help: pass array.transpose(1, 0)"));
  CHECK(std::string(failure_of([&] {
                      run({4, 1, 2});
                    }).what())
            .ends_with("has FLOAT32 [4, 1, 2], 32 bytes"));
}

TEST_CASE("public programs: an input that was known from the start is not given to a run") {
  const std::vector<float> numbers(8, 1);
  const dmlop::Input x{"x", view(numbers, {2, 4})};
  const dmlop::Program program({.file = samples + "onnx/model.onnx", .known_inputs = {x}});
  CHECK(cpu().run(program, {}).size() == 1);
  const auto failure = failure_of([&] { cpu().run(program, {x}); });
  CHECK(failure.kind() == FailureKind::usage);
  CHECK(std::string(failure.what()).find("the input \"x\" is a constant") != std::string::npos);
}

TEST_CASE("public programs: nodes of an ONNX model are fused where the caller asks for it") {
  dmlop::Operation source{.file = samples + "onnx/model.onnx", .dimensions = {{"batch", 2}}};
  CHECK(dmlop::Program(source).nodes().size() == 3);
  source.fuse = true;
  CHECK(dmlop::Program(source).nodes().size() == 2);
  source = {.file = graph_file, .fuse = true};
  CHECK(failure_of([&] { dmlop::Program none(source); }).what() ==
        std::string("fuse applies only to ONNX models"));
}

TEST_CASE("public programs: fusing makes no operator that the feature level lacks") {
  using namespace onnx_bytes;
  const auto count_of_nodes = [](const Parts& parts, const std::string& level) {
    const dmlop::Operation source{
        .text = model(parts), .file = "m.onnx", .feature_level = level, .fuse = true};
    return dmlop::Program(source).nodes().size();
  };
  const auto number = [](const std::string& name, float value) {
    return tensor(name, 1, {}, raw_floats({value}));
  };
  const Parts swish{.nodes = {node("Sigmoid", {"x"}, {"s"}), node("Mul", {"x", "s"}, {"y"})},
                    .inputs = {value("x", {"2"})},
                    .outputs = {value("y", {})}};
  CHECK(count_of_nodes(swish, "") == 1);
  CHECK(count_of_nodes(swish, "6_2") == 1);
  CHECK(count_of_nodes(swish, "6_1") == 2);
  const Parts gelu{
      .nodes = {node("Div", {"x", "root"}, {"a"}), node("Erf", {"a"}, {"e"}),
                node("Add", {"e", "one"}, {"g"}), node("Mul", {"x", "g"}, {"p"}),
                node("Mul", {"p", "half"}, {"y"})},
      .initializers = {number("root", 1.41421356F), number("one", 1), number("half", 0.5F)},
      .inputs = {value("x", {"2"})},
      .outputs = {value("y", {})}};
  CHECK(count_of_nodes(gelu, "5_0") == 5);
  CHECK(count_of_nodes(gelu, "5_1") == 1);
  const std::vector<std::string> last{integers("axes", {-1})};
  const Parts normalization{
      .nodes = {node("ReduceMean", {"x"}, {"m"}, last), node("Sub", {"x", "m"}, {"d"}),
                node("Mul", {"d", "d"}, {"q"}), node("ReduceMean", {"q"}, {"v"}, last),
                node("Add", {"v", "more"}, {"a"}), node("Sqrt", {"a"}, {"r"}),
                node("Div", {"d", "r"}, {"n"}), node("Mul", {"n", "w"}, {"p"}),
                node("Add", {"p", "w"}, {"y"})},
      .initializers = {number("more", 0.125F), tensor("w", 1, {2}, raw_floats({2, 3}))},
      .inputs = {value("x", {"3", "2"})},
      .outputs = {value("y", {})},
      .version = 12};
  CHECK(count_of_nodes(normalization, "6_2") == 9);
  CHECK(count_of_nodes(normalization, "6_3") == 1);
  const Parts sum{.nodes = {node("Add", {"x", "x"}, {"s"}), node("Relu", {"s"}, {"y"})},
                  .inputs = {value("x", {"2"})},
                  .outputs = {value("y", {})}};
  CHECK(count_of_nodes(sum, "1_0") == 2);
  CHECK(count_of_nodes(sum, "2_0") == 1);
}

// A serialized graph tells the sizes of its inputs by those that nodes read.
TEST_CASE("public programs: fusing leaves out copies, but not those of inputs") {
  using namespace onnx_bytes;
  const dmlop::Operation source{
      .text = model({.nodes = {node("Reshape", {"x", "sizes"}, {"f"}), node("Exp", {"f"}, {"e"}),
                               node("Reshape", {"e", "sizes"}, {"g"}), node("Neg", {"g"}, {"y"})},
                     .initializers = {tensor("sizes", 7, {2}, raw_integers({3, 2}))},
                     .inputs = {value("x", {"2", "3"})},
                     .outputs = {value("y", {})}}),
      .file = "m.onnx",
      .fuse = true};
  CHECK(dmlop::Program(source).nodes().size() == 3);
}

TEST_CASE("public programs: whoever runs one as an operation is told to load it") {
  for (const std::string& file :
       {graph_file, samples + "onnx/model.onnx", samples + "attention_block/model.json"}) {
    const dmlop::Operation operation{.file = file};
    const auto failures = {failure_of([&] { cpu().run(operation); }),
                           failure_of([&] { cpu().prepare(operation, {}); }),
                           failure_of([&] { dmlop::time(operation); })};
    for (const auto& failure : failures) {
      CHECK(failure.kind() == FailureKind::usage);
      CHECK(failure.what() == file +
                                  " is a graph or a model, and no op description: load it as a "
                                  "program (in Python dmlop.load), and run that");
    }
  }
}

TEST_CASE("public programs: strided inputs of programs, and those that do not fit") {
  const dmlop::Program program({.file = graph_file});
  const std::vector<float> image(32, 3);
  const auto outputs = cpu().run(program, {{"image", view(image, {1, 1, 4, 4}, {16, 16, 8, 2})}});
  CHECK(outputs[0].elements<float>()[0] == 4);
  const auto message = [&](const std::vector<dmlop::Input>& inputs) {
    return std::string(failure_of([&] { cpu().run(program, inputs); }).what());
  };
  CHECK(message({}) == graph_file +
                           ": error: the input \"image\" is not given\n  rule: it is FLOAT32 "
                           "[1, 1, 4, 4], 64 bytes\n  help: pass the input \"image\"");
  CHECK(message({{"imag", view(image, {32})}}).find("did you mean \"image\"?") !=
        std::string::npos);
  CHECK(message({{"image", view(image, {32})}}).find("has FLOAT32 [32], 128 bytes") !=
        std::string::npos);
  CHECK(message({{"image", view(image, {1, 1, 4, 4}, {99, 99, 99, 1})}}).find("needs") !=
        std::string::npos);
}

TEST_CASE("public programs: a check takes programs, and a program is no op description") {
  const auto result = dmlop::check({.file = graph_file});
  CHECK(result.findings.empty());
  REQUIRE(result.tensors.size() == 2);
  CHECK(result.tensors[0].name == "image");
  const auto wrong =
      dmlop::check({.text = R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [3]}],
                   "nodes": [{"name": "n", "type": "PADING", "bindings": {}, "desc": {}}]})"});
  CHECK(!wrong.findings.empty());
  CHECK(failure_of([] { dmlop::Program program(edge); }).kind() == FailureKind::usage);
  CHECK(failure_of([] { dmlop::Program program(dmlop::Operation{}); }).kind() ==
        FailureKind::usage);
  CHECK(failure_of([] { dmlop::Program program({.file = "/nonexistent.json"}); }).kind() ==
        FailureKind::io_failed);
}

TEST_CASE("public programs: tensors are compared as the program compares files") {
  const Folder folder;
  folder.write("three.npy", float_npy("(3,)", three));
  const auto same = dmlop::compare(view(three, {3}), std::filesystem::path(folder / "three.npy"));
  CHECK(same.passed);
  const std::vector<float> other{1, 2, 3.0000002F};
  const auto different = dmlop::compare(view(three, {3}), view(other, {3}));
  CHECK_FALSE(different.passed);
  CHECK(different.summary == "1 of 3 elements differs (33.3%)");
  CHECK(dmlop::compare(view(three, {3}), view(other, {3}), {.ulp = 1}).passed);
  CHECK(dmlop::compare(view(three, {3}), view(other, {3}), {.rtol = 1e-6}).passed);
  CHECK_FALSE(dmlop::compare(view(three, {3}), view(three, {1, 3})).passed);
  CHECK(failure_of([&] {
          dmlop::compare(view(three, {3}), view(other, {3}), {.rtol = -1.0});
        }).kind() == FailureKind::usage);
  CHECK(failure_of([&] { dmlop::compare(sizes_only({3}), view(other, {3})); }).kind() ==
        FailureKind::usage);
  CHECK(*dmlop::criteria_of("GEMM", ElementType::float32).rtol > 0);
  CHECK(!dmlop::criteria_of("PADDING", ElementType::float32).rtol);
  CHECK(failure_of([] { dmlop::criteria_of("GEM", ElementType::float32); }).kind() ==
        FailureKind::usage);

  dmlop::write_npy(folder / "written.npy", view(three, {3}));
  CHECK(folder.read("written.npy") == folder.read("three.npy"));
}

TEST_CASE("public programs: what is known about an operator, and the version") {
  CHECK(dmlop::operator_json("padding").find("\"DML_PADDING_MODE\"") != std::string::npos);
  CHECK(dmlop::operator_json("DML_OPERATOR_GEMM").find("DML_OPERATOR_GEMM") != std::string::npos);
  CHECK(std::string(failure_of([] { dmlop::operator_json("PADING"); }).what()) ==
        "DirectML has no operator \"PADING\": did you mean \"PADDING\" or \"PADDING1\"?");
  CHECK(dmlop::version().find('.') != std::string::npos);
}

}  // namespace dmlop::test::public_programs_test
