// Options that say nothing about what a command reads are refused, all of them at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::unfit_options_test {
namespace {

const std::string samples = source_path("samples/");

// What commands read, by what messages call it.
const std::map<std::string, std::string> inputs{
    {"an op description", samples + "padding/op.json"},
    {"a DxDispatch model", samples + "dxdispatch/padding.json"},
    {"a graph", samples + "graph/graph.json"},
    {"an ONNX model", samples + "onnx/model.onnx"},
    {"an ONNX test", samples + "onnx"},
    {"C++", samples + "cpp/padding.cpp"}};

// Options with a value, and all that they are for.
struct Row {
  std::string command;
  std::vector<std::string> option;
  std::vector<std::string> fits;
};

const std::vector<Row>& rows() {
  static const std::vector<std::string> op{"an op description"}, model{"a DxDispatch model"},
      graphs{"a graph", "an ONNX model"}, onnx{"an ONNX model", "an ONNX test"},
      with_inputs{"an op description", "a graph", "an ONNX model"},
      no_test{"an op description", "a DxDispatch model", "a graph", "an ONNX model"};
  static const std::vector<Row> all{
      {"run", {"-i", "x=none.npy"}, with_inputs},
      {"run", {"--random"}, with_inputs},
      {"run", {"-o", "y=none.npy"}, no_test},
      {"run", {"--expect", "y=none.npy"}, no_test},
      {"run", {"--against", "cpu"}, no_test},
      {"run", {"--broadcast"}, op},
      {"run", {"--expect", "y=none.npy", "--update-golden"}, op},
      {"run", {"--keep-edges", "edges"}, graphs},
      {"run", {"--expect-edges", "edges"}, graphs},
      {"run", {"--input-path", "."}, model},
      {"run", {"--output-path", "."}, model},
      {"run", {"--dxdispatch-compat"}, model},
      {"run", {"--dim", "batch=2"}, onnx},
      {"run", {"--fuse"}, onnx},
      {"check", {"-i", "x=none.npy"}, {"an op description", "an ONNX model"}},
      {"check", {"--broadcast"}, op},
      {"check", {"--input-path", "."}, model},
      {"check", {"--fuse"}, {"an ONNX model"}},
      {"bench", {"-i", "x=none.npy"}, with_inputs},
      {"bench", {"--input-path", "."}, model},
      {"bench", {"--dim", "batch=2"}, {"an ONNX model"}},
      {"inspect", {"--fuse"}, {"an ONNX model"}},
      {"convert", {"-i", "x=none.npy"}, with_inputs},
      {"convert", {"-o", "y=none.npy"}, op},
      {"convert", {"--node", "n"}, graphs},
      {"convert", {"--input-path", "."}, model},
      {"convert", {"--dim", "batch=2"}, {"an ONNX model"}},
      {"convert", {"--fuse"}, {"an ONNX model"}},
  };
  return all;
}

}  // namespace

TEST_CASE("unfit options: each is refused for what it says nothing about, and only there") {
  for (const Row& row : rows()) {
    for (const auto& [form, path] : inputs) {
      const bool is_of_run = row.command == "run", converts = row.command == "convert";
      if (form == "an ONNX test" && !is_of_run) continue;  // it is opened as its model
      if (form == "C++" && !converts) continue;
      if (row.command == "inspect" && form != "a graph" && form != "an ONNX model") continue;
      const Folder folder;
      std::vector<std::string> arguments{row.command};
      if (form == "C++") arguments.emplace_back("--from-cpp");
      arguments.push_back(path);
      if (converts) arguments.insert(arguments.end(), {"--to-op", "x.json"});
      if (is_of_run || row.command == "bench") arguments.emplace_back("--cpu");
      if (row.command == "bench") arguments.insert(arguments.end(), {"--min-time", "0"});
      arguments.insert(arguments.end(), row.option.begin(), row.option.end());
      if (form == "an ONNX model" && row.option.front() != "--dim")
        arguments.insert(arguments.end(), {"--dim", "batch=2"});  // which has no size in it
      const auto result = dmlop_program(arguments, {.folder = folder.path()});
      CAPTURE(arguments);
      CAPTURE(result.error);
      const std::string refusal = ", and this is " + form;
      const bool fits = std::find(row.fits.begin(), row.fits.end(), form) != row.fits.end();
      CHECK((result.error.find(refusal) == std::string::npos) == fits);
      if (fits) continue;
      CHECK(result.code == 2);
      CHECK(result.error.find(path + ": error: " + row.option[row.option.size() > 2 ? 2 : 0] +
                              " is for ") != std::string::npos);
      CHECK(result.output.empty());
    }
  }
}

TEST_CASE("unfit options: all are reported at once, in JSON as well") {
  const std::vector<std::string> arguments{"run",    inputs.at("a graph"), "--cpu", "--broadcast",
                                           "--fuse", "--output-path",      "."};
  const auto text = dmlop_program(arguments);
  CHECK(text.code == 2);
  for (const char* option : {"--broadcast", "--fuse", "--output-path"})
    CHECK(text.error.find(std::string(option) + " is for ") != std::string::npos);
  CHECK(text.error.ends_with("3 errors\n"));
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--format", "json"});
  const auto json = nlohmann::json::parse(dmlop_program(as_json).output);
  CHECK(json.at("exitCode") == 2);
  CHECK(json.at("diagnostics").size() == 3);
}

TEST_CASE("unfit options: C++ has no fields to set, no files and no nodes") {
  const std::string path = inputs.at("C++");
  const auto result = dmlop_program({"convert", "--from-cpp", path, "--example", "--set", "Axis=1",
                                     "--node", "n", "--input-path", ".", "--dim", "n=1", "--fuse"});
  CHECK(result.code == 2);
  CHECK(result.output.empty());
  for (const char* option : {"--example", "--set", "--node", "--input-path", "--dim", "--fuse"})
    CHECK(result.error.find(path + ": error: " + option + " is for ") != std::string::npos);
  CHECK(result.error.find(", and this is C++\n") != std::string::npos);
  CHECK(result.error.ends_with("6 errors\n"));
}

TEST_CASE("unfit options: of several files, an option is for those that it fits") {
  const std::string op = inputs.at("an op description"), onnx = inputs.at("an ONNX model");
  CHECK(dmlop_program({"check", op, onnx, "--dim", "batch=2"}).code == 0);
  CHECK(dmlop_program({"check", op, inputs.at("a graph"), "--dim", "batch=2"}).code == 2);
  CHECK(dmlop_program({"bench", op, onnx, "--dim", "batch=2", "--cpu", "--min-time", "0"}).code ==
        0);
  CHECK(dmlop_program({"bench", op, "--dim", "batch=2", "--cpu", "--min-time", "0"}).code == 2);
}

TEST_CASE("unfit options: a tensor has no dimensions to name") {
  const auto result =
      dmlop_program({"inspect", samples + "padding/InputTensor.npy", "--dim", "n=1"});
  CHECK(result.code == 2);
  CHECK(result.error.find("--dim is for ONNX models and ONNX tests, and this is a tensor") !=
        std::string::npos);
}

}  // namespace dmlop::test::unfit_options_test
