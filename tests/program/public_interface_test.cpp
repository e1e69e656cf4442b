// The public interface: the same program could be outside the project (tests/package is). What is
// found, computed and refused there is what the program does, with buffers in memory beside files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <dmlop/dmlop.hpp>
#include <string>
#include <vector>

#include "folder.hpp"
#include "paths.hpp"
#include "public_failure.hpp"

namespace dmlop::test::public_interface_test {
namespace {

using dmlop::ElementType;
using dmlop::FailureKind;
using dmlop::view;

const std::string samples = source_path("samples/");

/// EDGE padding of a vector: one element before, two after.
const dmlop::Operation edge{
    .text =
        R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})"};

/// EDGE padding of nothing, of two dimensions: the input itself, packed.
dmlop::Operation copy_of(const std::string& input_desc = "{}") {
  return {.text = R"({"type": "PADDING", "desc": {"InputTensor": )" + input_desc +
                  R"(, "PaddingMode": "EDGE", "StartPadding": [0, 0], "EndPadding": [0, 0]}})"};
}

const std::vector<float> six{1, 2, 3, 4, 5, 6};

dmlop::Runner& cpu() {
  static dmlop::Runner runner({.device = "cpu"});
  return runner;
}

/// The texts of what check() finds, one after the other.
std::string findings(const dmlop::Operation& operation, const std::vector<dmlop::Input>& inputs) {
  std::string text;
  for (const dmlop::Finding& finding : dmlop::check(operation, inputs).findings)
    text += (text.empty() ? "" : "\n") + finding.text;
  return text;
}

template <typename Number>
std::vector<Number> numbers(const dmlop::Tensor& tensor) {
  const auto elements = tensor.elements<Number>();
  return {elements.begin(), elements.end()};
}

/// The outputs of the operation on these inputs, by name, and the only one's elements.
std::vector<float> only_output(const dmlop::Operation& operation,
                               const std::vector<dmlop::Input>& inputs) {
  const auto outputs = cpu().run(operation, inputs);
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].name == "OutputTensor");
  CHECK(outputs[0].type == ElementType::float32);
  return numbers<float>(outputs[0]);
}

}  // namespace

TEST_CASE("public interface: a check finds what the program finds, and where") {
  const dmlop::Operation bad{.text = R"({
  "type": "PADDING",
  "desc": {
    "InputTensor": {"DataType": "UINT8", "Sizes": [1, 1, 4, 4]},
    "OutputTensor": {"DataType": "UINT8", "Sizes": [1, 1, 8, 11]},
    "PaddingMode": "CONSTANT",
    "PaddingValue": 300,
    "StartPadding": [0, 0, 1, 2], "EndPadding": [0, 0, 3, 4]
  }
})",
                             .file = "pad.json"};
  const auto result = dmlop::check(bad);
  REQUIRE(result.findings.size() == 2);
  const dmlop::Finding& size = result.findings[0];
  CHECK(size.kind == FailureKind::invalid_input);
  CHECK(size.file == "pad.json");
  CHECK(size.line == 5);
  CHECK(size.column == 62);
  CHECK(size.pointer == "/desc/OutputTensor/Sizes/3");
  CHECK(size.message == "OutputTensor.Sizes[3] is 11, must be 10");
  CHECK(size.help == "write 10");
  CHECK(size.text.starts_with("pad.json:5:62: error: OutputTensor.Sizes[3] is 11, must be 10\n"));
  CHECK(result.findings[1].message == "PaddingValue is 300, which does not fit UINT8");
  CHECK(result.tensors.empty());

  const auto failure = failure_of([&] { cpu().run(bad); });
  CHECK(failure.kind() == FailureKind::invalid_input);
  CHECK(failure.findings().size() == 3);  // nothing is given for InputTensor, either
  CHECK(std::string(failure.what()).find(size.text) != std::string::npos);
}

TEST_CASE("public interface: a check tells what the tensors are") {
  const auto result = dmlop::check(edge, {{"InputTensor", view(six, {6})}});
  CHECK(result.findings.empty());
  REQUIRE(result.tensors.size() == 2);
  CHECK(result.tensors[1].name == "OutputTensor");
  CHECK(result.tensors[1].type == ElementType::float32);
  CHECK(result.tensors[1].sizes == std::vector<std::uint64_t>{9});
}

TEST_CASE(
    "public interface: a check warns of what the operator's page allows and DirectML does not") {
  const auto result = dmlop::check({.text = R"({"type": "CUMULATIVE_SUMMATION", "desc": {
    "InputTensor": {"DataType": "INT64", "Sizes": [1, 1, 1, 1, 1, 2]}, "Axis": 5,
    "AxisDirection": "INCREASING", "HasExclusiveSum": false}})"});
  CHECK(result.findings.empty());
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0].text.find(
            "warning: InputTensor.DimensionCount is 6, must be at most 4") != std::string::npos);
}

TEST_CASE("public interface: buffers in memory give what files give") {
  const Folder folder;
  for (const std::string name : {"padding", "lp_pooling", "reverse_subsequences", "slice1"}) {
    CAPTURE(name);
    const std::string path = samples + name + "/";
    const dmlop::Operation operation{.file = path + "op.json"};
    // Whatever the description binds; then the outputs' bytes behind a .npy header.
    const auto from_files = cpu().run(operation);
    REQUIRE(from_files.size() == 1);
    const std::string golden = read_file(path + "expected/OutputTensor.npy");
    REQUIRE(golden.size() > from_files[0].bytes.size());
    const std::string tail = golden.substr(golden.size() - from_files[0].bytes.size());
    CHECK(std::memcmp(tail.data(), from_files[0].bytes.data(), tail.size()) == 0);

    std::vector<dmlop::Input> inputs;
    std::vector<std::vector<std::byte>> buffers;
    buffers.reserve(8);
    for (const dmlop::TensorInfo& tensor : dmlop::check(operation).tensors) {
      if (tensor.name == "OutputTensor") continue;
      const std::string file = read_file(path + tensor.name + ".npy");
      std::uint64_t bytes = dmlop::size_of(tensor.type);
      for (const std::uint64_t size : tensor.sizes) bytes *= size;
      // One byte off, so that the elements are not aligned.
      buffers.emplace_back(bytes + 1);
      std::memcpy(buffers.back().data() + 1, file.data() + file.size() - bytes, bytes);
      inputs.push_back({tensor.name, dmlop::TensorView{tensor.type, tensor.sizes,
                                                       std::span(buffers.back()).subspan(1)}});
    }
    REQUIRE(!inputs.empty());
    CHECK(cpu().run(operation, inputs)[0].bytes == from_files[0].bytes);
    const auto written =
        cpu().run_to_files(operation, inputs, {{"OutputTensor", folder / (name + ".npy")}});
    REQUIRE(written.size() == 1);
    CHECK(written[0].sizes == from_files[0].sizes);
    CHECK(folder.read(name + ".npy") == golden);
  }
}

TEST_CASE("public interface: strict indices are a failure with a finding") {
  const dmlop::Operation pick{
      .text = R"({"type": "GATHER", "desc": {"Axis": 0, "IndexDimensions": 1}})"};
  const std::vector<std::uint32_t> indices{0, 6};
  const std::vector<dmlop::Input> inputs{{"InputTensor", view(six, {6})},
                                         {"IndicesTensor", view(indices, {2})}};
  CHECK(only_output(pick, inputs) == std::vector<float>{1, 6});
  dmlop::Runner strict({.device = "cpu", .strict_indices = true});
  const auto failure = failure_of([&] { strict.run(pick, inputs); });
  CHECK(failure.kind() == FailureKind::invalid_input);
  REQUIRE(failure.findings().size() == 1);
  CHECK(failure.findings()[0].message ==
        "1 of 2 indices in IndicesTensor is out of range: [1] is 6");
}

TEST_CASE("public interface: every type of C++ number") {
  const auto check_number = [](auto zero, ElementType type, const std::string& name) {
    using Number = decltype(zero);
    CAPTURE(name);
    const std::vector<Number> two{1, 2};
    const std::vector<dmlop::Tensor> outputs = cpu().run(edge, {{"InputTensor", view(two, {2})}});
    CHECK(outputs[0].type == type);
    CHECK(dmlop::name_of(type) == name);
    CHECK(dmlop::size_of(type) == sizeof(Number));
    CHECK(numbers<Number>(outputs[0]) == std::vector<Number>{1, 1, 2, 2, 2});
    using Other = std::conditional_t<(sizeof zero == 1), float, char>;
    CHECK_THROWS_AS(outputs[0].template elements<Other>(), std::invalid_argument);
  };
  check_number(0.0F, ElementType::float32, "FLOAT32");
  check_number(0.0, ElementType::float64, "FLOAT64");
  check_number(std::int8_t{}, ElementType::int8, "INT8");
  check_number(std::int16_t{}, ElementType::int16, "INT16");
  check_number(std::int32_t{}, ElementType::int32, "INT32");
  check_number(std::int64_t{}, ElementType::int64, "INT64");
  check_number(std::uint8_t{}, ElementType::uint8, "UINT8");
  check_number(std::uint16_t{}, ElementType::uint16, "UINT16");
  check_number(std::uint32_t{}, ElementType::uint32, "UINT32");
  check_number(std::uint64_t{}, ElementType::uint64, "UINT64");
}

TEST_CASE("public interface: strided views, given by the view or by the description") {
  const auto read = [](const std::vector<float>& buffer, std::vector<std::uint64_t> sizes,
                       std::vector<std::uint64_t> strides, const std::string& desc = "{}") {
    return only_output(copy_of(desc),
                       {{"InputTensor", view(buffer, std::move(sizes), std::move(strides))}});
  };
  const std::vector<float> columns{1, 4, 2, 5, 3, 6};
  CHECK(read(six, {2, 3}, {3, 1}) == six);
  CHECK(read(six, {3, 2}, {1, 3}) == columns);
  CHECK(read(six, {2, 2}, {4, 1}) == std::vector<float>{1, 2, 5, 6});
  CHECK(read(six, {2, 2}, {0, 0}) == std::vector<float>{1, 1, 1, 1});
  // What the description says of the buffer, whose own shape then says nothing.
  const std::string transposed = R"({"DataType": "FLOAT32", "Sizes": [3, 2], "Strides": [1, 3]})";
  CHECK(read(six, {6}, {}, transposed) == columns);
  CHECK(read(six, {3, 2}, {1, 3}, transposed) == columns);
  CHECK(findings(copy_of(transposed), {{"InputTensor", view(six, {3, 2}, {2, 1})}}) ==
        "1:97: error: InputTensor.Strides is [1, 3], but its buffer has [2, 1]\n"
        "  rule: a tensor desc must agree with its buffer\n"
        "  help: write [2, 1], or pass a buffer with these strides");
}

TEST_CASE("public interface: a view that does not fit its buffer is refused before it is read") {
  const auto refusal = [](const dmlop::TensorView& tensor) {
    return findings(copy_of(), {{"InputTensor", tensor}});
  };
  const auto too_few = [](const std::string& what) {
    return "error: reading InputTensor from its buffer: it has " + what +
           ": give other sizes or another buffer";
  };
  CHECK(refusal(view(six, {2, 4})) ==
        too_few("24 bytes, but FLOAT32 [2, 4] needs 8 elements of 4 bytes"));
  CHECK(refusal(view(six, {2, 2})) ==
        too_few("24 bytes, but FLOAT32 [2, 2] needs 4 elements of 4 bytes"));
  CHECK(refusal(view(six, {2, 2}, {5, 1})) ==
        too_few("24 bytes, but FLOAT32 [2, 2] with strides [5, 1] needs 7 elements of 4 bytes"));
  const std::uint64_t huge = std::uint64_t{1} << 63;
  CHECK(refusal(view(six, {huge, 2})) ==
        too_few("24 bytes, but FLOAT32 [9223372036854775808, 2] needs more than memory can have"));
  CHECK(refusal(view(six, {2, 3}, {1})) ==
        "error: reading InputTensor from its buffer: it has 2 sizes and 1 stride: give a stride "
        "for each size, or none");
  CHECK(findings(copy_of(R"({"Sizes": [3, 2]})"), {{"InputTensor", view(six, {2, 3})}}) ==
        "1:55: error: InputTensor.Sizes is [3, 2], but its buffer has [2, 3]\n"
        "  rule: a tensor desc must agree with its buffer\n"
        "  help: write [2, 3], or pass a buffer of these sizes");
  CHECK(findings(copy_of(R"({"DataType": "INT32"})"), {{"InputTensor", view(six, {2, 3})}}) ==
        "1:58: error: InputTensor.DataType is INT32, but its buffer has FLOAT32\n"
        "  rule: a tensor desc must agree with its buffer\n"
        "  help: write \"FLOAT32\", or pass a buffer of this type");
  CHECK_THROWS_AS(dmlop::check(copy_of(), {{"InputTensor", dmlop::TensorView{ElementType{14}}}}),
                  std::invalid_argument);
}

TEST_CASE("public interface: inputs that are missing, unknown or no inputs") {
  const auto missing = failure_of([] { cpu().run(edge); });
  CHECK(missing.kind() == FailureKind::usage);
  CHECK(std::string(missing.what()) ==
        "error: no file is given for InputTensor\n  help: pass the input InputTensor");
  const auto unknown = failure_of([] { cpu().run(edge, {{"Inputs", view(six, {6})}}); });
  CHECK(std::string(unknown.what()).find("DML_OPERATOR_PADDING has no input \"Inputs\"") !=
        std::string::npos);
  const auto output = failure_of([] {
    cpu().run(edge, {{"InputTensor", view(six, {6})}, {"OutputTensor", view(six, {6})}});
  });
  CHECK(std::string(output.what()) ==
        "error: OutputTensor is an output\n  help: pass it as an output");
  const auto target = failure_of([] {
    cpu().run_to_files(edge, {{"InputTensor", view(six, {6})}}, {{"Output", "/dev/null"}});
  });
  CHECK(std::string(target.what()).find("has no output \"Output\"") != std::string::npos);
  const auto nowhere = failure_of([] {
    cpu().run_to_files(edge, {{"InputTensor", view(six, {6})}}, {});
  });
  CHECK(std::string(nowhere.what()) ==
        "error: no file is given for OutputTensor\n  help: pass a target for OutputTensor");
  const auto no_file = failure_of([] { cpu().run(edge, {{"InputTensor", "/nonexistent.npy"}}); });
  CHECK(no_file.kind() == FailureKind::io_failed);
  CHECK(no_file.findings().size() == 1);
}

TEST_CASE("public interface: what cannot be checked or opened at all") {
  CHECK(failure_of([] { dmlop::check({}); }).kind() == FailureKind::usage);
  CHECK(failure_of([] { dmlop::check({.file = "/nonexistent.json"}); }).kind() ==
        FailureKind::io_failed);
  dmlop::Operation operation = edge;
  operation.feature_level = "9_9";
  CHECK(std::string(failure_of([&] { dmlop::check(operation); }).what()) ==
        "DirectML has no feature level \"9_9\": write one from 1_0 to 6_4");
  CHECK(failure_of([] { dmlop::Runner({.device = "toaster"}); }).kind() == FailureKind::usage);
  const auto nonsense = dmlop::check({.text = "{"});
  CHECK(nonsense.findings.size() == 1);
  const auto unknown = dmlop::check({.text = R"({"type": "PADING", "desc": {}})"});
  REQUIRE(unknown.findings.size() == 1);
  CHECK(unknown.findings[0].help.find("PADDING") != std::string::npos);
}

TEST_CASE("public interface: the operation's judge is asked before the description's") {
  const std::string desc =
      R"("desc": {"InputTensor": {"DataType": "FLOAT64", "Sizes": [2]}, "Repeats": [2]}})";
  const std::string plain = R"({"type": "TILE", )" + desc;
  const std::string judged = R"({"type": "TILE", "as": "directml-1.15.4", )" + desc;
  CHECK(dmlop::check({.text = plain}).findings.size() == 1);
  const auto accepted = dmlop::check({.text = plain, .as = "directml-1.15.4"});
  CHECK(accepted.findings.empty());
  REQUIRE_FALSE(accepted.warnings.empty());
  CHECK(accepted.warnings[0].note.starts_with("The operator's page does not allow this."));
  CHECK(dmlop::check({.text = judged}).findings.empty());
  CHECK(dmlop::check({.text = judged, .as = "page"}).findings.size() == 1);
  CHECK(std::string(failure_of([&] { dmlop::check({.text = plain, .as = "me"}); }).what()) ==
        "nobody called \"me\" decides what is valid: write one of page, directml-1.15.4");
}

TEST_CASE("public interface: optional inputs may be left out, of operators that only are checked") {
  const auto gemm = [](const std::string& c) {
    return dmlop::Operation{.text =
                                R"({"type": "GEMM", "desc": {)" + c +
                                R"("TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1}})"};
  };
  const std::vector<float> ones(4, 1);
  const std::vector<dmlop::Input> two{{"ATensor", view(ones, {1, 1, 2, 2})},
                                      {"BTensor", view(ones, {1, 1, 2, 2})}};
  const auto without = dmlop::check(gemm(""), two);
  CHECK(without.findings.empty());
  CHECK(without.tensors.size() == 3);
  std::vector<dmlop::Input> three = two;
  three.push_back({"CTensor", view(ones, {1, 1, 2, 2})});
  const auto with = dmlop::check(gemm(""), three);
  CHECK(with.findings.empty());
  CHECK(with.tensors.size() == 4);
}

TEST_CASE("public interface: elements of an array of inputs are named by number") {
  const dmlop::Operation join{.text = R"({"type": "JOIN", "desc": {"Axis": 3}})"};
  const std::vector<float> ones(4, 1);
  const auto result = dmlop::check(join, {{"InputTensors[0]", view(ones, {1, 1, 2, 2})},
                                          {"InputTensors[1]", view(ones, {1, 1, 2, 2})}});
  for (const auto& finding : result.findings) MESSAGE(finding.text);
  REQUIRE(result.tensors.size() == 3);
  CHECK(result.tensors[1].name == "InputTensors[1]");
  CHECK(result.tensors[2].sizes == std::vector<std::uint64_t>{1, 1, 2, 4});
}

TEST_CASE("public interface: paths in the JSON stay in the folder that confines them") {
  const Folder folder;
  folder.write("inside/op.json",
               R"({"type": "PADDING", "bindings": {"InputTensor": "../x.npy"}, "desc":
                   {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})");
  folder.write("x.npy", float_npy("(6,)", six));
  dmlop::Operation operation{.file = folder / "inside/op.json"};
  CHECK(findings(operation, {}) == "");
  operation.confined_to = folder / "inside";
  const auto result = dmlop::check(operation);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].message ==
        "bindings.InputTensor is the string \"../x.npy\", which has a part \"..\"");
}

TEST_CASE("public interface: a run in memory writes no file that the JSON names") {
  const Folder folder;
  folder.write("op.json",
               R"({"type": "PADDING", "bindings": {"OutputTensor": "y.npy"}, "desc":
                   {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})");
  const dmlop::Operation operation{.file = folder / "op.json"};
  const std::vector<dmlop::Input> inputs{{"InputTensor", view(six, {6})}};
  CHECK(only_output(operation, inputs).size() == 9);
  CHECK(!std::filesystem::exists(folder / "y.npy"));
  cpu().run_to_files(operation, inputs, {});
  CHECK(std::filesystem::exists(folder / "y.npy"));
}

TEST_CASE("public interface: all operators are listed, and where they run") {
  const auto list = dmlop::operators();
  CHECK(list.size() == 177);
  const auto named = [&](const std::string& name) {
    const auto found = std::ranges::find(list, name, &dmlop::OperatorInfo::name);
    REQUIRE(found != list.end());
    return *found;
  };
  const auto padding = named("PADDING");
  CHECK(padding.family == "data_movement");
  CHECK(padding.feature_level == "1_0");
  REQUIRE(padding.runs_on.size() == 2);
  CHECK(padding.runs_on[0] == "cpu");
  CHECK(named("PADDING1").feature_level == "5_0");
  CHECK(named("MULTIHEAD_ATTENTION").runs_on == padding.runs_on);
}

TEST_CASE("public interface: the CPU is listed first, and every listed device can be opened") {
  const auto list = dmlop::devices();
  REQUIRE(!list.empty());
  CHECK(list[0].spec == "cpu");
  CHECK(list[0].kind == "cpu");
  for (const dmlop::DeviceInfo& device : list) {
    CAPTURE(device.spec);
    dmlop::Runner runner({.device = device.spec});
    CHECK(runner.device() == device.spec);
    const auto outputs = runner.run(edge, {{"InputTensor", view(six, {6})}});
    CHECK(numbers<float>(outputs.at(0)) == std::vector<float>{1, 1, 2, 3, 4, 5, 6, 6, 6});
  }
}

TEST_CASE("public interface: .npy files beside an op.json are its inputs") {
  const Folder folder;
  folder.write("op.json", edge.text);
  folder.write("InputTensor.npy", float_npy("(2,)", {8, 9}));
  CHECK(only_output({.file = folder / "op.json"}, {}) == std::vector<float>{8, 8, 9, 9, 9});
  // What is passed takes precedence, and a text has no folder.
  CHECK(only_output({.file = folder / "op.json"}, {{"InputTensor", view(six, {6})}}).size() == 9);
  CHECK_THROWS_AS(cpu().run({.text = edge.text, .file = folder / "op.json"}), dmlop::Failure);
}

TEST_CASE("public interface: an output that comes in many parts") {
  std::vector<std::uint32_t> many(std::size_t{1} << 22);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::uint32_t>(i);
  const auto outputs = cpu().run(copy_of(), {{"InputTensor", view(many, {1U << 11, 1U << 11})}});
  CHECK(std::ranges::equal(outputs.at(0).elements<std::uint32_t>(), many));
}

}  // namespace dmlop::test::public_interface_test
