// A job from OP.json to the written file: which files belong to which tensors, how they are read,
// and that nothing is written if anything is wrong.
#include "job/job.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <tuple>

#include "program.hpp"

namespace dmlop::test::job_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// EDGE padding of a vector: one element before, two after.
const std::string edge =
    R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})";

/// EDGE padding of nothing: the input itself, in C order and native bytes.
std::string copy_of(const std::string& input_desc, std::size_t dimensions) {
  Json zeros = Json::array();
  for (std::size_t i = 0; i < dimensions; ++i) zeros.push_back(0);
  return R"({"type": "PADDING", "desc": {"InputTensor": )" + input_desc +
         R"(, "PaddingMode": "EDGE", "StartPadding": )" + zeros.dump() + R"(, "EndPadding": )" +
         zeros.dump() + "}}";
}

/// Everything found against a run of op.json in `folder`, as text without the folder's path.
std::string findings(const Folder& folder, const std::vector<dmlop::NamedFile>& inputs,
                     const std::vector<dmlop::NamedFile>& outputs) {
  dmlop::Diagnostics diagnostics;
  const auto job = prepare_job({folder / "op.json", inputs, outputs, std::nullopt},
                               dmlop::Purpose::run, diagnostics);
  CHECK(job.has_value() == diagnostics.empty());
  std::string text;
  for (const auto& diagnostic : diagnostics) {
    text += (text.empty() ? "" : "\n") + to_text(diagnostic);
  }
  const std::string prefix = folder.path() + "/";
  for (std::size_t at; (at = text.find(prefix)) != std::string::npos;)
    text.erase(at, prefix.size());
  return text;
}

/// Runs op.json of `folder` there; the output's bytes, or "" with a failed check.
std::string run_in(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"run", "op.json", "--cpu", "-o", "out.npy"});
  const auto result = dmlop_program(arguments, {.folder = folder.path()});
  CHECK(result.error == "");
  CHECK(result.code == 0);
  return result.code == 0 ? folder.read("out.npy") : "";
}

const std::vector<float> six{1, 2, 3, 4, 5, 6};

}  // namespace

TEST_CASE("bindings are relative to the description, options to the working folder") {
  const Folder folder;
  folder.write("deep/x.npy", float_npy("(3,)", {1, 2, 3}));
  Json description = Json::parse(edge);
  description["bindings"] = {{"InputTensor", "x.npy"}, {"OutputTensor", "y.npy"}};
  folder.write("deep/op.json", description.dump());
  const auto bound = dmlop_program({"run", "deep/op.json", "--cpu"}, {.folder = folder.path()});
  CHECK(bound.code == 0);
  CHECK(folder.read("deep/y.npy") == float_npy("(6,)", {1, 1, 2, 3, 3, 3}));

  folder.write("x.npy", float_npy("(2,)", {8, 9}));
  const auto named =
      dmlop_program({"run", "deep/op.json", "--cpu", "-i", "x.npy", "-o", "OutputTensor=z.npy"},
                    {.folder = folder.path()});
  CHECK(named.code == 0);
  CHECK(folder.read("z.npy") == float_npy("(5,)", {8, 8, 9, 9, 9}));
}

TEST_CASE("Fortran order and big-endian bytes are read as the tensor they hold") {
  // clang-format off
  const std::vector<float> columns{1, 4,
                                   2, 5,
                                   3, 6};
  // clang-format on
  const Folder folder;
  folder.write("op.json", copy_of("{}", 2));
  const std::string expected = float_npy("(2, 3)", six);
  folder.write("x.npy", npy("<f4", "(2, 3)", bytes_of(columns), true));
  CHECK(run_in(folder, {"-i", "x.npy"}) == expected);
  folder.write("x.npy", npy(">f4", "(2, 3)", bytes_of(six, true)));
  CHECK(run_in(folder, {"-i", "x.npy"}) == expected);
  folder.write("x.npy", npy(">f4", "(2, 3)", bytes_of(columns, true), true));
  CHECK(run_in(folder, {"-i", "x.npy"}) == expected);
  const std::vector<std::int64_t> wide{-1, 2, 1LL << 40, -3, 4, 5};
  folder.write("x.npy", npy(">i8", "(2, 3)", bytes_of(wide, true)));
  CHECK(run_in(folder, {"-i", "x.npy"}) == npy("<i8", "(2, 3)", bytes_of(wide)));
}

TEST_CASE("with Strides a file is a plain buffer of elements, of any shape") {
  const std::vector<std::tuple<std::string, std::string, std::vector<float>>> views{
      {"[2, 3]", "[3, 1]", {1, 2, 3, 4, 5, 6}}, {"[3, 2]", "[1, 3]", {1, 4, 2, 5, 3, 6}},
      {"[2, 3]", "[0, 1]", {1, 2, 3, 1, 2, 3}}, {"[2, 2]", "[4, 1]", {1, 2, 5, 6}},
      {"[2, 2]", "[0, 0]", {1, 1, 1, 1}},
  };
  for (const auto& [sizes, strides, expected] : views) {
    const std::string desc =
        R"({"DataType": "FLOAT32", "Sizes": )" + sizes + R"(, "Strides": )" + strides + "}";
    CAPTURE(desc);
    const std::string shape = "(" + sizes.substr(1, 4) + ")";
    const Folder folder;
    folder.write("op.json", copy_of(desc, 2));
    for (const char* buffer : {"(6,)", "(3, 2)", "(1, 6, 1)"}) {
      folder.write("x.npy", float_npy(buffer, six));
      CHECK(run_in(folder, {"-i", "x.npy"}) == float_npy(shape, expected));
    }
    // Elements in file order: Fortran order does not matter.
    folder.write("x.npy", npy("<f4", "(2, 3)", bytes_of(six), true));
    CHECK(run_in(folder, {"-i", "x.npy"}) == float_npy(shape, expected));
  }
}

TEST_CASE("what a desc says must agree with its file") {
  const Folder folder;
  folder.write("x.npy", float_npy("(2, 3)", six));
  const auto against = [&](const std::string& desc, std::size_t dimensions = 2) {
    folder.write("op.json", copy_of(desc, dimensions));
    return findings(folder, {{"", folder / "x.npy"}}, {{"", folder / "y.npy"}});
  };
  CHECK(against("{}") == "");
  CHECK(against(R"({"DataType": "FLOAT32", "Sizes": [2, 3]})") == "");
  CHECK(against(R"({"DataType": "INT32"})") ==
        "op.json:1:58: error: InputTensor.DataType is INT32, but x.npy has FLOAT32\n"
        "  rule: a tensor desc must agree with its .npy file\n"
        "  help: write \"FLOAT32\", or save array.astype(numpy.int32)");
  CHECK(against(R"({"Sizes": [3, 2]})") ==
        "op.json:1:55: error: InputTensor.Sizes is [3, 2], but x.npy has [2, 3]\n"
        "  rule: a tensor desc must agree with its .npy file\n"
        "  help: write [2, 3], or save array.transpose(1, 0)");
  CHECK(against(R"({"Sizes": [6]})", 1) ==
        "op.json:1:55: error: InputTensor.Sizes is [6], but x.npy has [2, 3]\n"
        "  rule: a tensor desc must agree with its .npy file\n"
        "  help: write [2, 3], or save array.reshape(6)");
  CHECK(against(R"({"Sizes": [2, 3], "Strides": [4, 1]})") ==
        "op.json:1:74: error: InputTensor.Strides reach 7 elements, but x.npy has 6\n"
        "  rule: (sum of (size - 1) * stride) + 1 elements must be in the file\n"
        "  help: make the Strides or Sizes smaller, or bind a larger file");
  CHECK(against(R"({"Strides": [3, 1]})") ==
        "op.json:1:57: error: InputTensor has Strides but no Sizes\n"
        "  rule: with Strides a .npy file is a plain buffer, whose shape says nothing\n"
        "  help: write the Sizes, or leave Strides out");
}

TEST_CASE("one mistake in naming files is one finding") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", float_npy("(3,)", {1, 2, 3}));
  const std::string x = folder / "x.npy", y = folder / "y.npy";
  CHECK(findings(folder, {{"", x}}, {{"", y}}) == "");
  CHECK(findings(folder, {}, {{"", y}}) ==
        "op.json: error: no file is given for InputTensor\n"
        "  help: add -i FILE.npy, or \"bindings\": {\"InputTensor\": \"FILE.npy\"} to the "
        "description");
  CHECK(findings(folder, {{"", x}}, {}) ==
        "op.json: error: no file is given for OutputTensor\n"
        "  help: add -o FILE.npy, or \"bindings\": {\"OutputTensor\": \"FILE.npy\"} to the "
        "description");
  CHECK(findings(folder, {{"InptTensor", x}}, {{"", y}}) ==
        "op.json: error: DML_OPERATOR_PADDING has no input \"InptTensor\"\n"
        "  help: did you mean \"InputTensor\"?");
  CHECK(findings(folder, {{"", x}}, {{"InputTensor", y}, {"", y}}) ==
        "op.json: error: InputTensor is an input\n"
        "  help: name its file with -i");
  CHECK(findings(folder, {{"", x}, {"InputTensor", y}}, {{"", y}}) ==
        "op.json: error: InputTensor is given two files: x.npy and y.npy\n"
        "  help: keep one of them");
  CHECK(findings(folder, {{"", folder / "none.npy"}, {"", x}}, {{"", y}}) ==
        "op.json: error: InputTensor is given two files: none.npy and x.npy\n"
        "  help: keep one of them");
  CHECK(findings(folder, {{"", folder / "none.npy"}}, {{"", y}}) ==
        "error: reading InputTensor from none.npy: No such file or directory");
  CHECK(findings(folder, {{"", folder / "op.json"}}, {{"", y}})
            .starts_with("error: reading InputTensor from op.json: the file is JSON"));
}

TEST_CASE("files of an operator with two inputs must be named") {
  const Folder folder;
  folder.write("op.json", R"({"type": "REVERSE_SUBSEQUENCES", "desc": {"Axis": 1}})");
  folder.write("x.npy", float_npy("(2, 3)", six));
  folder.write("n.npy", npy("<u4", "(2, 1)", bytes_of<std::uint32_t>({2, 3})));
  const std::string x = folder / "x.npy", n = folder / "n.npy", y = folder / "y.npy";
  CHECK(findings(folder, {{"", x}}, {{"", y}}) ==
        "op.json: error: which tensor is x.npy? DML_OPERATOR_REVERSE_SUBSEQUENCES has InputTensor, "
        "SequenceLengthsTensor\n"
        "  help: write -i InputTensor=x.npy");
  CHECK(findings(folder, {{"InputTensor", x}}, {{"", y}}) ==
        "op.json: error: no file is given for SequenceLengthsTensor\n"
        "  help: add -i SequenceLengthsTensor=FILE.npy, or \"bindings\": "
        "{\"SequenceLengthsTensor\": \"FILE.npy\"} to the description");
  CHECK(findings(folder, {{"InputTensor", x}, {"SequenceLengthsTensor", n}}, {{"", y}}) == "");
  CHECK(run_in(folder, {"-i", "InputTensor=x.npy", "-i", "SequenceLengthsTensor=n.npy"}) ==
        float_npy("(2, 3)", {2, 1, 3, 6, 5, 4}));
}

TEST_CASE("an output that is an input, or the description, is refused and left alone") {
  const Folder folder;
  folder.write("op.json", edge);
  const std::string input = float_npy("(3,)", {1, 2, 3});
  folder.write("x.npy", input);
  fs::create_symlink("x.npy", folder / "symlink.npy");
  fs::create_hard_link(folder / "x.npy", folder / "hardlink.npy");
  fs::create_directory_symlink(".", folder / "here");
  for (const char* name : {"x.npy", "./x.npy", "symlink.npy", "hardlink.npy", "here/x.npy"}) {
    const auto result = dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", name},
                                      {.folder = folder.path()});
    CHECK(result.code == 2);
    CHECK(result.error == "op.json: error: OutputTensor would replace the file of InputTensor: " +
                              std::string(name) + "\n  help: write the output to another file\n");
  }
  const auto description = dmlop_program(
      {"run", "op.json", "--cpu", "-i", "x.npy", "-o", "op.json"}, {.folder = folder.path()});
  CHECK(description.error ==
        "op.json: error: OutputTensor would replace the description: op.json\n"
        "  help: write the output to another file\n");
  CHECK(folder.read("x.npy") == input);
  CHECK(folder.read("op.json") == edge);

  Json bound = Json::parse(edge);
  bound["bindings"] = {{"InputTensor", "x.npy"}, {"OutputTensor", "symlink.npy"}};
  folder.write("op.json", bound.dump());
  CHECK(findings(folder, {}, {}) ==
        "op.json:1:134: error: OutputTensor would replace the file of InputTensor: symlink.npy\n"
        "  help: write the output to another file");
}

TEST_CASE("nothing is written where anything is wrong") {
  const std::vector<std::string> wrong{
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1, 1], "EndPadding": [2]}})",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [-1], "EndPadding": [2]}})",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDG", "StartPadding": [1], "EndPadding": [2]}})",
      R"({"type": "ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}}})",
      R"({"type": "PADDING", "desc": )",
  };
  for (const std::string& text : wrong) {
    const Folder folder;
    folder.write("op.json", text);
    folder.write("x.npy", float_npy("(3,)", {1, 2, 3}));
    folder.write("old.npy", "what was there before");
    for (const char* name : {"old.npy", "new.npy"}) {
      const auto result = dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", name},
                                        {.folder = folder.path()});
      CHECK(result.code >= 3);
      CHECK(result.code <= 4);
      CHECK(result.output == "");
    }
    CHECK(folder.list() == "old.npy op.json x.npy");
    CHECK(folder.read("old.npy") == "what was there before");
  }
}

TEST_CASE("the result does not depend on the number of threads") {
  const Folder folder;
  std::vector<float> numbers(8 * 200 * 200);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 977) / 7;
  folder.write("x.npy", float_npy("(1, 8, 200, 200)", numbers));
  const std::vector<std::string> descriptions{
      R"({"type": "PADDING", "desc": {"PaddingMode": "REFLECTION", "StartPadding": [0, 2, 50, 7], "EndPadding": [0, 0, 30, 9]}})",
      R"({"type": "LP_POOLING", "desc": {"Strides": [1, 1], "WindowSize": [2, 3], "StartPadding": [1, 1], "EndPadding": [0, 1], "P": 3}})",
  };
  for (const std::string& text : descriptions) {
    folder.write("op.json", text);
    const std::string one = run_in(folder, {"-i", "x.npy", "--threads", "1"});
    REQUIRE(one.size() > 100'000);
    for (const char* threads : {"2", "3", "64"}) {
      CHECK((run_in(folder, {"-i", "x.npy", "--threads", threads}) == one));
    }
    CHECK((run_in(folder, {"-i", "x.npy"}) == one));
  }
}

TEST_CASE("what is left out is inferred") {
  const Folder folder;
  folder.write("x.npy", float_npy("(2, 3)", six));
  folder.write(
      "op.json",
      R"({"type": "PADDING", "StartPadding": [0, 1], "EndPadding": [1, 0], "PaddingMode": "WRAP"})");
  CHECK(run_in(folder, {"-i", "x.npy"}) ==
        float_npy("(3, 4)", {3, 1, 2, 3, 6, 4, 5, 6, 3, 1, 2, 3}));
  // SLICE1 at its maximum: 1 + (3 - 1) / 2 columns.
  folder.write(
      "op.json",
      R"({"type": "SLICE1", "desc": {"InputWindowOffsets": [0, 0], "InputWindowSizes": [2, 3], "InputWindowStrides": [1, -2]}})");
  CHECK(run_in(folder, {"-i", "x.npy"}) == float_npy("(2, 2)", {3, 1, 6, 4}));
  // An output that is given may be smaller.
  folder.write(
      "op.json",
      R"({"type": "SLICE1", "desc": {"OutputTensor": {"Sizes": [1, 2]}, "InputWindowOffsets": [0, 0], "InputWindowSizes": [2, 3], "InputWindowStrides": [1, -2]}})");
  CHECK(run_in(folder, {"-i", "x.npy"}) == float_npy("(1, 2)", {3, 1}));
}

}  // namespace dmlop::test::job_test
