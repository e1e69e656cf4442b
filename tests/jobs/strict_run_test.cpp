// --strict-indices: what becomes of a run, a batch and a model that has an index out of range.
#include <doctest/doctest.h>

#include "batch.hpp"

namespace dmlop::test::strict_run_test {
namespace {

const std::string wrong_message =
    "2 of 4 indices in IndicesTensor are out of range: [1] is 3, [3] is -4";

/// A folder with a GATHER of 3 elements, whose indices are right or wrong.
class GatherFolder : public BatchFolder {
 public:
  GatherFolder() {
    write("wrong_indices.npy", npy("<i4", "(4,)", bytes_of<std::int32_t>({0, 3, -3, -4})));
    write("swapped.npy", npy(">i4", "(4,)", bytes_of<std::int32_t>({0, 3, -3, -4}, true)));
    write("right_indices.npy", npy("<i4", "(4,)", bytes_of<std::int32_t>({0, 2, -3, -1})));
    write("picked.npy", float_npy("(4,)", {1, 3, 1, 3}));
    write("op.json", job("wrong", "", "OutputTensor"));
  }
  static std::string job(const std::string& indices, const std::string& more = "",
                         const std::string& output = "") {
    return R"({"type": "GATHER", "desc": {"Axis": 0, "IndexDimensions": 1}, "bindings": )"
           R"({"InputTensor": "x.npy", "IndicesTensor": ")" +
           indices + R"(_indices.npy")" +
           (output.empty() ? "" : R"(, ")" + output + R"(": "out.npy")") + "}" + more + "}";
  }
  ProgramResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "run");
    return dmlop_program(arguments, {.folder = path()});
  }
};

/// --cpu, and a GPU if there is one.
std::vector<std::string> tried_devices() {
  std::vector<std::string> list{"cpu"};
  if (!program_gpu().empty()) list.push_back(program_gpu());
  return list;
}

}  // namespace

TEST_CASE("strict indices: run ends with 3 and leaves the output as it was") {
  const GatherFolder folder;
  folder.write("out.npy", "what was there");
  for (const std::string& device : tried_devices()) {
    CAPTURE(device);
    const auto result = folder.run({"op.json", "--device", device, "--strict-indices"});
    CHECK(result.code == 3);
    CHECK(result.output.empty());
    CHECK(result.error == "op.json:1:28: error: " + wrong_message +
                              "\n  rule: --strict-indices: an index in IndicesTensor is from -3 to "
                              "2\n  help: correct wrong_indices.npy; dmlop ops GATHER says what "
                              "such an index means without --strict-indices\n");
    CHECK(folder.read("out.npy") == "what was there");
  }
  CHECK(folder.run({"op.json", "--cpu", "--strict-indices", "-o", "-"}).output.empty());
  CHECK(contains(
      folder.run({"op.json", "--cpu", "--strict-indices", "-i", "IndicesTensor=swapped.npy"}).error,
      wrong_message));
  const auto json = folder.run({"op.json", "--cpu", "--strict-indices", "--format", "json"});
  CHECK(json.code == 3);
  const Json diagnostic = Json::parse(json.output).at("diagnostics").at(0);
  CHECK(diagnostic.at("message") == wrong_message);
  CHECK(diagnostic.at("exitCode") == 3);
}

TEST_CASE("strict indices: indices in range change nothing, and without the option nor do others") {
  const GatherFolder folder;
  const auto right = folder.run({"op.json", "--cpu", "--strict-indices", "-i",
                                 "IndicesTensor=right_indices.npy", "--expect", "picked.npy"});
  CHECK(right.code == 0);
  CHECK(folder.run({"op.json", "--cpu", "--expect", "picked.npy"}).code == 0);
}

TEST_CASE("strict indices: no golden file is written") {
  const GatherFolder folder;
  const auto result = folder.run(
      {"op.json", "--cpu", "--strict-indices", "--expect", "new.npy", "--update-golden=accept"});
  CHECK(result.code == 3);
  CHECK_FALSE(folder.has("new.npy"));
}

TEST_CASE("strict indices: in a batch the job is INVALID, the others go on, and repeat says it") {
  const GatherFolder folder;
  folder.write("jobs.jsonl",
               lines_of({GatherFolder::job("wrong", R"(, "id": "bad", "expect": "picked.npy")"),
                         GatherFolder::job("right", R"(, "id": "good", "expect": "picked.npy")")}));
  CHECK(folder.BatchFolder::run({"jobs.jsonl"}).statuses() == "bad PASSED, good PASSED");
  const auto strict = folder.BatchFolder::run({"jobs.jsonl", "--strict-indices"});
  CHECK(strict.code() == 3);
  CHECK(strict.statuses() == "bad INVALID, good PASSED");
  CHECK(strict.record("bad").at("message") == wrong_message);
  CHECK(contains(strict.program.output, "rule: --strict-indices: an index in IndicesTensor"));
  CHECK(contains(strict.program.output, " --strict-indices --filter bad"));
}

namespace {

/// Doubles the indices of "Half" into "Indices", and picks with these; then Half itself picks.
std::string doubling_model(const std::string& half) {
  return R"({"resources": {
    "In": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3]},
    "Half": {"initialValuesDataType": "INT32", "initialValues": )" +
         half + R"(},
    "Indices": {"initialValuesDataType": "INT32", "initialValues": {"valueCount": 2, "value": 9}},
    "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 2, "value": 0}}},
  "dispatchables": {
    "double": {"type": "ELEMENT_WISE_ADD", "desc": {
      "ATensor": {"DataType": "INT32", "Sizes": [2]},
      "BTensor": {"DataType": "INT32", "Sizes": [2]},
      "OutputTensor": {"DataType": "INT32", "Sizes": [2]}}},
    "pick": {"type": "GATHER", "desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
      "IndicesTensor": {"DataType": "INT32", "Sizes": [2]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
      "Axis": 0, "IndexDimensions": 1}}},
  "commands": [
    {"type": "dispatch", "dispatchable": "pick",
     "bindings": {"InputTensor": "In", "IndicesTensor": "Half", "OutputTensor": "Out"}},
    {"type": "dispatch", "dispatchable": "double",
     "bindings": {"ATensor": "Half", "BTensor": "Half", "OutputTensor": "Indices"}},
    {"type": "dispatch", "dispatchable": "pick",
     "bindings": {"InputTensor": "In", "IndicesTensor": "Indices", "OutputTensor": "Out"}},
    {"type": "writeFile", "resource": "Out", "targetPath": "out.npy"}]})";
}

}  // namespace

TEST_CASE("strict indices: of a model the step is named, also where it computed the indices") {
  const GatherFolder folder;
  folder.write("computed.json", doubling_model("[1, 2]"));
  folder.write("given.json", doubling_model("[0, 3]"));
  folder.write("right.json", doubling_model("[0, 1]"));
  for (const std::string& device : tried_devices()) {
    CAPTURE(device);
    const auto run = [&](const std::string& model) {
      return folder.run({model, "--device", device, "--strict-indices", "-o", "Out=last.npy"});
    };
    const auto computed = run("computed.json");
    CHECK(computed.code == 3);
    CHECK(computed.error ==
          "computed.json:13:24: error: commands[2], dispatch of \"pick\": 1 of 2 indices in "
          "IndicesTensor is out of range: [1] is 4\n  rule: --strict-indices: an index in "
          "IndicesTensor is from -3 to 2\n  help: correct what the resource \"Indices\" holds at "
          "this step; dmlop ops GATHER says what such an index means without --strict-indices\n");
    const auto given = run("given.json");
    CHECK(given.code == 3);
    CHECK(contains(given.error, "commands[0], dispatch of \"pick\": 1 of 2 indices in"));
    CHECK(contains(given.error, "[1] is 3"));
    CHECK_FALSE(folder.has("out.npy"));
    CHECK_FALSE(folder.has("last.npy"));
    CHECK(run("right.json").code == 0);
    CHECK(folder.read("last.npy").substr(128) == bytes_of<float>({1, 3}));
    std::filesystem::remove(folder / "out.npy");
    std::filesystem::remove(folder / "last.npy");
  }
  folder.write("model.json", doubling_model("[1, 2]"));
  const auto batch = folder.batch({"model.json", "--strict-indices", "--out", "out"});
  CHECK(batch.code == 3);
  CHECK(contains(batch.output, "INVALID"));
  CHECK(contains(batch.output, "error: commands[2], dispatch of \"pick\": 1 of 2 indices"));
}

}  // namespace dmlop::test::strict_run_test
