// The program in a bad environment: a full disk, folders that cannot be written or disappear,
// standard streams that are closed or full, and no free descriptors.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "batch.hpp"
#include "fault.hpp"
#include "paths.hpp"

namespace dmlop::test::fault_streams_test {
namespace {

namespace fs = std::filesystem;

const std::string small = float_npy("(3,)", {1, 2, 3});
const std::string padded = float_npy("(6,)", {1, 1, 2, 3, 3, 3});

/// A folder with op.json and x.npy.
class RunFolder : public Folder {
 public:
  RunFolder() {
    write("op.json", "{" + edge_fields + "}");
    write("x.npy", small);
  }
};

/// A shell that runs commands on a full disk of 1 MiB: `setup` before it is full, which is then
/// mounted as `disk`. SKIPPED where file systems cannot be mounted.
std::string on_small_disk(const std::string& commands) {
  return "unshare --mount sh -c 'mount -t tmpfs -o size=1m tmpfs disk || exit 77; " + commands +
         "'";
}

bool can_mount() {
  const Folder folder;
  fs::create_directory(folder / "disk");
  const auto result = shell(on_small_disk("true"), {.folder = folder.path()});
  if (result.code != 0) MESSAGE("SKIPPED: no file system can be mounted here: " << result.error);
  return result.code == 0;
}

/// A command of the shell whose user has no rights of the superuser; "" where there is none.
std::string unprivileged() {
  if (::geteuid() != 0) return "exec ";
  if (shell("setpriv --reuid=65534 --regid=65534 --clear-groups true").code == 0)
    return "exec setpriv --reuid=65534 --regid=65534 --clear-groups ";
  MESSAGE("SKIPPED: the superuser may write everywhere, and setpriv cannot change that");
  return "";
}

}  // namespace

TEST_CASE("surroundings: on a full disk a run ends with 6, and leaves the disk as it was") {
  if (!can_mount()) return;
  RunFolder folder;
  fs::create_directory(folder / "disk");
  folder.write(
      "large.json",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0], "EndPadding": [500000]}})");
  folder.write(
      "middle.json",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0], "EndPadding": [200000]}})");
  struct Row {
    const char* name;
    const char* fill;     // what is on the disk before
    const char* command;  // of dmlop
    const char* message;
  };
  for (const Row& row : {
           Row{"an output larger than the disk", ":", "run large.json --cpu -i x.npy -o disk/y.npy",
               "reserving 2000140 bytes for disk/y.npy: No space left on device"},
           Row{"an output larger than what is left", "head -c 700000 /dev/zero > disk/old",
               "run middle.json --cpu -i x.npy -o disk/y.npy",
               "writing disk/y.npy: No space left on device"},
           Row{"no byte left", "cat /dev/zero > disk/old 2>/dev/null",
               "run op.json --cpu -i x.npy -o disk/y.npy",
               "writing disk/y.npy: No space left on device"},
           Row{"a golden file", "cat /dev/zero > disk/old 2>/dev/null",
               "run op.json --cpu -i x.npy --expect disk/y.npy --update-golden=accept",
               "writing disk/y.npy: No space left on device"},
       }) {
    CAPTURE(row.name);
    const std::string space = "df --output=used disk | tail -n 1; ls -A disk; ";
    const auto result = shell(on_small_disk(std::string(row.fill) + "; " + space + "dmlop " +
                                            row.command + "; echo code $?; " + space),
                              {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(contains(result.error, row.message));
    const std::size_t middle = result.output.find("code 6\n");
    REQUIRE(middle != std::string::npos);
    CHECK(result.output.substr(0, middle) == result.output.substr(middle + 7));
  }
}

TEST_CASE(
    "surroundings: on a full disk a batch fails where it writes, and its records stay whole") {
  if (!can_mount()) return;
  std::vector<std::string> jobs;
  for (int i = 0; i < 300; ++i) jobs.push_back(named_job("job" + std::to_string(i)));
  const BatchFolder folder(jobs);
  fs::create_directory(folder / "disk");
  for (const std::string fill : {"750000", "950000", "1040000", "1048576"}) {
    CAPTURE(fill);
    const auto result =
        shell(on_small_disk(
                  "head -c " + fill +
                  " /dev/zero > disk/old 2>/dev/null; dmlop batch jobs.jsonl "
                  "--cpu --out disk/out --results disk/r.jsonl --junit disk/junit.xml --html "
                  "disk/report.html; echo code $?; find disk -name \"*.tmp\"; find disk -name "
                  "OutputTensor.npy | xargs -r -n 1 cmp golden.npy; cat disk/r.jsonl > r.jsonl; "
                  "test ! -s disk/junit.xml || tail -c 14 disk/junit.xml"),
              {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(contains(result.error + result.output, "No space left on device"));
    const std::size_t code = result.output.find("code 6\n");
    REQUIRE(code != std::string::npos);
    const std::string rest = result.output.substr(code + 7);
    CHECK((rest == "" || rest == "</testsuites>\n"));
    for (const Json& record : read_records(folder.read("r.jsonl"))) CHECK(record.is_object());
  }
}

TEST_CASE("surroundings: an output that becomes larger than files may be is a failure to write") {
  RunFolder folder;
  folder.write(
      "long.json",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0], "EndPadding": [100000]}})");
  folder.write(
      "reserved.json",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0], "EndPadding": [1000000]}})");
  folder.write("y.npy", "old");
  folder.write("old", "old");
  const std::string names = folder.list();
  struct Row {
    std::string command;
    const char* message;
  };
  for (const Row& row : std::vector<Row>{
           {"dmlop run long.json --cpu -i x.npy -o y.npy", "writing y.npy: File too large"},
           {"dmlop run reserved.json --cpu -i x.npy -o y.npy", "for y.npy: File too large"},
           {"dmlop run long.json --cpu -i x.npy -o - > old",
            "writing to standard output: File too large"},
       }) {
    CAPTURE(row.command);
    const auto result = shell("ulimit -f 64; " + row.command, {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(result.code == 6);
    CHECK(contains(result.error, row.message));
    CHECK(folder.read("y.npy") == "old");
    CHECK(folder.list() == names);
  }
}

TEST_CASE("surroundings: a job whose output becomes larger than files may be ends as ERROR") {
  const BatchFolder folder(
      {named_job("before"),
       R"({"id": "long", "type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0], )"
       R"("EndPadding": [100000]}, "bindings": {"InputTensor": "x.npy"}})",
       named_job("after")});
  const auto result =
      shell("ulimit -f 64; dmlop batch jobs.jsonl --cpu --out out --results r.jsonl",
            {.folder = folder.path()});
  CAPTURE(result.error);
  CHECK(result.code == 6);
  CHECK(contains(result.output, "ERROR long: writing out/long/OutputTensor.npy: File too large\n"));
  CHECK(contains(result.output, ": 2 PASSED, 1 ERROR\n"));
  CHECK(read_records(folder.read("r.jsonl")).size() == 4);
  CHECK(fs::is_empty(folder / "out/long"));
}

TEST_CASE("surroundings: records that become larger than files may be are a failure to write") {
  std::vector<std::string> jobs;
  for (int i = 0; i < 300; ++i) jobs.push_back(named_job(std::to_string(i)));
  const BatchFolder folder(jobs);
  const auto result =
      shell("ulimit -f 64; dmlop batch jobs.jsonl --cpu --results r.jsonl; echo code $?",
            {.folder = folder.path()});
  CHECK(contains(result.error, "File too large; the batch goes on without records\n"));
  CHECK(contains(result.output, ": 300 PASSED\n"));
  CHECK(result.output.ends_with("code 6\n"));
}

TEST_CASE("surroundings: without permission a run ends with 6 and says for what") {
  const std::string user = unprivileged();
  if (user.empty()) return;
  RunFolder folder;
  fs::create_directory(folder / "locked");
  folder.write("locked/y.npy", "old");
  folder.write("secret.npy", small);
  fs::permissions(folder / "secret.npy", fs::perms::none);
  fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec |
                                         fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(folder.path(), fs::perms::all);
  struct Row {
    std::string arguments;
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {"run op.json --cpu -i x.npy -o locked/y.npy",
            "creating locked/y.npy: no file can be created in folder locked: Permission denied"},
           {"run op.json --cpu -i secret.npy -o y.npy", "secret.npy: Permission denied"},
           {"run op.json --cpu -i x.npy --expect secret.npy", "secret.npy: Permission denied"},
           {"batch . --cpu --out locked/out", "--out locked/out: Permission denied"},
           {"batch . --cpu --results locked/r.jsonl",
            "--results locked/r.jsonl: folder locked does not exist or cannot be written"},
           {"batch . --cpu --junit locked/junit.xml", "cannot be written"}}) {
    CAPTURE(row.arguments);
    const auto result =
        shell(user + program_path() + " " + row.arguments, {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(result.code == 6);
    CHECK(contains(result.error, row.message));
    CHECK(folder.read("locked/y.npy") == "old");
    CHECK(folder.list() == "locked op.json secret.npy x.npy");
  }
}

TEST_CASE("surroundings: an output folder that goes away while a run writes is a failure") {
  if (!can_inject_faults()) return;
  RunFolder folder;
  folder.write(
      "large.json",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0], "EndPadding": [500000]}})");
  fs::create_directory(folder / "out");
  ProgramOptions options{.folder = folder.path()};
  options.environment = signal_at("pwrite", 1, SIGSTOP);
  Process process({program_path(), "run", "large.json", "--cpu", "--threads", "1", "-i", "x.npy",
                   "-o", "out/y.npy"},
                  options);
  REQUIRE(process.wait_until_stopped());
  fs::remove_all(folder / "out");
  process.send(SIGCONT);
  const auto result = process.wait();
  CHECK(result.code == 6);
  CHECK(contains(result.error, "naming out/y.npy: No such file or directory"));
  CHECK(folder.list() == "large.json op.json x.npy");
}

TEST_CASE("surroundings: closed standard streams are not mistaken for files") {
  struct Row {
    std::string streams;
    std::string arguments;
    int code;
    const char* message;
  };
  const std::string run = "run op.json --cpu -i x.npy -o y.npy";
  for (const Row& row : std::vector<Row>{
           {"<&-", run, 0, ""},
           {"2>&-", run, 0, ""},
           {"<&- 2>&-", run, 0, ""},
           {">&-", run + " -q", 0, ""},
           {"<&- >&- 2>&-", run + " -q", 0, ""},
           {">&-", run, 6, "writing standard output failed"},
           {">&- 2>&-", run, 6, ""},
           {"<&- >&- 2>&-", run, 6, ""},
           {">&-", "run op.json --cpu -i x.npy -o -", 6,
            "writing to standard output: Bad file descriptor"},
           {"<&-", "run op.json --cpu -i - -o z.npy", 6, "Bad file descriptor"},
           {"<&- 2>&-", "run op.json --cpu -i - -o z.npy", 6, ""},
           {"2>&-", "run none.json --cpu", 6, ""},
           {"<&- >&- 2>&-", "batch jobs.jsonl --cpu --out out -q", 0, ""},
       }) {
    CAPTURE(row.streams);
    CAPTURE(row.arguments);
    RunFolder folder;
    folder.write("jobs.jsonl", edge_job(R"("id": "a")") + "\n");
    const auto result =
        shell("exec dmlop " + row.arguments + " " + row.streams, {.folder = folder.path()});
    CHECK(result.code == row.code);
    CHECK(contains(result.error, row.message));
    if (result.code == 0) CHECK(result.error == "");
    CHECK(folder.read("x.npy") == small);
    CHECK(folder.read("op.json") == "{" + edge_fields + "}");
    const bool is_batch = row.arguments.starts_with("batch");
    if (is_batch) CHECK(folder.read("out/a/OutputTensor.npy") == padded);
    // The results are there; only saying so failed.
    if (row.arguments.starts_with(run)) CHECK(folder.read("y.npy") == padded);
    CHECK_FALSE(folder.has("z.npy"));
  }
}

TEST_CASE(
    "surroundings: streams that are full or that nobody reads make no noise and no difference") {
  struct Row {
    std::string command;
    int code;
    std::string error;
  };
  const std::string run = "dmlop run op.json --cpu -i x.npy -o y.npy";
  for (const Row& row : std::vector<Row>{
           {run + " 2>/dev/full", 0, ""},
           {run + " >/dev/full", 6, "dmlop: error: writing standard output failed\n"},
           {run + " >/dev/full 2>/dev/full", 6, ""},
           {run + " -q >/dev/full", 0, ""},
           {"dmlop run none.json 2>/dev/full", 6, ""},
           {"dmlop run op.json --cpu -i x.npy -o - >/dev/full", 6,
            "dmlop: error: writing to standard output: No space left on device\n"},
           {"dmlop batch jobs.jsonl --cpu --results - 2>/dev/full >/dev/full", 6, ""},
           // A pipe of which the reader is gone, on both streams.
           {"mkfifo p; (exec 3<p; exec 3<&-) & exec 4>p; wait; " + run + " >&4 2>&4", 6, ""},
           {"mkfifo p; (exec 3<p; exec 3<&-) & exec 4>p; wait; " + run + " -q 2>&4", 0, ""},
           // As under `| head`: the code says that something was lost, and no message disturbs.
           {"mkfifo p; (exec 3<p; exec 3<&-) & exec 4>p; wait; " + run + " >&4", 6, ""},
       }) {
    CAPTURE(row.command);
    RunFolder folder;
    folder.write("jobs.jsonl", edge_job(R"("id": "a", "skip": "why")") + "\n");
    const auto result = shell(row.command, {.folder = folder.path()});
    CHECK(result.code == row.code);
    CHECK(result.error == row.error);
    if (contains(row.command, "-o y.npy")) CHECK(folder.read("y.npy") == padded);
  }
}

TEST_CASE("surroundings: with few descriptors the program works, or says that there are too few") {
  if (!can_inject_faults()) return;
  const BatchFolder folder({named_job("a"), named_job("b")});
  folder.write("op.json", "{" + edge_fields + "}");
  fs::create_directory(folder / "jobs");
  folder.write("jobs/a/op.json", "{" + edge_fields + "}");
  folder.write("jobs/a/InputTensor.npy", folder.read("x.npy"));
  folder.write("jobs/a/expected/OutputTensor.npy", folder.read("golden.npy"));
  const std::vector<std::vector<std::string>> commands{
      {"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy", "--expect", "golden.npy"},
      {"check", "op.json", "-i", "x.npy"},
      {"compare", "x.npy", "golden.npy"},
      {"inspect", "x.npy", "golden.npy"},
      {"batch", "jobs.jsonl", "--cpu", "--results", "r.jsonl", "--junit", "j.xml"},
      {"batch", "jobs", "--cpu", "--results", "r.jsonl", "--html", "h.html"}};
  for (const auto& command : commands) {
    CAPTURE(command[0]);
    CAPTURE(command[1]);
    const int good = dmlop_program(command, {.folder = folder.path()}).code;
    bool has_failed = false;
    bool has_worked = false;
    int last = -1;
    for (int files = 3; files <= 12; ++files) {
      CAPTURE(files);
      for (const char* name : {"y.npy", "r.jsonl", "j.xml", "h.html"}) fs::remove(folder / name);
      ProgramOptions options{.folder = folder.path()};
      options.environment = {"LD_PRELOAD=" + faults_path(),
                             "DMLOP_LIMIT_FILES=" + std::to_string(files)};
      const auto result = dmlop_program(command, options);
      CAPTURE(result.error);
      last = result.code;
      CHECK((result.code == good || result.code == 6));
      if (result.code == good) {
        has_worked = true;
        continue;
      }
      CHECK_FALSE(has_worked);  // with fewer
      has_failed = true;
      CHECK(contains(result.error + result.output, "Too many open files"));
      CHECK_FALSE(folder.has("y.npy"));
    }
    CHECK(has_failed);
    CHECK(last == good);
    CHECK(folder.list().find(".tmp") == std::string::npos);
  }
}

}  // namespace dmlop::test::fault_streams_test
