// Jobs of ONNX models: where sizes and values come from, and which operators they run.
#include <doctest/doctest.h>

#include "batch.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::batch_onnx_test {
namespace {

namespace onnx = onnx_bytes;

/// relu(x) for x of {"batch", 3}, in the sizes that `shape` says.
std::string model() {
  return onnx::model(
      {.nodes = {onnx::node("Add", {"x", "x"}, {"sum"}), onnx::node("Relu", {"sum"}, {"positive"}),
                 onnx::node("Reshape", {"positive", "shape"}, {"y"})},
       .inputs = {onnx::value("x", {"batch", "3"}), onnx::value("shape", {"2"}, 7)},
       .outputs = {onnx::value("y", {"rows", "columns"})}});
}

/// The same as one input of {"batch", 3}.
std::string plain_model() {
  return onnx::model(
      {.nodes = {onnx::node("Add", {"x", "x"}, {"sum"}), onnx::node("Relu", {"sum"}, {"y"})},
       .inputs = {onnx::value("x", {"batch", "3"})},
       .outputs = {onnx::value("y", {"batch", "3"})}});
}

/// A folder with both models, x of {2, 3} and what they make of it.
struct ModelFolder : BatchFolder {
  explicit ModelFolder(const std::vector<std::string>& jobs) : BatchFolder(jobs) {
    const std::vector<std::int64_t> shape{3, 2};
    write("shaped.onnx", model());
    write("plain.onnx", plain_model());
    write("x.npy", float_npy("(2, 3)", {-1, 2, -3, 4, -5, 6}));
    write("shape.npy", npy("<i8", "(2,)", bytes_of(shape)));
    write("golden.npy", float_npy("(2, 3)", {0, 4, 0, 8, 0, 12}));
    write("shaped.npy", float_npy("(3, 2)", {0, 4, 0, 8, 0, 12}));
  }
};

const std::string plain =
    R"("graph": "plain.onnx", "bindings": {"x": "x.npy"}, "expect": {"y": "golden.npy"})";

}  // namespace

TEST_CASE("a job of an ONNX model takes sizes and values from the files of its inputs") {
  const ModelFolder folder(
      {R"({"id": "sizes", )" + plain + "}",
       R"({"id": "values", "graph": "shaped.onnx", "bindings": {"x": "x.npy", "shape": "shape.npy"}, "expect": "shaped.npy"})",
       R"({"id": "raw", "graph": "plain.onnx", "dimensions": {"batch": 2}, "bindings": {"x": "x.raw:raw", "y": "kept.npy"}, "expect": "golden.npy"})"});
  folder.write("x.raw", onnx::raw_floats({-1, 2, -3, 4, -5, 6}));
  const auto outcome = folder.run({"jobs.jsonl"});
  CAPTURE(outcome.program.output);
  CHECK(outcome.statuses() == "raw PASSED, sizes PASSED, values PASSED");
  CHECK(folder.read("kept.npy") == folder.read("golden.npy"));
}

TEST_CASE("a job of an ONNX model has dimensions, and may fuse") {
  const std::string random = R"("graph": "plain.onnx", "bindings": {"x": {"random": "uniform"}}, )";
  const ModelFolder folder(
      {R"({"id": "apart", )" + random + R"("dimensions": {"batch": 4}})",
       R"({"id": "fused", )" + random + R"("dimensions": {"batch": 5}, "fuse": true})",
       R"({"id": "not", )" + random + R"("dimensions": {"batch": 5}, "fuse": false})"});
  const auto outcome = folder.run({"jobs.jsonl", "--out", "out"});
  CAPTURE(outcome.program.output);
  CHECK(outcome.statuses() == "apart PASSED, fused PASSED, not PASSED");
  CHECK(outcome.record("apart").at("operator") == "ELEMENT_WISE_ADD, ACTIVATION_RELU");
  CHECK(outcome.record("fused").at("operator") == "ELEMENT_WISE_ADD1");
  CHECK(outcome.record("not").at("operator") == "ELEMENT_WISE_ADD, ACTIVATION_RELU");
  CHECK(contains(folder.read("out/apart/y.npy"), "'shape': (4, 3)"));
  CHECK(contains(folder.read("out/fused/y.npy"), "'shape': (5, 3)"));
}

TEST_CASE("a job of an ONNX model without sizes or values is told how to give them") {
  const ModelFolder folder(
      {R"({"id": "none", "graph": "plain.onnx"})",
       R"({"id": "shape", "graph": "shaped.onnx", "bindings": {"x": "x.npy"}})",
       R"({"id": "raw", "graph": "plain.onnx", "bindings": {"x": "x.npy:raw"}})",
       R"({"id": "name", "graph": "plain.onnx", "dimensions": {"bach": 2}})",
       R"({"id": "tensor", "graph": "plain.onnx", "bindings": {"x": "x.npy", "z": "z.npy"}})",
       R"({"id": "fields", "graph": "plain.onnx", "dimensions": {"batch": -1}, "fuse": 1})",
       R"({"id": "list", "graph": "plain.onnx", "dimensions": [2]})",
       R"({"id": "same", "graph": "plain.onnx", "bindings": {"x": "x.npy", "y": "x.npy"}})"});
  const auto outcome = folder.run({"jobs.jsonl"});
  const std::string& said = outcome.program.output;
  CHECK(outcome.statuses() ==
        "fields INVALID, list INVALID, name INVALID, none INVALID, raw INVALID, same INVALID, "
        "shape INVALID, tensor INVALID");
  CHECK(contains(said,
                 "input \"x\": dimension 0 \"batch\" has no size in the model\n"
                 "    help: give the job \"dimensions\": {\"batch\": SIZE}, or name the input's "
                 "file in the job's \"bindings\"\n"));
  CHECK(contains(said, "name its file in the job's \"bindings\""));
  CHECK(contains(said,
                 "write x.npy:FLOAT32:SIZE,3, or give the job \"dimensions\": {\"batch\": "
                 "SIZE}"));
  CHECK(contains(said, "no input has a dimension \"bach\"\n    help: did you mean \"batch\"?"));
  CHECK(contains(said, "the graph has no edge \"z\""));
  CHECK(contains(said, "dimensions.batch is -1, must be an integer"));
  CHECK(contains(said, "fuse is 1, must be true or false"));
  CHECK(contains(said, "must be an object of sizes by the names of dimensions"));
  CHECK(contains(said, "y would replace the file of x: x.npy"));
}

TEST_CASE("what only ONNX models have is refused in a job of a graph") {
  const BatchFolder folder(
      {R"({"id": "a", "graph": "g.json", "dimensions": {"n": 2}, "fuse": true, "bindings": {"x": "x.npy"}})"});
  folder.write("x.npy", float_npy("(3,)", {1, 2, 3}));
  folder.write("g.json", R"({"inputs": ["x"], "nodes": [{"type": "ACTIVATION_RELU",
      "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]}},
      "bindings": {"InputTensor": "x", "OutputTensor": "y"}}]})");
  const auto outcome = folder.run({"jobs.jsonl", "--out", "out"});
  CHECK(outcome.status("a") == "INVALID");
  for (const char* name : {"dimensions", "fuse"})
    CHECK(contains(outcome.program.output, "error: \"" + std::string(name) +
                                               "\" is for ONNX models, and g.json is none\n"
                                               "    help: leave it out\n"));
}

TEST_CASE("--confine: the files of a model's inputs stay inside the folder") {
  const ModelFolder folder(
      {R"({"id": "a", "graph": "plain.onnx", "bindings": {"x": "../x.npy"}, "expect": "golden.npy"})",
       R"({"id": "b", )" + plain + "}"});
  const auto outcome = folder.run({"jobs.jsonl", "--confine"});
  CHECK(outcome.statuses() == "a INVALID, b PASSED");
}

}  // namespace dmlop::test::batch_onnx_test
