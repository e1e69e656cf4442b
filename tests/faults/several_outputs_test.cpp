// The files of a job with several outputs: after an error all of them are what they were before;
// when the process is killed, the first ones in the order of the fields may be new.
#include <doctest/doctest.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <numeric>

#include "batch.hpp"
#include "fault.hpp"

namespace dmlop::test::several_outputs_test {
namespace {

namespace fs = std::filesystem;

/// A SPLIT of rows into three outputs a.npy, b.npy, c.npy.
class SplitFolder : public Folder {
 public:
  explicit SplitFolder(std::size_t row) {
    std::vector<float> numbers(3 * row);
    std::iota(numbers.begin(), numbers.end(), 1.F);
    const std::string width = std::to_string(row);
    write_earlier("x.npy", float_npy("(3, " + width + ")", numbers));
    const std::string desc = R"({"DataType": "FLOAT32", "Sizes": [1, )" + width + "]}";
    write("op.json", R"({"type": "SPLIT", "desc": {"InputTensor": {}, "Axis": 0, )"
                     R"("OutputTensors": [)" +
                         desc + ", " + desc + ", " + desc + "]}}");
    for (std::size_t i = 0; i < 3; ++i)
      complete.push_back(float_npy("(1, " + width + ")",
                                   {numbers.begin() + static_cast<std::ptrdiff_t>(i * row),
                                    numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * row)}));
  }

  std::vector<std::string> arguments() const {
    return {"run",
            "op.json",
            "--cpu",
            "--threads",
            "2",
            "-i",
            "x.npy",
            "-o",
            "OutputTensors=a.npy",
            "-o",
            "OutputTensors=b.npy",
            "-o",
            "OutputTensors=c.npy"};
  }

  /// What the three files hold; "" for one that is not there.
  std::vector<std::string> contents() const {
    std::vector<std::string> found;
    for (const char* name : {"a.npy", "b.npy", "c.npy"})
      found.push_back(has(name) ? read(name) : "");
    return found;
  }

  void prepare(const std::vector<std::string>& before) const {
    const char* names[] = {"a.npy", "b.npy", "c.npy"};
    for (std::size_t i = 0; i < 3; ++i) {
      fs::remove(*this / names[i]);
      if (!before[i].empty()) write(names[i], before[i]);
    }
  }

  /// How many files lie here beside those that belong.
  std::size_t strange_files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(path()))
      count += entry.path().filename().string().starts_with('.') ? 1 : 0;
    return count;
  }

  std::vector<std::string> complete;
};

const std::vector<std::vector<std::string>> befores{
    {"", "", ""}, {"old a", "old b", "old c"}, {"old a", "", "old c"}, {"", "old b", ""}};

TEST_CASE("several outputs: after an error all files are what they were before") {
  if (!can_inject_faults()) return;
  const SplitFolder folder(40);
  unsigned faults = 0;
  for (const auto& before : befores) {
    for (const bool unnamed : {true, false}) {
      for (const auto& [calls, number] : {std::pair<const char*, int>{"rename", EIO},
                                          {"linkat", EIO},
                                          {"write,pwrite", ENOSPC},
                                          {"close", EIO},
                                          {"tmpfile", ENOSPC},
                                          {"fchmod", EIO}}) {
        faults += for_each_fault({calls, std::to_string(number)}, [&](const Injection& injection) {
          folder.prepare(before);
          ProgramOptions options{.folder = folder.path()};
          options.environment = injection.environment();
          if (!unnamed) options.environment.push_back(without_unnamed_files.back());
          const auto result = dmlop_program(folder.arguments(), options);
          CAPTURE(result.error);
          CAPTURE(before);
          CHECK(folder.strange_files() == 0);
          if (result.code == 0) {
            check_may_be_ignored(injection);
            CHECK((folder.contents() == folder.complete));
          } else {
            CHECK(result.code == 6);
            CHECK(contains(result.error, std::strerror(number)));
            CHECK((folder.contents() == before));
          }
        });
      }
    }
  }
  CHECK(faults > 100);
}

TEST_CASE("several outputs: golden files are written together, too") {
  if (!can_inject_faults()) return;
  const SplitFolder folder(40);
  const auto golden = [&](const ProgramOptions& options) {
    return dmlop_program(
        {"run", "op.json", "--cpu", "-i", "x.npy", "--expect", "OutputTensors=a.npy", "--expect",
         "OutputTensors=b.npy", "--expect", "OutputTensors=c.npy", "--update-golden=accept"},
        options);
  };
  const std::vector<std::string> before{"", folder.complete[0], ""};
  const auto faults =
      for_each_fault({"linkat,rename", std::to_string(EIO)}, [&](const Injection& injection) {
        folder.prepare(before);
        ProgramOptions options{.folder = folder.path()};
        options.environment = injection.environment();
        const auto result = golden(options);
        CAPTURE(result.error);
        CHECK((folder.contents() == (result.code == 0 ? folder.complete : before)));
        CHECK((result.code == 6) == injection.has_happened());
        CHECK(folder.strange_files() == 0);
      });
  CHECK(faults >= 3);
}

TEST_CASE("several outputs, killed: the first ones are new, the others are what they were") {
  if (!can_inject_faults()) return;
  const SplitFolder folder(500'000);
  unsigned partly_new = 0;
  for (const auto& before : befores) {
    const auto kills =
        for_each_fault({changes_of_files, "signal 9"}, [&](const Injection& injection) {
          folder.prepare(before);
          ProgramOptions options{.folder = folder.path()};
          options.environment = injection.environment();
          const int code = dmlop_program(folder.arguments(), options).code;
          CHECK(code == (injection.has_happened() ? 128 + SIGKILL : 0));
          const auto now = folder.contents();
          std::size_t fresh = 0;
          while (fresh < 3 && now[fresh] == folder.complete[fresh]) ++fresh;
          for (std::size_t rest = fresh; rest < 3; ++rest) CHECK((now[rest] == before[rest]));
          partly_new += fresh > 0 && fresh < 3 ? 1 : 0;
          for (const auto& entry : fs::directory_iterator(folder.path())) {
            if (entry.path().filename().string().starts_with('.')) fs::remove(entry.path());
          }
        });
    CHECK(kills > 10);
  }
  CHECK(partly_new >= 2 * befores.size());
}

}  // namespace

}  // namespace dmlop::test::several_outputs_test
