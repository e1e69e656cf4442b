// Every call on files that a run makes fails once, in every way it can: exit code 6 with the reason
// and nothing changed, or, where harmless_calls says why, the result without the fault.
#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <numeric>

#include "batch.hpp"
#include "fault.hpp"

namespace dmlop::test::fault_files_test {
namespace {

namespace fs = std::filesystem;

const std::string error(int number) {
  return std::to_string(number);
}

/// Faults after which the system goes on as before: the result is the same.
const std::vector<Fault> harmless{{"open", error(EINTR)},
                                  {"read", error(EINTR)},
                                  {"write,pwrite", error(EINTR)},
                                  {"posix_fallocate", error(EINTR)},
                                  {"close", error(EINTR)},
                                  {"read", "one"},
                                  {"read", "half"},
                                  {"read", "half", true},
                                  {"write,pwrite", "one"},
                                  {"write,pwrite", "half"},
                                  {"write,pwrite", "half", true},
                                  {"posix_fallocate", error(EOPNOTSUPP)},
                                  {"mmap", error(ENODEV)},
                                  {"linkat", error(EINTR)},
                                  {"tmpfile", error(EINTR)},
                                  {"tmpfile", error(EOPNOTSUPP)},
                                  {"tmpfile", error(EISDIR)},
                                  {"tmpfile", error(ENOENT)},
                                  {"lseek", error(EINVAL), true},
                                  {"lease", error(EINVAL), true},
                                  {"lease", error(EACCES), true},
                                  {"pread", error(EINTR)},
                                  {"pread", "one"},
                                  {"pread", "half", true},
                                  {"statvfs", error(EIO)}};

/// Faults that are the end of the run, but for harmless_calls.
const std::vector<Fault> harmful{{"open", error(EIO)},
                                 {"open", error(EMFILE)},
                                 {"open", error(ENOSPC)},
                                 {"open", error(EMFILE), true},
                                 {"read", error(EIO)},
                                 {"write,pwrite", error(ENOSPC)},
                                 {"write,pwrite", error(ENOSPC), true},
                                 {"write,pwrite", error(EDQUOT)},
                                 {"write,pwrite", error(EIO)},
                                 {"posix_fallocate", error(ENOSPC)},
                                 {"posix_fallocate", error(EIO)},
                                 {"linkat", error(EIO)},
                                 {"linkat", error(ENOSPC)},
                                 {"linkat", error(EIO), true},
                                 {"dup", error(EMFILE)},
                                 {"tmpfile", error(ENOSPC)},
                                 {"pread", error(EIO)},
                                 {"rename", error(EIO)},
                                 {"rename", error(ENOSPC)},
                                 {"close", error(EIO)},
                                 {"close", error(ENOSPC)},
                                 {"close", error(EDQUOT)},
                                 {"fstat", error(EIO)},
                                 {"stat", error(EIO)},
                                 {"stat", error(ENOMEM)},
                                 {"stat,lstat,fstat", error(EIO), true},
                                 {"lstat", error(EIO)},
                                 {"readlink", error(EIO)},
                                 {"fchmod", error(EIO)},
                                 {"mmap", error(ENOMEM)},
                                 {"mmap", error(EAGAIN)}};

std::string reason_of(const Fault& fault) {
  return std::strerror(std::stoi(fault.effect));
}

/// A file of numbers that is mapped, with an output for which disk space is reserved.
std::string large_npy() {
  std::vector<float> numbers(270000);
  std::iota(numbers.begin(), numbers.end(), 1.F);
  return float_npy("(270000,)", numbers);
}

struct Scenario {
  std::string name;
  std::string input;
  std::vector<std::string> arguments;
  std::string output;      // the file that is written; "": none
  std::string old_output;  // what it holds before; "": it does not exist
  bool has_unnamed_files = true;
  bool is_of_future = false;  // the input, whose time proves nothing
};

const std::string small = float_npy("(3,)", {1, 2, 3});
const std::string old = "what was there before";
/// Of what was there before: fewer than a new file has.
constexpr fs::perms old_permissions = fs::perms::owner_read | fs::perms::owner_write;

std::vector<Scenario> scenarios() {
  return {
      {"small", small, {"-o", "y.npy"}, "y.npy", ""},
      {"large", large_npy(), {"-o", "y.npy"}, "y.npy", old},
      {"named", small, {"-o", "y.npy"}, "y.npy", "", false},
      {"named large", large_npy(), {"-o", "y.npy"}, "y.npy", old, false},
      {"future", small, {"-o", "y.npy"}, "y.npy", "", true, true},
      {"link", small, {"-o", "link.npy"}, "y.npy", old},
      {"stream", small, {"-o", "-"}, "", ""},
      {"expect", large_npy(), {"--expect", "golden.npy"}, "", ""},
      {"expect and output", small, {"--expect", "golden.npy", "-o", "y.npy"}, "y.npy", old},
      {"golden", large_npy(), {"--expect", "y.npy", "--update-golden=accept"}, "y.npy", ""},
      {"golden again",
       small,
       {"--expect", "y.npy", "--update-golden=accept"},
       "y.npy",
       float_npy("(6,)", {0, 0, 0, 0, 0, 0})},
  };
}

/// One scenario in a folder of its own, run again and again.
class Run {
 public:
  explicit Run(const Scenario& scenario) : scenario_(scenario) {
    folder_.write("op.json", "{" + edge_fields + "}");
    folder_.write_earlier("x.npy", scenario.input);
    if (scenario.is_of_future)
      fs::last_write_time(folder_ / "x.npy",
                          fs::file_time_type::clock::now() + std::chrono::hours(1));
    fs::create_symlink("y.npy", folder_ / "link.npy");
    arguments_ = {"run", "op.json", "--cpu", "--threads", "2", "-i", "x.npy"};
    REQUIRE(dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "golden.npy"},
                          {.folder = folder_.path()})
                .code == 0);
    arguments_.insert(arguments_.end(), scenario.arguments.begin(), scenario.arguments.end());
    clean_ = once({});
    CAPTURE(clean_.program.error);
    REQUIRE(clean_.program.code == 0);
    if (!scenario.output.empty()) REQUIRE(clean_.output == folder_.read("golden.npy"));
  }

  void expect_same(const Injection& injection) { check_same(once(injection.environment())); }

  void expect_failure(const Injection& injection, const std::string& reason) {
    const Outcome now = once(injection.environment());
    CAPTURE(now.program.error);
    if (now.program.code == clean_.program.code) {
      check_may_be_ignored(injection);
      return check_same(now);
    }
    CHECK(now.program.code == 6);
    CHECK(contains(now.program.error, "error: "));
    CHECK(contains(now.program.error, reason));
    const bool names_file =
        contains(now.program.error, ".npy") || contains(now.program.error, "op.json") ||
        contains(now.program.error, "tol.json") || contains(now.program.error, "standard output");
    CHECK(names_file);
    CHECK(clean_.program.output.starts_with(now.program.output));
    // A golden file that was written is there, even if it could not be read again.
    const bool is_done =
        contains(now.program.error, "reading the golden file y.npy") && now.output == clean_.output;
    check_files(now, is_done ? clean_.output : scenario_.old_output);
  }

 private:
  struct Outcome {
    ProgramResult program;
    std::string output;  // "": no file
    fs::perms permissions = fs::perms::none;
  };

  void check_same(const Outcome& now) const {
    CHECK(now.program.code == clean_.program.code);
    CHECK(now.program.output == clean_.program.output);
    CHECK(now.program.error == clean_.program.error);
    check_files(now, clean_.output);
  }

  Outcome once(const std::vector<std::string>& environment) {
    fs::remove(folder_ / "y.npy");
    if (!scenario_.old_output.empty()) {
      folder_.write("y.npy", scenario_.old_output);
      fs::permissions(folder_ / "y.npy", old_permissions);
    }
    ProgramOptions options{.folder = folder_.path()};
    options.environment = environment;
    if (!scenario_.has_unnamed_files && environment.empty())
      options.environment = without_unnamed_files;
    else if (!scenario_.has_unnamed_files)
      options.environment.push_back(without_unnamed_files.back());
    Outcome outcome{dmlop_program(arguments_, options), ""};
    if (!scenario_.output.empty() && fs::exists(folder_ / scenario_.output)) {
      outcome.output = folder_.read(scenario_.output);
      outcome.permissions = fs::status(folder_ / scenario_.output).permissions();
    }
    return outcome;
  }

  void check_files(const Outcome& now, const std::string& output) const {
    CHECK((now.output == output));  // megabytes are not printed
    if (!now.output.empty() && !scenario_.old_output.empty())
      CHECK(now.permissions == old_permissions);
    CHECK(folder_.list() ==
          std::string("golden.npy link.npy op.json x.npy") + (now.output.empty() ? "" : " y.npy"));
    CHECK(fs::is_symlink(folder_ / "link.npy"));
    CHECK((folder_.read("x.npy") == scenario_.input));
  }

  const Scenario& scenario_;
  Folder folder_;
  std::vector<std::string> arguments_;
  Outcome clean_;
};

/// Calls `check` for every fault in every scenario; each kind of fault happens somewhere.
void inject(const std::vector<Fault>& faults,
            const std::function<void(Run& run, const Injection& injection)>& check) {
  std::vector<unsigned> counts(faults.size());
  for (const Scenario& scenario : scenarios()) {
    CAPTURE(scenario.name);
    Run run(scenario);
    for (std::size_t i = 0; i < faults.size(); ++i) {
      counts[i] +=
          for_each_fault(faults[i], [&](const Injection& injection) { check(run, injection); });
    }
  }
  for (std::size_t i = 0; i < faults.size(); ++i) {
    CAPTURE(faults[i].calls);
    CAPTURE(faults[i].effect);
    CHECK(counts[i] > 0);
  }
  const unsigned sum = std::accumulate(counts.begin(), counts.end(), 0U);
  MESSAGE(sum << " faults injected");
}

}  // namespace

TEST_CASE("faults: a run that is interrupted, or served in small portions, has the same result") {
  if (!can_inject_faults()) return;
  inject(harmless, [](Run& run, const Injection& injection) { run.expect_same(injection); });
}

TEST_CASE("faults: a run that a call fails ends with 6 and the reason") {
  if (!can_inject_faults()) return;
  inject(harmful, [](Run& run, const Injection& injection) {
    run.expect_failure(injection, reason_of(injection.fault()));
  });
}

}  // namespace dmlop::test::fault_files_test
