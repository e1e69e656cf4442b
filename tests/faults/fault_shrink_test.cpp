// Other programs change files while the program reads them: no crash and no wrong result.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <numeric>
#include <thread>

#include "base/confine.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "batch.hpp"
#include "fault.hpp"
#include "graph.hpp"
#include "npy/npy.hpp"
#include "public_failure.hpp"

namespace dmlop::test::fault_shrink_test {
namespace {

namespace fs = std::filesystem;

const std::string shorter =
    "the file became shorter while it was read; run this again when nothing writes to the file";
const std::string unreadable =
    "the file could not be read to its end: it became shorter, or its disk or network failed; run "
    "this again when nothing writes to the file";
const std::string changed =
    "the file was changed while it was read; run this again when nothing writes to the file";

/// Large enough to be mapped; the last page is full.
constexpr std::size_t large = std::size_t{1} << 20;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io_failed);
    return error.what();
  }
  return "";
}

std::string error_of(const InputFile& file) {
  return error_of([&] { file.require_intact(); });
}

std::size_t zeros_in(const InputFile& file) {
  return static_cast<std::size_t>(
      std::count(file.bytes().begin(), file.bytes().end(), std::byte{0}));
}

/// A file of 60000 numbers, which is mapped.
std::string many_npy() {
  std::vector<float> numbers(60000);
  std::iota(numbers.begin(), numbers.end(), 1.F);
  return float_npy("(60000,)", numbers);
}

/// What a test may do to a mapped file, and what is said then. "shave" takes less than a page,
/// which no read notices; "touch" changes the last byte.
struct Change {
  std::string effect;
  std::string message;
  bool is_later() const { return contains(effect, ","); }
};
/// When it is mapped, and when its header was read and was right.
const std::vector<Change> changes{{"cut", shorter},         {"shave", shorter},
                                  {"touch", changed},       {"cut,later", shorter},
                                  {"shave,later", shorter}, {"touch,later", changed}};

/// A model that pads the file `source` and has one more command after the dispatch, or none.
std::string padding_model(const std::string& source, const std::string& command = "") {
  return R"({
    "resources": {
      "in": {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": ")" +
         source + R"("}},
      "out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 60003, "value": 0}}},
    "dispatchables": {"pad": {"type": "DML_OPERATOR_PADDING", "desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [60000]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [60003]},
      "PaddingMode": "EDGE", "PaddingValue": 0, "DimensionCount": 1,
      "StartPadding": [1], "EndPadding": [2]}}},
    "commands": [{"type": "dispatch", "dispatchable": "pad",
                  "bindings": {"InputTensor": "in", "OutputTensor": "out"}})" +
         command + "]}";
}
const std::string write_command =
    R"(, {"type": "writeFile", "resource": "out", "targetPath": "y.npy"})";

/// The program, while others change the file that it maps as number `mapping`.
ProgramResult run_while(const Change& change, unsigned mapping, const Folder& folder,
                        const std::vector<std::string>& arguments) {
  const Folder elsewhere;
  ProgramOptions options{.folder = folder.path()};
  const Injection injection({"mmap", change.effect}, mapping, elsewhere / "happened");
  options.environment = injection.environment();
  const ProgramResult result = dmlop_program(arguments, options);
  REQUIRE_MESSAGE(injection.has_happened(), "no file was mapped");
  return result;
}

}  // namespace

TEST_CASE("shrink: what a mapped file lost reads as zeros, and the file says so") {
  const Folder folder;
  const std::string path = folder.write_earlier("x", std::string(large, 'x'));
  const InputFile file = InputFile::open(path);
  CHECK(error_of(file) == "");
  fs::resize_file(path, large / 4);
  CHECK(zeros_in(file) == large - large / 4);
  CHECK(error_of(file) == shorter);
  CHECK(error_of([&] { file.require_not_shorter(); }) == shorter);
  CHECK(error_of([&] { (void)file.text(); }) == shorter);
  CHECK(error_of([&] { file.read_intact([](auto bytes) { return bytes.size(); }); }) == shorter);
}

TEST_CASE("shrink: a file that is whole again was not whole when it was read") {
  const Folder folder;
  const std::string path = folder.write_earlier("x", std::string(large, 'x'));
  const InputFile file = InputFile::open(path);
  const auto time = fs::last_write_time(path);
  fs::resize_file(path, 1);
  CHECK(zeros_in(file) == large - 1);
  folder.write("x", std::string(large, 'x'));
  fs::last_write_time(path, time);
  CHECK(error_of(file) == unreadable);
  CHECK(error_of([&] { file.require_not_shorter(); }) == unreadable);
}

TEST_CASE("shrink: a file that was pinned when it was opened is one that was named") {
  const Folder folder;
  const std::string path = folder.write_earlier("x", std::string(large, 'x'));
  const auto confinement = std::make_shared<const Confinement>(folder.path());
  const InputFile file = InputFile::open(PinnedFile(confinement, path));
  CHECK(error_of(file) == "");
  folder.write("x", std::string(large, 'y'));
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  CHECK(error_of(file) == changed);
}

TEST_CASE("shrink: a file that is changed in its place is noticed, whatever its size") {
  const Folder folder;
  struct Row {
    std::size_t bytes;
    const char* message;
    bool is_shorter;
  };
  for (const Row& row :
       {Row{large - 1, shorter.c_str(), true}, Row{0, shorter.c_str(), true},
        Row{large, changed.c_str(), false}, Row{large + 1, changed.c_str(), false}}) {
    CAPTURE(row.bytes);
    const std::string path = folder.write_earlier("x", std::string(large, 'x'));
    const InputFile file = InputFile::open(path);
    folder.write("x", std::string(row.bytes, 'y'));
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
    CHECK(error_of(file) == row.message);
    CHECK((error_of([&] { file.require_not_shorter(); }) == shorter) == row.is_shorter);
  }
}

TEST_CASE("shrink: a file that is replaced, renamed or removed is intact: its bytes live on") {
  const Folder folder;
  for (const std::string way : {"replaced", "renamed", "removed"}) {
    CAPTURE(way);
    const std::string path = folder.write_earlier("x", std::string(large, 'x'));
    const InputFile file = InputFile::open(path);
    if (way == "replaced") {
      folder.write("y", "short");
      fs::rename(folder / "y", path);
    } else if (way == "renamed") {
      fs::rename(path, folder / "z");
    } else {
      fs::remove(path);
    }
    CHECK(zeros_in(file) == 0);
    CHECK(error_of(file) == "");
  }
}

TEST_CASE("shrink: a file that is read into memory stays as it was read") {
  const Folder folder;
  const std::string path = folder.write("x", "small");
  const InputFile file = InputFile::open(path);
  fs::resize_file(path, 1);
  CHECK(file.text() == "small");
}

TEST_CASE("shrink: of many mapped files only the one that lost bytes is broken") {
  const Folder folder;
  std::vector<InputFile> files;
  for (int i = 0; i < 5; ++i)
    files.push_back(
        InputFile::open(folder.write_earlier(std::to_string(i), std::string(large, 'x'))));
  files.erase(files.begin());  // its place in the table is free now
  files.push_back(InputFile::open(folder.write_earlier("5", std::string(large, 'x'))));
  fs::resize_file(folder / "3", 0);
  for (std::size_t i = 0; i < files.size(); ++i) {
    CAPTURE(i);
    CHECK(zeros_in(files[i]) == (i == 2 ? large : 0));
    CHECK(error_of(files[i]) == (i == 2 ? shorter : ""));
  }
}

TEST_CASE("shrink: more files than can be watched are read") {
  const Folder folder;
  const std::string path = folder.write_earlier("x", std::string(std::size_t{1} << 17, 'x'));
  std::vector<InputFile> files;
  for (int i = 0; i < 4200; ++i) files.push_back(InputFile::open(path));
  fs::resize_file(path, 0);
  CHECK(error_of(files.front()) == shorter);
  CHECK(error_of(files.back()) == "");
  CHECK(zeros_in(files.back()) == 0);
}

TEST_CASE("shrink: a fault that is none of a mapped file's ends the process as before") {
  if (is_sanitized) {
    MESSAGE("SKIPPED: with a sanitizer it ends the process with a report");
    return;
  }
  const Folder folder;
  const std::string path = folder.write_earlier("x", std::string(large, 'x'));
  const InputFile watched = InputFile::open(folder.write_earlier("y", std::string(large, 'y')));
  for (const bool is_fault : {true, false}) {
    CAPTURE(is_fault);
    const pid_t child = ::fork();
    if (child == 0) {
      if (!is_fault) ::raise(SIGBUS);
      const int number = ::open(path.c_str(), O_RDONLY);
      const void* other = ::mmap(nullptr, large, PROT_READ, MAP_PRIVATE, number, 0);
      (void)!::truncate(path.c_str(), 0);
      ::_exit(*static_cast<const volatile char*>(other));
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGBUS);
  }
}

TEST_CASE("shrink: a .npy header that is lost is no wrong header") {
  const Folder folder;
  const std::string path = folder.write_earlier("x.npy", many_npy());
  InputFile file = InputFile::open(path);
  fs::resize_file(path, 0);
  CHECK(error_of([&] { file.read_intact([](auto bytes) { return parse_npy_header(bytes); }); }) ==
        shorter);
}

TEST_CASE("shrink: compare() of the library judges no file that changes meanwhile") {
  struct Row {
    std::size_t bytes;
    std::string message;
  };
  const std::size_t whole = many_npy().size();
  for (const Row& row : {Row{4096, shorter}, Row{whole - 1, shorter}, Row{whole, changed}}) {
    CAPTURE(row.bytes);
    const Folder folder;
    const std::string path = folder.write_earlier("x.npy", many_npy());
    const std::string pipe = folder / "pipe.npy";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    // The pipe has a reader as soon as the file is open.
    const std::jthread writer([&] {
      std::ofstream stream(pipe, std::ios::binary);
      folder.write("x.npy", many_npy().substr(0, row.bytes));
      stream << many_npy();
    });
    const Failure failure = failure_of([&] { compare(fs::path(path), fs::path(pipe)); });
    CHECK(failure.kind() == FailureKind::io_failed);
    CHECK(contains(failure.what(), "x.npy: " + row.message));
  }
}

TEST_CASE("shrink: a run that cannot ask whether its mapped files changed ends with 6") {
  if (!can_inject_faults()) return;
  const Folder folder;
  folder.write("op.json", "{" + edge_fields + "}");
  folder.write_earlier("x.npy", many_npy());
  std::map<std::string, unsigned> failures;
  for_each_fault({"stat", std::to_string(EIO)}, [&](const Injection& injection) {
    fs::remove(folder / "y.npy");
    const auto result =
        dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy"},
                      {.folder = folder.path(), .environment = injection.environment()});
    CHECK((result.code == 0 || result.code == 6));
    CHECK(folder.has("y.npy") == (result.code == 0));
    const bool is_question = contains(
        result.error, "asking whether the file was changed while it was read: Input/output error");
    if (is_question) ++failures[injection.failed().path];
  });
  CHECK(failures["x.npy"] > 0);
}

TEST_CASE("shrink: a run whose input or golden file changes ends with 6 and writes nothing") {
  if (!can_inject_faults()) return;
  for (const Change& change : changes) {
    for (unsigned mapping = 1; mapping <= 2; ++mapping) {
      CAPTURE(change.effect);
      CAPTURE(mapping);
      const Folder folder;
      folder.write("op.json", "{" + edge_fields + "}");
      folder.write_earlier("x.npy", many_npy());
      REQUIRE(dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "golden.npy"},
                            {.folder = folder.path()})
                  .code == 0);
      folder.write_earlier("golden.npy", folder.read("golden.npy"));
      folder.write("y.npy", "what was there before");
      const auto result = run_while(
          change, mapping, folder,
          {"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy", "--expect", "golden.npy"});
      CHECK(result.code == 6);
      CHECK(contains(result.error, change.message));
      CHECK(contains(result.error, mapping == 1 ? "x.npy: the file" : "golden.npy: the file"));
      CHECK(result.output == "");
      CHECK(folder.read("y.npy") == "what was there before");
      CHECK(folder.list() == "golden.npy op.json x.npy y.npy");
    }
  }
}

TEST_CASE("shrink: --update-golden writes no golden file from an input that changed") {
  if (!can_inject_faults()) return;
  for (const Change& change : changes) {
    CAPTURE(change.effect);
    const Folder folder;
    folder.write("op.json", "{" + edge_fields + "}");
    folder.write_earlier("x.npy", many_npy());
    const auto result = run_while(
        change, 1, folder,
        {"run", "op.json", "--cpu", "-i", "x.npy", "--expect", "y.npy", "--update-golden=accept"});
    CHECK(result.code == 6);
    CHECK(contains(result.error, change.message));
    CHECK(folder.list() == "op.json x.npy");
  }
}

TEST_CASE("shrink: in a batch the job whose file changed fails, and the others go on") {
  if (!can_inject_faults()) return;
  for (const Change& change : changes) {
    CAPTURE(change.effect);
    const BatchFolder folder(
        {named_job("first"), edge_job(R"("id": "large")", "large.npy"), named_job("last")});
    folder.write_earlier("large.npy", many_npy());
    const auto result =
        run_while(change, 1, folder,
                  {"batch", "jobs.jsonl", "--cpu", "--out", "out", "--results", "records.jsonl"});
    CHECK(result.code == 6);
    CHECK(contains(result.output, "ERROR large: "));
    CHECK(contains(result.output, "large.npy: " + change.message));
    CHECK(contains(result.output, "2 PASSED, 1 ERROR"));
    CHECK(folder.has("out/first/OutputTensor.npy"));
    CHECK(folder.has("out/last/OutputTensor.npy"));
    CHECK(fs::is_empty(folder / "out/large"));
  }
}

TEST_CASE("shrink: models, descriptions, comparisons and statistics notice it as well") {
  if (!can_inject_faults()) return;
  const std::string spaces(70000, ' ');  // a description that is mapped
  struct Row {
    std::vector<std::string> arguments;
    unsigned mapping;
    bool is_read_once = false;  // the first look at it after it is mapped is the check itself
  };
  const std::vector<Row> rows{
      {{"run", "model.json", "--cpu"}, 1},
      {{"run", "raw.json", "--cpu"}, 1, true},
      {{"run", "model.json", "--cpu", "--expect", "out=golden.npy"}, 2},
      {{"run", "long.json", "--cpu", "-i", "small.npy", "-o", "y.npy"}, 1, true},
      {{"check", "long.json", "-i", "small.npy"}, 1, true},
      {{"compare", "x.npy", "golden.npy"}, 1},
      {{"compare", "x.npy", "golden.npy"}, 2},
      {{"compare", "x.npy", "x2.npy", "--heatmap", "y.npy"}, 2},
      {{"inspect", "x.npy"}, 1},
      {{"inspect", "x.npy", "--format", "json"}, 1},
      {{"convert", "fortran.json", "--to-model", "y.npy"}, 1},
      {{"bench", "op.json", "--cpu", "-i", "x.npy", "--min-time", "0.01"}, 1},
      {{"batch", "--merge", "records.jsonl", "--junit", "y.npy"}, 1, true},
      {{"batch", "jobs.json", "--cpu"}, 1, true},
      {{"check", "graph/Partition_0.bin"}, 1, true},
      {{"run", "graph/Partition_0.bin", "--cpu", "-i", "graph/input.x.npy", "-o", "y.npy"},
       1,
       true},
      {{"run", "graph/Partition_0.bin", "--cpu", "-i", "graph/input.x.npy", "-o", "y.npy"},
       2,
       true},
  };
  for (const Change& change : changes) {
    for (const Row& row : rows) {
      if (row.is_read_once && change.is_later()) continue;
      const bool appends = row.arguments[1] == "--merge";
      if (appends && change.effect == "touch") continue;  // the file may grow meanwhile
      CAPTURE(change.effect);
      CAPTURE(row.arguments.front());
      CAPTURE(row.arguments[1]);
      CAPTURE(row.mapping);
      const Folder folder;
      folder.write("model.json", padding_model("x.npy", row.mapping == 1 ? write_command : ""));

      folder.write_earlier("x.bin", many_npy().substr(128));
      folder.write("raw.json", padding_model("x.bin", write_command));
      folder.write("op.json", "{" + edge_fields + "}");
      folder.write_earlier("long.json", "{" + edge_fields + spaces + "}");
      folder.write("small.npy", float_npy("(3,)", {1, 2, 3}));
      folder.write_earlier("jobs.json",
                           R"({"jobs": [)" + edge_job("", "small.npy") + "]" + spaces + "}");
      folder.write_earlier("x.npy", many_npy());
      folder.write_earlier("x2.npy", many_npy());
      std::vector<float> padded(60003, 1);
      folder.write_earlier("golden.npy", float_npy("(60003,)", padded));
      std::string fortran = many_npy();
      fortran.replace(fortran.find("False"), 5, "True ");
      folder.write_earlier("fortran.npy", fortran);
      folder.write("fortran.json",
                   "{" + edge_fields + R"(, "bindings": {"InputTensor": "fortran.npy"}})");
      std::string records;
      for (int i = 0; records.size() < 70000; ++i)
        records += R"({"id": "job)" + std::to_string(i) +
                   R"(", "status": "PASSED", "exitCode": 0})"
                   "\n";
      folder.write_earlier("records.jsonl", records + R"({"summary": {"complete": true}})"
                                                      "\n");
      // More bytes than are used, so that they are mapped.
      for (const char* name : {"Partition_0.bin", "enc_onnx__w.bin", "a b.c.bin", "input.x.npy"}) {
        const bool is_padded = std::string(name).starts_with("Part") || name[0] == 'e';
        folder.write_earlier(
            "graph/" + std::string(name),
            read_file(graph_file("odd_names", name)) + std::string(is_padded ? 70000 : 0, '\0'));
      }
      const std::string before = folder.list();
      const auto result = run_while(change, row.mapping, folder, row.arguments);
      CAPTURE(result.error);
      CHECK(result.code == 6);
      CHECK(contains(result.error + result.output, change.message));
      CHECK(folder.list() == before);
    }
  }
}

}  // namespace dmlop::test::fault_shrink_test
