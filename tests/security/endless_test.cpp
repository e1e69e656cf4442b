// Inputs that never end are read as far as they can be meaningful, and then refused.
#include <doctest/doctest.h>

#include <thread>

#include "batch.hpp"
#include "npy/npy.hpp"
#include "pipe.hpp"
#include "sanitized.hpp"

namespace dmlop::test::endless_test {
namespace {

namespace fs = std::filesystem;

/// A folder with the files of every command; the program may have 3 GiB of addresses, so that what
/// reads on without end fails in another way.
class EndlessFolder : public BatchFolder {
 public:
  EndlessFolder() {
    write("op.json", "{" + edge_fields + "}");
    write("model.json", model("/dev/zero"));
    write("npy.json", model("zero.npy"));
    fs::create_symlink("/dev/zero", *this / "zero.npy");
    fs::create_symlink("/dev/zero", *this / "zero.jsonl");
    write("header", float_npy("(3,)", {}));
    write("large-header", float_npy("(1000000000000,)", {}));
  }

  ProgramResult run(const std::string& command) const {
    return shell("ulimit -v 3145728; " + command, {.folder = path()});
  }

 private:
  static std::string model(const std::string& source) {
    return R"({"resources": {"x": {"initialValuesDataType": "FLOAT32", "initialValues": )"
           R"({"sourcePath": ")" +
           source + R"("}}}, "dispatchables": {}, "commands": []})";
  }
};

}  // namespace

TEST_CASE("endless: every command refuses a device and a pipe without end, and says why") {
  if (is_sanitized) {
    MESSAGE("SKIPPED: a sanitizer reserves more addresses than the program may have here");
    return;
  }
  const EndlessFolder folder;
  const std::string zeros = "the file is not .npy: it starts with \"\\x00";
  const std::string text = "the file is text that starts with \"y\\ny\\n";
  const std::string longer =
      "the file is longer than its array: the header says shape (3,) of "
      "'f4', 12 bytes, and at least 13 bytes follow it";
  const std::string json = "the file has more than 67108864 bytes, must have at most 67108864";
  const std::string stream =
      "the file has more than 1073741823 bytes, must have at most 1073741823";
  struct Row {
    std::string command;
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {"dmlop run op.json --cpu -i /dev/zero -o y.npy", zeros},
           {"dmlop run op.json --cpu -i zero.npy -o y.npy", zeros},
           {"dmlop run op.json --cpu -i - -o y.npy < /dev/zero", zeros},
           {"yes | dmlop run op.json --cpu -i - -o y.npy", text},
           {"yes | dmlop run op.json --cpu -i /dev/stdin -o y.npy", text},
           {"cat header /dev/zero | dmlop run op.json --cpu -i - -o y.npy", longer},
           {"cat header /dev/zero | dmlop inspect -", longer},
           {"cat large-header /dev/zero | dmlop inspect -", "out of memory"},
           {"mkfifo p; yes > p & dmlop inspect p", text},
           {"dmlop inspect /dev/zero", zeros},
           {"dmlop compare x.npy /dev/zero", zeros},
           {"dmlop compare /dev/zero x.npy", zeros},
           {"dmlop run op.json --cpu -i x.npy --expect /dev/zero", zeros},
           {"dmlop check op.json -i /dev/zero", zeros},
           {"dmlop bench op.json --cpu -i /dev/zero", zeros},
           {"dmlop run npy.json --cpu", zeros},
           {"dmlop run model.json --cpu", stream},
           {"dmlop check /dev/zero", json},
           {"yes | dmlop run - --cpu -i x.npy -o y.npy", json},
           {"dmlop batch /dev/zero --cpu", json},
           {"dmlop batch zero.jsonl --cpu", "a line has more than 1073741824 bytes"},
           {"dmlop batch - --cpu < /dev/zero", "a line has more than 1073741824 bytes"},
           {"dmlop batch --merge /dev/zero", stream},
       }) {
    CAPTURE(row.command);
    const auto result = folder.run(row.command);
    CAPTURE(result.error);
    CHECK((result.code == 3 || result.code == 6));
    CHECK(contains(result.error, row.message));
    CHECK_FALSE(folder.has("y.npy"));
    fs::remove(folder / "p");
  }
}

TEST_CASE("endless: of a pipe no more is read than the header asks for, and one byte") {
  const Folder folder;
  const std::string whole = float_npy("(3,)", {1, 2, 3});
  for (const std::string& rest : {std::string(1, 'x'), std::string(60'000, 'x')}) {
    make_pipe(folder / "pipe");
    const int both = ::open((folder / "pipe").c_str(), O_RDWR | O_CLOEXEC);  // so nobody waits
    const std::string text = whole + rest;
    REQUIRE(::write(both, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    CHECK_THROWS(NpyFile::open(folder / "pipe"));
    int left = 0;
    REQUIRE(::ioctl(both, FIONREAD, &left) == 0);
    CHECK(static_cast<std::size_t>(left) == rest.size() - 1);
    ::close(both);
    fs::remove(folder / "pipe");
  }
}

TEST_CASE("endless: a pipe that begins wrongly is refused while its writer still has it open") {
  const Folder folder;
  make_pipe(folder / "pipe");
  const int both = ::open((folder / "pipe").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::write(both, "no .npy at all", 14) == 14);
  CHECK_THROWS(NpyFile::open(folder / "pipe"));
  ::close(both);
}

TEST_CASE("endless: arrays of every size and in every portion come through a pipe") {
  const Folder folder;
  for (const std::size_t count : {1UL, 1000UL, 16'352UL, 500'000UL}) {
    CAPTURE(count);
    const std::string text =
        float_npy("(" + std::to_string(count) + ",)", std::vector<float>(count, 3));
    folder.write("x.npy", text);
    for (const char* reader :
         {"cat x.npy | dmlop inspect -", "cat x.npy | dmlop inspect /dev/stdin",
          "dd if=x.npy bs=7000 2> dd | dmlop inspect /dev/fd/0"}) {
      CAPTURE(reader);
      const auto result = shell(reader, {.folder = folder.path()});
      CHECK(result.error == "");
      CHECK(contains(result.output, "FLOAT32 [" + std::to_string(count) + "]"));
      CHECK(contains(result.output, "min 3  max 3  mean 3.0"));
    }
  }
}

}  // namespace dmlop::test::endless_test
