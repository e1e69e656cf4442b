// The graphs of one model as one graph, and a folder of them.
#include "graph/join_graphs.hpp"

#include "graph_folder.hpp"
#include "job/folder.hpp"

namespace dmlop::test::join_graphs_test {
namespace {

GraphNode node(const std::string& from, const std::string& to) {
  return {"n", GraphOperator{}, {from}, {to}};
}

/// from -> t -> to, where t is an edge within the graph.
Graph chain(const std::string& file, const std::string& from, const std::string& to) {
  return {
      .file = file, .inputs = {from}, .outputs = {to}, .nodes = {node(from, "t"), node("t", to)}};
}

std::string failure_of(std::vector<Graph> graphs) {
  Diagnostics diagnostics;
  CHECK_FALSE(join_graphs(std::move(graphs), diagnostics));
  REQUIRE(!diagnostics.empty());
  return diagnostics.front().file + ": " + diagnostics.front().message;
}

TEST_CASE("join_graphs: graphs run after those that they wait for, whatever their numbers") {
  Diagnostics diagnostics;
  const auto joined =
      join_graphs({chain("f/Partition_0.bin", "b", "c"), chain("f/Partition_1.bin", "x", "a"),
                   chain("f/Partition_2.bin", "a", "b")},
                  diagnostics);
  CHECK(diagnostics.empty());
  REQUIRE(joined);
  CHECK(joined->file == "f/Partition_0.bin");
  CHECK(joined->inputs == std::vector<std::string>{"x"});
  CHECK(joined->outputs == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(joined->nodes.size() == 6);
  CHECK(joined->nodes[0] == node("x", "t"));
  CHECK(joined->nodes[1] == node("t", "a"));
  CHECK(joined->nodes[2] == node("a", "Partition_2/t"));
  CHECK(joined->nodes[3] == node("Partition_2/t", "b"));
  CHECK(joined->nodes[5] == node("Partition_0/t", "c"));
}

TEST_CASE("join_graphs: an edge within a graph is not the input or output of another one") {
  Diagnostics diagnostics;
  Graph inner = chain("Partition_1.bin", "x", "y");
  const auto joined = join_graphs({inner, chain("Partition_2.bin", "z", "t")}, diagnostics);
  REQUIRE(joined);
  CHECK(joined->inputs == std::vector<std::string>{"x", "z"});
  CHECK(joined->nodes[1] == node("Partition_1/t", "y"));
  CHECK(joined->nodes[3] == node("t", "t"));  // its own output, which another graph's edge is not
}

TEST_CASE("join_graphs: two outputs of one name, and graphs that wait for each other") {
  CHECK(failure_of({chain("Partition_0.bin", "x", "y"), chain("Partition_1.bin", "x", "y")}) ==
        "Partition_1.bin: the output \"y\" is also that of another graph");
  CHECK(failure_of({chain("Partition_0.bin", "a", "b"), chain("Partition_1.bin", "b", "a")}) ==
        "Partition_0.bin: each of the graphs waits for an output of another one");
}

TEST_CASE("join_graphs: the graphs of a folder come in the order of their numbers") {
  const Folder folder;
  std::vector<std::string> expected;
  for (const char* name :
       {"Partition_0.bin", "Partition_2.bin", "Partition_10.bin", "Partition_11.bin"}) {
    folder.write(name, "");
    expected.push_back(to_text(std::filesystem::path(folder / name)));
  }
  CHECK(partitions_in(folder.path()) == expected);
}

TEST_CASE("join_graphs: the program runs a folder of graphs as one") {
  const CaseFolder folder("conv1d_conv3d");
  const auto run = folder.run({"run", ".", "--cpu", "-i", "x=input.x.npy", "-i", "z=input.z.npy",
                               "--expect", "elu_4=output.elu_4.npy", "--expect",
                               "maxpool_7=output.maxpool_7.npy", "--atol", "1e-5"});
  CHECK_MESSAGE(run.code == 0, run.error);
  CHECK(contains(run.output, "PASSED: elu_4"));
  CHECK(contains(run.output, "PASSED: maxpool_7"));
  CHECK(contains(folder.run({"check", "."}).output, "graph of 3 operators"));
  folder.write("Partition_1.bin", "no graph");
  const auto broken = folder.run({"check", "."});
  CHECK(broken.code == 3);
  CHECK(contains(broken.error, "Partition_1.bin"));
}

}  // namespace
}  // namespace dmlop::test::join_graphs_test
