// dmlop run and dmlop batch are killed before each call that changes a file: their files are
// complete or absent, and the next run does the rest.
//
// A file that is being written has no name, so nothing of it stays. Where the system has no such
// files, and in the short moment in which an existing file is replaced, a killed run leaves
// .NAME.xxxxxxxxxxxx.tmp beside NAME. Nobody reads them and no later run takes their names; whoever
// wants the room removes them.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <numeric>
#include <regex>

#include "batch.hpp"
#include "fault.hpp"

namespace dmlop::test::kill_test {
namespace {

namespace fs = std::filesystem;

/// The temporary files below a folder, all named as documented after a file that belongs there.
std::vector<fs::path> temporary_files(const fs::path& folder) {
  static const std::regex documented(R"(\.(.+)\.[a-z2-7]{12}\.tmp)");
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.')) {
      CHECK_FALSE(name.ends_with(".tmp"));
      continue;
    }
    std::smatch parts;
    CAPTURE(name);
    REQUIRE(std::regex_match(name, parts, documented));
    CHECK((parts[1] == "out.npy" || parts[1] == "OutputTensor.npy" || parts[1] == "junit.xml" ||
           parts[1] == "report.html"));
    found.push_back(entry.path());
  }
  return found;
}

/// FLOAT32 elements, none of them 0: what was never written shows.
std::vector<float> counted_up(std::size_t count) {
  std::vector<float> elements(count);
  std::iota(elements.begin(), elements.end(), 1.0F);
  return elements;
}

}  // namespace

namespace {

/// What the kills of one output left.
struct Left {
  unsigned kills = 0;
  unsigned while_writing = 0;    // a part of the output was written
  unsigned temporary_files = 0;  // that stay behind
};

/// Kills runs that write a file anew, or replace one, before each call that changes a file.
Left kill_runs(bool without_unnamed_files, bool has_older) {
  constexpr std::size_t row = std::size_t{1} << 17;
  const Folder folder;
  folder.write("row.npy", float_npy("(131072,)", counted_up(row)));
  folder.write("op.json", R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", )"
                          R"("Sizes": [16, 131072], "Strides": [0, 1]}, "PaddingMode": "EDGE", )"
                          R"("StartPadding": [0, 1], "EndPadding": [0, 0]}, )"
                          R"("bindings": {"InputTensor": "row.npy"}})");
  std::vector<float> padded = counted_up(row);
  padded.insert(padded.begin(), 1.0F);
  std::string elements;
  for (int i = 0; i < 16; ++i) elements += bytes_of(padded);
  const std::string complete = npy("<f4", "(16, 131073)", elements);
  const std::string older = folder.read("row.npy");

  Left left;
  std::vector<fs::path> kept;  // some stay, and must do no harm
  left.kills = for_each_fault({changes_of_files, "signal 9"}, [&](const Injection& injection) {
    fs::remove(folder / "out.npy");
    if (has_older) folder.write("out.npy", older);
    ProgramOptions options{.folder = folder.path()};
    options.environment = injection.environment();
    if (without_unnamed_files) options.environment.push_back("DMLOP_WITHOUT_UNNAMED_FILES=1");
    const auto result = dmlop_program({"run", "--cpu", "op.json", "-o", "out.npy"}, options);
    CAPTURE(result.error);
    const bool was_killed = injection.has_happened();
    CHECK(result.code == (was_killed ? 128 + SIGKILL : 0));
    const bool is_there = folder.has("out.npy");
    const std::string found = is_there ? folder.read("out.npy") : "";
    const bool is_complete = found == complete;
    CHECK((is_complete || (was_killed && (has_older ? found == older : !is_there))));
    const auto temporary = temporary_files(folder.path());
    CHECK((temporary.size() == kept.size() ||
           (was_killed && !is_complete && temporary.size() == kept.size() + 1)));
    left.while_writing += was_killed && injection.failed().call == "pwrite" ? 1 : 0;
    left.temporary_files += temporary.size() > kept.size() ? 1 : 0;
    for (const fs::path& path : temporary) {
      if (std::find(kept.begin(), kept.end(), path) != kept.end()) continue;
      if (kept.size() < 3) {
        kept.push_back(path);
      } else {
        fs::remove(path);
      }
    }
  });
  MESSAGE("killed " << left.kills << " times, of them with a part of the output written: "
                    << left.while_writing << "; temporary files left: " << left.temporary_files);
  CHECK(left.while_writing > 3);
  return left;
}

}  // namespace

TEST_CASE("dmlop run, killed: the output is complete or absent") {
  if (!can_inject_faults()) return;
  CHECK(kill_runs(false, false).temporary_files == 0);
}

TEST_CASE("dmlop run, killed: the output is complete or still the older one") {
  if (!can_inject_faults()) return;
  const Left left = kill_runs(false, true);
  CHECK(left.temporary_files >= 1);  // between its naming and its replacing, where it is closed
  CHECK(left.temporary_files <= 2);
}

TEST_CASE("dmlop run, killed where every file has a name: the same, and temporary files stay") {
  if (!can_inject_faults()) return;
  for (const bool has_older : {false, true}) {
    const Left left = kill_runs(true, has_older);
    CHECK(left.temporary_files >= left.while_writing);
  }
}

namespace {

/// A batch of jobs with an output each, and everything that a run of it may leave.
class KilledBatch : public BatchFolder {
 public:
  static constexpr std::size_t jobs = 24;

  KilledBatch() {
    constexpr std::size_t count = 40'000;
    std::vector<float> padded = counted_up(count);
    write("x.npy", float_npy("(40000,)", padded));
    padded.insert(padded.begin(), 1.0F);
    padded.insert(padded.end(), 2, padded.back());
    golden = float_npy("(40003,)", padded);
    write("golden.npy", golden);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < jobs; ++i) lines.push_back(named_job("job " + std::to_string(i)));
    write("jobs.jsonl", lines_of(lines));
  }

  /// Runs the batch, or what an earlier run of it has left to do.
  ProgramResult run(const std::vector<std::string>& environment = {}) const {
    return dmlop_program({"batch", "jobs.jsonl", "--cpu", "--jobs", "2", "--out", "out", "--resume",
                          "--results", "r.jsonl", "--junit", "junit.xml", "--html", "report.html"},
                         {.folder = path(), .environment = environment});
  }

  void clear() const {
    for (const char* name : {"out", "r.jsonl", "junit.xml", "report.html"})
      fs::remove_all(fs::path(path()) / name);
  }

  /// The records in the results file by id; every whole line is one, and what follows the last line
  /// end is part of one. Each job has at most one.
  std::map<std::string, Json> records() const {
    std::map<std::string, Json> found;
    if (!has("r.jsonl")) return found;
    std::string text = read("r.jsonl");
    text.erase(text.rfind('\n') + 1);
    for (Json& record : read_records(text)) {
      if (!record.contains("id")) continue;
      const std::string id = record.at("id");
      CHECK(record.at("status") == "PASSED");
      CHECK(found.emplace(id, std::move(record)).second);
    }
    return found;
  }

  /// Whether the last run that wrote records came to its end.
  bool has_ended() const {
    const std::string text = read("r.jsonl");
    const std::size_t summary = text.rfind("\n{\"summary\":{\"complete\":true");
    const std::size_t started = text.rfind("\n{\"started\"");
    if (summary == std::string::npos || text.find('\n', summary + 1) == std::string::npos)
      return false;
    return started == std::string::npos || started < summary;
  }

  void check_what_is_left() const {
    const auto found = records();
    for (std::size_t i = 0; i < jobs; ++i) {
      const std::string id = "job " + std::to_string(i), output = "out/" + id + "/OutputTensor.npy";
      CAPTURE(id);
      if (has(output)) {
        CHECK((read(output) == golden));
      } else {
        CHECK_FALSE(found.contains(id));
      }
    }
    if (has("junit.xml")) CHECK(read("junit.xml").ends_with("</testsuites>\n"));
    if (has("report.html")) CHECK(read("report.html").ends_with("</html>\n"));
    temporary_files(path());
    if (!has("r.jsonl")) return;
    const auto merged = batch({"--merge", "r.jsonl", "--allow-empty"});
    CAPTURE(merged.error);
    CHECK(merged.code == (has_ended() ? 0 : 5));
    if (!found.empty())
      CHECK(contains(merged.output, ": " + std::to_string(found.size()) + " PASSED\n"));
  }

  void check_all_done() const {
    CHECK(records().size() == jobs);
    const auto summary = read_records(read("r.jsonl")).back().at("summary");
    CHECK(summary.at("complete") == true);
    CHECK(summary.at("counts").at("PASSED") == jobs);
    CHECK(contains(read("junit.xml"), "tests=\"24\" failures=\"0\" errors=\"0\""));
    for (std::size_t i = 0; i < jobs; ++i) {
      CHECK((read("out/job " + std::to_string(i) + "/OutputTensor.npy") == golden));
    }
  }

  std::string golden;
};

}  // namespace

TEST_CASE(
    "dmlop batch, killed: outputs and reports are complete or absent, --resume does the rest") {
  if (!can_inject_faults()) return;
  const KilledBatch batch;
  unsigned in_the_middle = 0, killed_twice = 0;
  constexpr unsigned step = 8;  // of some hundred calls
  const auto kills = for_each_fault(
      {changes_of_files, "signal 9"},
      [&](const Injection& injection) {
        batch.clear();
        const auto first = batch.run(injection.environment());
        CHECK(first.code == (injection.has_happened() ? 128 + SIGKILL : 0));
        batch.check_what_is_left();
        const std::size_t done = batch.records().size();
        in_the_middle += done > 0 && done < KilledBatch::jobs ? 1 : 0;
        // What --resume starts is killed as well, a little later than the run before.
        const bool is_killed =
            batch.run(signal_at(changes_of_files, 30, SIGKILL)).code == 128 + SIGKILL;
        killed_twice += is_killed ? 1 : 0;
        batch.check_what_is_left();
        CHECK(batch.records().size() >= done);
        const auto rest = batch.run();
        CAPTURE(rest.error);
        CHECK(rest.code == 0);
        batch.check_all_done();
      },
      step);
  MESSAGE("killed " << kills << " times, with some jobs done: " << in_the_middle
                    << ", twice: " << killed_twice);
  CHECK(kills > 20);
  CHECK(in_the_middle > 10);
  CHECK(killed_twice > 10);
}

}  // namespace dmlop::test::kill_test
