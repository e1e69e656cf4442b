// No command replaces a file that it reads, is compared with or writes for something else. Each is
// refused before anything runs, so every file stays as it was.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <map>

#include "batch.hpp"
#include "folder.hpp"
#include "onnx_writer.hpp"
#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::replaced_files_test {
namespace {

namespace fs = std::filesystem;

/// The samples that models, graphs and descriptions are made of, with files of golden results.
class Samples : public Folder {
 public:
  Samples() {
    for (const char* name : {"onnx", "graph", "top_k1", "padding", "dxdispatch", "join"})
      fs::copy(source_path(std::string("samples/") + name), *this / name,
               fs::copy_options::recursive);
    write("top_k1/tol.json", "{}");
    write("top_k1/job.json", "{}");
    write("graph/tol.json", "{}");
    write("golden.npy", "no golden file is read before");
    copy("padding/expected/OutputTensor.npy", "golden.npy");
    copy("padding/expected/OutputTensor.npy", "dxdispatch/padded.npy");
    copy("onnx/x.npy", "x.npy");
    REQUIRE(run({"run", "graph", "--cpu", "--keep-edges", "edges", "-q"}).code == 0);
    write("edges/index.json", R"({"result.npy": "result"})");
  }
  void copy(const std::string& from, const std::string& to) const {
    fs::copy_file(*this / from, *this / to, fs::copy_options::overwrite_existing);
  }
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path()))
      if (entry.is_regular_file()) all[entry.path().string()] = read_file(entry.path());
    return all;
  }
};

struct Refused {
  std::vector<std::string> arguments;
  std::string message;
};

void check_refused(const Samples& samples, const std::vector<Refused>& rows) {
  for (const Refused& row : rows) {
    CAPTURE(row.message);
    const auto before = samples.files();
    const auto result = samples.run(row.arguments);
    CAPTURE(result.error);
    CAPTURE(result.output);
    CHECK(result.code == 2);
    CHECK(contains(result.error, row.message));
    CHECK(samples.files() == before);
  }
}

TEST_CASE("replaced files: run refuses outputs that are something else") {
  const Samples samples;
  check_refused(
      samples,
      {{{"run", "onnx/model.onnx", "--cpu", "-i", "x=x.npy", "-o", "scores=x.npy"},
        "scores would replace the file of x: x.npy"},
       {{"run", "graph", "--cpu", "-o", "result=graph/graph.json"},
        "result would replace the graph: graph/graph.json"},
       {{"run", "graph", "--cpu", "-o", "result=graph/image.npy"},
        "result would replace the file of image: graph/image.npy"},
       {{"run", "graph", "--cpu", "-o", "result=r.npy", "-o", "pooled=./r.npy"},
        "pooled would replace the output result: ./r.npy"},
       {{"run", "graph", "--cpu", "--expect", "-o", "result=graph/tol.json"},
        "result would replace the tolerances: graph/tol.json"},
       {{"run", "graph", "--cpu", "--expect", "-o", "result=graph/expected/result.npy"},
        "result would replace the golden file: graph/expected/result.npy"},
       {{"run", "graph", "--cpu", "--expect-edges", "edges", "-o", "result=edges/pooled.npy"},
        "result would replace the golden file: edges/pooled.npy"},
       {{"run", "graph", "--cpu", "--expect-edges", "edges", "-o", "result=edges/index.json"},
        "result would replace the golden file: edges/index.json"},
       {{"run", "graph", "--cpu", "--keep-edges", "edges", "-o", "result=edges/index.json"},
        "the index of the edges would replace the output result: edges/index.json"},
       {{"run", "graph", "--cpu", "--keep-edges", "edges", "-o", "result=edges/pooled.npy"},
        "the edge \"pooled\" would replace the output result: edges/pooled.npy"},
       {{"run", "dxdispatch/padding.json", "--cpu", "--output-path", "dxdispatch", "--expect",
         "Out=dxdispatch/padded.npy"},
        "the writeFile of Out would replace the golden file: "},
       {{"run", "dxdispatch/padding.json", "--cpu", "--output-path", "dxdispatch", "-o",
         "Input=dxdispatch/padded.npy"},
        "Input would replace what the writeFile of Out writes: dxdispatch/padded.npy"},
       {{"run", "top_k1", "--cpu", "-o", "OutputValueTensor=top_k1/tol.json", "-o",
         "OutputIndexTensor=i.npy"},
        "OutputValueTensor would replace the tolerances: top_k1/tol.json"},
       {{"run", "top_k1", "--cpu", "-o", "OutputValueTensor=v.npy", "-o",
         "OutputIndexTensor=top_k1/./job.json"},
        "OutputIndexTensor would replace the settings of the job: top_k1/./job.json"},
       {{"run", "join", "--cpu", "-o", "join/InputTensors.1.npy"},
        "OutputTensor would replace the file of InputTensors.1: join/InputTensors.1.npy"},
       {{"run", "join", "--cpu", "--expect", "join/InputTensors.1.npy", "--update-golden"},
        "--update-golden would replace the file of InputTensors.1: join/InputTensors.1.npy"},
       {{"run", "top_k1", "--cpu", "--expect", "OutputValueTensor=v.npy", "--expect",
         "OutputIndexTensor=./v.npy", "--update-golden"},
        "--update-golden would replace the golden file of OutputValueTensor: ./v.npy"}});
}

TEST_CASE("replaced files: the jobs of a graph's nodes replace nothing that convert reads") {
  const Samples samples;
  fs::create_directories(samples / "jobs/pad/expected");
  samples.copy("graph/graph.json", "jobs/pad/op.json");
  samples.copy("graph/image.npy", "jobs/pad/expected/OutputTensor.npy");
  check_refused(
      samples, {{{"convert", "jobs/pad/op.json", "--to-ops", "jobs", "-i", "image=graph/image.npy"},
                 "the jobs would replace the graph: jobs/pad/op.json"},
                {{"convert", "graph", "--to-ops", "./jobs", "-i",
                  "image=jobs/pad/expected/OutputTensor.npy"},
                 "the jobs would replace the file of image: ./jobs/pad/expected/OutputTensor.npy"},
                {{"convert", "graph", "--to-graph", "/dev/stdout"}, "cannot be a stream"},
                {{"convert", "graph", "--to-graph", "/dev/null"}, "cannot be a stream"}});
  CHECK(samples.run({"convert", "graph", "--to-ops", "jobs", "-q"}).code == 0);
}

TEST_CASE("replaced files: pipes and folders in the way of files beside a result") {
  const Samples samples;
  const std::vector<std::string> convert{"convert", "onnx/model.onnx", "--dim", "batch=2",
                                         "--to-graph"};
  const auto to = [&](const std::string& path) {
    std::vector<std::string> arguments = convert;
    arguments.push_back(path);
    return samples.run(arguments);
  };
  REQUIRE(mkfifo((samples / "weights.bin").c_str(), 0600) == 0);
  fs::create_directory(samples / "bias.bin");
  const auto done = to("o.json");
  CHECK_MESSAGE(done.code == 0, done.error);
  CHECK(fs::file_size(samples / "weights_1.bin") > 0);
  CHECK(fs::file_size(samples / "bias_1.bin") > 0);
  fs::remove(samples / "edges/index.json");
  REQUIRE(mkfifo((samples / "edges/index.json").c_str(), 0600) == 0);
  check_refused(samples, {{{"run", "graph", "--cpu", "--keep-edges", "edges"},
                           "the index of the edges would replace a file with something else"}});
  fs::create_directory(samples / "new");
  check_refused(samples, {{{"convert", "onnx/model.onnx", "--dim", "batch=2", "--to-graph", "new"},
                           "new is a folder; name a file inside it"}});
}

TEST_CASE("replaced files: an output with another name of a golden file is refused") {
  const Samples samples;
  std::error_code error;
  fs::create_hard_link(samples / "golden.npy", samples / "other.npy", error);
  if (error) {
    MESSAGE("SKIPPED: no hard links here: " << error.message());
    return;
  }
  const auto result = samples.run({"run", "dxdispatch/padding.json", "--cpu", "--output-path", ".",
                                   "--expect", "Out=golden.npy", "-o", "Out=other.npy"});
  CHECK(contains(result.error, "Out would replace the golden file: other.npy"));
}

TEST_CASE("replaced files: convert refuses to write over what it reads") {
  const Samples samples;
  for (const char* option : {"--to-graph", "--to-bin"}) {
    CAPTURE(option);
    check_refused(samples, {{{"convert", "onnx/model.onnx", "-i", "x=x.npy", option, "x.npy"},
                             "x.npy is read by this conversion"}});
  }
  check_refused(
      samples,
      {{{"convert", "onnx/model.onnx", "-i", "x=x.npy", "--to-op", "x.npy", "--node", "scores"},
        "x.npy is read by this conversion"}});
}

TEST_CASE("replaced files: what a model reads stays, also where no buffer is left of it") {
  namespace onnx = onnx_bytes;
  const Samples samples;
  samples.write("reshape.onnx",
                onnx::model({.nodes = {onnx::node("Reshape", {"x", "shape"}, {"y"})},
                             .initializers = {onnx::external_tensor("shape", 7, {2}, "shape.bin")},
                             .outputs = {onnx::value("y", {"3", "2"})}}));
  samples.write("shape.bin", onnx::raw_integers({3, 2}));
  samples.write("unread.json", R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [3]}],
    "constants": {"c": "x.npy"}, "nodes": [{"type": "ACTIVATION_RELU",
    "bindings": {"InputTensor": "x", "OutputTensor": "y"}}]})");
  samples.write("three.npy", float_npy("(3,)", {1, 2, 3}));
  samples.write("matrix.npy", float_npy("(2, 3)", {1, 2, 3, 4, 5, 6}));
  check_refused(samples,
                {{{"run", "reshape.onnx", "--cpu", "-i", "matrix.npy", "-o", "y=shape.bin"},
                  "y would replace data of the model: shape.bin"},
                 {{"convert", "reshape.onnx", "--to-graph", "shape.bin"},
                  "shape.bin is read by this conversion"},
                 {{"run", "unread.json", "--cpu", "-i", "x=three.npy", "-o", "y=x.npy"},
                  "y would replace the file of c: x.npy"}});
}

TEST_CASE("replaced files: a job of a batch replaces neither its list nor golden files") {
  const Samples samples;
  const auto message_of = [&](const std::string& job, std::vector<std::string> more = {}) {
    samples.write("jobs.json", R"({"jobs": [{"id": "a", )" + job + "}]}");
    const auto before = samples.files();
    more.insert(more.begin(), {"batch", "jobs.json", "--cpu"});
    const auto result = samples.run(more);
    CHECK(result.code == 3);
    CHECK(samples.files() == before);
    return result.output;
  };
  const std::string graph = R"("graph": "graph/graph.json", )";
  CHECK(contains(
      message_of(graph + R"("bindings": {"image": "graph/image.npy", "result": "jobs.json"})"),
      "result would replace the file that lists the job: "));
  CHECK(contains(message_of(graph + R"("bindings": {"image": "graph/image.npy",
                   "result": "graph/expected/result.npy"},
                   "expect": {"result": "graph/expected/result.npy"})"),
                 "result would replace the golden file: "));
  CHECK(contains(message_of(graph + R"("bindings": {"image": "graph/image.npy"},
                   "expect": {"result": "new.npy", "pooled": "new.npy"})",
                            {"--update-golden"}),
                 "has the golden file of another output: "));
}

TEST_CASE("replaced files: outputs of a graph appear together or not at all") {
  const Samples samples;
  samples.write("old.npy", "old");
  const auto result = samples.run(
      {"run", "graph", "--cpu", "-o", "result=old.npy", "-o", "pooled=nowhere/pooled.npy"});
  CHECK(result.code == 6);
  CHECK(contains(result.error, "folder nowhere does not exist"));
  CHECK(samples.read("old.npy") == "old");
}

TEST_CASE("replaced files: an index of edges that is there is renewed") {
  const Samples samples;
  samples.write("edges/index.json", R"({"pooled.npy": "padded"})");
  CHECK(samples.run({"run", "graph", "--cpu", "--keep-edges", "edges", "-q"}).code == 0);
  CHECK(contains(samples.read("edges/index.json"), "\"pooled.npy\": \"pooled\""));
  const auto same = samples.run({"run", "graph", "--cpu", "--expect-edges", "edges"});
  CHECK(same.code == 0);
  CHECK(contains(same.output, "3 edges were compared. No node is wrong."));
}

TEST_CASE("replaced files: an index.json that is no index of edges stays") {
  const Samples samples;
  const std::vector<std::string> keep{"run", "graph", "--cpu", "--keep-edges", "edges"};
  for (const std::string text : {R"({"name": "package", "main": "index.js"})",
                                 R"({"pooled.npy": 1})", R"(["pooled.npy"])", "no JSON"}) {
    CAPTURE(text);
    samples.write("edges/index.json", text);
    check_refused(samples, {{keep,
                             "the index of the edges would replace a file with something else: "
                             "edges/index.json\n  help: write to another folder\n"}});
  }
  samples.write("edges/index.json", R"({"gone.npy": "an edge of another graph"})");
  CHECK(samples.run(keep).code == 0);
  CHECK(contains(samples.read("edges/index.json"), "\"pooled.npy\": \"pooled\""));
  for (const char* nothing : {"{}", ""}) {
    samples.write("edges/index.json", nothing);
    CHECK(samples.run(keep).code == 0);
  }
}

TEST_CASE("expect-edges: --warnings-as-errors refuses files that match no edge") {
  const Samples samples;
  samples.copy("x.npy", "edges/stranger.npy");
  const std::vector<std::string> arguments{"run", "graph", "--cpu", "--expect-edges", "edges"};
  CHECK(samples.run(arguments).code == 0);
  auto strict = arguments;
  strict.insert(strict.end(), {"--warnings-as-errors", "-o", "result=r.npy"});
  const auto result = samples.run(strict);
  CHECK(result.code == 3);
  CHECK(contains(result.error, "error: "));
  CHECK_FALSE(samples.has("r.npy"));
}

}  // namespace
}  // namespace dmlop::test::replaced_files_test
