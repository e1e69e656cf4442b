// Memory and threads run out at every point of the program: it ends with a message and an exit
// code, not by a signal, and leaves nothing behind.
#include <doctest/doctest.h>

#include <cerrno>
#include <cstdlib>
#include <numeric>

#include "batch.hpp"
#include "fault.hpp"
#include "graph.hpp"
#include "paths.hpp"

namespace dmlop::test::fault_memory_test {
namespace {

namespace fs = std::filesystem;

std::string number(int value) {
  return std::to_string(value);
}

/// Commands on tiny files, and what they write.
struct Command {
  std::string name;
  std::vector<std::string> arguments;
  std::string output;  // "": none
};
const std::vector<Command> commands{
    {"run",
     {"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy", "--expect", "golden.npy"},
     "y.npy"},
    {"check", {"check", "op.json", "-i", "x.npy"}, ""},
    {"compare", {"compare", "x.npy", "x.npy"}, ""},
    {"inspect", {"inspect", "x.npy"}, ""},
    {"inspect graph", {"inspect", "graph/Partition_0.bin"}, ""},
    {"check graph", {"check", "graph/Partition_0.bin"}, ""},
    {"run graph",
     {"run", "graph/Partition_0.bin", "--cpu", "-i", "graph/input.x.npy", "--keep-edges", "graph"},
     ""},
    {"check onnx", {"check", "onnx/model.onnx", "--dim", "batch=2"}, ""},
    {"run onnx", {"run", "onnx", "--cpu"}, ""},
    {"batch",
     {"batch", "jobs.jsonl", "--cpu", "--out", "out", "--results", "r.jsonl", "--junit",
      "junit.xml", "--html", "report.html"},
     "out/a/OutputTensor.npy"}};

class Memory {
 public:
  Memory() : folder_({named_job("a"), named_job("b")}) {
    folder_.write("op.json", "{" + edge_fields + "}");
    fs::copy(dmlop::to_path(graph_file("odd_names", "")), dmlop::to_path(folder_ / "graph"));
    fs::copy(source_path("samples/onnx"), dmlop::to_path(folder_ / "onnx"),
             fs::copy_options::recursive);
  }

  /// The exit code, checked against what is there afterwards.
  int run(const Command& command, std::vector<std::string> environment) {
    for (const char* name : {"out", "y.npy", "r.jsonl", "junit.xml", "report.html"})
      fs::remove_all(folder_ / name);
    ProgramOptions options{.folder = folder_.path()};
    options.environment = std::move(environment);
    const auto result = dmlop_program(command.arguments, options);
    CAPTURE(result.error);
    CAPTURE(result.output);
    CAPTURE(result.code);
    CHECK((result.code == 0 || result.code == 5 || result.code == 6));
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      CHECK(entry.path().extension() != ".tmp");
    const bool has_output = !command.output.empty() && folder_.has(command.output);
    if (has_output) CHECK(folder_.read(command.output) == folder_.read("golden.npy"));
    if (result.code == 0) {
      CHECK(has_output == !command.output.empty());
      if (command.name == "batch") check_reports();
    } else {
      const std::string text = result.error + result.output;
      CHECK((contains(text, "ut of memory") || contains(text, "annot allocate memory")));
    }
    return result.code;
  }

 private:
  void check_reports() const {
    for (const char* name : {"junit.xml", "report.html"}) CHECK(folder_.has(name));
    const auto records = read_records(folder_.read("r.jsonl"));
    REQUIRE(records.size() == 3);
    CHECK(records.back().at("summary").at("counts").at("PASSED") == 2);
  }

  BatchFolder folder_;
};

}  // namespace

TEST_CASE("memory: a command that gets no memory, once or from then on, ends with a message") {
  if (!can_inject_faults()) return;
#ifndef NDEBUG
  MESSAGE("SKIPPED: assertions of nlohmann/json end the program where it gets no memory");
  return;
#endif
  Memory memory;
  // Every allocation of a command would be too many starts for each day: DMLOP_TEST_EVERY_FAULT
  // asks for it. The steps are no divisors of what repeats, and together they go through all parts
  // of the program.
  const bool every = std::getenv("DMLOP_TEST_EVERY_FAULT") != nullptr;
  unsigned faults = 0;
  unsigned ignored = 0;
  for (const Command& command : commands) {
    CAPTURE(command.name);
    for (const auto& [lasting, step] : {std::pair(false, 17U), std::pair(true, 29U)}) {
      faults += for_each_fault(
          {"malloc", number(ENOMEM), lasting},
          [&](const Injection& injection) {
            const int code = memory.run(command, injection.environment());
            if (code == 0 && injection.has_happened()) ++ignored;
          },
          every ? 1 : step);
    }
  }
  MESSAGE(faults << " faults injected, " << ignored << " ignored");
  CHECK(faults > 100);
  // Sorting does with less, a report's stream with a small buffer, and a record without the digest
  // of an output. Whatever else needs memory says that it got none.
  CHECK(ignored * 20 < faults);
}

TEST_CASE("memory: a report that gets none does not stop the others") {
  if (!can_inject_faults()) return;
#ifndef NDEBUG
  MESSAGE("SKIPPED: assertions of nlohmann/json end the program where it gets no memory");
  return;
#endif
  const Folder folder;
  std::string records;
  for (int i = 0; i < 20; ++i)
    records += Json{{"id", number(i)}, {"status", "FAILED"}, {"exitCode", 1}}.dump() + "\n";
  folder.write("r.jsonl", records + R"({"summary": {"complete": true}})" + "\n");
  std::map<std::string, unsigned> missing;
  for_each_fault(
      {"malloc", number(ENOMEM)},
      [&](const Injection& injection) {
        for (const char* name : {"junit.xml", "report.html"}) fs::remove(folder / name);
        ProgramOptions options{.folder = folder.path()};
        options.environment = injection.environment();
        const auto result = dmlop_program({"batch", "--merge", "r.jsonl", "--junit", "junit.xml",
                                           "--html", "report.html", "--format", "json"},
                                          options);
        CAPTURE(result.error);
        for (const char* report : {"--junit", "--html", "--format json"}) {
          if (!contains(result.error, "error: out of memory for " + std::string(report))) continue;
          ++missing[report];
          CHECK(result.code == 5);
          CHECK(folder.has("junit.xml") == (std::string(report) != "--junit"));
          CHECK(folder.has("report.html") == (std::string(report) != "--html"));
          CHECK(result.output.empty() == (std::string(report) == "--format json"));
          CHECK(contains(result.error, ": 20 FAILED\n"));
        }
      },
      7);
  for (const char* report : {"--junit", "--html", "--format json"}) CHECK(missing[report] > 0);
}

TEST_CASE("memory: with little room for addresses a command ends with a message") {
  if (!can_inject_faults()) return;
  Memory memory;
  unsigned failures = 0;
  for (const Command& command : commands) {
    CAPTURE(command.name);
    int last = -1;
    // The first are less than the program takes when main begins.
    for (unsigned megabytes = 1; megabytes < 200; megabytes += megabytes < 40 ? 1 : 20) {
      CAPTURE(megabytes);
      last = memory.run(command, {"LD_PRELOAD=" + faults_path(),
                                  "DMLOP_LIMIT_MEMORY=" + std::to_string(megabytes << 20)});
      if (last != 0) ++failures;
    }
    CHECK(last == 0);
  }
  MESSAGE(failures << " commands had too little");
  CHECK(failures > 0);
}

TEST_CASE("memory: a large job that does not fit ends with 5 or 6 and leaves nothing") {
  if (!can_inject_faults()) return;
  const Folder folder;
  folder.write("op.json", "{" + edge_fields + "}");
  std::vector<float> numbers(2000000);
  std::iota(numbers.begin(), numbers.end(), 1.F);
  folder.write("x.npy", float_npy("(2000000,)", numbers));
  bool has_failed = false;
  int last = -1;
  for (unsigned megabytes = 4; megabytes < 200; megabytes += 4) {
    CAPTURE(megabytes);
    fs::remove(folder / "y.npy");
    ProgramOptions options{.folder = folder.path()};
    options.environment = {"LD_PRELOAD=" + faults_path(),
                           "DMLOP_LIMIT_MEMORY=" + std::to_string(megabytes << 20)};
    const auto result =
        dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy"}, options);
    CAPTURE(result.error);
    last = result.code;
    CHECK((last == 0 || last == 5 || last == 6));
    CHECK(folder.list() == (last == 0 ? "op.json x.npy y.npy" : "op.json x.npy"));
    if (last == 0) continue;
    has_failed = true;
    CHECK((contains(result.error, "ut of memory") ||
           contains(result.error, "annot allocate memory")));
  }
  CHECK(has_failed);
  CHECK(last == 0);
}

TEST_CASE("memory: without threads, or with fewer, the work is done all the same") {
  if (!can_inject_faults()) return;
  BatchFolder folder;
  std::vector<float> numbers(3000000);
  std::iota(numbers.begin(), numbers.end(), 1.F);
  folder.write("large.npy", float_npy("(3000000,)", numbers));
  folder.write("op.json", "{" + edge_fields + "}");
  std::vector<std::string> jobs;
  for (int i = 0; i < 200; ++i) jobs.push_back(named_job("job" + std::to_string(i)));
  folder.write("jobs.jsonl", lines_of(jobs));
  REQUIRE(dmlop_program({"run", "op.json", "--cpu", "-i", "large.npy", "-o", "large-golden.npy"},
                        {.folder = folder.path()})
              .code == 0);
  unsigned faults = 0;
  for (const bool lasting : {false, true}) {
    faults += for_each_fault(
        {"pthread_create", number(EAGAIN), lasting}, [&](const Injection& injection) {
          ProgramOptions options{.folder = folder.path()};
          options.environment = injection.environment();
          const auto result = dmlop_program({"run", "op.json", "--cpu", "--threads", "4", "-i",
                                             "large.npy", "--expect", "large-golden.npy"},
                                            options);
          CHECK(result.code == 0);
          CHECK(result.error == "");
          CHECK(contains(result.output, "PASSED"));
        });
    faults += for_each_fault({"pthread_create", number(EAGAIN), lasting}, [&](const Injection&
                                                                                  injection) {
      ProgramOptions options{.folder = folder.path()};
      options.environment = injection.environment();
      const auto result = dmlop_program({"batch", "jobs.jsonl", "--cpu", "--jobs", "4"}, options);
      CHECK(result.code == 0);
      CHECK(contains(result.output, "200 PASSED"));
    });
  }
  MESSAGE(faults << " faults injected");
  CHECK(faults >= 8);
}

}  // namespace dmlop::test::fault_memory_test
