// No job writes a file that another job of the batch reads: jobs run in any order.
#include <doctest/doctest.h>

#ifndef _WIN32
#include <sys/stat.h>
#endif

#include <fstream>
#include <thread>

#include "batch.hpp"

namespace dmlop::test::batch_shared_files_test {
namespace {

/// A job that pads x.npy into `output`.
std::string writer(const std::string& id, const std::string& output) {
  return R"({"id": ")" + id + "\", " + edge_fields +
         R"(, "bindings": {"InputTensor": "x.npy", "OutputTensor": ")" + output + R"("}})";
}

std::string message(const std::string& path) {
  return "goes to " + path + ", which another job of this batch reads or is compared with";
}

const std::string graph = R"({"inputs": ["x", {"name": "w"}], "nodes": [{"type": "ELEMENT_WISE_ADD",
    "desc": {"ATensor": {"DataType": "FLOAT32", "Sizes": [3]}},
    "bindings": {"ATensor": "x", "BTensor": "w", "OutputTensor": "y"}}]})";

}  // namespace

TEST_CASE("an output that another job reads is refused, whichever of them comes first") {
  const std::string reader = named_job("reader");
  const std::string of_graph =
      R"({"id": "graph", "graph": "g.json", "bindings": {"x": "x.npy", "w": "w.npy", "y": "y.npy"}})";
  for (const std::string path : {"golden.npy", "./golden.npy", "w.npy", "g.json"}) {
    CAPTURE(path);
    for (const bool comes_first : {false, true}) {
      std::vector<std::string> jobs{reader, of_graph};
      jobs.insert(comes_first ? jobs.begin() : jobs.end(), writer("writer", path));
      const BatchFolder folder(jobs);
      folder.write("g.json", graph);
      folder.write("w.npy", float_npy("(3,)", {1, 2, 3}));
      const std::string before = folder.read(path);
      const auto outcome = folder.run({"jobs.jsonl", "--jobs", "1"});
      CHECK(outcome.statuses() == "graph PASSED, reader PASSED, writer INVALID");
      CHECK(contains(outcome.record("writer").at("message"), message(path)));
      CHECK(folder.read(path) == before);
    }
  }
}

TEST_CASE("an output that another job would write, too, is nobody's until that job is selected") {
  const std::string of_graph =
      R"({"id": "graph", "graph": "g.json", "bindings": {"x": "x.npy", "w": "x.npy", "y": "y.npy"}})";
  const BatchFolder folder({writer("a", "y.npy"), of_graph, named_job("b")});
  folder.write("g.json", graph);
  CHECK(folder.run({"jobs.jsonl", "--exclude", "graph"}).statuses() == "a PASSED, b PASSED");
  CHECK(folder.run({"jobs.jsonl", "--filter", "graph"}).statuses() == "graph PASSED");
}

TEST_CASE("all that jobs read is kept: arrays of tensors, files of models, settings") {
  const BatchFolder folder({writer("array", "w.npy"), writer("source", "data/source.npy"),
                            writer("settings", "cases/b/tol.json"),
                            writer("nobodys", "input.npy")});
  folder.write("w.npy", folder.read("x.npy"));
  folder.write("input.npy", folder.read("x.npy"));
  folder.write("data/source.npy", folder.read("x.npy"));
  folder.write(
      "join.jsonl",
      R"({"id": "join", "type": "JOIN", "desc": {"Axis": 0}, "bindings": {"InputTensors": ["x.npy", "w.npy"]}, "expect": "joined.npy"})");
  folder.write("joined.npy", float_npy("(6,)", {1, 2, 3, 1, 2, 3}));
  folder.write("models/model.json", R"({"resources": {"r": {"initialValuesDataType": "FLOAT32",
      "initialValues": {"sourcePath": "..\\data\\source.npy"}, "sizeInBytes": 12}},
      "dispatchables": {}, "commands": []})");
  folder.write("cases/b/op.json", "{" + edge_fields + "}");
  folder.write("cases/b/InputTensor.npy", folder.read("x.npy"));
  folder.write("cases/b/tol.json", "{}");
  const auto outcome = folder.run({"jobs.jsonl", "join.jsonl", "models", "cases", "--jobs", "1"});
  CAPTURE(outcome.program.output);
  CHECK(outcome.status("jobs/array") == "INVALID");
  CHECK(outcome.status("jobs/source") == "INVALID");
  CHECK(outcome.status("jobs/settings") == "INVALID");
  CHECK(outcome.status("jobs/nobodys") == "PASSED");
}

TEST_CASE("what a batch wrote is no input when it runs again") {
  const BatchFolder folder;
  folder.write("cases/a/op.json",
               "{" + edge_fields + R"(, "bindings": {"OutputTensor": "result.npy"}})");
  folder.write("cases/a/InputTensor.npy", folder.read("x.npy"));
  folder.write("cases/a/graph.json", R"({"nodes": [{"type": "FILL_VALUE_SEQUENCE",
      "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]}, "ValueDataType": "FLOAT32",
      "ValueStart": 0, "ValueDelta": 1}, "bindings": {"OutputTensor": "y"}}]})");
  for (const std::vector<std::string>& out : {std::vector<std::string>{}, {"--out", "cases"}}) {
    for (int time = 0; time < 2; ++time) {
      std::vector<std::string> arguments{"cases"};
      arguments.insert(arguments.end(), out.begin(), out.end());
      const auto outcome = folder.run(arguments);
      CAPTURE(outcome.program.output);
      CHECK(outcome.status("a") == "PASSED");
      CHECK(outcome.status("a/graph") == (out.empty() ? "UNCOMPARED" : "PASSED"));
    }
  }
}

TEST_CASE("a job that is not selected keeps its files, too") {
  const BatchFolder folder({writer("writer", "golden.npy"), named_job("reader")});
  const auto outcome = folder.run({"jobs.jsonl", "--filter", "writer"});
  CHECK(outcome.statuses() == "writer INVALID");
  const auto shard = folder.run({"jobs.jsonl", "--shard", "0/2"});
  CHECK(shard.statuses() == "writer INVALID");
}

TEST_CASE("jobs in folders and in several lists keep their files") {
  const BatchFolder folder({writer("writer", "cases/b/InputTensor.npy")});
  folder.write("cases/a/op.json",
               "{" + edge_fields + R"(, "bindings": {"InputTensor": "../../x.npy",
      "OutputTensor": "../b/expected/OutputTensor.npy"}})");
  folder.write("cases/b/op.json", "{" + edge_fields + "}");
  folder.write("cases/b/InputTensor.npy", folder.read("x.npy"));
  folder.write("cases/b/expected/OutputTensor.npy", folder.read("golden.npy"));
  const auto in_folders = folder.run({"cases"});
  CHECK(in_folders.statuses() == "a INVALID, b PASSED");
  CHECK(contains(in_folders.record("a").at("message"),
                 "which another job of this batch reads or is compared with"));
  const auto both = folder.run({"cases/b", "jobs.jsonl"});
  CHECK(both.statuses() == "b PASSED, jobs/writer INVALID");
  CHECK(folder.read("cases/b/InputTensor.npy") == folder.read("x.npy"));
}

#ifndef _WIN32
TEST_CASE("a description that is a pipe is read by its job alone") {
  const BatchFolder folder;
  folder.write("cases/a/op.json", "{" + edge_fields + "}");
  folder.write("cases/b/other.json", "{" + edge_fields + "}");
  for (const char* id : {"a", "b"})
    folder.write("cases/" + std::string(id) + "/InputTensor.npy", folder.read("x.npy"));
  const std::string pipe = folder / "cases/b/op.json";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::jthread writer([&] { std::ofstream(pipe) << "{" << edge_fields << "}"; });
  CHECK(folder.run({"cases", "--out", "out", "--jobs", "1"}).statuses() == "a PASSED, b PASSED");
}
#endif

TEST_CASE("--out: the folder of a job is not that of another one's golden files") {
  const BatchFolder folder;
  folder.write("cases/b/op.json", "{" + edge_fields + "}");
  folder.write("cases/b/InputTensor.npy", folder.read("x.npy"));
  folder.write("cases/b/expected/OutputTensor.npy", folder.read("golden.npy"));
  folder.write("cases/b/expected/op.json", "{" + edge_fields + "}");
  folder.write("cases/b/expected/InputTensor.npy", float_npy("(3,)", {7, 8, 9}));
  const auto outcome = folder.run({"cases", "--out", "cases"});
  CHECK(outcome.statuses() == "b PASSED, b/expected INVALID");
  CHECK(folder.read("cases/b/expected/OutputTensor.npy") == folder.read("golden.npy"));
}

}  // namespace dmlop::test::batch_shared_files_test
