// Warnings about what is valid, and --warnings-as-errors, in every command that reads descriptions.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"
#include "warned.hpp"

namespace dmlop::test::warnings_test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder with a description and a model that have warnings.
class WarnedFiles : public Folder {
 public:
  WarnedFiles() {
    write("op.json", "{" + warned_fields + "}");
    write("InputTensor.npy", six_dimensional_npy(1, 2));
    write("model.json", warned_model());
  }
  ProgramResult run(const Words& words) const { return dmlop_program(words, {.folder = path()}); }
  ProgramResult run_strictly(Words words) const {
    words.emplace_back("--warnings-as-errors");
    return run(words);
  }
};

/// A command that reads the description or the model, and what it writes.
struct Row {
  Words words;
  std::string written;  // "": nothing
  int warnings = 2;     // of the model
};

const Row description_rows[] = {
    {{"check", "op.json"}, ""},
    {{"run", "op.json", "--cpu", "-o", "y.npy"}, "y.npy"},
    {{"run", "op.json", "--cpu"}, ""},
    {{"bench", "op.json", "--cpu", "--min-time", "0"}, ""},
    {{"convert", "op.json", "--to-model", "made.json"}, "made.json"},
};

const Row model_rows[] = {
    {{"check", "model.json"}, ""},
    {{"run", "model.json", "--cpu"}, "written.npy"},
    {{"bench", "model.json", "--cpu", "--min-time", "0"}, ""},
    {{"convert", "model.json", "--to-op", "made.json"}, "made.json", 3},
};

}  // namespace

TEST_CASE("warnings: every command prints those of a description, and goes on") {
  for (const Row& row : description_rows) {
    CAPTURE(row.words);
    const WarnedFiles files;
    const auto result = files.run(row.words);
    CHECK(result.code == 0);
    CHECK(result.error.starts_with("op.json:1:42: warning: " + warned_message));
    CHECK(contains(result.error, warned_note));
    if (!row.written.empty()) CHECK(files.has(row.written));
  }
}

TEST_CASE("warnings: every command prints those of a model and of its operators") {
  for (const Row& row : model_rows) {
    CAPTURE(row.words);
    const WarnedFiles files;
    const auto result = files.run(row.words);
    CHECK(result.code == 0);
    CHECK(result.error.starts_with("model.json:1:2: warning: unknown field \"comments\""));
    CHECK(contains(result.error, "model.json:5:33: warning: " + warned_model_message));
    if (!row.written.empty()) CHECK(files.has(row.written));
  }
}

TEST_CASE(
    "--warnings-as-errors: a description with a warning ends with 3, and nothing is written") {
  for (const Row& row : description_rows) {
    CAPTURE(row.words);
    const WarnedFiles files;
    const auto result = files.run_strictly(row.words);
    CHECK(result.code == 3);
    CHECK(result.output == "");
    CHECK(result.error.starts_with("op.json:1:42: error: " + warned_message));
    CHECK(result.error.ends_with(warned_note +
                                 " With --warnings-as-errors this warning is an error.\n"));
    if (!row.written.empty()) CHECK_FALSE(files.has(row.written));
  }
}

TEST_CASE("--warnings-as-errors: a model with warnings ends with 3, and nothing is written") {
  for (const Row& row : model_rows) {
    CAPTURE(row.words);
    const WarnedFiles files;
    const auto result = files.run_strictly(row.words);
    CHECK(result.code == 3);
    CHECK(result.output == "");
    CHECK(result.error.starts_with("model.json:1:2: error: unknown field \"comments\""));
    CHECK(contains(result.error, "model.json:5:33: error: " + warned_model_message));
    CHECK_FALSE(contains(result.error, "warning: "));
    CHECK(result.error.ends_with("\n" + std::to_string(row.warnings) + " errors\n"));
    if (!row.written.empty()) CHECK_FALSE(files.has(row.written));
  }
}

TEST_CASE("--warnings-as-errors: convert reports what it would lose together with the rest") {
  const auto check = [](const Words& words, const std::string& lost, const std::string& count) {
    CAPTURE(lost);
    const WarnedFiles files;
    const auto strict = files.run_strictly(words);
    CHECK(strict.code == 3);
    CHECK(strict.output == "");
    CHECK(contains(strict.error, "made.json: error: " + lost));
    CHECK(strict.error.ends_with("\n" + count + " errors\n"));
    CHECK_FALSE(contains(strict.error, "warning: "));
    CHECK_FALSE(files.has("made.json"));
    const auto lenient = files.run(words);
    CHECK(lenient.code == 0);
    CHECK(contains(lenient.error, "made.json: warning: " + lost));
    CHECK(files.has("made.json"));
  };
  check({"convert", "op.json", "--to-model", "made.json", "-o", "y.bin"},
        "the output goes to y.bin.npy", "2");
  check({"convert", "model.json", "--to-op", "made.json"}, "print and writeFile are left out", "3");
}

TEST_CASE("--warnings-as-errors: convert reports warnings together with errors") {
  const WarnedFiles files;
  files.write("op.json", "{" + warned_fields + R"(, "DataType": 1})");
  const auto op = files.run_strictly({"convert", "op.json", "--to-model", "made.json"});
  CHECK(op.code == 3);
  CHECK(contains(op.error, "op.json:1:42: error: " + warned_message));
  CHECK(op.error.ends_with("\n2 errors\n"));
}

TEST_CASE("--warnings-as-errors: what has no warning runs as without it") {
  const WarnedFiles files;
  files.write("edge.json", R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE",
    "StartPadding": [1], "EndPadding": [2]}})");
  files.write("x.npy", float_npy("(3,)", {1, 2, 3}));
  const auto result =
      files.run_strictly({"run", "edge.json", "-i", "x.npy", "-o", "y.npy", "--cpu"});
  CHECK(result.code == 0);
  CHECK(result.error == "");
  CHECK(files.read("y.npy") == float_npy("(6,)", {1, 1, 2, 3, 3, 3}));
}

TEST_CASE("--warnings-as-errors: what DirectML accepts and the page does not is a warning, too") {
  const WarnedFiles files;
  files.write("tile.json", R"({"type": "TILE", "desc": {"InputTensor": {"DataType": "FLOAT64",
    "Sizes": [2]}, "Repeats": [2]}})");
  const Words words{"check", "tile.json", "--as", "directml-1.15.4"};
  CHECK(files.run(words).code == 0);
  const auto strict = files.run_strictly(words);
  CHECK(strict.code == 3);
  CHECK(contains(strict.error, "tile.json:1:55: error: InputTensor is FLOAT64 with 1 dimension"));
}

TEST_CASE("--warnings-as-errors: a golden file that nothing uses is an error, too") {
  const WarnedFiles files;
  std::filesystem::remove(files / "model.json");  // it could have golden files of its own there
  files.write("expected/OutputTensor.npy", six_dimensional_npy(1, 3));
  files.write("expected/Output.npy", six_dimensional_npy(1, 3));
  const auto both = files.run({"run", "op.json", "--cpu", "--expect"});
  CHECK(both.code == 0);
  // What is said about the description comes first.
  CHECK(contains(both.error, warned_note + "\n" + "expected/Output.npy: warning: "));
  const auto strict = files.run_strictly({"run", "op.json", "--cpu", "--expect"});
  CHECK(strict.code == 3);
  CHECK(contains(strict.error, "expected/Output.npy: error: this golden file matches no "));
  CHECK(strict.error.ends_with("\n2 errors\n"));
}

TEST_CASE("warnings: check and run have them in their JSON, once") {
  const WarnedFiles files;
  const auto check = Json::parse(files.run({"check", "op.json", "--format", "json"}).output);
  const Json& warnings = check.at("descriptions").at(0).at("warnings");
  REQUIRE(warnings.size() == 1);
  const auto run = Json::parse(files.run({"run", "op.json", "--cpu", "--format", "json"}).output);
  CHECK(run.at("warnings") == warnings);
  const auto bench = Json::parse(
      files.run({"bench", "op.json", "--cpu", "--min-time", "0", "--format", "json"}).output);
  CHECK(bench.at("warnings") == warnings);
  const auto model =
      Json::parse(files.run({"run", "model.json", "--cpu", "--format", "json"}).output);
  CHECK(model.at("warnings").size() == 2);
}

TEST_CASE("warnings: a thousand are printed, and the others counted") {
  const WarnedFiles files;
  std::filesystem::remove(files / "model.json");
  int strays = 0;
  const auto rest_with = [&](int count) {  // beside the one about the description
    for (; strays < count; ++strays)
      files.write("expected/Result" + std::to_string(strays) + ".npy", "");
    const auto result = files.run({"check", "op.json"});
    CHECK(result.code == 0);
    const std::size_t rest = result.error.rfind("\nand ");
    return rest == std::string::npos ? "" : result.error.substr(rest + 1);
  };
  CHECK(rest_with(999) == "");
  CHECK(rest_with(1000) == "and 1 more warning\n");
  CHECK(rest_with(1001) == "and 2 more warnings\n");
}

TEST_CASE("--warnings-as-errors: C++ that leaves something uncertain makes no description") {
  const WarnedFiles files;
  // Six dimensions of INT64, as the description has.
  files.write("sum.cpp", R"(
UINT sizes[] = {1, 1, 1, 1, 1, 2};
DML_BUFFER_TENSOR_DESC buffer = {DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_FLAG_NONE, 6, sizes,
                                 nullptr, 16, 0};
DML_TENSOR_DESC tensor = {DML_TENSOR_TYPE_BUFFER, &buffer};
DML_CUMULATIVE_SUMMATION_OPERATOR_DESC desc = {&tensor, &tensor, 5, DML_AXIS_DIRECTION_INCREASING,
                                               FALSE};
)");
  const Words words{"convert", "--from-cpp", "sum.cpp", "--to-op", "sum.json"};
  const auto strict = files.run_strictly(words);
  CHECK(strict.code == 3);
  CHECK(contains(strict.error, ": error: " + warned_message));
  CHECK_FALSE(files.has("sum.json"));
  const auto result = files.run(words);
  CHECK(result.code == 0);
  CHECK(contains(result.error, "sum.cpp:3:"));
  CHECK(contains(result.error, ": warning: " + warned_message));
  CHECK(files.has("sum.json"));
}

}  // namespace dmlop::test::warnings_test
