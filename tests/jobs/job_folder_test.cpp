// A job's folder, from outside: run, check, bench and batch find the same files beside an op.json.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::job_folder_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* edge =
    R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder with job/op.json (an EDGE padding), its input, and its golden file.
class JobFolder : public Folder {
 public:
  JobFolder() {
    write("job/op.json", edge);
    write("job/InputTensor.npy", input);
    write("job/expected/OutputTensor.npy", golden);
  }
  const std::string input = float_npy("(3,)", {1, 2, 3});
  const std::string golden = float_npy("(6,)", {1, 1, 2, 3, 3, 3});

  ProgramResult dmlop(const std::vector<std::string>& arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
  /// run of a description on the CPU, with these arguments.
  ProgramResult run(std::vector<std::string> arguments, const std::string& what = "job") const {
    arguments.insert(arguments.begin(), {"run", what, "--cpu"});
    return dmlop(arguments);
  }
  void remove(const std::string& name) const { REQUIRE(fs::remove(*this / name)); }
};

}  // namespace

TEST_CASE("a job's folder: run, check and bench take it, or its op.json, and find the input") {
  const JobFolder folder;
  for (const std::string what : {"job", "job/", "job/op.json"}) {
    CAPTURE(what);
    const auto run = folder.run({"-o", "y.npy"}, what);
    CHECK(run.error == "");
    CHECK(run.code == 0);
    CHECK(folder.read("y.npy") == folder.golden);
    const auto check = folder.dmlop({"check", what});
    CHECK(check.code == 0);
    CHECK(contains(check.output,
                   "op.json: ok: PADDING: InputTensor FLOAT32 [3], OutputTensor "
                   "FLOAT32 [6]\n"));
    CHECK(folder.dmlop({"bench", what, "--cpu", "--min-time", "0"}).code == 0);
  }
  const auto here =
      dmlop_program({"run", "op.json", "--cpu", "--expect"}, {.folder = folder / "job"});
  CHECK(here.error == "");
  CHECK(here.code == 0);
  CHECK(contains(here.output, "against expected/OutputTensor.npy: "));
}

TEST_CASE("a job's folder: what is named otherwise wins over what lies there") {
  const JobFolder folder;
  folder.write("other.npy", float_npy("(3,)", {7, 8, 9}));
  const std::string other = float_npy("(6,)", {7, 7, 8, 9, 9, 9});
  for (const std::string name : {"", "InputTensor="}) {
    CHECK(folder.run({"-i", name + "other.npy", "-o", "y.npy"}).code == 0);
    CHECK(folder.read("y.npy") == other);
  }
  std::string bound = edge;
  bound.replace(1, 0, R"("bindings": {"InputTensor": "../other.npy"}, )");
  folder.write("job/op.json", bound);
  CHECK(folder.run({"-o", "y.npy"}).code == 0);
  CHECK(folder.read("y.npy") == other);
  // A description with another name has no folder of its own.
  folder.write("job/pad.json", edge);
  const auto alone = folder.run({"-o", "y.npy"}, "job/pad.json");
  CHECK(alone.code == 2);
  CHECK(contains(alone.error, "no file is given for InputTensor"));
}

TEST_CASE("a job's folder: a file that disagrees is refused as one that is named") {
  const JobFolder folder;
  folder.write("job/InputTensor.npy", float_npy("(3, 1)", {1, 2, 3}));
  for (const char* command : {"run", "check", "bench"}) {
    CAPTURE(command);
    CHECK(folder.dmlop({command, "job"}).code == 3);
  }
  folder.write("job/InputTensor.npy", "no array");
  const auto check = folder.dmlop({"check", "job"});
  CHECK(check.code == 3);
  CHECK(contains(check.error, "reading InputTensor from job/InputTensor.npy: "));
}

TEST_CASE("a job's folder: one without a description is refused with the way to its jobs") {
  const JobFolder folder;
  folder.write("outer/job/op.json", edge);
  for (const char* command : {"run", "check"}) {
    CAPTURE(command);
    const auto result = folder.dmlop({command, "outer"});
    CHECK(result.code == 2);
    CHECK(contains(result.error,
                   "outer has no op.json, no model.json, no graph.json, no "
                   "Partition_N.bin and no model.onnx\n"));
    CHECK(contains(result.error, "`dmlop batch outer`"));
  }
  // A model may be the folder's description, too.
  const std::string samples = source_path("samples/");
  folder.write("model/model.json", read_file(samples + "dxdispatch/padding.json"));
  const auto model =
      folder.run({"--input-path", samples + "dxdispatch", "--output-path", folder.path()}, "model");
  CHECK(model.error == "");
  CHECK(model.code == 0);
  CHECK(model.output.starts_with("Resource 'Out': 9, 9, "));
}

TEST_CASE("run compares with the golden files of the folder for --expect only") {
  const JobFolder folder;
  folder.write("job/expected/OutputTensor.npy", float_npy("(6,)", {1, 1, 2, 3, 3, 4}));
  CHECK(folder.run({"-o", "y.npy"}).code == 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "job", "--cpu", "--expect"},
        {"run", "--cpu", "--expect", "job"},
        {"run", "job", "--expect", "--cpu", "-o", "y.npy"}}) {
    const auto result = folder.dmlop(words);
    CHECK(result.code == 1);
    CHECK(contains(result.output,
                   "FAILED: OutputTensor against job/expected/OutputTensor.npy: 1 of 6"));
  }
  // One that is named wins.
  folder.write("golden.npy", folder.golden);
  CHECK(folder.run({"--expect", "golden.npy"}).code == 0);
  CHECK(folder.run({"--expect=golden.npy"}).code == 0);
  CHECK(folder.run({"--expect", "OutputTensor=golden.npy", "--expect"}).code == 0);
  // expected.npy is another place for it.
  fs::remove_all(folder / "job/expected");
  folder.write("job/expected.npy", folder.golden);
  CHECK(folder.run({"--expect"}).code == 0);
}

TEST_CASE("run: --expect without a golden file says so, and --update-golden creates it") {
  const JobFolder folder;
  fs::remove_all(folder / "job/expected");
  const auto missing = folder.run({"--expect"});
  CHECK(missing.code == 2);
  CHECK(contains(missing.error,
                 "there is no golden file in job/expected; create it with "
                 "--expect --update-golden"));
  CHECK(folder.run({"--expect", "--update-golden"}).code == 1);
  CHECK(folder.read("job/expected/OutputTensor.npy") == folder.golden);
  CHECK(folder.run({"--expect"}).code == 0);
  for (const std::string what : {"PADDING", "job/pad.json"}) {
    folder.write("job/pad.json", edge);
    const auto nowhere = folder.dmlop({"run", what, "--cpu", "--expect"});
    CHECK(nowhere.code == 2);
    CHECK(contains(nowhere.error,
                   "--expect without a file compares with the golden files in "
                   "expected/ beside an op.json"));
  }
  const auto confused = folder.dmlop({"run", "--expect", "job/op.json", "--cpu"});
  CHECK(confused.code == 2);
  CHECK(contains(confused.error, "write the description first: job/op.json --expect"));
}

TEST_CASE("a job's folder: tol.json holds for run as for batch, and check reads it") {
  const JobFolder folder;
  folder.write("job/expected/OutputTensor.npy", float_npy("(6,)", {1, 1, 2, 3, 3, 3.5F}));
  CHECK(folder.run({"--expect"}).code == 1);
  folder.write("job/tol.json", R"({"atol": 0.5})");
  CHECK(folder.run({"--expect"}).code == 0);
  CHECK(folder.dmlop({"batch", "job", "--cpu"}).code == 0);
  CHECK(folder.run({"--expect", "job/expected/OutputTensor.npy"}).code == 0);
  CHECK(folder.run({"--expect", "--atol", "0.25"}).code == 1);
  folder.write("job/tol.json", R"({"atoll": 0.5})");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"check", "job"}, {"run", "job", "--cpu", "--expect"}}) {
    const auto wrong = folder.dmlop(words);
    CHECK(wrong.code == 3);
    CHECK(contains(wrong.error, "job/tol.json:1:2: error: unknown field \"atoll\""));
  }
  CHECK(folder.run({"-o", "y.npy"}).code == 0);  // nothing is compared
}

TEST_CASE("a job's folder: a file whose name has a slip is told of by run, check and batch alike") {
  struct Row {
    std::string stray;    // beside the right files
    std::string warning;  // "": none
  };
  const std::string no_output = "warning: this golden file matches no output of PADDING";
  const Row rows[] = {
      {"expected/Output.npy", "job/expected/Output.npy: " + no_output},
      {"expected/Result.npy", "job/expected/Result.npy: " + no_output},
      {"expected/OutputTensor_old.npy", ""},
      {"expected/InputTensor.npy", ""},
      {"expected/.OutputTensor.npy", ""},
      {"input.npy", ""},  // the right one is there
  };
  for (const Row& row : rows) {
    CAPTURE(row.stray);
    const JobFolder folder;
    folder.write("job/" + row.stray, folder.golden);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"run", "job", "--cpu", "-o", "y.npy"},
          {"run", "job", "--cpu", "--expect"},
          {"check", "job"},
          {"batch", "job", "--cpu"}}) {
      CAPTURE(words[0]);
      const auto result = folder.dmlop(words);
      CHECK(result.code == 0);
      CHECK(result.error.substr(0, row.warning.size()) == row.warning);
      CHECK(result.error.empty() == row.warning.empty());
    }
  }
}

TEST_CASE("a job's folder: golden files of a model that lies beside the op.json are its own") {
  const JobFolder folder;
  folder.write("job/expected/Middle.npy", folder.golden);
  CHECK(contains(folder.run({"--expect"}).error, "job/expected/Middle.npy: warning: "));
  folder.write("job/model.json", "{}");
  const auto run = folder.run({"--expect"});
  CHECK(run.code == 0);
  CHECK(run.error == "");
}

TEST_CASE(
    "a job's folder: a golden file whose slip hides a difference is refused where it counts") {
  const JobFolder folder;
  fs::rename(folder / "job/expected/OutputTensor.npy", folder / "job/expected/Output.npy");
  const std::string message =
      "job/expected/Output.npy: error: this golden file matches no output of PADDING";
  CHECK(contains(folder.run({"--expect"}).error, message));
  CHECK(contains(folder.dmlop({"batch", "job", "--cpu"}).output, message));
  CHECK(contains(folder.run({"--expect"}).error, "help: did you mean OutputTensor.npy?"));
  const auto check = folder.dmlop({"check", "job"});
  CHECK(check.code == 0);
  CHECK(contains(check.error, "job/expected/Output.npy: warning: "));
}

TEST_CASE("a job's folder: an input whose name has a slip is suggested") {
  for (const std::string name : {"input.npy", "Input_Tensor.npy", "inputtensor.npy", "x.npy"}) {
    CAPTURE(name);
    const JobFolder folder;
    fs::rename(folder / "job/InputTensor.npy", folder / ("job/" + name));
    const std::string remedy = "rename job/" + name + " to InputTensor.npy, or add ";
    const auto run = folder.run({"-o", "y.npy"});
    CHECK(run.code == 2);
    CHECK(contains(run.error, "no file is given for InputTensor\n"));
    CHECK(contains(run.error, remedy + "-i FILE.npy"));
    const auto batch = folder.dmlop({"batch", "job", "--cpu"});
    CHECK(batch.code == 3);
    CHECK(contains(batch.output, remedy));
    // What is described needs no file to be checked; x may be anything.
    folder.write(
        "job/op.json",
        R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
                     "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})");
    const auto check = folder.dmlop({"check", "job"});
    CHECK(check.code == 0);
    const std::string warning =
        "job/" + name + ": warning: this file is not used: no tensor of PADDING has its name";
    CHECK(contains(check.error, warning) == (name != "x.npy"));
    const auto json = Json::parse(folder.dmlop({"check", "job", "--format", "json"}).output);
    CHECK(json.at("descriptions").at(0).at("warnings").size() == (name != "x.npy" ? 1 : 0));
  }
}

TEST_CASE("a job's folder: an optional input whose name has a slip is a warning") {
  for (const auto& [name, is_slip] : std::map<std::string, bool>{
           {"CTensors.npy", true}, {"ctensor.npy", true}, {"C.npy", true}, {"copy.npy", false}}) {
    CAPTURE(name);
    const Folder folder;
    for (const char* file : {"op.json", "ATensor.npy", "BTensor.npy"})
      folder.write(std::string("g/") + file,
                   read_file(source_path("samples/gemm/") + std::string(file)));
    folder.write("g/" + name, read_file(source_path("samples/gemm/CTensor.npy")));
    const auto run = dmlop_program({"run", "g", "--cpu"}, {.folder = folder.path()});
    CHECK(run.code == 0);
    const std::string warning = "g/" + name + ": warning: this file is not used: ";
    CHECK(contains(run.error, warning) == is_slip);
    CHECK(contains(run.error, "did you mean CTensor.npy?") == is_slip);
  }
}

TEST_CASE("a job's folder: no job waits for a pipe beside its description") {
  for (const char* name :
       {"InputTensor.npy", "tol.json", "job.json", "expected/OutputTensor.npy"}) {
    CAPTURE(name);
    const JobFolder folder;
    fs::remove(folder / ("job/" + std::string(name)));
    REQUIRE(::mkfifo((folder / ("job/" + std::string(name))).c_str(), 0600) == 0);
    const auto batch = folder.dmlop({"batch", "job", "--cpu"});
    CHECK(batch.code == 3);
    CHECK(contains(batch.output, std::string(name) + ": error: this is a pipe or a device"));
  }
}

TEST_CASE("a job's folder: golden files whose place has a slip are an error, not a pass") {
  struct Row {
    const char* wrong;
    const char* right;
  };
  for (const Row& row : {Row{"Expected", "expected"}, Row{"expcted", "expected"},
                         Row{"expected/OutputTensor.NPY", "expected/OutputTensor.npy"}}) {
    CAPTURE(row.wrong);
    const JobFolder folder;
    folder.run({"-o", "y.npy"});
    fs::create_directory(folder / "job/expected");
    fs::copy(folder / "y.npy", folder / "job/expected/OutputTensor.npy",
             fs::copy_options::overwrite_existing);
    CHECK(folder.dmlop({"batch", "job", "--cpu"}).code == 0);
    fs::rename(folder / ("job/" + std::string(row.right)),
               folder / ("job/" + std::string(row.wrong)));
    const std::string place = "job/" + std::string(row.wrong) + ": error: this is not used";
    const std::string help = "help: rename it to " + fs::path(row.right).filename().string() + "\n";
    for (const std::string option : {"--update-golden=accept", "--cpu"}) {
      const auto batch = folder.dmlop({"batch", "job", option});
      CHECK(batch.code == 3);
      CHECK(contains(batch.output, place));
      CHECK(contains(batch.output, help));
    }
    CHECK(contains(folder.dmlop({"check", "job"}).error, "warning: this is not used"));
  }
}

TEST_CASE("a job's folder: run does not bless a job that job.json expects to fail") {
  const JobFolder folder;
  folder.write("job/job.json", R"({"xfail": "bug 12"})");
  const auto run = folder.run({"--expect", "--update-golden=accept"});
  CHECK(run.code == 2);
  CHECK(contains(run.error, "job.json expects this job to fail (bug 12)"));
}

TEST_CASE("a job's folder: --confine holds for what is found") {
  const JobFolder folder;
  folder.write("outside.npy", folder.input);
  folder.remove("job/InputTensor.npy");
  fs::create_symlink("../outside.npy", folder / "job/InputTensor.npy");
  CHECK(folder.run({"-o", "y.npy"}).code == 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "job", "--cpu", "-o", "y.npy", "--confine"},
        {"check", "job", "--confine"},
        {"check", "job/op.json", "--confine"}}) {
    const auto result = folder.dmlop(words);
    CHECK(result.code == 3);
    CHECK(contains(result.error, "job/InputTensor.npy "));
  }
}

TEST_CASE("a job's folder: outputs of 4 bits agree with golden files, which hold them as bytes") {
  const JobFolder folder;
  folder.write("job/op.json", R"({"type": "QUANTIZE", "desc": {"QuantizationType": "SCALE",
    "QuantizationTensors": [{"DataType": "FLOAT32", "Sizes": [1, 1]}],
    "OutputTensor": {"DataType": "UINT4"}}})");
  folder.write("job/InputTensor.npy", float_npy("(1, 4)", {0, 1, 2, 70}));
  folder.write("job/QuantizationTensors.0.npy", float_npy("(1, 1)", {1}));
  const auto written = folder.run({"-o", "job/expected/OutputTensor.npy"});
  CAPTURE(written.error);
  CHECK(written.code == 0);
  const auto compared = folder.run({"--expect"});
  CAPTURE(compared.output);
  CHECK(compared.code == 0);
}

}  // namespace dmlop::test::job_folder_test
