// convert --to-ops: each node of a graph as a job of its own.
#include <nlohmann/json.hpp>

#include "graph_folder.hpp"

namespace dmlop::test::to_ops_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::size_t folders_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_CASE("to-ops: every node of every graph is a job that passes") {
  std::size_t jobs = 0;
  // Types, strides, several outputs, arrays of tensors, 4 bits, fused activations.
  for (const char* name :
       {"cnn_relu_pool", "layernorm_ffn", "nbits_matmul", "groupnorm_silu", "unet_up",
        "where_broadcast_fp16", "mha_contrib", "residual_block", "qdq_conv", "integer_matmul"}) {
    CAPTURE(std::string(name));
    const Folder folder;
    add_graph_job(folder, name);
    const auto convert =
        dmlop_program({"convert", name, "--to-ops", "ops", "-q"}, {.folder = folder.path()});
    REQUIRE(convert.code == 0);
    const auto batch = dmlop_program({"batch", "ops", "--cpu"}, {.folder = folder.path()});
    CHECK(batch.code == 0);
    const std::size_t nodes = folders_in(folder / "ops");
    CHECK(contains(batch.output, ": " + std::to_string(nodes) + " PASSED\n"));
    jobs += nodes;
    // Each has golden files, so that it would notice a difference.
    for (const auto& job : fs::directory_iterator(folder / "ops"))
      CHECK(folders_in(job.path() / "expected") > 0);
  }
  CHECK(jobs > 20);
}

TEST_CASE("to-ops: a job has what the node reads and writes in the graph") {
  const Folder folder;
  add_graph_job(folder, "cnn_relu_pool");
  const auto run = [&](std::vector<std::string> arguments) {
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  CHECK(
      run({"convert", "cnn_relu_pool", "--to-ops", "ops", "--node", "maxpool_5_dmlEp_0"}).output ==
      "wrote ops/maxpool_5_dmlEp_0\n");
  CHECK(folders_in(folder / "ops") == 1);
  CHECK(run({"run", "cnn_relu_pool", "--cpu", "-o", "maxpool_5=pool.npy", "-o", "relu_4=relu.npy"})
            .code == 0);
  const std::string job = "ops/maxpool_5_dmlEp_0/";
  CHECK(folder.read(job + "expected/OutputTensor.npy") == folder.read("pool.npy"));
  CHECK(folder.read(job + "op.InputTensor.npy") == folder.read("relu.npy"));
  const Json op = Json::parse(folder.read(job + "op.json"));
  CHECK(op.at("type") == "DML_OPERATOR_MAX_POOLING");
  CHECK(op.at("as") == "directml-1.15.4");
}

TEST_CASE("to-ops: without inputs, jobs are descriptions with the graph's constants") {
  const CaseFolder folder("cnn_relu_pool");
  const auto made = folder.run({"convert", "Partition_0.bin", "--to-ops", "ops"});
  CHECK(made.code == 0);
  CHECK(contains(made.output, "with -i for each input of the graph they get both"));
  const Json op = Json::parse(folder.read("ops/gemm_9_dmlEp_0/op.json"));
  CHECK(op.at("bindings") == Json({{"BTensor", "op.BTensor.npy"}, {"CTensor", "op.CTensor.npy"}}));
  CHECK(folder.has("ops/gemm_9_dmlEp_0/op.BTensor.npy"));
  CHECK_FALSE(folder.has("ops/gemm_9_dmlEp_0/expected"));
  CHECK(folder.run({"check", "ops/gemm_9_dmlEp_0"}).code == 0);
}

TEST_CASE("to-ops: one node as a description") {
  const Folder folder;
  folder.write("g.json", R"({"inputs": ["x"], "nodes": [
    {"name": "first", "type": "ACTIVATION_RELU",
     "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2]}},
     "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
    {"name": "second", "type": "ACTIVATION_TANH", "desc": {},
     "bindings": {"InputTensor": "y", "OutputTensor": "z"}}]})");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"convert", "g.json"});
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  CHECK(run({"--node", "second", "--to-op", "op.json"}).output == "wrote op.json\n");
  const auto op = nlohmann::json::parse(folder.read("op.json"));
  CHECK(op.at("type") == "DML_OPERATOR_ACTIVATION_TANH");
  CHECK(op.at("desc").at("InputTensor").at("Sizes") == nlohmann::json{2});
  const auto error = [&](std::vector<std::string> arguments) {
    const auto result = run(arguments);
    CHECK(result.code == 2);
    return result.error;
  };
  CHECK(contains(error({"--node", "secnd", "--to-op", "o.json"}), "did you mean \"second\"?"));
  CHECK(contains(error({"--to-op", "o.json"}), "--node NAME --to-op OP.json writes one node"));
  CHECK(contains(error({"--node", "first", "--node", "second", "--to-op", "o.json"}), "one node"));
  CHECK_FALSE(folder.has("o.json"));
}

TEST_CASE("to-ops: nodes of one name") {
  const Folder folder;
  folder.write("g.json", R"({"inputs": ["x"], "nodes": [
    {"name": "a", "type": "ACTIVATION_RELU",
     "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2]}},
     "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
    {"name": "b", "type": "ACTIVATION_ELU", "desc": {"Alpha": 1},
     "bindings": {"InputTensor": "y", "OutputTensor": "u"}},
    {"name": "a", "type": "ACTIVATION_TANH", "desc": {},
     "bindings": {"InputTensor": "y", "OutputTensor": "z"}}]})");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"convert", "g.json", "--node", "a"});
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  const auto one = run({"--to-op", "op.json"});
  CHECK(one.code == 2);
  CHECK(one.error ==
        "g.json: error: the graph has 2 nodes \"a\": 0 (ACTIVATION_RELU), 2 (ACTIVATION_TANH)\n"
        "  help: write all of them with --to-ops FOLDER, or give each a name of its own in the "
        "graph as JSON\n");
  CHECK_FALSE(folder.has("op.json"));
  CHECK(run({"--to-ops", "ops"}).output.starts_with("wrote ops/a\nwrote ops/a_2\n"));
}

TEST_CASE("to-ops: names that no file can have, and mistakes") {
  const Folder folder;
  folder.write("g.json", R"({"inputs": ["x"], "nodes": [
    {"name": "a/b:c", "type": "ACTIVATION_RELU",
     "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2]}},
     "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
    {"name": "A_B_C", "type": "ACTIVATION_TANH", "desc": {},
     "bindings": {"InputTensor": "y", "OutputTensor": "z"}}]})");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"convert", "g.json"});
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  CHECK(run({"--to-ops", "ops"}).code == 0);
  CHECK(folder.has("ops/a_b_c/op.json"));
  CHECK(folder.has("ops/A_B_C_2/op.json"));
  const auto error = [&](std::vector<std::string> arguments) {
    const auto result = run(arguments);
    CHECK(result.code == 2);
    return result.error;
  };
  CHECK(contains(error({"--to-ops", "o", "--node", "A_B"}), "did you mean \"A_B_C\"?"));
  CHECK(contains(error({"--to-ops", "o", "-i", "q=x.npy"}), "the graph has no input \"q\""));
  CHECK(contains(error({"--to-bin", "g.bin", "--node", "A_B_C"}), "--node is for --to-ops"));
  CHECK(contains(error({"--to-bin", "g.bin", "--to-ops", "o"}), "exclude each other"));
  CHECK(contains(error({"--to-graph", "h.json", "-i", "x=x.npy"}), "-i is for --to-ops"));
  CHECK_FALSE(folder.has("o"));
  folder.write("op.json", R"({"type": "ACTIVATION_RELU", "desc": {}})");
  const auto no_graph =
      dmlop_program({"convert", "op.json", "--to-ops", "o"}, {.folder = folder.path()});
  CHECK(no_graph.code == 2);
  CHECK(contains(no_graph.error, "op.json is not a graph"));
}

}  // namespace
}  // namespace dmlop::test::to_ops_test
