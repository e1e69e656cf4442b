// The program with serialized graphs: inspect, check and run.
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "graph_folder.hpp"
#include "hostile.hpp"
#include "paths.hpp"

namespace dmlop::test::graph_program_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_CASE("graph program: inspect shows inputs, outputs, constants, nodes and totals") {
  const CaseFolder folder("odd_names");
  const auto shown = folder.run({"inspect", "Partition_0.bin"});
  CHECK(shown.code == 0);
  CHECK(shown.output ==
        "Partition_0.bin: serialized DirectML graph, 1 operator, 2 constants\n"
        "input    x  FLOAT32 [1, 1, 2, 3]\n"
        "output   relu_5  FLOAT32 [1, 1, 2, 4]\n"
        "constant enc/onnx::w  FLOAT32 [1, 1, 3, 4], 48 bytes in enc_onnx__w.bin\n"
        "constant a b.c  FLOAT32 [1, 1, 2, 4] strides [0, 0, 0, 1], 16 bytes in a b.c.bin\n"
        "node 2 relu_5_dmlEp_0  GEMM with ACTIVATION_RELU\n"
        "  x FLOAT32 [1, 1, 2, 3], enc/onnx::w-nodeIdx:0-outputIdx:0 FLOAT32 [1, 1, 3, 4], "
        "a b.c-nodeIdx:1-outputIdx:0 FLOAT32 [1, 1, 2, 4] strides [0, 0, 0, 1]\n"
        "  -> relu_5 FLOAT32 [1, 1, 2, 4]\n"
        "total: 1 GEMM; constants 64 bytes, outputs of nodes 32 bytes, 32 at a time\n");
  const Json json =
      Json::parse(folder.run({"inspect", "Partition_0.bin", "--format", "json"}).output).at(0);
  CHECK(json.at("inputs").at(0).at("name") == "x");
  CHECK(json.at("nodes").at(0).at("file") == "enc_onnx__w.bin");
  CHECK(json.at("nodes").at(0).at("fileBytes") == 48);
  const Json& gemm = json.at("nodes").at(2);
  CHECK(gemm.at("inputTensors").at(2).at("strides") == Json({0, 0, 0, 1}));
  CHECK(gemm.at("attributes").at(2) == Json({{"name", "Alpha"}, {"value", 1.0}}));
  CHECK(gemm.at("attributes").at(4).at("value").at("type") == "DML_OPERATOR_ACTIVATION_RELU");
  CHECK(json.at("totals").at("operators") == Json({{"DML_OPERATOR_GEMM", 1}}));
}

TEST_CASE("graph program: inspect needs no constants, and takes .npy files beside graphs") {
  const CaseFolder folder("odd_names");
  fs::remove(folder / "a b.c.bin");
  const auto shown = folder.run({"inspect", "Partition_0.bin", "input.x.npy"});
  CHECK(shown.code == 0);
  CHECK(shown.output.find("strides [0, 0, 0, 1], no file a b.c.bin\n") != std::string::npos);
  CHECK(shown.output.find("input.x.npy: FLOAT32 [2, 3], C order") != std::string::npos);
  const auto unused = CaseFolder("bitwise_ops").run({"inspect", "Partition_0.bin"});
  CHECK(unused.output.find("input       not used\n") != std::string::npos);
}

TEST_CASE("graph program: inspect shows a graph in JSON, and what a run needs at a time") {
  const Folder folder;
  folder.write("g.json", R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [8]}],
    "constants": {"c": {"DataType": "FLOAT32", "Sizes": [8], "Values": [1, 2, 3, 4, 5, 6, 7, 8]}},
    "nodes": [
      {"name": "a", "type": "ACTIVATION_RELU",
       "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
      {"name": "b", "type": "ACTIVATION_TANH",
       "bindings": {"InputTensor": "y", "OutputTensor": "z"}},
      {"name": "c", "type": "ELEMENT_WISE_ADD",
       "bindings": {"ATensor": "z", "BTensor": "c", "OutputTensor": "w"}}]})");
  const auto shown = dmlop_program({"inspect", "g.json"}, {.folder = folder.path()});
  CHECK(shown.code == 0);
  CHECK(
      shown.output.starts_with("g.json: graph, 3 operators, 1 constant\n"
                               "input    x  FLOAT32 [8]\n"
                               "output   w  FLOAT32 [8]\n"));
  // y ends when z is there.
  CHECK(shown.output.ends_with("outputs of nodes 96 bytes, 64 at a time\n"));
  folder.write("op.json", R"({"type": "ACTIVATION_RELU", "desc": {}})");
  const auto other = dmlop_program({"inspect", "op.json"}, {.folder = folder.path()});
  CHECK(other.code == 3);
  CHECK(other.error.find("the file is JSON") != std::string::npos);
  folder.write("g.json", R"({"nodes": [{"type": "PADING"}]})");
  CHECK(dmlop_program({"inspect", "g.json"}, {.folder = folder.path()}).code == 3);
}

TEST_CASE("graph program: a graph is recognized by its bytes, and a damaged one by its name") {
  const CaseFolder folder("odd_names");
  const std::string bytes = folder.read("Partition_0.bin");
  folder.write("renamed", bytes);
  CHECK(folder.run({"check", "renamed"}).code == 0);
  folder.write("half.bin", bytes.substr(0, bytes.size() / 2));
  folder.write("half", bytes.substr(0, bytes.size() / 2));
  for (const char* command : {"inspect", "check", "run"}) {
    const auto refused = folder.run({command, "half.bin"});
    CHECK(refused.code == 3);
    CHECK(refused.error.starts_with(
        "half.bin: error: this is not a serialized DirectML graph: byte 56: "
        "the offset of a node is 908"));
    CHECK(folder.run({command, "half"}).code == 3);
  }
  CHECK(contains(folder.run({"inspect", "half.bin"}).error,
                 "help: of a tensor without a header, write half.bin:FLOAT32"));
}

TEST_CASE("graph program: check says ok, or names node, field and rule") {
  const CaseFolder cnn("cnn_relu_pool");
  const auto fine = cnn.run({"check", "Partition_0.bin"});
  CHECK(fine.code == 0);
  CHECK(fine.output ==
        "Partition_0.bin: ok: graph of 5 operators (CONVOLUTION, MAX_POOLING, "
        "ELEMENT_WISE_IDENTITY, GEMM, ACTIVATION_SOFTMAX1) and 1 output\n");
  const Json json = Json::parse(cnn.run({"check", "Partition_0.bin", "--format", "json"}).output);
  CHECK(json.at("descriptions").at(0).at("nodes").at(3) ==
        Json({{"name", "gemm_9_dmlEp_0"}, {"operator", "DML_OPERATOR_GEMM"}}));
  const auto old = cnn.run({"check", "Partition_0.bin", "--feature-level", "5_0"});
  CHECK(old.code == 3);
  CHECK(old.error.starts_with(
      "Partition_0.bin: error: node \"softmax_10_dmlEp_0\" (DML_OPERATOR_ACTIVATION_SOFTMAX1): "));
  CHECK(old.error.find("\"featureLevel\"") == std::string::npos);
}

TEST_CASE("graph program: check without a constant's file warns, and run refuses") {
  const CaseFolder folder("odd_names");
  fs::remove(folder / "a b.c.bin");
  const auto checked = folder.run({"check", "Partition_0.bin"});
  CHECK(checked.code == 0);
  CHECK(checked.error.starts_with(
      "Partition_0.bin: warning: node \"a b.c\" (constant): reading a b.c.bin: "));
  const auto run = folder.run({"run", "Partition_0.bin", "-i", "input.x.npy", "--cpu"});
  CHECK(run.code == 6);
  CHECK(run.error.starts_with(
      "Partition_0.bin: error: node \"a b.c\" (constant): reading a b.c.bin: "));
}

TEST_CASE("graph program: run writes outputs, or shows and compares them") {
  const CaseFolder folder("cnn_relu_pool");
  const std::vector<std::string> usual{"run", "Partition_0.bin", "-i", "x=input.x.npy", "--cpu"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), usual.begin(), usual.end());
    return folder.run(more);
  };
  CHECK(run({"-o", "softmax_10=y.npy"}).output == "softmax_10: FLOAT32 [1, 1, 1, 10] in y.npy\n");
  CHECK(run({"-o", "z.npy", "-q"}).output.empty());
  CHECK(folder.read("z.npy") == folder.read("y.npy"));
  CHECK(run({}).output.starts_with("softmax_10: FLOAT32 [1, 1, 1, 10]\n  min "));
  // The file has 2 dimensions, as the tensor of the model had.
  const auto same = run({"--expect", "output.softmax_10.npy"});
  CHECK(same.code == 0);
  CHECK(same.output.starts_with(
      "PASSED: softmax_10 against output.softmax_10.npy: 10 elements agree\n"));
  CHECK(run({"--expect", "gemm_9=output.softmax_10.npy"}).code == 1);
  // Any edge can be written.
  CHECK(run({"-o", "relu_4=r.npy"}).output == "relu_4: FLOAT32 [1, 6, 12, 12] in r.npy\n");
  const Json json = Json::parse(run({"-o", "y.npy", "--format", "json"}).output);
  CHECK(json.at("status") == "done");
  CHECK(json.at("commands").size() == 5);
  CHECK(json.at("outputs").at(0).at("name") == "softmax_10");
  CHECK(run({"-q", "--timings"}).error.starts_with("Dispatch 'relu_4_dmlEp_0': 1 iterations, "));
}

TEST_CASE("graph program: run keeps edges in files with safe names") {
  const CaseFolder folder("nbits_matmul");
  const auto run = folder.run({"run", "Partition_0.bin", "-i", "x=input.x.npy", "--cpu",
                               "--keep-edges", "all/edges", "-o", "y.npy"});
  CHECK(run.code == 0);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : fs::directory_iterator(folder / "all/edges")) ++files;
  CHECK(files == 3);
  CHECK(Json::parse(folder.read("all/edges/index.json")) ==
        Json({{"matmulnbits_3.npy", "matmulnbits_3"},
              {"nodeIdx_2-outputIdx_0.npy", "nodeIdx:2-outputIdx:0"}}));
  CHECK(folder.read("all/edges/matmulnbits_3.npy") == folder.read("y.npy"));
  // Where no name changes, there is no index.
  const CaseFolder cnn("cnn_relu_pool");
  CHECK(cnn.run({"run", "Partition_0.bin", "-i", "input.x.npy", "--cpu", "--keep-edges", "."})
            .output.starts_with("softmax_10: FLOAT32 [1, 1, 1, 10]\n"));
  CHECK(cnn.has("maxpool_5.npy"));
  CHECK_FALSE(cnn.has("index.json"));
  // An input stays what it is.
  fs::rename(cnn / "input.x.npy", cnn / "relu_4.npy");
  const auto refused =
      cnn.run({"run", "Partition_0.bin", "-i", "relu_4.npy", "--cpu", "--keep-edges", "."});
  CHECK(refused.code == 2);
  CHECK(refused.error.find("the edge \"relu_4\" would replace the file of") != std::string::npos);
}

TEST_CASE("graph program: all mistakes of a run are reported before it") {
  const CaseFolder folder("many_inputs_sum");
  const auto refused =
      folder.run({"run", "Partition_0.bin", "-i", "no=input.x0.npy", "-o", "sum=y.npy", "--cpu"});
  CHECK(refused.code == 2);
  CHECK(refused.error.find("the graph has no input \"no\"") != std::string::npos);
  CHECK(refused.error.find("has no file") != std::string::npos);
  CHECK(refused.error.find("the graph has no edge \"sum\"") != std::string::npos);
  CHECK(refused.error.find("outputs: ") != std::string::npos);
  CHECK_FALSE(folder.has("y.npy"));
}

TEST_CASE("graph program: options of other files are refused") {
  const CaseFolder folder("cnn_relu_pool");
  const std::vector<std::vector<std::string>> rows{
      {"run", "Partition_0.bin", "--set", "Mode=CONVOLUTION"},
      {"run", "Partition_0.bin", "--input-path", "."},
      {"run", "Partition_0.bin", "--expect", "--update-golden"},
      {"run", "PADDING", "--expect-edges", "edges"},
      {"check", "Partition_0.bin", "-i", "input.x.npy"},
      {"check", "Partition_0.bin", "--set", "Mode=CONVOLUTION"},
      {"run", "PADDING", "--keep-edges", "edges"},
      {"bench", "Partition_0.bin", "--cpu", "--input-path", "."},
      {"convert", "Partition_0.bin", "--to-model", "m.json"},
  };
  for (const auto& row : rows) {
    CAPTURE(row);
    const auto refused = folder.run(row);
    CHECK(refused.code == 2);
    CHECK(refused.error.find("graph") != std::string::npos);
  }
}

TEST_CASE("graph program: bench shows how long operators and nodes take") {
  const CaseFolder folder("cnn_relu_pool");
  const auto bench = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", "Partition_0.bin", "--cpu", "--min-time", "0"});
    return folder.run(more);
  };
  const auto made_up = bench({"--format", "json"});
  REQUIRE_MESSAGE(made_up.code == 0, made_up.error);
  const auto json = nlohmann::json::parse(made_up.output);
  CHECK(json.at("runs") == 10);
  CHECK(json.at("nodes").size() == 5);
  CHECK(json.at("nodes").at(0).at("name") == "relu_4_dmlEp_0");
  double operators = 0, nodes = 0;
  std::size_t count = 0;
  for (const auto& row : json.at("operators")) {
    operators += row.at("medianSeconds").get<double>();
    count += row.at("nodes").get<std::size_t>();
  }
  for (const auto& row : json.at("nodes")) nodes += row.at("medianSeconds").get<double>();
  CHECK(operators == doctest::Approx(nodes));
  CHECK(count == 5);
  CHECK(contains(bench({"-i", "input.x.npy"}).output, "percent   CONVOLUTION\n"));
  CHECK(contains(bench({"-i", "y=input.x.npy"}).error, "the graph has no input \"y\""));
}

TEST_CASE("graph program: --timings sums up the runs of each operator") {
  const CaseFolder folder("mlp_large_weights");
  const auto text = folder.run({"run", "Partition_0.bin", "--cpu", "-i", "x=input.x.npy", "-o",
                                "gemm_7=y.npy", "--timings"});
  CHECK(contains(text.error, "Operator 'GEMM': 2 runs, "));
  const auto json = folder.run({"run", "Partition_0.bin", "--cpu", "-i", "x=input.x.npy", "-o",
                                "gemm_7=y.npy", "--timings", "--format", "json"});
  CHECK(nlohmann::json::parse(json.output).at("operators").at(0).at("runs") == 2);
}

TEST_CASE("graph program: --confine keeps constants in the folder") {
#ifndef _WIN32
  const CaseFolder folder("odd_names");
  fs::create_directory(folder / "outside");
  fs::rename(folder / "a b.c.bin", folder / "outside/c.bin");
  fs::create_directory(folder / "inside");
  for (const char* name : {"Partition_0.bin", "enc_onnx__w.bin"})
    fs::rename(folder / name, folder / (std::string("inside/") + name));
  fs::create_symlink(folder / "outside/c.bin", folder / "inside/a b.c.bin");
  const std::vector<std::string> run{"run", "inside/Partition_0.bin", "-i", "input.x.npy", "--cpu"};
  CHECK(folder.run(run).code == 0);
  auto confined = run;
  confined.emplace_back("--confine");
  const auto refused = folder.run(confined);
  CHECK(refused.code == 3);
  CHECK(refused.error.find("node \"a b.c\" (constant): ") != std::string::npos);
#endif
}

TEST_CASE("graph program: names in graphs are text, not commands") {
  const CaseFolder folder("odd_names");
  std::string bytes = folder.read("Partition_0.bin");
  const std::string name = "relu_5_dmlEp_0";
  for (const std::string& hostile : hostile_texts) {
    std::string changed = bytes, cut = hostile.substr(0, name.size());
    cut.resize(name.size(), 'x');
    changed.replace(changed.find(name), name.size(), cut);
    folder.write("hostile.bin", changed);
    check_harmless(folder.run({"inspect", "hostile.bin"}));
    check_harmless(folder.run({"check", "hostile.bin", "--feature-level", "1_0"}));
    check_harmless(folder.run({"run", "hostile.bin", "-i", "input.x.npy", "--cpu", "--timings"}));
  }
}

TEST_CASE("graph program: convert writes a graph as JSON and back, which compute the same") {
  const CaseFolder folder("cnn_relu_pool");
  const auto run = [&](const std::string& graph) {
    CHECK(folder.run({"run", graph, "-i", "x=input.x.npy", "-o", "y.npy", "--cpu"}).code == 0);
    return folder.read("y.npy");
  };
  const std::string expected = run("Partition_0.bin");
  CHECK(folder.run({"convert", "Partition_0.bin", "--to-graph", "graph.json"}).output ==
        "wrote graph.json\n");
  CHECK(run("graph.json") == expected);
  fs::create_directory(folder / "back");
  const auto back = folder.run({"convert", "graph.json", "--to-bin", "back/Partition_0.bin"});
  CHECK(back.output ==
        "wrote back/w1.bin\nwrote back/w2.bin\nwrote back/w7.bin\nwrote back/w8.bin\n"
        "wrote back/Partition_0.bin\n");
  CHECK(folder.read("back/w7.bin") == folder.read("w7.bin"));
  CHECK(run("back/Partition_0.bin") == expected);
  // Beside the constants' own files, none of them is copied.
  CHECK(folder.run({"convert", "graph.json", "--to-bin", "again.bin"}).output ==
        "wrote again.bin\n");
  CHECK(run("again.bin") == expected);
}

TEST_CASE("graph program: a graph by hand, with constants of all kinds") {
  const Folder folder;
  folder.write("two.npy", npy("<f4", "(2,)", std::string("\0\0\0\x40\0\0\0\x40", 8)));
  folder.write("raw", std::string("\0\0\x80\x3f\0\0\0\x40", 8));  // 1 and 2
  folder.write("graph.json", R"({
    "inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [2]}],
    "constants": {"two": "two.npy", "raw": "raw",
                  "ten": {"DataType": "FLOAT32", "Sizes": [2], "Values": [10, "inf"]}},
    "nodes": [
      {"type": "ELEMENT_WISE_MULTIPLY", "bindings": {"ATensor": "x", "BTensor": "two", "OutputTensor": "a"}},
      {"type": "ELEMENT_WISE_ADD", "bindings": {"ATensor": "a", "BTensor": "ten", "OutputTensor": "b"}},
      {"type": "ELEMENT_WISE_ADD", "bindings": {"ATensor": "b", "BTensor": "raw", "OutputTensor": "y"},
       "desc": {"BTensor": {"DataType": "FLOAT32", "Sizes": [2]}}}]})");
  folder.write("x.npy", npy("<f4", "(2,)", std::string("\0\0\x80\x3f\0\0\x80\x3f", 8)));
  const auto run = [&](const std::string& graph) {
    return dmlop_program({"run", graph, "-i", "x.npy", "--cpu", "--format", "json"},
                         {.folder = folder.path()});
  };
  const auto result = run("graph.json");
  CAPTURE(result.error);
  REQUIRE(result.code == 0);
  CHECK(Json::parse(result.output)["outputs"][0]["first"] == Json({"13", "inf"}));
  const auto saved = dmlop_program({"convert", "graph.json", "--to-bin", "g.bin", "-q"},
                                   {.folder = folder.path()});
  CHECK(saved.code == 0);
  CHECK(Json::parse(run("g.bin").output)["outputs"][0]["first"] == Json({"13", "inf"}));
}

TEST_CASE("graph program: the sample pads, pools and adds one") {
  const std::string samples = source_path("samples/");
  const auto result =
      dmlop_program({"run", samples + "graph/graph.json", "-i", samples + "padding/InputTensor.npy",
                     "--cpu", "--format", "json"});
  CAPTURE(result.error);
  REQUIRE(result.code == 0);
  // The largest elements of 3 x 3 windows of the padded image are 6 and 8.
  CHECK(Json::parse(result.output)["outputs"][0]["first"] == Json({"7", "9", "7", "9"}));
}

TEST_CASE("graph program: a constant that is written has the type that the graph says") {
  const Folder folder;
  const std::string graph = source_path("samples/graph/graph.json");
  const auto run = [&](const std::vector<std::string>& arguments) {
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  REQUIRE(run({"run", graph, "--cpu", "-o", "one=one.npy"}).code == 0);
  const std::string one = npy("<f4", "(1, 1, 1, 1)", std::string("\0\0\x80\x3f", 4));
  CHECK(folder.read("one.npy") == one);
  CHECK(run({"run", graph, "--cpu", "--expect", "one=one.npy"}).code == 0);
  // Of a serialized graph, the node that reads it says the type.
  REQUIRE(run({"convert", graph, "--to-bin", "g.bin"}).code == 0);
  const std::string image = "image=" + source_path("samples/graph/image.npy");
  CHECK(run({"run", "g.bin", "--cpu", "-i", image, "-o", "one=one.npy"}).output ==
        "one: FLOAT32 [1] in one.npy\n");
}

TEST_CASE("graph program: no constant takes the place of another file") {
  const Folder folder;
  const auto graph = [](const std::string& number) {
    return R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [2]}],
      "constants": {"g": {"DataType": "FLOAT32", "Sizes": [2], "Values": [)" +
           number + ", " + number + R"(]}},
      "nodes": [{"type": "ELEMENT_WISE_ADD",
        "bindings": {"ATensor": "x", "BTensor": "g", "OutputTensor": "y"}}]})";
  };
  folder.write("one.json", graph("1"));
  folder.write("two.json", graph("2"));
  folder.write("x.npy", npy("<f4", "(2,)", std::string(8, '\0')));
  folder.write("x3.npy", npy("<f4", "(3,)", std::string(12, '\0')));
  const auto run = [&](std::vector<std::string> arguments) {
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  const auto result_of = [&](const std::string& file) {
    const auto result = run({"run", file, "-i", "x.npy", "--cpu", "--format", "json"});
    return Json::parse(result.output)["outputs"][0]["first"];
  };
  // The graph has the constant's name, and then another graph has a constant of that name.
  CHECK(run({"convert", "one.json", "--to-bin", "g.bin", "-q"}).code == 0);
  CHECK(run({"convert", "two.json", "--to-bin", "other.bin", "-q"}).code == 0);
  CHECK(run({"convert", "one.json", "--to-bin", "third.bin", "-q"}).code == 0);
  CHECK(result_of("g.bin") == Json({"1", "1"}));
  CHECK(result_of("other.bin") == Json({"2", "2"}));
  CHECK(result_of("third.bin") == Json({"1", "1"}));
  // Constants whose names differ only in case get different files, because Windows takes them for
  // one.
  folder.write("cases.json", R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [2]}],
    "constants": {"W": {"DataType": "FLOAT32", "Sizes": [2], "Values": [1, 1]},
                  "w": {"DataType": "FLOAT32", "Sizes": [2], "Values": [2, 2]}},
    "nodes": [{"name": "y", "type": "ELEMENT_WISE_ADD",
               "bindings": {"ATensor": "x", "BTensor": "W", "OutputTensor": "y"}},
              {"name": "z", "type": "ELEMENT_WISE_ADD",
               "bindings": {"ATensor": "y", "BTensor": "w", "OutputTensor": "z"}}],
    "outputs": ["z"]})");
  fs::create_directory(to_path(folder / "cases"));
  CHECK(run({"convert", "cases.json", "--to-bin", "cases/cases.bin", "-q"}).code == 0);
  CHECK(result_of("cases/cases.bin") == Json({"3", "3"}));
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(to_path(folder / "cases")))
    CHECK(names.insert(lower_case(to_text(entry.path().filename()))).second);
  CHECK(names.size() == 3);
  // Nor does an edge that is kept.
  folder.write("k/y.npy", npy("<f4", "(2,)", std::string(8, '\0')));
  CHECK(
      run({"run", "one.json", "-i", "x.npy", "--cpu", "--keep-edges", "k", "--expect", "y=k/y.npy"})
          .code == 2);
  CHECK(run({"run", "one.json", "-i", "x.npy", "--cpu", "--keep-edges", "k", "-o", "y=k/y.npy"})
            .code == 2);
  // A file has as many elements as the input.
  CHECK(run({"run", "one.json", "-i", "x3.npy", "--cpu"}).code == 3);
}

TEST_CASE(
    "graph program: a file of fewer 16-bit elements is refused, though bytes are rounded up") {
  const Folder folder;
  folder.write("g.json", R"({"inputs": [{"name": "x", "DataType": "FLOAT16", "Sizes": [4]}],
    "nodes": [{"type": "ACTIVATION_RELU", "bindings": {"InputTensor": "x", "OutputTensor": "y"}}]})");
  for (const auto& [count, code] : {std::pair(3, 3), std::pair(4, 0), std::pair(5, 3)}) {
    folder.write("x.npy", npy("<f2", "(" + std::to_string(count) + ",)",
                              std::string(static_cast<std::size_t>(2 * count), '\0')));
    const auto result =
        dmlop_program({"run", "g.json", "-i", "x.npy", "--cpu"}, {.folder = folder.path()});
    CHECK(result.code == code);
  }
}

TEST_CASE("graph program: converting again writes no constant again") {
  const CaseFolder folder("cnn_relu_pool");
  fs::create_directory(folder / "b");
  const std::vector<std::string> convert{"convert", "Partition_0.bin", "--to-bin", "b/p.bin"};
  CHECK(folder.run(convert).output.find("wrote b/w1.bin\n") != std::string::npos);
  CHECK(folder.run(convert).output == "wrote b/p.bin\n");
}

/// A graph of one DEQUANTIZE, of which the quantized tensor is `source`: an input or a constant.
std::string dequantize_of(const std::string& source) {
  return R"({"inputs": [{"name": "x", "DataType": "INT4", "Sizes": [4]}],
    "constants": {"scale": {"DataType": "FLOAT32", "Sizes": [4], "Values": [1, 1, 1, 1]},
                  "c": "c.npy"},
    "nodes": [{"type": "DEQUANTIZE",
      "bindings": {"InputTensor": ")" +
         source + R"(", "QuantizationTensors": ["scale"], "OutputTensor": "y"},
      "desc": {"InputTensor": {"DataType": "INT4", "Sizes": [4]}, "QuantizationType": "SCALE"}}]})";
}

TEST_CASE("graph program: elements of 4 bits fit, and are not read out of bytes of their own") {
  const Folder folder;
  folder.write("input.json", dequantize_of("x"));
  folder.write("constant.json", dequantize_of("c"));
  folder.write("c.npy", npy("|i1", "(4,)", std::string("\x01\xFE\x07\xF8", 4)));
  folder.write("nine.npy", npy("|i1", "(4,)", std::string("\x01\xFE\x09\xF8", 4)));
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "run");
    more.insert(more.end(), {"--cpu", "--format", "json"});
    return dmlop_program(more, {.folder = folder.path()});
  };
  const auto fine = run({"input.json", "-i", "c.npy"});
  CAPTURE(fine.error);
  REQUIRE(fine.code == 0);
  CHECK(Json::parse(fine.output)["outputs"][0]["first"] == Json({"1", "-2", "7", "-8"}));
  const auto nine = run({"input.json", "-i", "nine.npy"});
  CHECK(nine.code == 3);
  CHECK(nine.output.find("element 2 of nine.npy is 9, which does not fit INT4") !=
        std::string::npos);
  CHECK(nine.output.find("has a byte for each element, from -8 to 7") != std::string::npos);
  const auto constant = run({"constant.json", "-i", "c.npy"});
  CHECK(constant.code == 4);
  CHECK(constant.output.find("is a .npy file, with a byte for each element") != std::string::npos);
}

TEST_CASE("graph program: an input may hold two elements of 4 bits in a byte") {
  const Folder folder;
  const auto graph_with = [](const std::string& type, const std::string& sizes) {
    std::string graph = dequantize_of("x");
    const std::string declared = R"("DataType": "INT4", "Sizes": [4])";
    return graph.replace(graph.find(declared), declared.size(),
                         R"("DataType": ")" + type + R"(", "Sizes": )" + sizes);
  };
  folder.write("bytes.json", graph_with("UINT8", "[2]"));
  folder.write("elements.json", graph_with("INT4", "[4]"));
  folder.write("c.npy", npy("|i1", "(4,)", std::string(4, '\0')));
  folder.write("packed.npy", npy("|u1", "(2,)", "\xE1\x87"));
  folder.write("signed.npy", npy("|i1", "(2,)", "\xE1\x87"));
  folder.write("four.npy", npy("|u1", "(4,)", std::string(4, '\1')));
  const auto run = [&](const std::string& graph, const std::string& file) {
    return dmlop_program({"run", graph, "-i", "x=" + file, "--cpu", "--format", "json"},
                         {.folder = folder.path()});
  };
  // Eight elements in four bytes, which the file has column by column.
  std::string rows = graph_with("UINT8", "[2, 2]");
  for (auto at = rows.find("[4]"); at != std::string::npos; at = rows.find("[4]", at))
    rows.replace(at, 3, "[8]");
  const std::string scales = "[1, 1, 1, 1]";
  folder.write("rows.json",
               rows.replace(rows.find(scales), scales.size(), "[1, 1, 1, 1, 1, 1, 1, 1]"));
  folder.write("columns.npy", npy("|u1", "(2, 2)", "\xE1\x32\x87\x54", true));
  struct Row {
    const char *graph, *file;
    Json elements;
  };
  for (const Row& row :
       {Row{"bytes.json", "packed.npy", {"1", "-2", "7", "-8"}},
        Row{"elements.json", "signed.npy", {"1", "-2", "7", "-8"}},
        Row{"rows.json", "columns.npy", {"1", "-2", "7", "-8", "2", "3", "4", "5"}}}) {
    CAPTURE(row.graph);
    const auto packed = run(row.graph, row.file);
    CAPTURE(packed.output);
    REQUIRE(packed.code == 0);
    CHECK(Json::parse(packed.output)["outputs"][0]["first"] == row.elements);
  }
  // The graph says that the input has bytes, each of which holds two elements.
  CHECK(run("bytes.json", "four.npy")
            .output.find("is UINT8 [2], 2 bytes, but four.npy has UINT8 [4], 4 bytes") !=
        std::string::npos);
}

TEST_CASE("graph program: what a graph in JSON may not name or say") {
  const Folder folder;
  folder.write("g/x.bin", npy("<f4", "(1,)", std::string(4, '\0')));
  folder.write("outside.npy", npy("<f4", "(1,)", std::string(4, '\0')));
  const auto error = [&](const std::string& constant, const std::string& more,
                         std::vector<std::string> arguments) {
    folder.write("g/g.json", R"({"constants": {"c": ")" + constant + R"("},
      "nodes": [{"type": "ACTIVATION_RELU", )" +
                                 more + R"(
        "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [1]}},
        "bindings": {"InputTensor": "c", "OutputTensor": "y"}}]})");
    arguments.insert(arguments.begin(), {"check", "g/g.json"});
    const auto result = dmlop_program(arguments, {.folder = folder.path()});
    CHECK(result.code == 3);
    return result.error;
  };
  const auto says = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  says(error("x.bin", "", {}), "it is a .npy file, and its name makes it raw bytes");
  says(error("../outside.npy", R"("as": "page",)", {}), "a node has no judge of its own");
  // Whether or not there is such a file.
  for (const char* path : {"../outside.npy", "../nowhere.npy", "../g/x.npy"})
    says(error(path, "", {"--confine"}), "constants.c");
  says(error("../nowhere.npy", "", {"--confine"}), "--confine");
}

TEST_CASE("graph program: convert refuses what a graph is not, and files that it reads") {
  const CaseFolder folder("cnn_relu_pool");
  folder.write("op.json", R"({"type": "ACTIVATION_RELU", "desc": {}})");
  const auto error = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "convert");
    const auto result = folder.run(arguments);
    CHECK(result.code == 2);
    return result.error;
  };
  CHECK(error({"op.json", "--to-bin", "g.bin"}).find("op.json is not a graph") !=
        std::string::npos);
  CHECK(error({"Partition_0.bin", "--to-op", "o.json"})
            .find("is a graph: --node NAME --to-op OP.json writes one node, --to-graph") !=
        std::string::npos);
  CHECK(error({"Partition_0.bin", "--to-bin", "Partition_0.bin"}).find("is read by this") !=
        std::string::npos);
  CHECK(error({"Partition_0.bin", "--to-graph", "w1.bin"}).find("is read by this") !=
        std::string::npos);
  CHECK(error({"Partition_0.bin", "--to-graph", "-"}).find("cannot be a stream") !=
        std::string::npos);
}

TEST_CASE("graph program: a node reads no more of an input than the graph says that it has") {
  const Folder folder;
  const auto check = [&](const std::string& sizes) {
    folder.write("graph.json",
                 R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}],
                     "nodes": [{"name": "n", "type": "ELEMENT_WISE_IDENTITY",
                                "bindings": {"InputTensor": "x", "OutputTensor": "y"},
                                "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": )" +
                     sizes + "}}}]}");
    return dmlop_program({"check", "graph.json"}, {.folder = folder.path()});
  };
  CHECK(check("[1, 1, 4, 4]").code == 0);
  CHECK(check("[1, 1, 2, 8]").code == 0);
  CHECK(check("[1, 1, 1, 4]").code == 0);
  const auto more = check("[1, 1, 4, 5]");
  CHECK(more.code == 3);
  CHECK(more.error.find(
            "InputTensor needs 80 bytes, but the edge \"x\" has 64\n  help: give the edge more "
            "elements, or repeat its elements with Strides of 0") != std::string::npos);
}

}  // namespace
}  // namespace dmlop::test::graph_program_test
