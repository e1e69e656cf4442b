// The program with models: run, check, bench and batch.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model.hpp"
#include "program.hpp"

namespace dmlop::test::model_program_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string members = usual_members();
const std::string dispatch =
    R"({"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "In", "OutputTensor": "Out"}})";

std::string model(const std::string& commands) {
  return "{" + members + ", \"commands\": [" + commands + "]}";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder with model.json: pads In, prints Out and writes it to out.npy.
class ModelFolder : public Folder {
 public:
  ModelFolder() {
    write("model.json", model(dispatch + R"(, {"type": "print", "resource": "Out"},
            {"type": "writeFile", "resource": "Out", "targetPath": "out.npy", "dimensions": [2, 3]})"));
    write("golden.npy", float_npy("(6,)", {1, 1, 2, 3, 4, 4}));
    write("wrong.npy", float_npy("(6,)", {1, 1, 2, 3, 4, 5}));
  }
  ProgramResult run(std::vector<std::string> arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
  std::string absolute(const std::string& name) const {
    return (fs::canonical(path()) / name).string();
  }
};

}  // namespace

TEST_CASE("model program: run prints and writes as DxDispatch, and nothing else") {
  const ModelFolder folder;
  const auto result = folder.run({"run", "model.json", "--cpu"});
  CHECK(result.code == 0);
  CHECK(result.error.empty());
  CHECK(result.output == "Resource 'Out': 1, 1, 2, 3, 4, 4\nResource 'Out' written to '" +
                             folder.absolute("out.npy") + "'\n");
  const std::string file = folder.read("out.npy");
  CHECK(file.size() == 128 + 24);
  CHECK(contains(file, "{'descr':'<f4', 'fortran_order':False, 'shape':(2,3,), }"));
  CHECK(file.substr(128) == bytes_of<float>({1, 1, 2, 3, 4, 4}));
}

TEST_CASE("model program: without a print and a file, what it computes is shown") {
  const ModelFolder folder;
  folder.write("silent.json", model(dispatch));
  const auto shown = folder.run({"run", "silent.json", "--cpu"});
  CHECK(shown.code == 0);
  CHECK(shown.output.starts_with("Out: FLOAT32 [6]\n"));
  const Json json =
      Json::parse(folder.run({"run", "silent.json", "--cpu", "--format", "json"}).output);
  CHECK(json.at("outputs").at(0).at("name") == "Out");
  CHECK(json.at("outputs").at(0).at("max") == "4");
  CHECK(folder.run({"run", "silent.json", "--cpu", "-q"}).output == "");
  const auto kept = folder.run({"run", "silent.json", "--cpu", "-o", "o.npy"});
  CHECK(kept.output == "Out: FLOAT32 [6] in o.npy\n");
}

TEST_CASE("model program: from standard input, quietly, with timings") {
  const ModelFolder folder;
  const std::string text = folder.read("model.json");
  const auto piped = dmlop_program({"run", "-", "--cpu"}, {.folder = folder.path(), .input = text});
  CHECK(piped.code == 0);
  CHECK(contains(piped.output, "Resource 'Out': 1, 1"));
  const auto quiet = folder.run({"run", "model.json", "--cpu", "-q"});
  CHECK(quiet.code == 0);
  CHECK((quiet.output + quiet.error).empty());
  const auto timed = folder.run({"run", "model.json", "--cpu", "--timings"});
  CHECK(timed.error.starts_with("Dispatch 'pad': 1 iterations, "));
  CHECK(timed.error.ends_with(" ms median (CPU)\n"));
}

TEST_CASE("model program: --output-path and --input-path") {
  const ModelFolder folder;
  CHECK(folder.run({"run", "model.json", "--cpu", "--output-path", "a/b"}).code == 0);
  CHECK(folder.has("a/b/out.npy"));
  CHECK(!folder.has("out.npy"));
  folder.write("in/x.npy", float_npy("(1,)", {5}));
  folder.write("files.json", R"({"resources": {"A": {"initialValues": {"sourcePath": "x.npy"}}},
    "dispatchables": {}, "commands": [{"type": "print", "resource": "A"}]})");
  CHECK(folder.run({"run", "files.json", "--cpu"}).code == 6);
  CHECK(folder.run({"run", "files.json", "--cpu", "--input-path", "in"}).output ==
        "Resource 'A': 5\n");
}

TEST_CASE(
    "model program: a sourcePath is looked up beside the model first, then in the current folder") {
  const Folder folder;
  folder.write("sub/x.npy", float_npy("(1,)", {1}));
  folder.write("x.npy", float_npy("(1,)", {2}));
  folder.write("sub/model.json", R"({"resources": {"A": {"initialValues": {"sourcePath": "x.npy"}}},
    "dispatchables": {}, "commands": [{"type": "print", "resource": "A"}]})");
  const auto printed = [&] {
    return dmlop_program({"run", "sub/model.json", "--cpu"}, {.folder = folder.path()}).output;
  };
  CHECK(printed() == "Resource 'A': 1\n");
  fs::remove(folder / "sub/x.npy");
  CHECK(printed() == "Resource 'A': 2\n");
}

TEST_CASE("model program: -o and --expect by resource") {
  const ModelFolder folder;
  const auto kept =
      folder.run({"run", "model.json", "--cpu", "-q", "-o", "Out=o.npy", "-o", "In=i.npy"});
  CHECK(kept.code == 0);
  CHECK(folder.read("o.npy") == float_npy("(6,)", {1, 1, 2, 3, 4, 4}));
  CHECK(folder.read("i.npy") == float_npy("(4,)", {1, 2, 3, 4}));
  // Only one resource is written: its name may be left out.
  const auto same = folder.run({"run", "model.json", "--cpu", "--expect", "golden.npy"});
  CHECK(same.code == 0);
  CHECK(contains(same.output, "PASSED: Out against golden.npy: 6 elements agree\n"));
  const auto different = folder.run({"run", "model.json", "--cpu", "--expect", "Out=wrong.npy"});
  CHECK(different.code == 1);
  CHECK(contains(different.output, "FAILED: Out against wrong.npy: 1 of 6 elements differ"));
  CHECK(folder.run({"run", "model.json", "--cpu", "--expect", "wrong.npy", "--atol", "1"}).code ==
        0);
}

TEST_CASE("model program: --format json") {
  const ModelFolder folder;
  const auto result =
      folder.run({"run", "model.json", "--cpu", "--format", "json", "--expect", "golden.npy"});
  CHECK(result.code == 0);
  CHECK(result.error.empty());
  const Json json = Json::parse(result.output);
  CHECK(json["status"] == "done");
  REQUIRE(json["commands"].size() == 3);
  CHECK(json["commands"][0] == Json{{"type", "dispatch"}, {"dispatchable", "pad"}});
  CHECK(json["commands"][1]["values"] == Json({1.0, 1.0, 2.0, 3.0, 4.0, 4.0}));
  CHECK(json["commands"][2]["sizes"] == Json({2, 3}));
  CHECK(json["comparisons"].size() == 1);
  folder.write("special.json", R"({"resources": {"A": {"initialValuesDataType": "FLOAT32",
    "initialValues": ["nan", "-inf", 0.1]}}, "dispatchables": {}, "commands": [{"type": "print", "resource": "A"}]})");
  const Json special =
      Json::parse(folder.run({"run", "special.json", "--cpu", "--format", "json"}).output);
  CHECK(special["commands"][0]["values"].dump() == R"(["nan","-inf",0.1])");
}

TEST_CASE("model program: --dxdispatch-compat") {
  const Folder folder;
  folder.write(
      "model.json",
      R"({"resources": {"A": {"initialValuesDataType": "UINT8", "initialValues": [72, 105, 33]}},
    "dispatchables": {}, "commands": [{"type": "print", "resource": "A"},
      {"type": "writeFile", "resource": "A", "targetPath": "a.dat"}]})");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"run", "model.json", "--cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return dmlop_program(arguments, {.folder = folder.path()}).output;
  };
  CHECK(run({}).starts_with("Resource 'A': 72, 105, 33\n"));
  CHECK(folder.read("a.dat") == "Hi!");
  CHECK(run({"--dxdispatch-compat"}).starts_with("Resource 'A': H, i, !\n"));
  CHECK(folder.read("a.dat") == std::string("Hi!\0", 4));
}

TEST_CASE("model program: exit codes and what to do instead") {
  const ModelFolder folder;
  folder.write("broken.json", R"({"commands": [1]})");
  folder.write("hlsl.json",
               R"({"resources": {}, "dispatchables": {"s": {"type": "hlsl"}}, "commands": []})");
  folder.write(
      "both.json",
      R"({"resources": {}, "dispatchables": {"s": {"type": "hlsl"}, "t": 1}, "commands": []})");
  folder.write("blocked/file", "");
  folder.write("op.json", R"({"type": "PADDING", "desc": {}})");
  const std::string target =
      R"(, {"type": "print", "resource": "Out"}, {"type": "writeFile", "resource": "Out", "targetPath": )";
  folder.write("blocked.json", model(dispatch + target + "\"blocked/file/x.npy\"}"));
  folder.write("itself.json", model(dispatch + target + "\"itself.json\"}"));
  folder.write(
      "again.json",
      R"({"resources": {"A": {"initialValues": {"sourcePath": "golden.npy"}}}, "dispatchables": {},
    "commands": [{"type": "writeFile", "resource": "A", "targetPath": "./golden.npy"}]})");
  folder.write("reads.json",
               R"({"resources": {"A": {"initialValues": {"sourcePath": "golden.npy"}}},
    "dispatchables": {}, "commands": []})");
  struct Row {
    std::vector<std::string> arguments;
    int code;
    std::string error;
  };
  const std::vector<Row> rows{
      {{"run", "broken.json", "--cpu"},
       3,
       "broken.json:1:1: error: the field \"resources\" is missing"},
      {{"run", "hlsl.json", "--cpu"},
       4,
       "hlsl.json:1:51: error: s is an HLSL shader, which cannot be run here"},
      {{"run", "both.json", "--cpu"}, 3, "both.json:1:51: error: s is an HLSL shader"},
      {{"run", "blocked.json", "--cpu"}, 6, "dmlop: error: writing Out to "},
      {{"run", "itself.json", "--cpu"}, 3, ""},
      {{"run", "again.json", "--cpu"}, 3, ""},
      {{"run", "model.json", "--cpu", "-i", "golden.npy"},
       2,
       "model.json: error: -i is for op descriptions, graphs and ONNX models, and this is a "
       "DxDispatch model\n  help: a model names the files of its resources"},
      {{"run", "model.json", "--cpu", "--expect", "golden.npy", "--update-golden"},
       2,
       "model.json: error: --update-golden is for op descriptions, and this is a DxDispatch "
       "model\n  "
       "help: dmlop batch FOLDER"},
      {{"run", "model.json", "--cpu", "--atol", "1"},
       2,
       "dmlop: error: a tolerance or --update-golden needs a golden file"},
      {{"run", "model.json", "--cpu", "-o", "Ot=x.npy"},
       2,
       "model.json: error: the model has no resource \"Ot\""},
      {{"run", "model.json", "--cpu", "-o", "-"},
       2,
       "model.json: error: -o of a model cannot be a stream"},
      {{"run", "model.json", "--cpu", "--expect", "Out=-"},
       2,
       "model.json: error: --expect of a model cannot be a stream"},
      {{"run", "model.json", "--cpu", "-o", "./model.json"},
       2,
       "model.json: error: Out would replace the model: ./model.json"},
      {{"run", "reads.json", "--cpu", "-o", "A=./golden.npy"},
       2,
       "reads.json: error: A would replace the file of A: ./golden.npy"},
      {{"run", "model.json", "--cpu", "-o", "Out=new.npy", "-o", "In=./new.npy"},
       2,
       "model.json: error: In would replace the output Out: ./new.npy"},
      {{"run", "model.json", "--cpu", "-o", "Out=golden.npy", "--expect", "Out=golden.npy"},
       2,
       "model.json: error: Out would replace the golden file: golden.npy"},
      {{"run", "reads.json", "--cpu", "-o", "x.npy"},
       2,
       "reads.json: error: which resource is x.npy? the model has A\n  help: write -o "
       "RESOURCE=x.npy"},
      {{"run", "model.json", "--cpu", "--expect", "none.npy"},
       6,
       "model.json: error: reading the golden file none.npy: "},
      {{"run", "op.json", "--cpu", "--input-path", "."},
       2,
       "op.json: error: --input-path is for DxDispatch models, and this is an op description\n  "
       "help: "
       "name files with -i and -o"},
      {{"run", "op.json", "--cpu", "--output-path", "."},
       2,
       "op.json: error: --output-path is for DxDispatch models"},
      {{"run", "op.json", "--cpu", "--dxdispatch-compat"},
       2,
       "op.json: error: --dxdispatch-compat is for DxDispatch models"},
      {{"check", "model.json", "-i", "golden.npy"},
       2,
       "model.json: error: -i is for op descriptions"},
      {{"bench", "model.json", "--cpu", "-i", "golden.npy"},
       2,
       "model.json: error: -i is for op descriptions"},
      {{"run", "model.json", "--cpu", "--feature-level", "1_0"}, 3, "model.json:"},
  };
  for (const Row& row : rows) {
    const auto result = folder.run(row.arguments);
    CAPTURE(row.arguments[1]);
    CAPTURE(result.error);
    CHECK(result.code == row.code);
    CHECK(result.error.starts_with(row.error));
    CHECK(!result.error.empty());
  }
  // What came before the failed writeFile was done.
  const auto blocked = folder.run({"run", "blocked.json", "--cpu"});
  CHECK(blocked.output == "Resource 'Out': 1, 1, 2, 3, 4, 4\n");
  // Nothing was run where a dispatchable cannot be, and inputs are as they were.
  CHECK(folder.run({"run", "both.json", "--cpu"}).output.empty());
  CHECK(folder.read("golden.npy") == float_npy("(6,)", {1, 1, 2, 3, 4, 4}));
}

TEST_CASE("model program: several outputs may go to one device") {
  const ModelFolder folder;
  CHECK(
      folder.run({"run", "model.json", "--cpu", "-q", "-o", "Out=/dev/null", "-o", "In=/dev/null"})
          .code == 0);
}

TEST_CASE(
    "model program: a writeFile that fails leaves earlier files complete, and later ones out") {
  const Folder folder;
  folder.write("blocked/file", "");
  const auto file = [](const std::string& path) {
    return R"({"type": "writeFile", "resource": "In", "targetPath": ")" + path + "\"}";
  };
  folder.write("model.json",
               model(file("a.npy") + "," + file("blocked/file/b.npy") + "," + file("c.npy")));
  CHECK(dmlop_program({"run", "model.json", "--cpu"}, {.folder = folder.path()}).code == 6);
  CHECK(folder.list() == "a.npy blocked model.json");
}

TEST_CASE("model program: warnings are on standard error, and not with -q") {
  const Folder folder;
  std::string text = model(dispatch);
  text.insert(1, "\"comments\": [], ");
  folder.write("model.json", text);
  const auto result = dmlop_program({"check", "model.json"}, {.folder = folder.path()});
  CHECK(result.code == 0);
  CHECK(result.error.starts_with(
      "model.json:1:2: warning: unknown field \"comments\"; did you mean \"commands\"?\n"));
  CHECK(result.output ==
        "model.json: ok: model of 5 resources, 1 dispatchable (PADDING) and 1 command\n");
  CHECK(dmlop_program({"check", "-q", "model.json"}, {.folder = folder.path()}).error.empty());
  const Json json = Json::parse(
      dmlop_program({"check", "model.json", "--format", "json"}, {.folder = folder.path()}).output);
  CHECK(json["descriptions"][0]["dispatchables"] == Json{{"pad", "DML_OPERATOR_PADDING"}});
  CHECK(json["descriptions"][0]["warnings"].size() == 1);
}

TEST_CASE("model program: bench measures each dispatch") {
  const ModelFolder folder;
  folder.write("two.json", model(dispatch + "," + dispatch));
  const auto result =
      folder.run({"bench", "two.json", "--cpu", "--min-time", "0", "--format", "json"});
  CHECK(result.code == 0);
  const Json json = Json::parse(result.output);
  REQUIRE(json["dispatches"].size() == 2);
  CHECK(json["dispatches"][1]["dispatchable"] == "pad");
  CHECK(json["dispatches"][1]["outputBytes"] == 24);
  CHECK(folder.run({"bench", "two.json", "--cpu", "--min-time", "0"})
            .output.starts_with("dispatch   pad\ndevice     cpu\n"));
}

TEST_CASE("model program: batch runs the models of a folder, and compares by resource or by file") {
  const ModelFolder folder;
  const std::string text = folder.read("model.json");
  const std::string golden = folder.read("golden.npy");
  folder.write("jobs/same/model.json", text);
  folder.write("jobs/same/expected/Out.npy", golden);
  folder.write("jobs/file/model.json", text);
  folder.write("jobs/file/expected/out.npy", golden);
  folder.write("jobs/only/model.json", text);
  folder.write("jobs/only/expected.npy", golden);
  folder.write("jobs/differs/model.json", text);
  folder.write("jobs/differs/expected/Out.npy", folder.read("wrong.npy"));
  folder.write("jobs/alone/model.json", text);
  // A golden file of a writeFile is compared when that is written, not at the end.
  folder.write(
      "jobs/early/model.json",
      model(dispatch + R"(, {"type": "writeFile", "resource": "Out", "targetPath": "early.npy"},
                 {"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": {"name": "Late"}, "OutputTensor": "Out"}})"));
  std::string late = folder.read("jobs/early/model.json");
  late.insert(late.find("\"In\": "),
              R"("Late": {"initialValuesDataType": "FLOAT32", "initialValues": [9, 9, 9, 9]}, )");
  folder.write("jobs/early/model.json", late);
  folder.write("jobs/early/expected/early.npy", golden);
  folder.write("jobs/latest/model.json", late);
  folder.write("jobs/latest/expected/early.npy", float_npy("(6,)", {9, 9, 9, 9, 9, 9}));
  folder.write("jobs/hlsl/model.json",
               R"({"resources": {}, "dispatchables": {"s": {"type": "hlsl"}}, "commands": []})");
  folder.write("jobs/unknown/model.json", text);
  folder.write("jobs/unknown/expected/Other.npy", golden);
  const auto statuses = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"batch", "jobs", "--cpu", "-q", "--results", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::map<std::string, std::string> sorted;
    std::istringstream lines(folder.run(arguments).output);
    for (std::string line; std::getline(lines, line);) {
      const Json record = Json::parse(line);
      if (record.contains("status")) sorted[record.at("id")] = record.at("status");
    }
    std::string all;
    for (const auto& [id, status] : sorted) all += id + " " + status + "\n";
    return all;
  };
  CHECK(statuses({}) ==
        "alone UNCOMPARED\ndiffers FAILED\nearly PASSED\nfile PASSED\nhlsl UNSUPPORTED\nlatest "
        "FAILED\nonly "
        "PASSED\nsame "
        "PASSED\nunknown INVALID\n");
  CHECK(!folder.has("out.npy"));
  CHECK(statuses({"--out", "kept"}) ==
        "alone PASSED\ndiffers FAILED\nearly PASSED\nfile PASSED\nhlsl UNSUPPORTED\nlatest "
        "FAILED\nonly "
        "PASSED\nsame "
        "PASSED\nunknown INVALID\n");
  CHECK(folder.has("kept/alone/out.npy"));
}

TEST_CASE("model program: batch takes models as lines, and resumes them") {
  const ModelFolder folder;
  std::string text = folder.read("model.json");
  text.insert(1, R"("id": "one", "expect": {"Out": "golden.npy"}, )");
  std::erase(text, '\n');
  folder.write("jobs.jsonl", text + "\n");
  const std::vector<std::string> command{"batch", "jobs.jsonl", "--cpu",   "--out",
                                         "kept",  "--results",  "r.jsonl", "--resume"};
  const auto first = folder.run(command);
  CAPTURE(first.error);
  CHECK(first.code == 0);
  CHECK(contains(first.output, "1 PASSED"));
  CHECK(!contains(first.output, "from an earlier run"));
  CHECK(folder.has("kept/one/out.npy"));
  CHECK(contains(folder.run(command).output, "(1 from an earlier run)"));
  // Another golden file, another result.
  folder.write("golden.npy", folder.read("wrong.npy"));
  CHECK(folder.run(command).code == 1);
}

TEST_CASE("model program: a source file with the same bytes in another order is another file") {
  const ModelFolder folder;
  folder.write("jobs.jsonl", R"({"id": "one", "resources": {"A": {"initialValues": {"sourcePath": )"
                             R"("in.npy"}}}, "dispatchables": {}, "commands": [{"type": )"
                             R"("writeFile", "resource": "A", "targetPath": "a.npy"}]})"
                             "\n");
  const std::vector<std::string> command{"batch", "jobs.jsonl", "--cpu",   "--out",
                                         "kept",  "--results",  "r.jsonl", "--resume"};
  const std::string bytes = bytes_of<float>({1});
  folder.write("in.npy", npy("<f4", "(1,)", bytes));
  CHECK(folder.run(command).code == 0);
  CHECK(contains(folder.run(command).output, "(1 from an earlier run)"));
  folder.write("in.npy", npy(">f4", "(1,)", bytes));
  CHECK(!contains(folder.run(command).output, "from an earlier run"));
  CHECK(folder.read("kept/one/a.npy").ends_with(bytes_of<float>({1}, /*swapped=*/true)));
}

}  // namespace dmlop::test::model_program_test
