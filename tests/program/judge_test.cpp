// Who decides what is valid: Microsoft's page of an operator, or DirectML 1.15.4. Each command asks
// the judge that is named, by --as before the description's "as".
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace dmlop::test::judge_test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// TILE of FLOAT64, which only DirectML accepts, judged as `judge` says; "" says nothing.
std::string tile_of_float64(const std::string& judge) {
  Json json{
      {"type", "TILE"},
      {"desc", {{"InputTensor", {{"DataType", "FLOAT64"}, {"Sizes", {2}}}}, {"Repeats", {2}}}}};
  if (!judge.empty()) json["as"] = judge;
  return json.dump();
}

/// A running sum along six dimensions of INT64, which only the page allows.
constexpr const char* long_sum = R"({"type": "CUMULATIVE_SUMMATION", "desc": {
  "InputTensor": {"DataType": "INT64", "Sizes": [1, 1, 1, 1, 1, 2]}, "Axis": 5,
  "AxisDirection": "INCREASING", "HasExclusiveSum": 0}})";

constexpr const char* model_of_float64 = R"({
  "resources": {
    "In": {"initialValuesDataType": "FLOAT64", "initialValues": [1, 2]},
    "Out": {"initialValuesDataType": "FLOAT64", "initialValues": {"valueCount": 4, "value": 0}}},
  "dispatchables": {"tile": {"type": "TILE",
    "InputTensor": {"DataType": "FLOAT64", "Sizes": [2]},
    "OutputTensor": {"DataType": "FLOAT64", "Sizes": [4]}, "RepeatsCount": 1, "Repeats": [2]}},
  "commands": [{"type": "dispatch", "dispatchable": "tile",
    "bindings": {"InputTensor": "In", "OutputTensor": "Out"}},
    {"type": "print", "resource": "Out"}]})";

class JudgeFolder : public Folder {
 public:
  JudgeFolder() {
    write("page.json", tile_of_float64(""));
    write("directml.json", tile_of_float64("directml-1.15.4"));
    write("sum.json", long_sum);
    write("model.json", model_of_float64);
    std::string numbers(16, '\0');
    numbers[7] = numbers[15] = '\x40';  // 2.0 and 2.0
    write("x.npy", npy("<f8", "(2,)", numbers));
  }
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
};

}  // namespace

TEST_CASE("judge: every command that reads a description asks --as first, then the description") {
  const JudgeFolder folder;
  const std::vector<std::vector<std::string>> commands{
      {"check"},
      {"run", "--cpu", "-i", "x.npy", "-o", "y.npy"},
      {"bench", "--cpu", "--min-time", "0"},
      {"convert", "--to-model", "m.json", "-i", "x.npy"}};
  struct Case {
    const char* file;
    const char* option;
    int code;
  };
  for (const auto& command : commands) {
    for (const auto& [file, option, code] :
         {Case{"page.json", "", 3}, Case{"page.json", "page", 3},
          Case{"page.json", "directml-1.15.4", 0}, Case{"directml.json", "", 0},
          Case{"directml.json", "directml-1.15.4", 0}, Case{"directml.json", "page", 3}}) {
      auto arguments = command;
      arguments.insert(arguments.begin() + 1, file);
      if (*option != '\0') arguments.insert(arguments.end(), {"--as", option});
      CAPTURE(command.front());
      CAPTURE(file);
      CAPTURE(option);
      const auto result = folder.run(arguments);
      CAPTURE(result.error);
      CHECK(result.code == code);
      CHECK((code == 0) !=
            contains(result.error,
                     "DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4."));
    }
  }
}

TEST_CASE("judge: a batch asks it for each job, and says it in commands that repeat one") {
  const JudgeFolder folder;
  folder.write("jobs.json", R"({"jobs": [{"id": "plain", "type": "TILE", "desc": {"Repeats": [2]},
      "bindings": {"InputTensor": "x.npy", "OutputTensor": "plain.npy"}},
    {"id": "as", "as": "directml-1.15.4", "type": "TILE", "desc": {"Repeats": [2]},
      "bindings": {"InputTensor": "x.npy", "OutputTensor": "as.npy"}}]})");
  const auto batch = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"batch", "jobs.json", "--cpu", "--results", "r.jsonl"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return folder.run(arguments);
  };
  const auto by_description = batch({});
  CHECK(by_description.code == 3);
  CHECK(contains(by_description.output + by_description.error, "InputTensor.DataType is FLOAT64"));
  CHECK(folder.list().find("as.npy") != std::string::npos);
  CHECK(folder.list().find("plain.npy") == std::string::npos);
  CHECK(batch({"--as", "directml-1.15.4"}).code == 0);
  CHECK(folder.list().find("plain.npy") != std::string::npos);
  // What another judge let pass is not taken from an earlier run.
  CHECK(batch({"--as", "page", "--resume"}).code == 3);
  CHECK(contains(folder.read("r.jsonl"), "--as page"));
}

TEST_CASE("judge: what only the page allows is a warning, or refused as DirectML") {
  const JudgeFolder folder;
  const auto by_page = folder.run({"check", "sum.json"});
  CHECK(by_page.code == 0);
  CHECK(contains(by_page.error, "DirectML 1.15.4 refuses this."));
  const auto by_directml = folder.run({"check", "sum.json", "--as", "directml-1.15.4"});
  CHECK(by_directml.code == 3);
  CHECK(contains(by_directml.error,
                 "The operator's page allows this, and so does dmlop with --as page."));
}

TEST_CASE("judge: a model follows DirectML, unless --as says page") {
  const JudgeFolder folder;
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"check", "model.json"},
                                             {"run", "model.json", "--cpu"},
                                             {"bench", "model.json", "--cpu", "--min-time", "0"},
                                             {"convert", "model.json", "--to-op", "op.json"}}) {
    CAPTURE(command.front());
    CHECK(folder.run(command).code == 0);
    auto as_page = command;
    as_page.insert(as_page.end(), {"--as", "page"});
    const auto refused = folder.run(as_page);
    CHECK(refused.code == 3);
    CHECK(contains(refused.error, "InputTensor.DataType is FLOAT64, must be one of"));
  }
  CHECK(contains(folder.run({"run", "model.json", "--cpu"}).output, "1, 2, 1, 2"));
  // The description that convert made of it is judged as the model was.
  CHECK(Json::parse(folder.read("op.json"))["as"] == "directml-1.15.4");
  CHECK(folder.run({"check", "op.json"}).code == 0);
}

TEST_CASE("judge: a description of C++ names the judge that was given") {
  const JudgeFolder folder;
  folder.write("x.cpp", R"(
    UINT sizes[] = {2}, out[] = {4}, repeats[] = {2};
    DML_BUFFER_TENSOR_DESC in = {DML_TENSOR_DATA_TYPE_FLOAT64, DML_TENSOR_FLAG_NONE, 1, sizes, nullptr, 16, 0};
    DML_BUFFER_TENSOR_DESC res = {DML_TENSOR_DATA_TYPE_FLOAT64, DML_TENSOR_FLAG_NONE, 1, out, nullptr, 32, 0};
    DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &in}, output = {DML_TENSOR_TYPE_BUFFER, &res};
    DML_TILE_OPERATOR_DESC desc = {&input, &output, 1, repeats};)");
  const auto plain = folder.run({"convert", "--from-cpp", "x.cpp"});
  CHECK(plain.code == 3);
  CHECK_FALSE(contains(plain.output, "\"as\""));
  const auto judged = folder.run({"convert", "--from-cpp", "x.cpp", "--as", "directml-1.15.4"});
  CAPTURE(judged.error);
  CHECK(judged.code == 0);
  CHECK(Json::parse(judged.output)["as"] == "directml-1.15.4");
}

TEST_CASE("judge: nobody else judges") {
  const JudgeFolder folder;
  folder.write("op.json", tile_of_float64("directml-1.14.0"));
  const auto result = folder.run({"check", "op.json"});
  CHECK(result.code == 3);
  CHECK(contains(result.error, "must be one of page, directml-1.15.4"));
  CHECK(folder.run({"check", "page.json", "--as", "me"}).code == 2);
}

}  // namespace dmlop::test::judge_test
