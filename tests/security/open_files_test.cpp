// Outputs and inputs that name open files of the program: /dev/stdout, /dev/fd/7.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "batch.hpp"
#include "fault.hpp"
#include "paths.hpp"

namespace dmlop::test::open_files_test {
namespace {

namespace fs = std::filesystem;

const std::string padded = float_npy("(6,)", {1, 1, 2, 3, 3, 3});

class OpFolder : public Folder {
 public:
  OpFolder() {
    write("op.json", "{" + edge_fields + "}");
    write("x.npy", float_npy("(3,)", {1, 2, 3}));
    write("keep", "kept\n");
    fs::create_symlink("/dev/stdout", *this / "link");
  }
  ProgramResult run(const std::string& command) const { return shell(command, {.folder = path()}); }
  static constexpr const char* files = "keep link op.json x.npy";
};

const std::string run = "dmlop run op.json --cpu -i x.npy -o ";

}  // namespace

TEST_CASE("open files: every name of standard output is standard output, without text") {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/../dev/stdout",
                           "/proc/thread-self/fd/1", "link"}) {
    CAPTURE(name);
    const OpFolder folder;
    const auto file = folder.run(run + name + " >> keep");
    CHECK(file.error == "");
    CHECK(file.code == 0);
    CHECK(folder.read("keep") == "kept\n" + padded);
    CHECK(folder.run(run + name + " | cat").output == padded);
    CHECK(folder.run(run + name + " --format json > /dev/null").code == 2);
    CHECK(folder.list() == OpFolder::files);
    CHECK(fs::is_symlink(folder / "link"));
  }
}

TEST_CASE("open files: an output goes to an open file where that is, and nothing is replaced") {
  struct Row {
    std::string command;
    std::string keep;
  };
  for (const Row& row : std::vector<Row>{
           {run + "/dev/fd/7 -q 7>> keep", "kept\n" + padded},
           {run + "/proc/self/fd/7 -q 7> keep", padded},
           {run + "/dev/stderr -q 2>> keep", "kept\n" + padded},
           {"(echo first; " + run + "/dev/fd/7; echo last) 7>&1 >> keep; true", "kept\nfirst\n"},
           {"(" + run + "/dev/fd/7 7>&1; echo last) >> keep", "kept\n" + padded + "last\n"},
       }) {
    CAPTURE(row.command);
    const OpFolder folder;
    const auto result = folder.run(row.command);
    CAPTURE(result.error);
    CHECK(result.code == 0);
    CHECK(folder.read("keep").starts_with(row.keep));
    CHECK(folder.list() == OpFolder::files);
  }
}

TEST_CASE("open files: a report goes to one, even if the folder of its name cannot be written") {
  if (!can_inject_faults()) return;
  // As for a user without rights in /dev.
  const std::string without_rights = "env LD_PRELOAD=" + faults_path() +
                                     " DMLOP_FAULT_CALLS=access DMLOP_FAULT=13 DMLOP_FAULT_AT=1 ";
  const std::string batch = without_rights + program_path() + " batch op.json --cpu --junit ";
  const OpFolder folder;
  const auto refused = folder.run(batch + "report.xml");
  CHECK(refused.code == 6);
  CHECK(contains(refused.error, "Permission denied"));
  fs::create_symlink("/dev/fd/7", folder / "seven");
  const auto written = folder.run(batch + "seven 7> keep");
  CAPTURE(written.error);
  CHECK(written.code != 6);
  CHECK(folder.read("keep").starts_with("<?xml"));
}

TEST_CASE("open files: one without a name gets the output, and no file comes to be") {
  const OpFolder folder;
  const auto removed =
      folder.run("exec 7> f 8< f; rm f; " + run + "/dev/fd/7 -q && cat <&8 > copy");
  CHECK(removed.error == "");
  CHECK(removed.code == 0);
  CHECK(folder.read("copy") == padded);
  CHECK(folder.list() == "copy keep link op.json x.npy");

  const int memory = ::memfd_create("memory", 0);  // inherited
  REQUIRE(memory >= 0);
  const std::string name = std::to_string(memory);
  const auto result = folder.run(run + "/dev/fd/" + name + " -q");
  CHECK(result.error == "");
  CHECK(result.code == 0);
  std::string text(padded.size() + 1, '\0');
  CHECK(::pread(memory, text.data(), text.size(), 0) == static_cast<ssize_t>(padded.size()));
  CHECK(text.substr(0, padded.size()) == padded);
  ::close(memory);
  CHECK(folder.list() == "copy keep link op.json x.npy");
}

TEST_CASE("open files: what cannot take an output is refused before anything is computed") {
  const OpFolder folder;
  for (const auto& [command, message] : std::vector<std::pair<std::string, std::string>>{
           {run + "/dev/fd/7 7>&-", "opening /dev/fd/7: Bad file descriptor"},
           {run + "/dev/fd/3 3>&-", "opening /dev/fd/3: Bad file descriptor"},
           {run + "/dev/fd/7 7< keep", "opening /dev/fd/7: Bad file descriptor"},
           {run + "/dev/stdin < keep", "opening /dev/stdin: Bad file descriptor"},
           {"sleep 20 7> f & id=$!; while ! [ -e f ]; do :; done; rm f; " + run +
                "/proc/$id/fd/7; code=$?; kill $id; exit $code",
            "has no name"},
       }) {
    CAPTURE(command);
    const auto result = folder.run(command);
    CAPTURE(result.error);
    CHECK(result.code == 6);
    CHECK(contains(result.error, message));
    CHECK(folder.read("keep") == "kept\n");
    CHECK(folder.list() == OpFolder::files);
  }
}

TEST_CASE("open files: every name of standard input is standard input, which is read once") {
  const OpFolder folder;
  for (const std::string name : {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}) {
    CAPTURE(name);
    CHECK(folder.run("cat x.npy | dmlop run op.json --cpu -i " + name + " -o -").output == padded);
    CHECK(folder.run("cat op.json | dmlop run " + name + " --cpu -i x.npy -o -").output == padded);
    CHECK(folder.run("(cat keep > /dev/null; dmlop inspect " + name + ") < x.npy").code == 0);
    const auto twice = folder.run("cat op.json | dmlop run - --cpu -i " + name + " -o y.npy");
    CHECK(twice.code == 2);
    CHECK(contains(twice.error, "standard input can be read once only"));
    // From where it is, as a shell's other programs read it.
    CHECK(folder.run("(head -c 5 > /dev/null; dmlop inspect " + name + ") < keep").code == 3);
  }
  CHECK(folder.run("dmlop run op.json --cpu -i /dev/fd/7 -o - 7< x.npy").output == padded);
  CHECK(folder.run("cat x.npy | dmlop run op.json --cpu -i /dev/fd/7 -o - 7<&0").output == padded);
}

}  // namespace dmlop::test::open_files_test
