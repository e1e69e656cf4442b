// The built program from outside: exit codes, options, reports. Streams, signals and processes are
// in cli_streams_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ops/operator.hpp"
#include "paths.hpp"
#include "program.hpp"
#include "spec/spec.hpp"

namespace dmlop::test::cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string samples = source_path("samples/");
const std::string edge =
    R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})";

/// A folder with op.json (an EDGE padding) and x.npy.
class PaddingFolder : public Folder {
 public:
  PaddingFolder() {
    write("op.json", edge);
    write("x.npy", float_npy("(3,)", {1, 2, 3}));
  }
  ProgramResult run(std::vector<std::string> arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
};

struct Row {
  std::vector<std::string> arguments;
  int code;
  std::string error;  // the beginning of standard error
};

void check_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const PaddingFolder folder;
    const auto result = folder.run(row.arguments);
    std::string command;
    for (const std::string& word : row.arguments) command += word + " ";
    CAPTURE(command);
    CAPTURE(result.error);
    CHECK(result.code == row.code);
    CHECK(result.error.starts_with(row.error));
    CHECK(result.error.empty() == row.error.empty());
  }
}

}  // namespace

TEST_CASE("exit codes: done") {
  check_rows({
      {{"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy"}, 0, ""},
      {{"run", "op.json", "--cpu", "-i", "InputTensor=x.npy", "-o", "OutputTensor=y.npy"}, 0, ""},
      {{"run", "op.json", "--cpu", "--input", "x.npy", "--output", "y.npy", "--threads", "2"},
       0,
       ""},
      {{"run", "op.json", "--cpu", "-ix.npy", "--output=y.npy", "--feature-level=5.0", "-q"},
       0,
       ""},
      {{"check", "op.json", "-i", "x.npy"}, 0, ""},
      {{"ops", "PADDING"}, 0, ""},
      {{"run", "padding", "--example", "--random", "--cpu"}, 0, ""},
      {{"ops", "DML_OPERATOR_SLICE1"}, 0, ""},
      {{"inspect", "x.npy"}, 0, ""},
      {{"schema"}, 0, ""},
      {{"completion", "bash"}, 0, ""},
      {{"manual"}, 0, ""},
      {{"--help"}, 0, ""},
      {{"run", "--help"}, 0, ""},
      {{"--version"}, 0, ""},
  });
}

TEST_CASE("a word that is no command is told what it can be used with") {
  for (const auto& [arguments, help] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--cpu", "run", "op.json"}, "run --cpu ...\n"},
           {{"--filter", "a", "run", "op.json"}, "batch --filter ...\n"},
           {{"padding"}, "ops PADDING\n"},
           {{"my op.json"}, "run 'my op.json'\n"},
           {{"x.npy"}, "inspect x.npy\n"}}) {
    CAPTURE(help);
    const auto result = dmlop_program(arguments);
    CHECK(result.code == 2);
    // Windows spells the program's path in its own way.
    CHECK(result.error.ends_with((is_windows_program() ? "" : program_path()) + " " + help));
  }
}

TEST_CASE("exit codes: wrong usage, with what to type instead") {
  check_rows({
      {{}, 2, "dmlop runs DirectML operators anywhere"},
      {{"ops", "PADDING", "--example", "--format", "json"},
       2,
       "dmlop: error: --example writes a commented description; leave out --format"},
      {{"--verison"}, 2, "dmlop: error: unknown option \"--verison\"; did you mean \"--version\"?"},
      {{"--cpu", "run", "op.json"},
       2,
       "dmlop: error: the option \"--cpu\" stands before the command"},
      {{"--filter", "a", "run", "op.json"},
       2,
       "dmlop: error: the option \"--filter\" stands before the command"},
      {{"run", "op.json", "--filter", "a"},
       2,
       "dmlop: error: run has no option \"--filter\"; batch has it"},
      {{"batch", ".", "-i", "x.npy"},
       2,
       "dmlop: error: batch has no option \"-i\"; run, check, bench, convert, inspect have it"},
      {{"padding"}, 2, "dmlop: error: unknown command \"padding\""},
      {{"help", "rnu"}, 2, "dmlop: error: unknown command \"rnu\"; did you mean \"run\"?"},
      {{"rn"}, 2, "dmlop: error: unknown command \"rn\"; did you mean \"run\"?"},
      {{"chekc", "op.json"}, 2, "dmlop: error: unknown command \"chekc\"; did you mean \"check\"?"},
      {{"frobnicate"}, 2, "dmlop: error: unknown command \"frobnicate\""},
      {{"op.json"}, 2, "dmlop: error: unknown command \"op.json\""},
      {{"run"}, 2, "dmlop: error: OP.json is required"},
      {{"check"}, 2, "dmlop: error: OP.json is required"},
      {{"inspect"}, 2, "dmlop: error: FILE is required"},
      {{"run", "op.json", "--thread", "2"},
       2,
       "dmlop: error: unknown option \"--thread\"; did you mean \"--threads\"?"},
      {{"run", "op.json", "--feature-levle=5_0"},
       2,
       "dmlop: error: unknown option \"--feature-levle\"; did you mean \"--feature-level\"?"},
      {{"run", "op.json", "-x"}, 2, "dmlop: error: unknown option \"-x\""},
      {{"run", "op.json", "x.npy"},
       2,
       "dmlop: error: unexpected argument \"x.npy\"\n"
       "  help: write -i x.npy if it is the file of an input\n"},
      {{"run", "op.json", "PaddingMode=EDGE"},
       2,
       "dmlop: error: unexpected argument \"PaddingMode=EDGE\"\n"
       "  help: write --set PaddingMode=EDGE\n"},
      {{"devices", "x.npy"},
       2,
       "dmlop: error: unexpected argument \"x.npy\"\n"
       "  help: leave it out, or see dmlop devices --help\n"},
      {{"run", "op.json", "--json"},
       2,
       "dmlop: error: unknown option \"--json\"\n  help: write --format json\n"},
      {{"check", "op.json", "--5_0"},
       2,
       "dmlop: error: unknown option \"--5_0\"\n  help: write --feature-level 5_0\n"},
      {{"run", "op.json", "-o"},
       2,
       "dmlop: error: --output needs a value\n  help: write --output [NAME=]FILE\n"},
      {{"run", "op.json", "--cpu", "--gpu"},
       2,
       "dmlop: error: --cpu excludes --gpu\n  help: keep one of them\n"},
      {{"run", "op.json", "--threads", "0"},
       2,
       "dmlop: error: --threads: \"0\" must be an integer from 1 to 4096"},
      {{"run", "op.json", "--threads", "two"}, 2, "dmlop: error: --threads: \"two\" must be an"},
      {{"run", "op.json", "--threads", "0x8"}, 2, "dmlop: error: --threads: \"0x8\" must be an"},
      {{"bench", "op.json", "--min-time", "nan"},
       2,
       "dmlop: error: --min-time: \"nan\" must be a number from 0 to 3600"},
      {{"run", "op.json", "--device-memory", "5XB"},
       2,
       "dmlop: error: --device-memory: \"5XB\" must be a whole number of bytes from 4096, such as "
       "4096, 512MB or 2GB"},
      {{"run", "op.json", "--device-memory", "4095"}, 2, "dmlop: error: --device-memory: \"4095\""},
      {{"run", "op.json", "--host-memory", "0"}, 2, "dmlop: error: --host-memory: \"0\" must be"},
      {{"run", "op.json", "--host-memory", "1.5GB"}, 2, "dmlop: error: --host-memory: \"1.5GB\""},
      {{"run", "op.json", "--host-memory", "99999999999999999999"}, 2, "dmlop: error: --host-me"},
      {{"run", "op.json", "--host-memory", "9999999999EB"}, 2, "dmlop: error: --host-memory: \"9"},
      {{"run", "op.json", "--nan", "maybe"},
       2,
       "dmlop: error: --nan: \"maybe\" must be one of equal, differ"},
      {{"completion", "tcsh"}, 2, "dmlop: error: SHELL: \"tcsh\" must be one of bash, zsh, fish"},
      {{"batch", ".", "--jobs", "-1"},
       2,
       "dmlop: error: --jobs: \"-1\" must be an integer from 1 to 4096"},
      {{"batch", ".", "--max-failures", "0"},
       2,
       "dmlop: error: --max-failures: \"0\" must be an integer greater than 0"},
      {{"batch", ".", "--max-failures", "1.5"},
       2,
       "dmlop: error: --max-failures: \"1.5\" must be an integer greater than 0"},
      {{"batch", ".", "--skip-code", "256"},
       2,
       "dmlop: error: --skip-code: \"256\" must be an integer from 0 to 255"},
      {{"run", "op.json", "--feature-level", "7_0"},
       2,
       "dmlop: error: --feature-level: \"7_0\" is not a feature level; write 1_0 to 6_4"},
      {{"check", "op.json", "--format", "xml"},
       2,
       "dmlop: error: --format: \"xml\" must be one of json, text"},
      {{"run", "op.json", "-i"}, 2, "dmlop: error: "},
      {{"run", "op.json", "-i", ""}, 2, "dmlop: error: \"\" names no file"},
      {{"run", "op.json", "-i", "InputTensor="}, 2, "dmlop: error: \"InputTensor=\" names no file"},
      {{"run", "op.json", "--cpu"}, 2, "op.json: error: no file is given for InputTensor"},
      {{"run", "op.json", "-i", "x.npy", "-o", "-", "--format", "json"}, 2, ""},
      {{"ops", "PADING"},
       2,
       "dmlop: error: no operator of DirectML is called \"PADING\"; did you mean \"PADDING\" or "
       "\"PADDING1\"?"},
      {{"schema", "GEM"},
       2,
       "dmlop: error: no operator of DirectML is called \"GEM\"; did you mean \"GEMM\""},
      {{"run", "op.json", "--strict-indices=banana"},
       2,
       "dmlop: error: --strict-indices takes no value, but \"banana\" is given"},
      {{"ops", "--differences", "--example"},
       2,
       "dmlop: error: --differences is about all operators; leave out --example"},
      {{"ops", "--differences", "--feature-level", "1_0"},
       2,
       "dmlop: error: --differences is about all operators; leave out --feature-level"},
      {{"ops", "PADDING", "--feature-level", "1_0"},
       2,
       "dmlop: error: --feature-level is for the list of operators; dmlop ops PADDING shows"},
      {{"ops", "PADDING", "--format", "markdown"},
       2,
       "dmlop: error: --format markdown is for lists of operators"},
      {{"completion"}, 2, "dmlop: error: SHELL is required"},
      {{"completion", "tcsh"}, 2, "dmlop: error: "},
  });
}

TEST_CASE("--timeout is a number greater than 0, however small") {
  const PaddingFolder folder;
  folder.write("jobs.jsonl", "");
  const auto error_of = [&](const std::string& timeout) {
    return folder.run({"batch", "jobs.jsonl", "--cpu", "--allow-empty", "--timeout", timeout})
        .error;
  };
  for (const char* good : {"1", "0.5", "1e-320", "08", "1e300"}) CHECK(error_of(good) == "");
  for (const std::string bad : {"0", "0.0", "-1", "nan", "-nan", "inf", "soon", "1s", ""}) {
    CHECK(error_of(bad) == "dmlop: error: --timeout: \"" + bad +
                               "\" must be a number greater than 0\n  help: see dmlop batch "
                               "--help\n");
  }
}

TEST_CASE("integers are decimal, with leading zeros, too") {
  const PaddingFolder folder;
  const auto error_of = [&](const std::string& threads) {
    return folder
        .run({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy", "--threads", threads})
        .error;
  };
  for (const char* good : {"8", "08", "010", "04096"}) CHECK(error_of(good) == "");
  CHECK(error_of("05000").starts_with(
      "dmlop: error: --threads: \"05000\" must be an integer from 1 to 4096\n"));
}

TEST_CASE("exit codes: invalid input, not available, files that cannot be read or written") {
  check_rows({
      {{"check", "x.npy"},
       3,
       "x.npy:1:1: error: this is a .npy file; expected an op description in JSON"},
      {{"check", "op.json", "--feature-level", "3_0", "-i", "x.npy"},
       3,
       "op.json:1:29: error: InputTensor (x.npy) has 1 dimension, which needs feature level 3_1"},
      {{"run", "op.json", "--cpu", "-i", "op.json", "-o", "y.npy"},
       3,
       "dmlop: error: reading InputTensor from op.json: the file is JSON"},
      {{"run", "op.json", "--cpu", "-i", ".", "-o", "y.npy"},
       3,
       "dmlop: error: reading InputTensor from .: is a directory"},
      {{"check", "/"}, 2, "dmlop: error: / has no op.json, no model.json"},
      {{"inspect", "op.json"}, 3, "dmlop: error: reading op.json: the file is JSON"},
      {{"run", "none.json", "-i", "x.npy", "-o", "y.npy"},
       6,
       "dmlop: error: reading the description none.json: No such file or directory"},
      {{"check", "none.json"}, 6, "dmlop: error: reading the description none.json: No such file"},
      {{"inspect", "none.npy"}, 6, "dmlop: error: reading none.npy: No such file or directory"},
      {{"run", "op.json", "--cpu", "-i", "none.npy", "-o", "y.npy"},
       6,
       "dmlop: error: reading InputTensor from none.npy: No such file or directory"},
      {{"run", "op.json", "--cpu", "-i", "x.npy", "-o", "none/y.npy"},
       6,
       "dmlop: error: creating none/y.npy: folder none does not exist"},
  });
  const PaddingFolder folder;
  folder.write(
      "valid.json",
      R"({"type": "ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}}})");
  CHECK(folder.run({"check", "valid.json"}).code == 0);
  folder.write("shader.json",
               R"({"resources": {}, "dispatchables": {"s": {"type": "hlsl"}}, "commands": []})");
  CHECK(folder.run({"run", "shader.json", "--cpu"}).code == 4);
  folder.write("invalid.json", R"({"type": "ELEMENT_WISE_IDENTITY", "desc": {"Scale": 1}})");
  CHECK(folder.run({"run", "invalid.json", "--cpu"}).code == 3);
}

TEST_CASE("every error begins with its place or the program's name") {
  const PaddingFolder folder;
  folder.write("wrong.json", R"({"type": "PADDING", "desc": {"PaddingMode": 7}})");
  folder.write("a.jsonl", "");
  const std::vector<std::vector<std::string>> commands{
      {"run"},
      {"run", "--nothing"},
      {"run", "none.json"},
      {"run", "op.json"},
      {"run", "op.json", "-i", "none.npy"},
      {"check", "wrong.json"},
      {"check", "wrong.json", "--set", "PaddingMode=EGDE"},
      {"check", "/"},
      {"bench", "op.json", "--baseline", "none.json"},
      {"compare", "none.npy", "x.npy"},
      {"inspect", "none.npy"},
      {"batch", "--merge", "a.jsonl"},
      {"batch", "none"},
  };
  for (const auto& words : commands) {
    CAPTURE(words.front());
    const auto result = folder.run(words);
    CAPTURE(result.error);
    const std::string lines = "\n" + result.error;
    CHECK(lines.find(": error: ") != std::string::npos);
    CHECK(lines.find("\nerror: ") == std::string::npos);
  }
}

TEST_CASE("run says what it wrote, and nothing with -q") {
  const PaddingFolder folder;
  const auto loud = folder.run({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy"});
  CHECK(loud.output == "OutputTensor: FLOAT32 [6] in y.npy\n");
  CHECK(folder.read("y.npy") == float_npy("(6,)", {1, 1, 2, 3, 3, 3}));
  CHECK(folder.run({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy", "-q"}).output == "");
  CHECK(folder.run({"check", "op.json", "-i", "x.npy", "--quiet"}).output == "");
  CHECK(folder.run({"check", "op.json", "-i", "x.npy"}).output ==
        "op.json: ok: PADDING: InputTensor FLOAT32 [3], OutputTensor FLOAT32 [6]\n");
  CHECK(folder.list() == "op.json x.npy y.npy");
}

TEST_CASE("--format json of run and check is one document with what was done") {
  const PaddingFolder folder;
  const auto run =
      folder.run({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy", "--format", "json"});
  CHECK(Json::parse(run.output) == Json{{"status", "done"},
                                        {"exitCode", 0},
                                        {"device", "cpu"},
                                        {"outputs",
                                         {{{"name", "OutputTensor"},
                                           {"file", "y.npy"},
                                           {"dataType", "FLOAT32"},
                                           {"sizes", {6}}}}}});
  const auto check = folder.run({"check", "op.json", "-i", "x.npy", "--format", "json"});
  const Json json = Json::parse(check.output);
  CHECK(json.at("exitCode") == 0);
  CHECK(json.at("descriptions").at(0).at("tensors").at("OutputTensor").at("sizes") == Json{6});
}

TEST_CASE("--format json has the same findings as the text") {
  const PaddingFolder folder;
  folder.write("op.json", R"({"type": "PADDING", "featureLevel": "2_1", "desc": {
  "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 3]}, "PaddingMode": "SYMMETRIC",
  "StartPadding": [0, 0, 0, -1], "EndPading": [0, 0, 0, 2]}})");
  const auto text = folder.run({"check", "op.json"});
  const auto json = folder.run({"check", "op.json", "--format", "json"});
  CHECK(text.code == 3);
  CHECK(json.code == 3);
  CHECK(text.output == "");
  CHECK(json.error == "");
  const Json document = Json::parse(json.output);
  CHECK(document.at("status") == "error");
  CHECK(document.at("exitCode") == 3);
  std::string rebuilt;
  for (const Json& finding : document.at("diagnostics")) {
    rebuilt += finding.at("file").get<std::string>() + ":" + finding.at("line").dump() + ":" +
               finding.at("column").dump() + ": error: " + finding.at("message").get<std::string>();
    if (finding.contains("rule")) rebuilt += "\n  rule: " + finding["rule"].get<std::string>();
    if (finding.contains("suggestion"))
      rebuilt += "\n  help: " + finding["suggestion"].get<std::string>();
    rebuilt += "\n";
  }
  CHECK(rebuilt + "3 errors\n" == text.error);
  const Json& mode = document.at("diagnostics").at(0);
  CHECK(mode.at("pointer") == "/desc/PaddingMode");
  CHECK(mode.at("value") == "\"SYMMETRIC\"");
  CHECK(mode.at("featureLevel") == "2_1");
  CHECK(mode.at("exitCode") == 3);
}

TEST_CASE("--format json reports failures of files and usage, too") {
  const PaddingFolder folder;
  const auto code_of = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto result = folder.run(arguments);
    CHECK(result.error == "");
    const Json json = Json::parse(result.output);
    CHECK(json.at("exitCode") == result.code);
    CHECK_FALSE(json.at("diagnostics").at(0).at("message").get<std::string>().empty());
    return result.code;
  };
  CHECK(code_of({"run", "none.json", "--cpu"}) == 6);
  CHECK(code_of({"run", "op.json", "--cpu"}) == 2);
  CHECK(code_of({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "none/y.npy"}) == 6);
  CHECK(code_of({"inspect", "op.json"}) == 3);
  folder.write("\xFF.json", "{");
  CHECK(code_of({"check", "\xFF.json"}) == 3);
}

TEST_CASE("check goes through all its files, and the worst one decides") {
  const PaddingFolder folder;
  folder.write("wrong.json", "{");
  const auto result =
      folder.run({"check", "wrong.json", samples + "padding/op.json", samples + "slice1/op.json"});
  CHECK(result.code == 3);
  CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 2);
  CHECK(result.error.starts_with("wrong.json:1:2: error: wrong JSON"));
}

TEST_CASE("conformance cases through the program: copied bytes are the golden's") {
  int checked = 0;
  for (const char* name : {"PADDING", "SLICE1", "REVERSE_SUBSEQUENCES"}) {
    for (const char* number : {"000", "003", "010", "040"}) {
      const fs::path source = fs::path(conformance_path("directml")) / name / number;
      CAPTURE(source);
      std::vector<std::string> arguments{"run", (source / "op.json").string(), "--cpu", "-o", "-"};
      for (const char* input : {"InputTensor", "SequenceLengthsTensor"}) {
        const fs::path file = source / (std::string(input) + ".npy");
        if (!fs::exists(file)) continue;
        arguments.insert(arguments.end(), {"-i", std::string(input) + "=" + file.string()});
      }
      const auto result = dmlop_program(arguments);
      CHECK(result.error == "");
      CHECK((result.output == read_file(source / "expected" / "OutputTensor.npy")));
      ++checked;
    }
  }
  CHECK(checked == 12);
}

TEST_CASE("inspect shows type, sizes, order, statistics and elements") {
  const Folder folder;
  folder.write("x.npy", npy(">f4", "(2, 3)", bytes_of<float>({1, 2, 3, 4, 5, 6}, true), true));
  const auto text = dmlop_program({"inspect", "x.npy"}, {.folder = folder.path()});
  CHECK(text.output ==
        "x.npy: FLOAT32 [2, 3], Fortran order, big endian, 24 bytes\n"
        "  min 1  max 6  mean 3.5  NaN 0  infinity 0\n"
        "    1 3 5\n    2 4 6\n");  // the tensor's rows, not the file's
  const float infinity = std::numeric_limits<float>::infinity();
  folder.write("y.npy", float_npy("(4,)", {-infinity, std::nanf(""), 2, 4}));
  const auto json =
      dmlop_program({"inspect", "y.npy", "x.npy", "--format", "json"}, {.folder = folder.path()});
  const Json list = Json::parse(json.output);
  CHECK(list.size() == 2);
  CHECK(list.at(0).at("nanCount") == 1);
  CHECK(list.at(0).at("infinityCount") == 1);
  CHECK(list.at(0).at("mean") == 3);
  CHECK(list.at(0).at("min") == "-inf");
  CHECK(list.at(1).at("order") == "Fortran");
  CHECK(list.at(1).at("first") == Json({"1", "3", "5", "2", "4", "6"}));
}

TEST_CASE("inspect shows rows of 12 elements whole") {
  const Folder folder;
  const std::string twelve = "    1 1 1 1 1 1 1 1 1 1 1 1";
  for (const auto& [columns, end] : {std::pair(12, "\n"), std::pair(13, " ...\n")}) {
    CAPTURE(columns);
    folder.write("x.npy", float_npy("(1, " + std::to_string(columns) + ")",
                                    std::vector<float>(static_cast<std::size_t>(columns), 1)));
    const auto text = dmlop_program({"inspect", "x.npy"}, {.folder = folder.path()});
    CHECK(text.output.ends_with("\n" + twelve + end));
  }
}

TEST_CASE("inspect: the extremes of 64-bit integers are exact") {
  const Folder folder;
  const auto extremes = [&](const std::string& bytes) {
    folder.write("x.npy", bytes);
    const auto json =
        dmlop_program({"inspect", "x.npy", "--format", "json"}, {.folder = folder.path()});
    const Json file = Json::parse(json.output).at(0);
    return file.at("min").get<std::string>() + " " + file.at("max").get<std::string>();
  };
  constexpr std::int64_t two_53 = std::int64_t{1} << 53;
  for (const bool big_endian : {false, true}) {
    const std::string order = big_endian ? ">" : "<";
    CHECK(extremes(npy(order + "i8", "(2,)",
                       bytes_of<std::int64_t>({two_53, two_53 + 1}, big_endian))) ==
          "9007199254740992 9007199254740993");
    CHECK(extremes(npy(order + "i8", "(3,)",
                       bytes_of<std::int64_t>({-two_53, -two_53 - 1, -two_53}, big_endian))) ==
          "-9007199254740993 -9007199254740992");
    CHECK(extremes(npy(order + "u8", "(3,)",
                       bytes_of<std::uint64_t>({~0ULL - 1, ~0ULL, ~0ULL - 2}, big_endian))) ==
          "18446744073709551613 18446744073709551615");
  }
}

TEST_CASE("ops lists where dmlop differs from DirectML, for all operators and for one") {
  const Json list = Json::parse(dmlop_program({"ops", "--differences", "--format", "json"}).output);
  CHECK(list.size() >= 40);
  const std::string text = dmlop_program({"ops", "--differences"}).output;
  for (const Json& row : list) {
    CHECK(text.find(row.at("text").get<std::string>()) != std::string::npos);
    for (const Json& name : row.at("operators")) CHECK(text.find(name) != std::string::npos);
  }
  const std::string divide = dmlop_program({"ops", "ELEMENT_WISE_DIVIDE"}).output;
  CHECK(divide.find("Differences from DirectML 1.15.4\n  x / 0 and x mod 0 have all bits set") !=
        std::string::npos);
  CHECK(dmlop_program({"ops", "ELEMENT_WISE_EXP"}).output.find("Differences") == std::string::npos);
  const auto refused = dmlop_program({"ops", "GEMM", "--differences"});
  CHECK(refused.code == 2);
  CHECK(refused.error.find("dmlop ops GEMM shows those of one") != std::string::npos);
}

TEST_CASE("ops lists the operators and shows one") {
  const auto list = dmlop_program({"ops"});
  CHECK(list.output.find("PADDING ") != std::string::npos);
  CHECK(list.output.find("SLICE1 ") != std::string::npos);
  CHECK(list.error == "177 operators, on the CPU and on GPUs; dmlop ops NAME shows one\n");
  CHECK(list.output.find("\n  PADDING ") != std::string::npos);
  CHECK(list.output.find("\n  GEMM ") != std::string::npos);
  const auto of_level = dmlop_program({"ops", "--feature-level", "1_0"});
  CHECK(of_level.output.find("PADDING ") != std::string::npos);
  CHECK(of_level.output.find("SLICE1 ") == std::string::npos);
  const auto one = dmlop_program({"ops", "PADDING"});
  for (const char* part : {"DML_OPERATOR_PADDING (from feature level 1_0)", "SYMMETRIC (from 3_0)",
                           "OutputTensor.Sizes[i] == InputTensor.Sizes[i] + StartPadding[i] + "
                           "EndPadding[i]",
                           "from 3_1  InputTensor, OutputTensor: 1 to 8 dimensions"}) {
    CHECK(one.output.find(part) != std::string::npos);
  }
  const Json json = Json::parse(dmlop_program({"ops", "--format", "json"}).output);
  CHECK(json.size() == 177);
  for (const Json& row : json) {
    const Folder folder;
    folder.write("op.json", row.at("example").dump());
    CHECK(dmlop_program({"check", folder / "op.json"}).code == 0);
  }
}

}  // namespace dmlop::test::cli_test
