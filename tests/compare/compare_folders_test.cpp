// dmlop compare of two folders: which files it pairs, what it says of each, and how it ends.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace dmlop::test::compare_folders_test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Two folders, a and b, with files that agree below both.
class TwoFolders : public Folder {
 public:
  TwoFolders() {
    for (const std::string side : {"a", "b"}) {
      make(side + "/deep/er");
      write(side + "/same.npy", float_npy("(2,)", {1, 2}));
      write(side + "/deep/er/same.npy", float_npy("(3,)", {1, 2, 3}));
    }
  }
  void make(const std::string& folder) const {
    std::filesystem::create_directories(*this / folder);
  }
  ProgramResult compare(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"compare", "a", "b"});
    return dmlop_program(arguments, {.folder = path()});
  }
};

}  // namespace

TEST_CASE("compare: standard input cannot be both files") {
  const auto both = dmlop_program({"compare", "-", "-"}, {.input = "bytes"});
  CHECK(both.code == 2);
  CHECK(both.error ==
        "dmlop: error: ACTUAL.npy and EXPECTED.npy are both standard input, which can be read only "
        "once; name a file for one of them\n");
}

TEST_CASE("files of the same path below two folders are compared, a line for each") {
  const TwoFolders folder;
  for (const std::string side : {"a", "b"})
    folder.write(side + "/LOUD.NPY", float_npy("(1,)", {4}));
  folder.write("a/notes.txt", "other files do not count");
  const auto result = folder.compare();
  CHECK(result.code == 0);
  CHECK(result.error == "");
  CHECK(result.output ==
        "PASSED: LOUD.NPY: 1 element agrees\n"
        "PASSED: deep/er/same.npy: 3 elements agree\n"
        "PASSED: same.npy: 2 elements agree\n"
        "3 files: 3 passed\n");
  CHECK(folder.compare({"-q"}).output == "");
}

TEST_CASE("what differs, proves nothing or is on one side only ends with exit code 1") {
  const TwoFolders folder;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string side : {"a", "b"})
    folder.write(side + "/nan.npy", float_npy("(1,)", {nan}));
  folder.write("a/x.npy", float_npy("(4,)", {1, 0, 0, 4}));
  folder.write("b/x.npy", float_npy("(4,)", {1, 2, 3, 4}));
  folder.write("a/deep/mine.npy", float_npy("(1,)", {1}));
  folder.write("b/yours.npy", float_npy("(1,)", {1}));
  const auto result = folder.compare();
  CHECK(result.code == 1);
  CHECK(result.output ==
        "PASSED: deep/er/same.npy: 3 elements agree\n"
        "ONLY ACTUAL: deep/mine.npy: no file in b\n"
        "MISTRUSTED: nan.npy: 1 element agrees; every element is NaN\n"
        "PASSED: same.npy: 2 elements agree\n"
        "FAILED: x.npy: 2 of 4 elements differ (50%); where: only [1:3] differs; relation: actual "
        "is 0 where it differs\n"
        "ONLY EXPECTED: yours.npy: no file in a\n"
        "6 files: 2 passed, 1 failed, 1 mistrusted, 1 only in the actual folder, 1 only in the "
        "expected folder\n");
  CHECK(folder.compare({"-q"}).code == 1);
  const auto allowed = folder.compare({"--atol", "3", "--allow-trivial"});
  CHECK(allowed.code == 1);
  CHECK(contains(allowed.output,
                 "6 files: 4 passed, 1 only in the actual folder, 1 only in the "
                 "expected folder\n"));
}

TEST_CASE("each kind of difference alone is enough for exit code 1") {
  for (const char* file : {"a/mine.npy", "b/yours.npy"}) {
    const TwoFolders folder;
    folder.write(file, float_npy("(1,)", {1}));
    CHECK(folder.compare().code == 1);
  }
  const TwoFolders folder;
  folder.write("a/same.npy", float_npy("(2,)", {1, 3}));
  CHECK(folder.compare().code == 1);
  CHECK(folder.compare({"--atol", "1"}).code == 0);
}

TEST_CASE("the JSON of two folders has every file with its comparison") {
  const TwoFolders folder;
  folder.write("a/same.npy", float_npy("(2,)", {1, 3}));
  folder.write("a/mine.npy", float_npy("(1,)", {1}));
  const auto result = folder.compare({"--format", "json"});
  CHECK(result.code == 1);
  CHECK(result.error == "");
  const Json json = Json::parse(result.output);
  CHECK(json.at("status") == "different");
  CHECK(json.at("exitCode") == 1);
  CHECK(json.at("actual") == "a");
  CHECK(json.at("expected") == "b");
  CHECK(json.at("summary") == "3 files: 1 passed, 1 failed, 1 only in the actual folder");
  REQUIRE(json.at("files").size() == 3);
  CHECK(json.at("files").at(0).at("name") == "deep/er/same.npy");
  CHECK(json.at("files").at(0).at("outcome") == "PASSED");
  CHECK(json.at("files").at(0).at("elements") == 3);
  CHECK(json.at("files").at(1) ==
        Json{{"name", "mine.npy"}, {"outcome", "ONLY ACTUAL"}, {"message", "no file in b"}});
  CHECK(json.at("files").at(2).at("outcome") == "FAILED");
  CHECK(json.at("files").at(2).at("region").at("slices") == "[1]");
}

TEST_CASE("a file that cannot be read is said, the others are compared") {
  const TwoFolders folder;
  folder.write("b/deep/er/same.npy", "no array");
  const auto result = folder.compare();
  CHECK(result.code == 3);
  CHECK(contains(result.output, "ERROR: deep/er/same.npy: reading b/deep/er/same.npy: "));
  CHECK(contains(result.output, "\nPASSED: same.npy: 2 elements agree\n"));
  CHECK(result.output.ends_with("2 files: 1 passed, 1 with errors\n"));
  CHECK(Json::parse(folder.compare({"--format", "json"}).output).at("status") == "error");
}

TEST_CASE("links to folders count, circles end, and a pipe that is found is not waited for") {
  namespace fs = std::filesystem;
  const TwoFolders folder;
  folder.write("other/l.npy", float_npy("(1,)", {1}));
  folder.write("others/l.npy", float_npy("(1,)", {2}));
  fs::create_symlink("../other", folder / "a/link");
  fs::create_symlink("../others", folder / "b/link");
  fs::create_symlink("..", folder / "a/deep/circle");
  const auto linked = folder.compare();
  CHECK(linked.code == 1);
  CHECK(contains(linked.output, "FAILED: link/l.npy: "));
  CHECK(linked.output.ends_with("3 files: 2 passed, 1 failed\n"));

  REQUIRE(::mkfifo((folder / "a/p.npy").c_str(), 0600) == 0);
  folder.write("b/p.npy", float_npy("(1,)", {2}));
  const auto pipe = folder.compare();
  CHECK(pipe.code == 3);
  CHECK(contains(pipe.output,
                 "ERROR: p.npy: a/p.npy: this is a pipe or a device, which would be waited "
                 "for; remove it, or name it on the command line"));
}

TEST_CASE("a folder and a file, folders without files, and a picture of folders are wrong usage") {
  const TwoFolders folder;
  const auto refused = [&](std::vector<std::string> arguments, const std::string& message) {
    arguments.insert(arguments.begin(), "compare");
    const auto result = dmlop_program(arguments, {.folder = folder.path()});
    CHECK(result.code == 2);
    CHECK(result.error == "dmlop: error: " + message + "\n");
  };
  refused({"a", "b/same.npy"},
          "a is a folder and b/same.npy is none: compare two files or two folders");
  refused({"a/same.npy", "b"},
          "b is a folder and a/same.npy is none: compare two files or two folders");
  refused({"a", "b", "--heatmap", "x.png"},
          "--heatmap draws one file; compare the two files that it is to draw");
  folder.make("c");
  folder.make("d");
  refused({"c", "d"},
          "there is no .npy file below c and none below d: name folders with .npy files");
  CHECK(dmlop_program({"compare", "c", "a"}, {.folder = folder.path()}).code == 1);
}

}  // namespace dmlop::test::compare_folders_test
