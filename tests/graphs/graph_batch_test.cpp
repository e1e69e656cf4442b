// Graphs as jobs of a batch.
#include <nlohmann/json.hpp>
#include <sstream>

#include "batch/batch.hpp"
#include "graph_folder.hpp"
#include "recorded_device.hpp"

namespace dmlop::test::graph_batch_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

ProgramResult batch(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"batch", "--cpu"});
  return dmlop_program(arguments, {.folder = folder.path()});
}

TEST_CASE("graph batch: a folder's graphs are jobs with the files beside them") {
  const Folder jobs;
  for (const char* name : {"cnn_relu_pool", "activation_zoo", "odd_names"})
    add_graph_job(jobs, name);
  CHECK(batch(jobs, {".", "--results", "r.jsonl"}).code == 0);
  std::vector<std::string> ids;
  std::istringstream lines(jobs.read("r.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line);
    if (record.contains("id")) ids.push_back(record.at("id"));
  }
  std::ranges::sort(ids);
  CHECK(ids.size() == 10);
  // The first graph of a folder has the folder's name.
  CHECK(ids.front() == "activation_zoo");
  CHECK(ids.at(1) == "activation_zoo/Partition_1");
  CHECK(ids.back() == "odd_names");
}

TEST_CASE("graph batch: a difference fails, and --update-golden writes what is missing") {
  const Folder jobs;
  add_graph_job(jobs, "cnn_relu_pool");
  const std::string golden = jobs.read("cnn_relu_pool/expected/softmax_10.npy");
  fs::rename(jobs / "cnn_relu_pool/expected/softmax_10.npy", jobs / "kept.npy");
  CHECK(contains(batch(jobs, {"."}).output, "1 UNCOMPARED"));
  CHECK(batch(jobs, {".", "--update-golden"}).code == 1);
  CHECK(jobs.has("cnn_relu_pool/expected/softmax_10.npy"));
  CHECK(batch(jobs, {"."}).code == 0);
  std::string changed = golden;
  changed[changed.size() - 2] = static_cast<char>(changed[changed.size() - 2] ^ 0x40);
  jobs.write("cnn_relu_pool/expected/softmax_10.npy", changed);
  const auto differs = batch(jobs, {"."});
  CHECK(differs.code == 1);
  CHECK(contains(differs.output, "FAILED cnn_relu_pool: softmax_10: 1 of 10 elements differs"));
  // A golden file that is no edge's would compare nothing.
  fs::rename(jobs / "cnn_relu_pool/expected/softmax_10.npy",
             jobs / "cnn_relu_pool/expected/softmax.npy");
  const auto misnamed = batch(jobs, {"."});
  CHECK(misnamed.code == 3);
  CHECK(contains(misnamed.output,
                 "cnn_relu_pool/expected/softmax.npy: error: this golden file matches no edge of "
                 "the graph\n    rule: NAME.npy in a folder expected/ is compared with NAME\n"
                 "    help: did you mean softmax_10.npy?\n"));
}

TEST_CASE("graph batch: --out writes each output, and --resume knows graph, constants and inputs") {
  const Folder jobs;
  add_graph_job(jobs, "cnn_relu_pool");
  const std::vector<std::string> run{"cnn_relu_pool", "--out",   "out",
                                     "--results",     "r.jsonl", "--resume"};
  const auto resumed = [&] {
    const auto result = batch(jobs, run);
    return result.output.find("(1 from an earlier run)") != std::string::npos;
  };
  CHECK_FALSE(resumed());
  CHECK(jobs.has("out/cnn_relu_pool/softmax_10.npy"));
  CHECK(resumed());
  const auto flip = [&](const std::string& file) {
    std::string bytes = jobs.read(file);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    jobs.write(file, bytes);
  };
  for (const char* file :
       {"cnn_relu_pool/w1.bin", "cnn_relu_pool/x.npy", "cnn_relu_pool/expected/softmax_10.npy"}) {
    CAPTURE(file);
    flip(file);
    CHECK_FALSE(resumed());
    flip(file);
    resumed();
    CHECK(resumed());
  }
  fs::remove(jobs / "out/cnn_relu_pool/softmax_10.npy");
  CHECK_FALSE(resumed());
}

TEST_CASE("graph batch: jobs of JSON Lines name a graph and the files of its inputs and outputs") {
  const Folder jobs;
  add_graph_job(jobs, "cnn_relu_pool");
  jobs.write("graph.json", R"({"nodes": [{"name": "n", "type": "ACTIVATION_RELU",
    "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 12, 12]}},
    "bindings": {"InputTensor": "x", "OutputTensor": "y"}}], "inputs": ["x"], "outputs": ["y"]})");
  jobs.write("jobs.jsonl",
             R"({"id": "a", "graph": "cnn_relu_pool/Partition_0.bin",)"
             R"( "bindings": {"x": "cnn_relu_pool/x.npy", "relu_4": "relu.npy"},)"
             R"( "expect": {"softmax_10": "cnn_relu_pool/expected/softmax_10.npy"}})"
             "\n"
             R"({"id": "b", "graph": "graph.json", "bindings": {"x": "cnn_relu_pool/x.npy"}})"
             "\n");
  const auto both = batch(jobs, {"jobs.jsonl", "--out", "out"});
  CHECK(both.code == 0);
  CHECK(jobs.has("out/a/softmax_10.npy"));
  CHECK(jobs.has("out/b/y.npy"));
  CHECK(batch(jobs, {"jobs.jsonl", "--filter", "a"}).code == 0);
  CHECK(jobs.has("relu.npy"));
}

TEST_CASE("graph batch: a GPU is given the nodes of a graph together") {
  const auto submissions_of = [](int nodes) {
    const auto edge = [](int i) { return i == 0 ? "x" : "e" + std::to_string(i); };
    Json graph{{"inputs", {{{"name", "x"}, {"DataType", "FLOAT32"}, {"Sizes", {4}}}}}};
    for (int i = 0; i < nodes; ++i)
      graph["nodes"].push_back(
          {{"type", "ELEMENT_WISE_ABS"},
           {"bindings", {{"InputTensor", edge(i)}, {"OutputTensor", edge(i + 1)}}}});
    const Folder jobs;
    jobs.write("graph.json", graph.dump());
    jobs.write("jobs.jsonl", R"({"id": "a", "graph": "graph.json",)"
                             R"( "bindings": {"x": {"random": "normal"}, ")" +
                                 edge(nodes) + R"(": "y.npy"}})");
    Record given;
    Backend gpu(make_recorded_device(given));
    Diagnostics findings;
    const auto manifest = open_manifest({{jobs / "jobs.jsonl"}}, findings);
    REQUIRE(manifest != nullptr);
    std::string message = "no result";
    run_batch(*manifest, gpu, {}, [&](const BatchResult& result) { message = result.message; });
    CHECK(message == "");
    CHECK(given.faults.empty());
    return given.submissions;
  };
  CHECK(submissions_of(20) == submissions_of(1));
}

TEST_CASE("graph batch: what is wrong with a job says so, and names the remedy") {
  const Folder jobs;
  add_graph_job(jobs, "cnn_relu_pool");
  jobs.write("op.json", R"({"type": "ACTIVATION_RELU", "desc": {}})");
  struct Row {
    std::string job, says;
  };
  const std::vector<Row> rows{
      {R"({"graph": "cnn_relu_pool/Partition_0.bin"})",
       R"(name it in a job: {"graph": "Partition_0.bin", "bindings": {")"},
      {R"({"graph": "cnn_relu_pool/Partition_0.bin", "desc": {}})", "unknown field \"desc\""},
      {R"({"graph": "cnn_relu_pool/Partition_0.bin", "bindings": {"x": 3}})", "bindings.x is 3"},
      {R"({"graph": "cnn_relu_pool/Partition_0.bin", "bindings": 3})", "bindings is 3"},
      {R"({"graph": 3})", "graph is 3, must be a string"},
      {R"({"graph": ""})", "the path of a graph"},
      {R"({"graph": "op.json"})", "the job names this as its graph, but it is not one"},
      {R"({"graph": "cnn_relu_pool/w1.bin"})", "this is not a serialized DirectML graph"},
      {R"({"graph": "nowhere.bin"})", "nowhere.bin"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.job);
    jobs.write("jobs.jsonl", row.job + "\n");
    const auto wrong = batch(jobs, {"jobs.jsonl"});
    CHECK(wrong.code != 0);
    CHECK(contains(wrong.output, row.says));
  }
  jobs.write("in/jobs.jsonl", R"({"graph": "../cnn_relu_pool/Partition_0.bin"})"
                              "\n");
  const auto outside = batch(jobs, {"in/jobs.jsonl", "--confine"});
  CHECK(outside.code == 3);
  CHECK(contains(outside.output, "graph"));
}

TEST_CASE("graph batch: an output replaces no golden file") {
  const Folder jobs;
  add_graph_job(jobs, "cnn_relu_pool");
  fs::create_directory(jobs / "io");
  fs::copy(jobs / "cnn_relu_pool/expected/softmax_10.npy", jobs / "io/softmax_10.npy");
  jobs.write("jobs.jsonl", R"({"id": "io", "graph": "cnn_relu_pool/Partition_0.bin",)"
                           R"( "bindings": {"x": "cnn_relu_pool/x.npy"},)"
                           R"( "expect": {"softmax_10": "io/softmax_10.npy"}})"
                           "\n");
  const std::string golden = jobs.read("io/softmax_10.npy");
  const auto refused = batch(jobs, {"jobs.jsonl", "--out", "."});
  CHECK(refused.code != 0);
  CHECK(contains(refused.output, "would replace the golden file"));
  CHECK(jobs.read("io/softmax_10.npy") == golden);
}

TEST_CASE("graph batch: --confine keeps new golden files in the folder") {
#ifndef _WIN32
  const Folder jobs;
  add_graph_job(jobs, "cnn_relu_pool");
  fs::remove_all(jobs / "cnn_relu_pool/expected");
  fs::create_directory(jobs / "outside");
  fs::create_directory_symlink("../outside", jobs / "cnn_relu_pool/expected");
  const auto refused =
      batch(jobs, {"cnn_relu_pool/Partition_0.bin", "--confine", "--update-golden=accept"});
  CHECK(refused.code != 0);
  CHECK(fs::is_empty(jobs / "outside"));
#endif
}

TEST_CASE("graph batch: run takes a folder with a graph, and --expect its golden files") {
  const Folder jobs;
  add_graph_job(jobs, "cnn_relu_pool");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "cnn_relu_pool", "--cpu"});
    return dmlop_program(arguments, {.folder = jobs.path()});
  };
  CHECK(run({}).output.starts_with("softmax_10: FLOAT32 [1, 1, 1, 10]\n"));
  const auto same = run({"--expect"});
  CHECK(same.code == 0);
  CHECK(
      same.output.starts_with("PASSED: softmax_10 against cnn_relu_pool/expected/softmax_10.npy"));
  // The tolerance beside it counts.
  jobs.write("cnn_relu_pool/tol.json", R"({"ulp": 0})");
  CHECK(run({"--expect"}).code == 1);
  fs::remove_all(jobs / "cnn_relu_pool/expected");
  CHECK(run({"--expect"}).code == 2);
  CHECK(run({"-i", "x=cnn_relu_pool/x.npy", "-q"}).code == 0);
  fs::copy(jobs / "cnn_relu_pool/Partition_0.bin", jobs / "cnn_relu_pool/Partition_1.bin");
  const auto two = run({});
  CHECK(two.code == 3);
  CHECK(contains(two.error, "is also that of another graph"));
}

}  // namespace
}  // namespace dmlop::test::graph_batch_test
