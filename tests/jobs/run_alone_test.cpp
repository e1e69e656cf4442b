// dmlop run without files of its own: an operator and --set instead of an OP.json, and the output
// on the screen instead of a file.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"
#include "spec/spec.hpp"

namespace dmlop::test::run_alone_test {
namespace {

using Json = nlohmann::json;

constexpr const char* edge =
    R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [0, 2]}})";
const std::vector<std::string> edge_settings{
    "--set", "PaddingMode=EDGE", "--set", "StartPadding=0,1", "--set", "EndPadding=0,2"};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class InputFolder : public Folder {
 public:
  InputFolder() {
    write("x.npy", float_npy("(2, 3)", {1, 2, 3, 4, 5, 6}));
    write("edge.json", edge);
  }
  ProgramResult dmlop(std::vector<std::string> arguments,
                      const std::vector<std::string>& more = {}) const {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return dmlop_program(arguments, {.folder = path()});
  }
};

}  // namespace

TEST_CASE("run needs no OP.json: an operator's name and --set say the same") {
  const InputFolder folder;
  REQUIRE(folder.dmlop({"run", "edge.json", "--cpu", "-i", "x.npy", "-o", "file.npy"}).code == 0);
  for (const std::string name : {"PADDING", "DML_OPERATOR_PADDING", "padding"}) {
    CAPTURE(name);
    const auto result =
        folder.dmlop({"run", name, "--cpu", "-i", "x.npy", "-o", "set.npy"}, edge_settings);
    CHECK(result.error == "");
    CHECK(result.code == 0);
    CHECK(result.output == "OutputTensor: FLOAT32 [2, 6] in set.npy\n");
    CHECK(folder.read("set.npy") == folder.read("file.npy"));
  }
  const auto check = folder.dmlop({"check", "PADDING", "-i", "x.npy"}, edge_settings);
  CHECK(check.output ==
        "PADDING: ok: PADDING: InputTensor FLOAT32 [2, 3], OutputTensor FLOAT32 [2, 6]\n");
  const auto bench = folder.dmlop(
      {"bench", "PADDING", "--cpu", "--min-time", "0", "--set", "InputTensor=FLOAT32:20,30"},
      edge_settings);
  CHECK(bench.code == 0);
}

TEST_CASE("--set overrides a file's fields in run, check and bench") {
  const InputFolder folder;
  const auto result = folder.dmlop({"run", "edge.json", "--cpu", "-i", "x.npy", "-o", "y.npy",
                                    "--set", "EndPadding=0,0", "--set", "StartPadding[1]=2"});
  CHECK(result.output == "OutputTensor: FLOAT32 [2, 5] in y.npy\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "edge.json", "--cpu", "-i", "x.npy", "-o", "y.npy"},
        {"check", "edge.json", "-i", "x.npy"},
        {"bench", "edge.json", "--cpu", "-i", "x.npy"}}) {
    CAPTURE(words[0]);
    const auto wrong = folder.dmlop(words, {"--set", "PaddingMode=EDG"});
    CHECK(wrong.code == 3);
    CHECK(contains(wrong.error,
                   "edge.json: --set PaddingMode: error: PaddingMode is the string "
                   "\"EDG\", must be one of CONSTANT, "));
    const auto json =
        Json::parse(folder.dmlop(words, {"--set", "PaddingMode=EDG", "--format", "json"}).output);
    const Json& finding = json.at("diagnostics").at(0);
    CHECK(finding.at("argument") == "--set PaddingMode");
    CHECK(finding.at("pointer") == "/desc/PaddingMode");
    CHECK(!finding.contains("line"));
  }
}

TEST_CASE("--set: what is no setting is wrong usage") {
  const InputFolder folder;
  for (const std::string text : {"PaddingMode", "=EDGE", "Padding Mode=EDGE"}) {
    const auto result = folder.dmlop({"check", "edge.json", "--set", text});
    CHECK(result.code == 2);
    CHECK(contains(result.error, "--set: \"" + text + "\" must be FIELD=VALUE"));
  }
  const auto model = folder.dmlop(
      {"check", source_path("samples/dxdispatch/padding.json"), "--set", "PaddingMode=EDGE"});
  CHECK(model.code == 2);
  CHECK(contains(model.error, "--set is for op descriptions"));
}

TEST_CASE("an operator's name: capitals are the operator, other letters a file that exists") {
  const InputFolder folder;
  folder.write("PADDING", "no JSON");
  folder.write("padding", "no JSON");
  CHECK(folder.dmlop({"check", "PADDING", "-i", "x.npy"}, edge_settings).code == 0);
  CHECK(contains(folder.dmlop({"check", "./PADDING"}).error, "./PADDING:1:1: error: "));
  CHECK(contains(folder.dmlop({"check", "padding"}).error, "padding:1:1: error: "));
  const auto misspelt = folder.dmlop({"run", "PADING"});
  CHECK(misspelt.code == 2);
  CHECK(contains(misspelt.error, "PADING is neither a file nor an operator\n"));
  CHECK(contains(misspelt.error, "did you mean \"PADDING\" or \"PADDING1\"?"));
  const auto other = folder.dmlop({"run", "REDUCE_MEAN"});
  CHECK(other.code == 2);
  CHECK(contains(
      other.error,
      "REDUCE_MEAN is neither a file nor an operator\n  help: `dmlop ops` lists the operators"));
  CHECK(folder.dmlop({"run", "pad.json"}).code == 6);
}

TEST_CASE("what an operator needs is asked for in words of the command line") {
  const InputFolder folder;
  const auto no_input = folder.dmlop({"run", "PADDING", "--cpu"}, edge_settings);
  CHECK(no_input.code == 2);
  CHECK(contains(no_input.error, "no file is given for InputTensor\n"));
  CHECK(contains(no_input.error, "help: add -i FILE.npy\n"));
  const auto no_field = folder.dmlop({"run", "PADDING", "--cpu", "-i", "x.npy"});
  CHECK(no_field.code == 3);
  CHECK(contains(no_field.error, "PADDING: error: the field \"PaddingMode\" is missing\n"));
  CAPTURE(no_field.error);
  CHECK(contains(no_field.error, "help: add --set PaddingMode=EDGE, for example"));
}

TEST_CASE("run shows an output that goes nowhere, as inspect shows a file") {
  const InputFolder folder;
  REQUIRE(folder.dmlop({"run", "edge.json", "--cpu", "-i", "x.npy", "-o", "y.npy"}).code == 0);
  const auto inspected = folder.dmlop({"inspect", "y.npy"}).output;
  const auto shown = folder.dmlop({"run", "edge.json", "--cpu", "-i", "x.npy"});
  CHECK(shown.code == 0);
  CHECK(shown.error == "");
  CHECK(shown.output ==
        "OutputTensor: FLOAT32 [2, 6]\n" + inspected.substr(inspected.find('\n') + 1));
  CHECK(contains(shown.output, "  1 1 2 3 3 3\n"));
  const auto json = Json::parse(
      folder.dmlop({"run", "edge.json", "--cpu", "-i", "x.npy", "--format", "json"}).output);
  const Json from_file = Json::parse(folder.dmlop({"inspect", "y.npy", "--format", "json"}).output);
  const Json& output = json.at("outputs").at(0);
  for (const char* name : {"dataType", "sizes", "min", "max", "mean", "nanCount", "first"})
    CHECK(output.at(name) == from_file.at(0).at(name));
  CHECK(!output.contains("file"));
  CHECK(folder.dmlop({"run", "edge.json", "--cpu", "-i", "x.npy", "-q"}).output == "");
  // What is compared is not shown.
  CHECK(!contains(
      folder.dmlop({"run", "edge.json", "--cpu", "-i", "x.npy", "--expect", "y.npy"}).output,
      "mean"));
}

TEST_CASE("binary data never goes to a terminal") {
  if (const std::string problem = terminal_problem(); !problem.empty()) {
    MESSAGE("SKIPPED: " << problem);
    return;
  }
  const InputFolder folder;
  const auto on_terminal = [&](const std::string& command) {
    return shell("script -qec \"" + command + "\" typescript < /dev/null",
                 {.folder = folder.path()});
  };
  for (const std::string output : {"-", "/dev/stdout", "/dev/tty"}) {
    CAPTURE(output);
    const auto result = on_terminal("dmlop run edge.json --cpu -i x.npy -o " + output);
    CHECK(result.code == 2);
    CHECK(
        contains(result.output, " is a terminal, and these bytes are not text; write them to a "));
    CHECK(!contains(result.output, "NUMPY"));
  }
  const auto piped = on_terminal("dmlop run edge.json --cpu -i x.npy -o - | wc -c");
  CHECK(piped.code == 0);
  CHECK(contains(piped.output, "176"));
  CHECK(contains(on_terminal("dmlop run edge.json --cpu -i x.npy").output, "  1 1 2 3 3 3"));
  // Text does: a report is XML.
  folder.write("job/op.json", edge);
  CHECK(contains(on_terminal("dmlop batch job --cpu --junit /dev/tty").output, "<testsuites"));
}

TEST_CASE("ops --example: every operator's example is a description that passes check") {
  const Folder folder;
  std::vector<std::string> check{"check", "--format", "json"};
  for (const std::string& name : dmlop::specified_operators()) {
    const auto result = dmlop_program({"ops", name, "--example"});
    REQUIRE(result.code == 0);
    CHECK(result.output.starts_with("// " + name + ": "));
    check.push_back(folder.write(name + ".json", result.output));
  }
  const auto result = dmlop_program(check);
  CAPTURE(result.output.substr(0, 2000));
  REQUIRE(result.code == 0);
  CHECK(Json::parse(result.output).at("descriptions").size() == 177);
}

TEST_CASE("ops --example: comments name every field, and the example runs") {
  const InputFolder folder;
  for (const std::string& name : dmlop::specified_operators()) {
    if (name.find("POOLING") == std::string::npos && name != "GEMM") continue;
    CAPTURE(name);
    const std::string text = dmlop_program({"ops", name, "--example"}).output;
    for (const dmlop::FieldSpec& field : dmlop::find_spec(name)->fields) {
      CAPTURE(field.name);
      CHECK(contains(text, field.name));
      CHECK(contains(text, "    // "));
    }
  }
  const std::string example = dmlop_program({"ops", "padding", "--example"}).output;
  folder.write("job/op.json", example);
  CHECK(contains(example, "    // One of CONSTANT, EDGE, REFLECTION, SYMMETRIC, WRAP.\n"));
  const auto listed = dmlop_program({"ops", "--example"});
  CHECK(listed.code == 2);
  CHECK(contains(listed.error, "--example is of one operator"));
}

}  // namespace dmlop::test::run_alone_test
