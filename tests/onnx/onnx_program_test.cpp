// The program with ONNX models and tests: inspect, check, run, convert, batch and ops --onnx.
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "folder.hpp"
#include "npy/npy.hpp"
#include "onnx_writer.hpp"
#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::onnx_program_test {
namespace {

namespace fs = std::filesystem;
using namespace onnx_bytes;
using Json = nlohmann::json;

/// A copy of the sample: Gemm, Relu and Softmax, with a dimension that is only named.
class Sample {
 public:
  Sample() { fs::copy(source_path("samples/onnx"), folder_ / "onnx", fs::copy_options::recursive); }

  ProgramResult run(const std::vector<std::string>& arguments) const {
    return dmlop_program(arguments, {.folder = folder_.path()});
  }
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

TEST_CASE("onnx program: inspect shows what each node becomes") {
  const Sample sample;
  const auto shown = sample.run({"inspect", "onnx/model.onnx", "--dim", "batch=2"});
  CHECK(shown.code == 0);
  CHECK(has(shown.output,
            "onnx/model.onnx: ONNX model as a graph of DirectML, 3 operators, 2 "
            "constants\n"));
  CHECK(has(shown.output, "node 3 positive  ACTIVATION_RELU\n"));
  const Json json = Json::parse(
      sample.run({"inspect", "onnx/model.onnx", "--dim", "batch=2", "--format", "json"}).output);
  CHECK(json.at(0).at("format") == "ONNX model as a graph of DirectML");
  CHECK(json.at(0).at("totals").at("constantBytes") == 60);
}

TEST_CASE("onnx program: --dim and --node take one value, and leave the model that follows") {
  const Sample sample;
  CHECK(sample
            .run({"run", "--cpu", "--dim", "batch=2", "onnx/model.onnx", "-i", "x=onnx/x.npy", "-o",
                  "out.npy"})
            .code == 0);
  CHECK(sample
            .run({"convert", "--dim", "batch=2", "--node", "scores", "onnx/model.onnx", "--to-op",
                  "op.json"})
            .code == 0);
}

TEST_CASE("onnx program: sizes come from --dim or from files") {
  const Sample sample;
  const auto unknown = sample.run({"check", "onnx/model.onnx"});
  CHECK(unknown.code == 3);
  CHECK(has(unknown.error, "help: write --dim batch=SIZE, or give the input's file with -i"));
  CHECK(sample.run({"check", "onnx/model.onnx", "--dim", "batch=2"}).code == 0);
  CHECK(sample.run({"check", "onnx/model.onnx", "-i", "x=onnx/x.npy"}).code == 0);
  const auto other =
      sample.run({"check", "onnx/model.onnx", "--dim", "batch=3", "-i", "x=onnx/x.npy"});
  CHECK(other.code == 3);
  CHECK(has(other.error, "is 3, but its file has the sizes [2, 4]"));
  const auto level =
      sample.run({"check", "onnx/model.onnx", "--dim", "batch=2", "--feature-level", "5_0"});
  CHECK(level.code == 3);
  CHECK(has(level.error, "node \"softmax\" (DML_OPERATOR_ACTIVATION_SOFTMAX1)"));
  for (const char* wrong : {"batch", "batch=", "=2", "batch=-1", "batch=2147483648"}) {
    CAPTURE(wrong);
    CHECK(sample.run({"check", "onnx/model.onnx", "--dim", wrong}).code == 2);
  }
  const auto twice =
      sample.run({"check", "onnx/model.onnx", "--dim", "batch=2", "--dim", "batch=2"});
  CHECK(twice.code == 2);
  CHECK(has(twice.error, "--dim batch is given twice"));
  CHECK(has(sample.run({"check", "onnx/x.npy", "--dim", "batch=2"}).error, "this is a .npy file"));
}

TEST_CASE("onnx program: a raw file has the sizes of the model and of --dim") {
  const Sample sample;
  sample.folder().write("x.raw", raw_floats({1, 2, 3, 4, 5, 6, 7, 8}));
  const std::vector<std::string> run{"run", "onnx/model.onnx", "--cpu", "-i", "x=x.raw:raw",
                                     "-o",  "y=y.npy"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return sample.run(more);
  };
  const auto unknown = sample.run(run);
  CHECK(unknown.code == 3);
  CHECK(has(unknown.error,
            "a raw file has no header, and the model does not say all sizes of x: write "
            "x.raw:FLOAT32:SIZE,4, or write --dim batch=SIZE"));
  const auto done = with({"--dim", "batch=2"});
  CHECK_MESSAGE(done.code == 0, done.error);
  CHECK(has(with({"--dim", "batch=3"}).error, "FLOAT32 [3, 4] needs 48"));
}

TEST_CASE(
    "onnx program: inspect shows the model's types, also where DirectML reads unsigned ones") {
  const Folder folder;
  const std::vector<std::string> axes{integer("batch_axis", 1), integer("time_axis", 0)};
  folder.write("m.onnx", model({.nodes = {node("ReverseSequence", {"x", "l"}, {"y"}, axes)},
                                .inputs = {value("x", {"2", "3"}), value("l", {"3"}, 7)},
                                .outputs = {value("y", {"2", "3"})}}));
  const auto inspected = dmlop_program({"inspect", "m.onnx"}, {.folder = folder.path()});
  CHECK(has(inspected.output, "input    l  INT64 [3]\n"));
  CHECK(has(inspected.output, "l UINT64 [1, 1, 1, 3]"));
}

TEST_CASE("onnx program: what is wrong with a model is said in its own words") {
  const auto range = [](float start, float limit, float delta) {
    return model({.nodes = {node("Range", {"a", "b", "c"}, {"y"})},
                  .initializers = {tensor("a", 1, {}, raw_floats({start})),
                                   tensor("b", 1, {}, raw_floats({limit})),
                                   tensor("c", 1, {}, raw_floats({delta}))},
                  .inputs = {}});
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<std::string, std::string>> rows{
      {range(0, nan, 1), "its start, limit and delta must be finite numbers"},
      {range(0, 4, nan), "its start, limit and delta must be finite numbers"},
      {range(0, 4, 0), "its delta is 0"},
      {"", "it has no graph\n  help: it is empty: copy or download it again"},
      {model({.nodes = {node("Abs", {"x"}, {"y"})}, .inputs = {value("x", {"2"}, 0)}}),
       "input \"x\" is UNDEFINED, which DirectML does not have"},
      {model({.nodes = {node("Add", {"x", "w"}, {"y"})},
              .initializers = {tensor("", 1, {1}, raw_floats({1})),
                               tensor("v", 1, {1}, raw_floats({1}))}}),
       "values that are there: v, x\n"}};
  for (const auto& [bytes, message] : rows) {
    const Folder folder;
    folder.write("m.onnx", bytes);
    const auto result = dmlop_program({"check", "m.onnx"}, {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(has(result.error, message));
  }
}

TEST_CASE("onnx program: every file that is wrong is said") {
  const Sample sample;
  const auto refused =
      sample.run({"run", "onnx/model.onnx", "--cpu", "-i", "x=absent.npy", "-i", "nothing=x.npy"});
  CHECK(has(refused.error, "absent.npy"));
  CHECK(has(refused.error, "the model has no input \"nothing\""));
}

// Commands differ in where sizes can come from.
TEST_CASE("onnx program: what gives a size is what this command has") {
  const Sample sample;
  const std::string model = "onnx/model.onnx";
  const auto refused = sample.run({"convert", model, "--to-graph", "g.json"});
  CHECK(refused.code == 3);
  CHECK(has(refused.error, "\n  help: write --dim batch=SIZE\n"));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"inspect", model},
        std::vector<std::string>{"convert", model, "--to-ops", "ops"}})
    CHECK(has(sample.run(arguments).error,
              "help: write --dim batch=SIZE, or give the input's file with -i"));
  sample.folder().write("jobs.json", R"([{"graph": "onnx/model.onnx"}])");
  const auto job = sample.run({"batch", "jobs.json", "--cpu"});
  CHECK(has(job.output + job.error,
            "help: give the job \"dimensions\": {\"batch\": SIZE}, or name the input's file in the "
            "job's \"bindings\"\n"));
  CHECK_FALSE(sample.folder().has("g.json"));
}

TEST_CASE("onnx program: a size without a name comes from a file or from the model") {
  const Folder folder;
  const std::string sizes = part(2, part(1, "") + part(1, number(1, 3)));
  const std::string input = part(1, "x") + part(2, part(1, number(1, 1) + sizes));
  folder.write("m.onnx", model({.nodes = {node("Relu", {"x"}, {"y"})}, .inputs = {input}}));
  const auto run = [&](const std::vector<std::string>& arguments) {
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  CHECK(has(run({"check", "m.onnx"}).error, "help: give the input's file with -i\n"));
  CHECK(has(run({"convert", "m.onnx", "--to-graph", "g.json"}).error,
            "help: write it into the model; dmlop check and run also take it from the input's "
            "file, with -i\n"));
}

TEST_CASE("onnx program: golden files are what run writes") {
  const Sample sample;
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "onnx/model.onnx", "--cpu", "-i", "x=onnx/x.npy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sample.run(arguments);
  };
  const std::string remedy =
      "write one with -o NAME=FILE.npy, and compare with it: --expect NAME=FILE.npy\n";
  const auto missing = run({"--expect"});
  CHECK(missing.code == 2);
  CHECK(missing.error == "dmlop: error: there is no golden file in onnx/expected; " + remedy);
  CHECK(has(run({"--expect", "y=y.npy", "--update-golden"}).error, "help: " + remedy));
  CHECK(run({"-o", "y=y.npy"}).code == 0);
  CHECK(run({"--expect", "y=y.npy"}).code == 0);
  fs::rename(sample.folder() / "onnx/model.onnx", sample.folder() / "onnx/other.onnx");
  const auto other =
      sample.run({"run", "onnx/other.onnx", "--cpu", "-i", "x=onnx/x.npy", "--expect"});
  CHECK(other.error == "dmlop: error: there is no golden file; " + remedy);
}

TEST_CASE("onnx program: run writes outputs with the model's sizes, from .npy and .pb alike") {
  const Sample sample;
  REQUIRE(
      sample.run({"run", "onnx/model.onnx", "--cpu", "-i", "x=onnx/x.npy", "-o", "y=a.npy"}).code ==
      0);
  REQUIRE(sample
              .run({"run", "onnx/model.onnx", "--cpu", "-i", "onnx/test_data_set_0/input_0.pb",
                    "-o", "y=b.npy", "--fuse"})
              .code == 0);
  CHECK(sample.folder().read("a.npy") == sample.folder().read("b.npy"));
  CHECK(has(sample.run({"inspect", "onnx/model.onnx", "--dim", "batch=2", "--fuse"}).output,
            "  GEMM with ACTIVATION_RELU\n"));
  CHECK(NpyFile::open(sample.folder().path() + "/a.npy").header().sizes ==
        std::vector<std::uint64_t>{2, 3});
  const auto unknown = sample.run({"run", "onnx/model.onnx", "-i", "z=onnx/x.npy"});
  CHECK(unknown.code == 2);
  CHECK(has(unknown.error, "the model has no input \"z\""));
  const auto twice =
      sample.run({"run", "onnx/model.onnx", "-i", "x=onnx/x.npy", "-i", "x=onnx/x.npy"});
  CHECK(has(twice.error, "the input \"x\" has two files"));
}

TEST_CASE("onnx program: compare, inspect and --expect take the .pb files of ONNX's tests") {
  const Sample sample;
  const std::string input = "onnx/test_data_set_0/input_0.pb",
                    output = "onnx/test_data_set_0/output_0.pb";
  const std::vector<std::string> run{"run", "onnx/model.onnx", "--cpu", "-i", "x=" + input};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = run;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sample.run(arguments);
  };
  const auto passed = with({"--expect", "y=" + output, "--atol", "1e-5", "-o", "y=y.npy"});
  CHECK_MESSAGE(passed.code == 0, passed.error);
  CHECK(has(passed.output, "PASSED: y against " + output));
  const auto compared = sample.run({"compare", "y.npy", output, "--atol", "1e-5"});
  CHECK_MESSAGE(compared.code == 0, compared.error);
  CHECK(sample.run({"compare", input, "onnx/x.npy"}).code == 0);
  CHECK(sample.run({"compare", input, output}).code == 1);
  const auto shown = sample.run({"inspect", input, "onnx/x.npy"});
  CHECK_MESSAGE(shown.code == 0, shown.error);
  CHECK(has(shown.output, input + ": FLOAT32 ["));
  // A number is read as from a .npy file, and so are elements of 4 bits (22: INT4).
  sample.folder().write("number.pb", tensor("", 1, {}, raw_floats({5})));
  sample.folder().write("number.npy", float_npy("()", {5}));
  CHECK(sample.run({"compare", "number.npy", "number.pb"}).code == 0);
  sample.folder().write("int4.pb", tensor("", 22, {3}, std::string("\x21\x03", 2)));
  CHECK(sample.run({"compare", "int4.pb", "int4.pb"}).code == 0);
  sample.folder().write("wrong.pb", "words");
  CHECK(has(sample.run({"inspect", "wrong.pb"}).error, "reading wrong.pb: "));
  CHECK(has(with({"--expect", "y=missing.pb"}).error, "missing.pb"));
}

TEST_CASE("onnx program: --timings of a test folder says how long its nodes took") {
  const Sample sample;
  const auto text = sample.run({"run", "onnx", "--cpu", "--timings"});
  CHECK(text.code == 0);
  CHECK_MESSAGE(has(text.error, "GEMM"), text.error);
  CHECK(!has(sample.run({"run", "onnx", "--cpu"}).error, "GEMM"));
  const Json json =
      Json::parse(sample.run({"run", "onnx", "--cpu", "--timings", "--format", "json"}).output);
  CHECK(json.at("dataSets").at(0).at("operators").size() >= 1);
}

// What a node takes is a part of what the whole program takes.
TEST_CASE("onnx program: --timings of a test folder says no more than has passed") {
  const Sample sample;
  const std::string floats = raw_floats(std::vector<float>(1 << 20));
  sample.folder().write("large/model.onnx", model({.nodes = {node("Sigmoid", {"x"}, {"y"})},
                                                   .inputs = {value("x", {"1048576"})},
                                                   .outputs = {value("y", {"1048576"})}}));
  for (const char* name : {"input_0", "output_0"})
    sample.folder().write("large/test_data_set_0/" + std::string(name) + ".pb",
                          tensor("x", 1, {1 << 20}, floats));
  const auto begin = std::chrono::steady_clock::now();
  const auto result = sample.run({"run", "large", "--cpu", "--timings"});
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
  std::smatch said;
  REQUIRE_MESSAGE(std::regex_search(result.error, said, std::regex("1 run, ([0-9.]+) ms")),
                  result.error);
  CHECK(std::stod(said[1]) > 0);
  CHECK(std::stod(said[1]) < passed.count());
}

TEST_CASE("onnx program: a test folder is compared with its outputs") {
  const Sample sample;
  const auto passed = sample.run({"run", "onnx", "--cpu"});
  CHECK(passed.code == 0);
  CHECK(has(passed.output, "PASSED: y against onnx/test_data_set_0/output_0.pb: 6 elements agree"));
  CHECK(sample.run({"batch", "onnx", "--cpu"}).code == 0);
  const std::string file = "onnx/test_data_set_0/output_0.pb";
  std::string bytes = sample.folder().read(file);
  bytes[bytes.size() - 1] = '\x40';  // the last of its floats
  sample.folder().write(file, bytes);
  const auto failed = sample.run({"run", "onnx", "--cpu", "--format", "json"});
  CHECK(failed.code == 1);
  const Json json = Json::parse(failed.output);
  CHECK(json.at("status") == "different");
  CHECK(json.at("dataSets").at(0).at("comparisons").at(0).at("mismatches") == 1);
  CHECK(sample.run({"run", "onnx", "--cpu", "--atol", "10"}).code == 0);
  const auto job = sample.run({"batch", "onnx", "--cpu"});
  CHECK(job.code == 1);
  CHECK(has(job.output, "1 FAILED"));
  CHECK(sample.run({"batch", "onnx", "--cpu", "--update-golden"}).code == 3);
}

TEST_CASE("onnx program: a test allows the differences that ONNX's own tests allow") {
  const Sample sample;
  sample.folder().write("six/model.onnx", model({.nodes = {node("Relu", {"x"}, {"y"})},
                                                 .inputs = {value("x", {"1"})},
                                                 .outputs = {value("y", {"1"})}}));
  sample.folder().write("six/test_data_set_0/input_0.pb", tensor("x", 1, {1}, raw_floats({6})));
  const auto against = [&](float expected) {
    sample.folder().write("six/test_data_set_0/output_0.pb",
                          tensor("y", 1, {1}, raw_floats({expected})));
    return sample.run({"run", "six", "--cpu"});
  };
  CHECK(against(6.003F).code == 0);
  const auto failed = against(6.03F);
  CHECK(failed.code == 1);
  CHECK_MESSAGE(has(failed.output, "rtol 0.001, atol 1e-07"), failed.output);
}

TEST_CASE("onnx program: convert writes a graph that computes the same") {
  const Sample sample;
  fs::create_directory(sample.folder() / "g");
  REQUIRE(
      sample.run({"run", "onnx/model.onnx", "--cpu", "-i", "x=onnx/x.npy", "-o", "y=y.npy"}).code ==
      0);
  for (const auto& [option, file] :
       {std::pair("--to-graph", "g/m.json"), std::pair("--to-bin", "g/m.bin")}) {
    CAPTURE(option);
    const auto converted =
        sample.run({"convert", "onnx/model.onnx", "--dim", "batch=2", option, file});
    REQUIRE_MESSAGE(converted.code == 0, converted.error);
    CHECK(has(converted.output, std::string("wrote ") + file));
    const auto run =
        sample.run({"run", file, "--cpu", "-i", "x=onnx/x.npy", "--expect", "y=y.npy"});
    CHECK_MESSAGE(run.code == 0, run.error);
  }
}

TEST_CASE("onnx program: a graph in JSON has the model's inputs, whatever its nodes read of them") {
  const std::string indices = tensor("i", 7, {1, 2}, raw_integers({3, 0}));
  for (const std::string& only : {node("GatherElements", {"x", "i"}, {"y"}, {integer("axis", 1)}),
                                  node("Transpose", {"x"}, {"y"}),
                                  node("Unsqueeze", {"x"}, {"y"}, {integers("axes", {0})})}) {
    const Sample sample;
    sample.folder().write("m.onnx", model({.nodes = {only},
                                           .initializers = {indices},
                                           .inputs = {value("x", {"2", "4"})},
                                           .outputs = {value("y", {})},
                                           .version = 11}));
    const auto converted = sample.run({"convert", "m.onnx", "--to-graph", "g.json"});
    REQUIRE_MESSAGE(converted.code == 0, converted.error);
    CHECK(has(sample.folder().read("g.json"),
              R"({"name": "x", "DataType": "FLOAT32", "Sizes": [2, 4]})"));
    const std::vector<std::string> x{"--cpu", "-i", "x=onnx/x.npy"};
    const auto run = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), x.begin(), x.end());
      return sample.run(arguments);
    };
    REQUIRE(run({"run", "m.onnx", "-o", "y=y.npy"}).code == 0);
    const auto of_graph = run({"run", "g.json", "--expect", "y=y.npy"});
    CHECK_MESSAGE(of_graph.code == 0, of_graph.error);
    const auto serialized = sample.run({"convert", "m.onnx", "--to-bin", "g.bin"});
    if (serialized.code == 0) {
      const auto of_bin = run({"run", "g.bin", "--expect", "y=y.npy"});
      CHECK_MESSAGE(of_bin.code == 0, of_bin.error);
    }
    const bool reads_all = only.find("GatherElements") == std::string::npos;
    CHECK(serialized.code == (reads_all ? 0 : 4));
    CHECK(has(serialized.error,
              "the input \"x\" has 8 elements, but nodes read the first 4 only") != reads_all);
  }
}

TEST_CASE("onnx program: a graph in JSON has inputs that nothing reads, and takes their files") {
  const Sample sample;
  sample.folder().write("m.onnx", model({.nodes = {node("Relu", {"x"}, {"y"})},
                                         .inputs = {value("z", {"3"}), value("x", {"2", "4"})},
                                         .outputs = {value("y", {})},
                                         .version = 11}));
  REQUIRE(sample.run({"convert", "m.onnx", "--to-graph", "g.json"}).code == 0);
  CHECK(has(sample.folder().read("g.json"), R"({"name": "z"})"));
  for (const char* file : {"m.onnx", "g.json"}) {
    for (const bool has_unread : {false, true}) {
      CAPTURE(file);
      CAPTURE(has_unread);
      std::vector<std::string> arguments{"run", file, "--cpu", "-i", "x=onnx/x.npy"};
      if (has_unread) arguments.insert(arguments.end(), {"-i", "z=onnx/x.npy"});
      const bool is_right = std::string(file) == "g.json" || !has_unread;  // [2,4] is no [3]
      CHECK(sample.run(arguments).code == (is_right ? 0 : 3));
    }
  }
}

TEST_CASE("onnx program: an input with an initializer has that value unless a file is given") {
  const Sample sample;
  const std::string ones = tensor("b", 1, {4}, raw_floats({1, 1, 1, 1}));
  sample.folder().write("m.onnx", model({.nodes = {node("Add", {"x", "b"}, {"y"})},
                                         .initializers = {ones},
                                         .inputs = {value("b", {"4"}), value("x", {"2", "4"})},
                                         .outputs = {value("y", {})},
                                         .version = 14}));
  sample.folder().write("b.pb", tensor("", 1, {4}, raw_floats({5, 5, 5, 5})));
  sample.folder().write("short.pb", tensor("", 1, {3}, raw_floats({5, 5, 5})));
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "m.onnx", "--cpu", "-o", "y=y.npy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sample.run(arguments);
  };
  const auto least = [&] { return sample.run({"inspect", "y.npy"}).output; };
  REQUIRE(run({"-i", "onnx/x.npy"}).code == 0);  // the only one that needs a file
  const std::string with_ones = least();
  REQUIRE(run({"-i", "x=onnx/x.npy", "-i", "b=b.pb"}).code == 0);
  CHECK(least() != with_ones);
  sample.folder().write("double.pb", tensor("", 11, {4}, std::string(32, '\0')));
  CHECK(has(run({"-i", "x=onnx/x.npy", "-i", "b=double.pb"}).error,
            "input \"b\" is FLOAT32, but its file has FLOAT64 [4]\n"
            "  help: save array.astype(numpy.float32)"));
  CHECK(has(run({"-i", "x=onnx/x.npy", "-i", "b=short.pb"}).error,
            "input \"b\": dimension 0 is 4, but its file has the sizes [3]"));
}

/// A model of attention whose cache has a dimension "past".
std::string attention_with_cache() {
  const std::vector<std::string> cache{"1", "2", "past", "4"};
  return model(
      {.nodes = {microsoft_node("GroupQueryAttention", {"q", "k", "v", "pk", "pv", "l", "t"}, {"a"},
                                {integer("num_heads", 2), integer("kv_num_heads", 2)}),
                 node("Relu", {"a"}, {"y"})},
       .initializers = {tensor("t", 6, {1}, std::string("\x03\0\0\0", 4)),
                        tensor("l", 6, {1}, std::string("\x02\0\0\0", 4))},
       .inputs = {value("q", {"1", "3", "8"}), value("k", {"1", "3", "8"}),
                  value("v", {"1", "3", "8"}), value("pk", cache), value("pv", cache)},
       .outputs = {value("y", {"1", "3", "8"})},
       .domain = "com.microsoft"});
}

TEST_CASE("onnx program: a GPU runs attention with a cache as the CPU does") {
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  const Sample sample;
  sample.folder().write("m.onnx", attention_with_cache());
  const auto run = sample.run({"run", "m.onnx", "--random", "--dim", "past=4", "--cpu", "--against",
                               program_gpu(), "-o", "y=y.npy"});
  CHECK_MESSAGE(run.code == 0, run.error);
}

TEST_CASE("onnx program: an input of 4 bits comes from bytes, or from two elements in a byte") {
  const Sample sample;
  sample.folder().write("m.onnx",
                        model({.nodes = {node("DequantizeLinear", {"x", "scale"}, {"y"})},
                               .initializers = {tensor("scale", 1, {}, raw_floats({0.5F}))},
                               .inputs = {value("x", {"3"}, 21)},
                               .outputs = {value("y", {"3"})},
                               .version = 21}));
  const auto run = [&](const std::string& file) {
    return sample.run({"run", "m.onnx", "--cpu", "-i", file, "-o", "y=y.npy"});
  };
  sample.folder().write("x.npy", npy("|u1", "(3,)", "\x01\x02\x0F"));
  sample.folder().write("x.bin", "\x21\x0F");
  for (const char* file : {"x=x.npy", "x=x.bin:UINT4"}) {
    CAPTURE(file);
    const ProgramResult result = run(file);
    CHECK_MESSAGE(result.code == 0, result.error);
    CHECK(sample.folder().read("y.npy") == float_npy("(3,)", {0.5F, 1, 7.5F}));
  }
  sample.folder().write("x.npy", npy("|u1", "(3,)", "\x01\x02\x10"));
  CHECK(has(run("x=x.npy").error, "input \"x\": element 2 is 16, which does not fit UINT4"));
}

TEST_CASE("onnx program: a cache of attention may have no rows yet") {
  const Sample sample;
  sample.folder().write("m.onnx", attention_with_cache());
  const auto run = [&](std::vector<std::string> arguments, const std::string& y) {
    arguments.insert(arguments.begin(), {"run", "m.onnx", "--random", "--cpu", "-o", "y=" + y});
    const ProgramResult result = sample.run(arguments);
    CHECK_MESSAGE(result.code == 0, result.error);
    return sample.folder().read(y);
  };
  sample.folder().write("none.npy", npy("<f4", "(1, 2, 0, 4)", ""));
  CHECK(run({"--dim", "past=0"}, "a.npy") ==
        run({"-i", "pk=none.npy", "-i", "pv=none.npy"}, "b.npy"));
  CHECK(sample.run({"run", "onnx/model.onnx", "--dim", "batch=0", "--cpu"}).code == 4);
}

TEST_CASE("onnx program: an input that must be known is given to inspect and convert, too") {
  const Sample sample;
  sample.folder().write("m.onnx",
                        model({.nodes = {node("Reshape", {"x", "sizes"}, {"y"})},
                               .inputs = {value("x", {"2", "4"}), value("sizes", {"2"}, 7)},
                               .outputs = {value("y", {})},
                               .version = 14}));
  sample.folder().write("sizes.pb", tensor("sizes", 7, {2}, raw_integers({4, 2})));
  const std::vector<std::string> given{"-i", "sizes=sizes.pb"};
  const auto run = [&](std::vector<std::string> arguments, bool has_sizes) {
    if (has_sizes) arguments.insert(arguments.end(), given.begin(), given.end());
    return sample.run(arguments);
  };
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"inspect", "m.onnx"},
        std::vector<std::string>{"convert", "m.onnx", "--to-graph", "g.json"}}) {
    const ProgramResult unknown = run(command, false);
    CHECK(unknown.code == 3);
    CHECK(has(unknown.error, "\"sizes\" must be known before anything runs"));
    CHECK(has(unknown.error,
              "help: give its elements: -i sizes=FILE.npy, or make it an initializer"));
    const auto done = run(command, true);
    CHECK_MESSAGE(done.code == 0, done.error);
  }
  const std::string shown = run({"inspect", "m.onnx"}, true).output;
  CHECK(has(shown, "input    x      FLOAT32 [2, 4]\ninput    sizes  used by no operator\n"));
  CHECK(has(shown, "output   y  FLOAT32 [4, 2]\n"));
  const auto ran = sample.run({"run", "g.json", "--cpu", "-i", "x=onnx/x.npy"});
  CHECK_MESSAGE(ran.code == 0, ran.error);
}

// Its other parts are not read, but keep their places.
TEST_CASE("onnx program: a graph in JSON has the part of a Split that its model reads") {
  for (const char* part : {"a", "b", "c"}) {
    CAPTURE(part);
    const Sample sample;
    sample.folder().write(
        "m.onnx", model({.nodes = {node("Split", {"x"}, {"a", "b", "c"},
                                        {integer("axis", 1), integers("split", {1, 2, 1})})},
                         .inputs = {value("x", {"2", "4"})},
                         .outputs = {value(part, {})},
                         .version = 11}));
    const auto run = [&](const char* file, const char* option) {
      const std::string y = std::string(part) + "=y.npy";
      return sample.run({"run", file, "--cpu", "-i", "x=onnx/x.npy", option, y});
    };
    REQUIRE(run("m.onnx", "-o").code == 0);
    REQUIRE(sample.run({"convert", "m.onnx", "--to-graph", "of_model.json"}).code == 0);
    REQUIRE(sample.run({"convert", "m.onnx", "--to-bin", "g.bin"}).code == 0);
    REQUIRE(sample.run({"convert", "g.bin", "--to-graph", "of_bin.json"}).code == 0);
    for (const char* file : {"of_model.json", "g.bin", "of_bin.json"}) {
      const auto same = run(file, "--expect");
      CHECK_MESSAGE(same.code == 0, file << ": " << same.error << same.output);
    }
  }
}

TEST_CASE("onnx program: parts that nothing reads have names in JSON, though nodes share theirs") {
  const auto split = [](const char* from, const char* first, const char* rest) {
    return node("Split", {from}, {first, rest}, {integer("axis", 1)}) + part(3, "split");
  };
  const Sample sample;
  sample.folder().write("m.onnx", model({.nodes = {split("x", "a", "b"), split("b", "c", "d")},
                                         .inputs = {value("x", {"2", "4"})},
                                         .outputs = {value("d", {})},
                                         .version = 11}));
  REQUIRE(sample.run({"convert", "m.onnx", "--to-graph", "g.json"}).code == 0);
  const auto checked = sample.run({"check", "g.json"});
  CHECK_MESSAGE(checked.code == 0, checked.error);
}

TEST_CASE("onnx program: the folder of a test is its model for other commands") {
  const Sample sample;
  CHECK(has(sample.run({"check", "onnx", "--dim", "batch=2"}).output, "onnx/model.onnx: ok: "));
  CHECK(has(sample.run({"inspect", "onnx", "--dim", "batch=2"}).output, "3 operators"));
  CHECK(sample.run({"bench", "onnx", "--dim", "batch=2", "--cpu", "--min-time", "0"}).code == 0);
  CHECK(sample.run({"convert", "onnx", "--dim", "batch=2", "--to-graph", "g.json"}).code == 0);
}

TEST_CASE("onnx program: --dim with a name that no input has is refused") {
  const Sample sample;
  const auto wrong =
      sample.run({"check", "onnx/model.onnx", "--dim", "batch=2", "--dim", "bach=2"});
  CHECK(wrong.code == 2);
  CHECK(has(wrong.error, "no input has a dimension \"bach\""));
  CHECK(has(wrong.error, "did you mean \"batch\"?"));
}

TEST_CASE("onnx program: nodes become jobs, with the inputs of .pb files") {
  const Sample sample;
  const auto jobs = sample.run(
      {"convert", "onnx/model.onnx", "--to-ops", "ops", "-i", "x=onnx/test_data_set_0/input_0.pb"});
  REQUIRE_MESSAGE(jobs.code == 0, jobs.error);
  CHECK(has(sample.run({"batch", "ops", "--cpu"}).output, "3 PASSED"));
}

TEST_CASE("onnx program: a job of a batch may be a model") {
  const Folder folder;
  folder.write("m.onnx", model({.nodes = {node("Relu", {"x"}, {"y"})},
                                .inputs = {value("x", {"2"})},
                                .outputs = {value("y", {"2"})}}));
  folder.write("x.npy", float_npy("(2,)", {-1, 2}));
  folder.write("y.npy", float_npy("(2,)", {0, 2}));
  folder.write("jobs.jsonl", R"({"graph": "m.onnx", "bindings": {"x": "x.npy"}, )"
                             R"("expect": {"y": "y.npy"}})");
  const auto batch = dmlop_program({"batch", "jobs.jsonl", "--cpu"}, {.folder = folder.path()});
  CHECK_MESSAGE(batch.code == 0, batch.error);
  CHECK(has(batch.output, "1 PASSED"));
}

// Whatever data sets lie beside the model.
TEST_CASE("onnx program: a job of a list has its own inputs and golden files") {
  const Folder folder;
  folder.write("t/model.onnx", model({.nodes = {node("Relu", {"x"}, {"y"})},
                                      .inputs = {value("x", {"2"})},
                                      .outputs = {value("y", {"2"})}}));
  folder.write("t/test_data_set_0/input_0.pb", tensor("x", 1, {2}, raw_floats({-1, 2})));
  folder.write("t/test_data_set_0/output_0.pb", tensor("y", 1, {2}, raw_floats({0, 2})));
  folder.write("x.npy", float_npy("(2,)", {-5, 7}));
  folder.write("y.npy", float_npy("(2,)", {0, 7}));
  folder.write("wrong.npy", float_npy("(2,)", {0, 2}));
  const auto batch = [&](const std::string& job) {
    folder.write("jobs.jsonl", job);
    return dmlop_program({"batch", "jobs.jsonl", "--cpu"}, {.folder = folder.path()}).code;
  };
  const std::string beginning = R"({"graph": "t/model.onnx", "bindings": {"x": )";
  CHECK(batch(beginning + R"("x.npy"}, "expect": {"y": "y.npy"}})") == 0);
  CHECK(batch(beginning + R"("x.npy"}, "expect": {"y": "wrong.npy"}})") == 1);
  CHECK(batch(beginning + R"("none.npy"}, "expect": {"y": "y.npy"}})") > 1);
  CHECK(batch(beginning + R"("x.npy", "y": "made.npy"}})") == 0);
  CHECK(folder.read("made.npy") == folder.read("y.npy"));
}

// No one writes the descs of its nodes, and their tensors have no files.
TEST_CASE("onnx program: what is advised about a node can be done in a model") {
  const Folder folder;
  const auto advised = [&](const std::string& one, const std::vector<std::string>& inputs) {
    folder.write("m.onnx", model({.nodes = {one}, .inputs = inputs}));
    const auto check = dmlop_program({"check", "m.onnx"}, {.folder = folder.path()});
    CHECK(check.code == 3);
    const std::size_t help = check.error.find("  help: ");
    return help == std::string::npos ? check.error : check.error.substr(help + 8);
  };
  const std::string pair = value("x", {"2"});
  CHECK(advised(node("Abs", {"x"}, {"y"}), {value("x", {"2"}, 11)}) ==
        "make it FLOAT32, as Cast does\n");
  CHECK(advised(node("Add", {"x", "i"}, {"y"}), {pair, value("i", {"2"}, 6)}) ==
        "make it FLOAT32, as Cast does\n");
  CHECK(advised(node("Identity", {"x"}, {"y"}),
                {value("x", {"2", "1", "1", "1", "1", "1", "1", "1", "1"})}) ==
        "merge dimensions: make it [2, 1, 1, 1, 1, 1, 1, 1]\n");
  CHECK(advised(node("ScatterElements", {"x", "i", "x"}, {"y"}), {pair, value("i", {"1"}, 7)}) ==
        "make it 1\n");
}

TEST_CASE("onnx program: values that decide sizes come from files") {
  const Folder folder;
  folder.write("m.onnx", model({.nodes = {node("Reshape", {"x", "s"}, {"y"})},
                                .inputs = {value("x", {"2", "3"}), value("s", {"1"}, 7)},
                                .outputs = {value("y", {"n"})}}));
  folder.write("s.pb", tensor("s", 7, {1}, raw_integers({-1})));
  folder.write("x.pb", tensor("x", 1, {2, 3}, raw_floats({1, 2, 3, 4, 5, 6})));
  const auto run =
      dmlop_program({"run", "m.onnx", "--cpu", "-i", "x=x.pb", "-i", "s=s.pb", "-o", "y=y.npy"},
                    {.folder = folder.path()});
  CHECK_MESSAGE(run.code == 0, run.error);
  CHECK(NpyFile::open(folder.path() + "/y.npy").header().sizes == std::vector<std::uint64_t>{6});
}

TEST_CASE("onnx program: --confine keeps the model's files inside") {
  const Folder folder;
  fs::create_directory(folder / "in");
  folder.write("w.bin", raw_floats({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  std::error_code error;
  fs::create_symlink("../w.bin", folder / "in/w.bin", error);
  const std::string external = external_tensor("w", 1, {3, 3}, "w.bin");
  folder.write("in/m.onnx",
               model({.nodes = {node("MatMul", {"x", "w"}, {"y"})}, .initializers = {external}}));
  const auto refused =
      dmlop_program({"check", "in/m.onnx", "--confine"}, {.folder = folder.path()});
  CHECK(refused.code != 0);
  CHECK(has(refused.error, "initializer \"w\": "));
}

TEST_CASE("onnx program: a batch that resumes runs a test again if one of its files changed") {
  const Folder folder;
  const auto external = [](const std::string& type) {
    return model({.nodes = {node("MatMul", {"x", "w"}, {"h"}), node(type, {"h"}, {"y"})},
                  .initializers = {external_tensor("w", 1, {3, 3}, "w.bin")}});
  };
  const std::vector<float> ones(9, 1), threes(6, 3);
  const auto floats = [](const std::string& name, const std::vector<float>& values) {
    return tensor(name, 1, {2, 3}, raw_floats(values));
  };
  folder.write("t/model.onnx", external("Relu"));
  folder.write("t/w.bin", raw_floats(ones));
  folder.write("t/test_data_set_0/input_0.pb", floats("x", std::vector<float>(6, 1)));
  folder.write("t/test_data_set_0/output_0.pb", floats("y", threes));
  const auto has_run_again = [&] {
    const auto batch = dmlop_program({"batch", "t", "--cpu", "--resume", "--results", "r.jsonl"},
                                     {.folder = folder.path()});
    CAPTURE(batch.error);
    CHECK(has(batch.output, "1 job in"));
    return !has(batch.output, "(1 from an earlier run)");
  };
  CHECK(has_run_again());
  CHECK_FALSE(has_run_again());
  std::vector<float> other_weights = ones, other_input(6, 1), other_output = threes;
  other_weights[8] = other_input[5] = 1.0001F;
  other_output[5] = 3.0001F;
  for (const auto& [file, bytes] :
       {std::pair("t/model.onnx", external("Abs")), std::pair("t/w.bin", raw_floats(other_weights)),
        std::pair("t/test_data_set_0/input_0.pb", floats("x", other_input)),
        std::pair("t/test_data_set_0/output_0.pb", floats("y", other_output)),
        std::pair("t/tol.json", std::string(R"({"rtol": 0.5})"))}) {
    CAPTURE(file);
    folder.write(file, bytes);
    CHECK(has_run_again());
    CHECK_FALSE(has_run_again());
  }
}

TEST_CASE(
    "onnx program: outputs of 4 bits are compared with those of a test, and with a device's") {
  const Folder folder;
  constexpr std::int64_t int4 = 22;
  folder.write("t/model.onnx",
               model({.nodes = {node("QuantizeLinear", {"x", "scale", "zero"}, {"y"})},
                      .initializers = {tensor("scale", 1, {}, raw_floats({0.5})),
                                       tensor("zero", int4, {}, "\x01")},
                      .inputs = {value("x", {"3"})},
                      .outputs = {value("y", {"3"}, int4)},
                      .version = 21}));
  folder.write("t/test_data_set_0/input_0.pb", tensor("x", 1, {3}, raw_floats({-1, 1, 9})));
  const auto run_with = [&](const std::string& packed) {
    folder.write("t/test_data_set_0/output_0.pb", tensor("y", int4, {3}, packed));
    return dmlop_program({"run", "t", "--cpu"}, {.folder = folder.path()});
  };
  const auto same = run_with("\x3F\x07");  // -1, 3, 7
  CHECK_MESSAGE(same.code == 0, same.output);
  CHECK(run_with("\x2F\x07").code == 1);
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  const auto against = dmlop_program({"run", "t/model.onnx", "--cpu", "-i",
                                      "x=t/test_data_set_0/input_0.pb", "--against", program_gpu()},
                                     {.folder = folder.path()});
  CHECK_MESSAGE(against.code == 0, against.error);
}

TEST_CASE("onnx program: a model that says another type or size of an output is warned of") {
  const Sample sample;
  const auto checked = [&](const std::string& output, const std::vector<std::string>& more = {}) {
    sample.folder().write("m.onnx",
                          model({.nodes = {node("Relu", {"x"}, {"y"})}, .outputs = {output}}));
    std::vector<std::string> arguments{"check", "m.onnx"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sample.run(arguments);
  };
  const std::string sizes_of_unknown_rows = part(1, number(1, -1)) + part(1, number(1, 3));
  const std::string unknown_rows =
      part(1, "y") + part(2, part(1, number(1, 1) + part(2, sizes_of_unknown_rows)));
  for (const std::string& same : {value("y", {"2", "3"}), value("y", {"n", "3"}), unknown_rows})
    CHECK(checked(same).error == "");
  const auto sizes = checked(value("y", {"n", "4"}));
  CHECK(sizes.code == 0);
  CHECK(has(sizes.error,
            "m.onnx: warning: the output \"y\" is FLOAT32 [2, 3], but the model says FLOAT32 [n, "
            "4]\n"));
  for (const std::string& other : {value("y", {"2", "3"}, 10), value("y", {"2", "3", "1"})})
    CHECK(has(checked(other).error, "but the model says"));
  CHECK(has(checked(value("y", {"2", "3"}, 9)).error, "but the model says BOOL [2, 3]"));
  CHECK(checked(value("y", {"n", "4"}), {"--warnings-as-errors"}).code == 3);
}

TEST_CASE("onnx program: a model that says another type or size of an initializer is warned of") {
  const Sample sample;
  const auto checked = [&](const std::string& input) {
    sample.folder().write("m.onnx",
                          model({.nodes = {node("Add", {"x", "w"}, {"y"})},
                                 .initializers = {tensor("w", 1, {3}, raw_floats({1, 2, 3}))},
                                 .inputs = {value("x", {"2", "3"}), input}}));
    return sample.run({"check", "m.onnx"}).error;
  };
  CHECK(checked(value("w", {"3"})) == "");
  CHECK(has(checked(value("w", {"2", "3"})),
            "the input \"w\" is FLOAT32 [3], but the model says FLOAT32 [2, 3]"));
  CHECK(has(checked(value("w", {"3"}, 10)), "but the model says FLOAT16 [3]"));
}

TEST_CASE("onnx program: fields that only the provider writes are no warnings of the model") {
  const Sample sample;
  constexpr std::int64_t boolean = 9;
  sample.folder().write("m.onnx",
                        model({.nodes = {node("Cast", {"x"}, {"y"}, {integer("to", boolean)})},
                               .outputs = {value("y", {"2", "3"}, boolean)}}));
  const auto checked = sample.run({"check", "m.onnx", "--warnings-as-errors"});
  CHECK_MESSAGE(checked.code == 0, checked.error);
}

TEST_CASE("onnx program: dimensions without sizes are all reported, each name once") {
  const Sample sample;
  sample.folder().write("m.onnx",
                        model({.nodes = {node("Add", {"a", "b"}, {"y"})},
                               .inputs = {value("a", {"n", "m", "2"}), value("b", {"n", "k", "2"})},
                               .outputs = {value("y", {})}}));
  const auto unknown = sample.run({"check", "m.onnx"});
  CHECK(unknown.code == 3);
  for (const char* place : {"input \"a\": dimension 0 \"n\"", "input \"a\": dimension 1 \"m\"",
                            "input \"b\": dimension 1 \"k\""})
    CHECK(has(unknown.error, place));
  CHECK_FALSE(has(unknown.error, "input \"b\": dimension 0"));
  CHECK(has(unknown.error, "3 errors"));
}

TEST_CASE("onnx program: files that give one name two sizes are warned of") {
  const Sample sample;
  sample.folder().write("m.onnx", model({.nodes = {node("Add", {"a", "b"}, {"y"})},
                                         .inputs = {value("a", {"n", "2"}), value("b", {"n", "2"})},
                                         .outputs = {value("y", {"n", "2"})}}));
  sample.folder().write("a.pb", tensor("", 1, {3, 2}, raw_floats({1, 2, 3, 4, 5, 6})));
  sample.folder().write("b.pb", tensor("", 1, {1, 2}, raw_floats({1, 2})));
  const auto run = [&](const std::string& b) {
    return sample.run({"run", "m.onnx", "--cpu", "-i", "a=a.pb", "-i", "b=" + b, "-o", "y=y.npy"});
  };
  CHECK(run("a.pb").error == "");
  const auto other = run("b.pb");
  CHECK(other.code == 0);
  CHECK(
      has(other.error, "warning: the dimension \"n\" is 1 in input \"b\", but 3 in input \"a\"\n"));
}

TEST_CASE("onnx program: a test whose input has no file is refused") {
  const Sample sample;
  sample.folder().write("t/model.onnx", model({.nodes = {node("Add", {"a", "b"}, {"y"})},
                                               .inputs = {value("a", {"1"}), value("b", {"1"})},
                                               .outputs = {value("y", {"1"})}}));
  const std::string one = tensor("", 1, {1}, raw_floats({1}));
  sample.folder().write("t/test_data_set_0/output_0.pb", one);
  const auto found = [&] { return sample.run({"run", "t", "--cpu"}).error; };
  CHECK(
      has(found(), "t/test_data_set_0 has no file for the inputs \"a\", \"b\": write input_0.pb"));
  sample.folder().write("t/test_data_set_0/input_1.pb", one);
  CHECK(has(found(), "no file for the inputs"));
  sample.folder().write("t/test_data_set_0/input_0.pb", one);
  CHECK(has(sample.run({"run", "t", "--cpu"}).output, "FAILED"));
}

TEST_CASE("onnx program: what is no model hears what it is instead") {
  const Sample sample;
  const std::string model_bytes = sample.folder().read("onnx/model.onnx");
  const auto said = [&](const std::string& bytes) {
    sample.folder().write("m.onnx", bytes);
    const ProgramResult checked = sample.run({"check", "m.onnx", "--dim", "batch=1"});
    CHECK(checked.code == 3);
    return checked.error;
  };
  CHECK(has(said(model_bytes.substr(0, 100)),
            "help: it may be cut off at its end, at byte 100: copy or download it again"));
  CHECK(has(said("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "git lfs pull"));
  CHECK(has(said("\x1F\x8B\x08 packed"), "unpack it with gunzip"));
  CHECK(has(said("PK\3\4 packed"), "unpack it with unzip"));
  CHECK(has(said("<!DOCTYPE html>"), "download the model itself"));
  CHECK_FALSE(has(said("?"), "help:"));
}

TEST_CASE("onnx program: ops --onnx lists what each operator becomes") {
  const auto list = dmlop_program({"ops", "--onnx"});
  CHECK(list.code == 0);
  CHECK(has(list.output, "MaxUnpool                                MAX_UNPOOLING\n"));
  CHECK(has(list.output, "not supported: it runs other nodes"));
  const Json json = Json::parse(dmlop_program({"ops", "--onnx", "--format", "json"}).output);
  CHECK(json.size() > 150);
  for (const Json& row : json) CHECK(row.contains("becomes") != row.contains("notSupported"));
}

TEST_CASE("onnx program: ops --onnx shows the operators of one name") {
  const auto both = dmlop_program({"ops", "--onnx", "attention"});
  CHECK(both.code == 0);
  CHECK(has(both.output, "Attention                                MULTIHEAD_ATTENTION1"));
  CHECK(has(both.output, "com.microsoft.Attention                  GEMM, "));
  CHECK_FALSE(has(both.output, "MultiHeadAttention"));
  const auto one = dmlop_program({"ops", "--onnx", "com.microsoft.Attention", "--format", "json"});
  CHECK(Json::parse(one.output).size() == 1);
  const auto other = dmlop_program({"ops", "--onnx", "Covn"});
  CHECK(other.code == 2);
  CHECK(has(other.error, "no operator of ONNX models is called \"Covn\"; did you mean \"Conv\"?"));
  const auto of_onnx = dmlop_program({"ops", "Clip"});
  CHECK(of_onnx.code == 2);
  CHECK(has(of_onnx.error, "dmlop ops --onnx Clip shows what it becomes"));
}

}  // namespace
}  // namespace dmlop::test::onnx_program_test
