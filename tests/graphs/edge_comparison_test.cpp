// run --expect-edges and --against: which node of a graph is wrong.
#include <nlohmann/json.hpp>

#include "gpu_device.hpp"
#include "graph_folder.hpp"
#include "sweep.hpp"

namespace dmlop::test::edge_comparison_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A graph of four nodes, x -> a -> b -> c and b -> d, with its edges as files in edges/.
class Edges : public Folder {
 public:
  Edges() {
    write("g.json", R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [4]}],
      "nodes": [
        {"name": "first", "type": "ELEMENT_WISE_IDENTITY",
         "bindings": {"InputTensor": "x", "OutputTensor": "a"}},
        {"name": "second", "type": "ELEMENT_WISE_EXP",
         "bindings": {"InputTensor": "a", "OutputTensor": "b"}},
        {"name": "third", "type": "ELEMENT_WISE_CEIL",
         "bindings": {"InputTensor": "b", "OutputTensor": "c"}},
        {"name": "fourth", "type": "ELEMENT_WISE_NEGATE",
         "bindings": {"InputTensor": "b", "OutputTensor": "d"}}],
      "outputs": ["c", "d"]})");
    write_npy("x.npy", {0, 1, 2, 3});
    REQUIRE(run({"--keep-edges", "edges", "-q"}).code == 0);
  }

  ProgramResult run(std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", "g.json", "-i", "x.npy", "--cpu"});
    return dmlop_program(more, {.folder = path()});
  }
  /// The nodes that are wrong, as the program says in JSON.
  std::vector<std::string> wrong_nodes(int code) const {
    const auto result = run({"--expect-edges", "edges", "--format", "json"});
    CHECK(result.code == code);
    std::vector<std::string> names;
    const Json json = Json::parse(result.output);
    for (const Json& node : json.at("wrongNodes")) names.push_back(node.at("node"));
    return names;
  }
  void write_npy(const std::string& name, const std::vector<float>& four) const {
    write(name, float_npy("(4,)", four));
  }
};

TEST_CASE("expect-edges: what the same program computed is the same") {
  const Edges graph;
  const auto same = graph.run({"--expect-edges", "edges"});
  CHECK(same.code == 0);
  CHECK(same.output == "4 edges were compared. No node is wrong.\n");
  CHECK(graph.wrong_nodes(0).empty());
}

TEST_CASE("expect-edges: the node that computes something else is named, not those after it") {
  const Edges graph;
  // The second node should have computed this, and the others what follows from it.
  graph.write_npy("edges/b.npy", {10, 20, 30, 40});
  graph.write_npy("edges/c.npy", {10, 20, 30, 40});
  graph.write_npy("edges/d.npy", {-10, -20, -30, -40});
  const auto wrong = graph.run({"--expect-edges", "edges"});
  CHECK(wrong.code == 1);
  CHECK(contains(wrong.output, "FAILED: b against edges/b.npy: 4 of 4 elements differ"));
  CHECK(contains(wrong.output, "first mismatches:"));
  CHECK(contains(wrong.output,
                 "4 edges were compared, of which 2 differ only because their inputs do: from the "
                 "expected inputs, their nodes compute what is expected. The first wrong one is "
                 "the node \"second\" (ELEMENT_WISE_EXP): from the expected inputs it computes "
                 "another b.\n"));
  CHECK(graph.wrong_nodes(1) == std::vector<std::string>{"second"});
}

TEST_CASE("expect-edges: several wrong nodes are all named, and outputs are as without it") {
  const Edges graph;
  graph.write_npy("edges/a.npy", {5, 1, 2, 3});
  graph.write_npy("edges/d.npy", {0, 0, 0, 0});
  CHECK(graph.wrong_nodes(1) == std::vector<std::string>{"first", "fourth"});
  const auto wrong = graph.run({"--expect-edges", "edges", "-o", "d=d.npy", "-o", "c=c.npy"});
  CHECK(contains(wrong.output, "Wrong by themselves are also: node \"fourth\" "));
  const auto plain = graph.run({"-o", "d=e.npy", "-o", "c=f.npy"});
  CHECK(graph.read("d.npy") == graph.read("e.npy"));
  CHECK(graph.read("c.npy") == graph.read("f.npy"));
}

TEST_CASE("expect-edges: small differences grow, and no node is wrong") {
  const Edges graph;
  // Within the tolerance of EXP, which NEGATE passes on, and beyond the next integer.
  graph.write_npy("edges/b.npy", {1.0000001F, 2.7182817F, 7.389056F, 20.085537F});
  graph.write_npy("edges/c.npy", {2, 3, 8, 21});
  graph.write_npy("edges/d.npy", {-1.0000001F, -2.7182817F, -7.389056F, -20.085537F});
  const auto result = graph.run({"--expect-edges", "edges"});
  CHECK(result.code == 0);
  CHECK(result.output ==
        "4 edges were compared, of which 1 differs only because its inputs do: from the expected "
        "inputs, its node computes what is expected. No node is wrong.\n");
}

TEST_CASE("expect-edges: alone, a node is as exact as its operator, whatever its edge allows") {
  const Edges graph;
  // EXP may be so far off. NEGATE may not, and makes something else of it.
  graph.write_npy("edges/b.npy", {1 + 4 * 0x1p-23F, 2.7182817F, 7.389056F, 20.085537F});
  graph.write_npy("edges/d.npy", {-(1 + 5 * 0x1p-23F), -2.7182817F, -7.389056F, -20.085537F});
  CHECK(graph.wrong_nodes(1) == std::vector<std::string>{"fourth"});
}

TEST_CASE("expect-edges: eight wrong nodes are named beside the first, and the others counted") {
  const Folder folder;
  folder.write("x.npy", float_npy("(1,)", {1}));
  for (const auto& [nodes, end] :
       {std::pair(9, "node \"n8\" (ELEMENT_WISE_IDENTITY)\n"), std::pair(10, ") and 1 more\n"),
        std::pair(11, ") and 2 more\n")}) {
    CAPTURE(nodes);
    Json graph = Json::parse(
        R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [1]}], "nodes": []})");
    for (int i = 0; i < nodes; ++i) {
      const std::string name = "n" + std::to_string(i), edge = "e" + std::to_string(i);
      graph["nodes"].push_back({{"name", name},
                                {"type", "ELEMENT_WISE_IDENTITY"},
                                {"bindings", {{"InputTensor", "x"}, {"OutputTensor", edge}}}});
      graph["outputs"].push_back(edge);
      folder.write("edges/" + edge + ".npy", float_npy("(1,)", {2}));
    }
    folder.write("g.json", graph.dump());
    const auto wrong =
        dmlop_program({"run", "g.json", "-i", "x.npy", "--cpu", "--expect-edges", "edges"},
                      {.folder = folder.path()});
    CHECK(wrong.code == 1);
    CHECK(contains(wrong.output, "The first wrong one is the node \"n0\""));
    CHECK(contains(wrong.output, "Wrong by themselves are also: node \"n1\" "));
    CHECK(wrong.output.ends_with(end));
  }
}

TEST_CASE("expect-edges: an edge without a file makes the node after it uncertain") {
  const Edges graph;
  fs::remove(graph / "edges/b.npy");
  graph.write_npy("edges/c.npy", {0, 0, 0, 0});
  const auto wrong = graph.run({"--expect-edges", "edges"});
  CHECK(wrong.code == 1);
  CHECK(contains(wrong.output, "3 edges were compared. The first wrong one is the node \"third\""));
  CHECK(contains(wrong.output,
                 "Nothing was compared with its input b, so an earlier one may be wrong.\n"));
}

TEST_CASE("expect-edges: files by index.json, strangers and a folder without any") {
  const Edges graph;
  fs::rename(graph / "edges/b.npy", graph / "edges/other.npy");
  graph.write("edges/index.json", R"({"other.npy": "b"})");
  CHECK(graph.run({"--expect-edges", "edges"}).output ==
        "4 edges were compared. No node is wrong.\n");
  graph.write("edges/index.json", R"(["b"])");
  CHECK(graph.run({"--expect-edges", "edges"}).code == 3);
  fs::remove(graph / "edges/index.json");
  const auto stranger = graph.run({"--expect-edges", "edges"});
  CHECK(stranger.code == 0);
  CHECK(contains(stranger.error, "edges/other.npy matches no edge that a node writes"));
  fs::create_directory(graph / "empty");
  const auto none = graph.run({"--expect-edges", "empty"});
  CHECK(none.code == 2);
  CHECK(contains(none.error, "no file of this folder matches an edge that a node writes"));
  CHECK(graph.run({"--expect-edges", "nowhere"}).code == 6);
  graph.write("edges/c.npy", "no file of NumPy");
  CHECK(graph.run({"--expect-edges", "edges"}).code == 3);
  CHECK(graph.run({"--expect-edges", "edges", "-o", "d=edges/d.npy"}).code != 0);
}

TEST_CASE("expect-edges: edges with strides and of integers are taken as their nodes see them") {
  for (const char* name :
       {"reduce_float", "transpose_chain", "pool_unpool", "nbits_matmul", "topk_cumsum"}) {
    CAPTURE(std::string(name));
    const CaseFolder folder(name);
    std::vector<std::string> run{"run", "Partition_0.bin", "--cpu"};
    for (const auto& file : fs::directory_iterator(folder.path())) {
      const std::string input = to_text(file.path().filename());
      if (input.starts_with("input."))
        run.insert(run.end(), {"-i", input.substr(6, input.size() - 10) + "=" + input});
    }
    auto keep = run, expect = run;
    keep.insert(keep.end(), {"--keep-edges", "edges", "-q"});
    expect.insert(expect.end(), {"--expect-edges", "edges"});
    REQUIRE(folder.run(keep).code == 0);
    const auto same = folder.run(expect);
    CHECK(same.code == 0);
    CHECK(contains(same.output, " compared. No node is wrong.\n"));
  }
}

TEST_CASE("against: no node of a graph is wrong on a GPU") {
  // The entry gpu_graph_cases asks for it.
  const auto is_gpu = [](const SweptBackend& backend) { return backend.name != "cpu"; };
  if (std::ranges::none_of(available_backends(), is_gpu)) return;
  for (const char* name : {"layernorm_ffn", "topk_cumsum", "qdq_conv", "unet_up"}) {
    CAPTURE(std::string(name));
    const CaseFolder folder(name);
    std::vector<std::string> run{"run", "Partition_0.bin", "--cpu", "--against", tested_device()};
    for (const auto& file : fs::directory_iterator(folder.path())) {
      const std::string input = to_text(file.path().filename());
      if (input.starts_with("input."))
        run.insert(run.end(), {"-i", input.substr(6, input.size() - 10) + "=" + input});
    }
    const auto same = folder.run(run);
    CHECK(same.code == 0);
    CHECK(contains(same.output, " No node is wrong.\n"));
  }
  // An operator is compared, too, and written.
  const Edges graph;
  graph.write("op.json", R"({"type": "ELEMENT_WISE_ADD", "desc": {}})");
  std::vector<std::string> add{"run",           "op.json", "-i",        "ATensor=x.npy", "-i",
                               "BTensor=x.npy", "--cpu",   "--against", tested_device(), "-o",
                               "sum.npy"};
  const auto sum = dmlop_program(add, {.folder = graph.path()});
  CHECK(sum.code == 0);
  CHECK(contains(sum.output, "PASSED: OutputTensor against " + tested_device()));
  CHECK(graph.has("sum.npy"));
}

TEST_CASE("against: a device is not compared with itself, and not with golden files") {
  const Edges graph;
  const auto itself = graph.run({"--against", "cpu"});
  CHECK(itself.code == 2);
  CHECK(contains(itself.error, "--against cpu is cpu, which runs this already"));
  CHECK(graph.run({"--against", "nothing"}).code == 2);
  graph.write("op.json", R"({"type": "ELEMENT_WISE_ABS", "desc": {}})");
  const auto both = dmlop_program(
      {"run", "op.json", "-i", "x.npy", "--cpu", "--against", "cpu", "--expect", "x.npy"},
      {.folder = graph.path()});
  CHECK(both.code == 2);
  CHECK(contains(both.error, "--expect and --against compare the same outputs"));
}

}  // namespace
}  // namespace dmlop::test::edge_comparison_test
