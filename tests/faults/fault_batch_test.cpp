// Every call on files that a batch makes fails once, in every way it can: the job or the report
// that it concerns fails with the reason, but for harmless_calls; the others are right, and nothing
// is there in part.
#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <numeric>

#include "batch.hpp"
#include "batch/digest.hpp"
#include "fault.hpp"

namespace dmlop::test::fault_batch_test {
namespace {

namespace fs = std::filesystem;

std::string error(int number) {
  return std::to_string(number);
}

const std::vector<Fault> harmless{{"open", error(EINTR)},         {"read", error(EINTR)},
                                  {"write,pwrite", error(EINTR)}, {"ftruncate", error(EINTR)},
                                  {"close", error(EINTR)},        {"read", "one"},
                                  {"read", "half", true},         {"write,pwrite", "one"},
                                  {"write,pwrite", "half", true}, {"mmap", error(ENODEV)}};

const std::vector<Fault> harmful{{"open", error(EMFILE)},
                                 {"open", error(EIO)},
                                 {"open", error(EMFILE), true},
                                 {"read", error(EIO)},
                                 {"write,pwrite", error(ENOSPC)},
                                 {"write,pwrite", error(ENOSPC), true},
                                 {"write,pwrite", error(EDQUOT)},
                                 {"ftruncate", error(EIO)},
                                 {"rename", error(EIO)},
                                 {"close", error(EIO)},
                                 {"close", error(ENOSPC)},
                                 {"fstat", error(EIO)},
                                 {"stat", error(EIO)},
                                 {"lstat", error(EIO)},
                                 {"access", error(EIO)},
                                 {"mkdir", error(ENOSPC)},
                                 {"opendir", error(EMFILE)},
                                 {"readdir", error(EIO)},
                                 {"mmap", error(ENOMEM)}};

/// Two jobs, one with an input that is mapped, as lines or as folders.
class Batch {
 public:
  explicit Batch(bool as_folders) : as_folders_(as_folders) {
    std::vector<float> numbers(20000);
    std::iota(numbers.begin(), numbers.end(), 1.F);
    const std::string large = float_npy("(20000,)", numbers);
    numbers.insert(numbers.begin(), numbers.front());
    numbers.insert(numbers.end(), 2, numbers.back());
    const std::string padded = float_npy("(20003,)", numbers);
    outputs_ = {{"large", padded}, {"small", folder_.read("golden.npy")}};
    if (as_folders) {
      fs::create_directory(folder_ / "jobs");
      add_folder("large", large, padded);
      add_folder("small", folder_.read("x.npy"), folder_.read("golden.npy"));
    } else {
      folder_.write("large.npy", large);
      folder_.write("padded.npy", padded);
      folder_.write("jobs.jsonl",
                    lines_of({edge_job(R"("id": "large", "expect": "padded.npy")", "large.npy"),
                              named_job("small")}));
    }
    arguments_ = {"batch",      as_folders ? "jobs" : "jobs.jsonl",
                  "--cpu",      "--out",
                  "out",        "--results",
                  "r.jsonl",    "--junit",
                  "junit.xml",  "--html",
                  "report.html"};
    const auto clean = once({});
    CAPTURE(clean.error);
    REQUIRE(clean.code == 0);
    check_whole();
  }

  /// What is called for a job in a folder, or a .jsonl file, only.
  bool never_calls(const std::string& call) const {
    return !as_folders_ && call.ends_with("dir") && call != "mkdir";
  }

  void expect_same(const Injection& injection) {
    const auto now = once(injection.environment());
    CAPTURE(now.error);
    CHECK(now.code == 0);
    check_whole();
  }

  void expect_failure(const Injection& injection, const std::string& reason) {
    const auto now = once(injection.environment());
    CAPTURE(now.error);
    CAPTURE(now.output);
    if (now.code == 0) {
      check_may_be_ignored(injection);
      return check_whole();
    }
    CHECK(now.code == 6);
    CHECK(contains(now.error + now.output, reason));
    for (const auto& [id, bytes] : outputs_) {
      const std::string output = folder_ / ("out/" + id + "/OutputTensor.npy");
      if (fs::exists(output)) CHECK((read_file(output) == bytes));
    }
    const std::string junit = folder_.read("junit.xml");
    if (junit != old) CHECK(junit.ends_with("</testsuites>\n"));
    if (folder_.has("report.html")) CHECK(is_whole_page());
    if (folder_.has("r.jsonl")) check_records(folder_.read("r.jsonl"));
    check_no_temporary();
  }

 private:
  static constexpr const char* old = "<?xml version=\"1.0\"?>";

  void add_folder(const std::string& id, const std::string& input, const std::string& output) {
    folder_.write("jobs/" + id + "/op.json", "{" + edge_fields + "}");
    folder_.write("jobs/" + id + "/InputTensor.npy", input);
    folder_.write("jobs/" + id + "/expected/OutputTensor.npy", output);
  }

  ProgramResult once(const std::vector<std::string>& environment) {
    for (const char* name : {"out", "r.jsonl", "report.html"}) fs::remove_all(folder_ / name);
    folder_.write("junit.xml", old);
    ProgramOptions options{.folder = folder_.path()};
    options.environment = environment;
    return dmlop_program(arguments_, options);
  }

  bool is_whole_page() const {
    const std::string page = folder_.read("report.html");
    return page.find("</html>", page.size() - 20) != std::string::npos;
  }

  // What passed was compared, and its file is there.
  unsigned check_records(const std::string& text) const {
    unsigned passed = 0;
    for (const Json& record : read_records(text)) {
      if (record.value("status", "") != "PASSED") continue;
      ++passed;
      CHECK(record.at("comparisons").size() == 1);
      const std::string id = record.at("id");
      const Json& output = record.at("outputs").at("OutputTensor");
      const std::string bytes = folder_.read("out/" + id + "/OutputTensor.npy");
      const std::string digest = dmlop::digest_of(std::as_bytes(std::span(bytes)));
      // "": the file could not be read again, and the record proves nothing to --resume.
      CHECK((output.at("digest") == digest || output.at("digest") == ""));
    }
    return passed;
  }

  void check_whole() const {
    for (const auto& [id, bytes] : outputs_)
      CHECK((folder_.read("out/" + id + "/OutputTensor.npy") == bytes));
    CHECK(check_records(folder_.read("r.jsonl")) == outputs_.size());
    CHECK(contains(folder_.read("r.jsonl"), R"("complete":true)"));
    CHECK(contains(folder_.read("junit.xml"), R"(tests="2" failures="0" errors="0")"));
    CHECK(is_whole_page());
    check_no_temporary();
  }

  void check_no_temporary() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      CHECK(entry.path().extension() != ".tmp");
  }

  bool as_folders_;
  BatchFolder folder_;
  std::map<std::string, std::string> outputs_;
  std::vector<std::string> arguments_;
};

unsigned inject(Batch& batch, const std::vector<Fault>& faults, bool are_harmless) {
  unsigned injected = 0;
  for (const Fault& fault : faults) {
    CAPTURE(fault.calls);
    CAPTURE(fault.effect);
    const unsigned count = for_each_fault(fault, [&](const Injection& injection) {
      if (are_harmless) {
        batch.expect_same(injection);
      } else {
        batch.expect_failure(injection, std::strerror(std::stoi(fault.effect)));
      }
    });
    CHECK((count > 0 || batch.never_calls(fault.calls)));
    injected += count;
  }
  MESSAGE(injected << " faults injected");
  return injected;
}

}  // namespace

TEST_CASE(
    "faults: a batch that is interrupted, or served in small portions, has the same results") {
  if (!can_inject_faults()) return;
  for (const bool as_folders : {false, true}) {
    CAPTURE(as_folders);
    Batch batch(as_folders);
    CHECK(inject(batch, harmless, true) > 60);
  }
}

TEST_CASE("faults: in a batch of lines a call that fails is one job's or one report's failure") {
  if (!can_inject_faults()) return;
  Batch batch(false);
  CHECK(inject(batch, harmful, false) > 100);
}

TEST_CASE("faults: in a batch of folders a call that fails is one job's or one report's failure") {
  if (!can_inject_faults()) return;
  Batch batch(true);
  CHECK(inject(batch, harmful, false) > 100);
}

}  // namespace dmlop::test::fault_batch_test
