// dmlop run and dmlop batch are killed at random moments: their files are complete or absent, and
// the next run does the rest. The moments are spread over the measured duration of a run.
// DMLOP_TEST_SEED repeats an earlier test's moments.
//
// A file that is being written has no name, so nothing of it stays. Where the system has no such
// files, and in the short moment in which an existing file is replaced, a killed run leaves
// .NAME.xxxxxxxxxxxx.tmp beside NAME. Nobody reads them and no later run takes their names; whoever
// wants the room removes them.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <random>
#include <regex>
#include <thread>

#include "batch.hpp"
#include "fault.hpp"
#include "sanitized.hpp"

namespace {

namespace fs = std::filesystem;
using namespace dmlop::test;
using Clock = std::chrono::steady_clock;

constexpr int kills = 100;

class Moments {
 public:
  Moments() {
    const char* given = std::getenv("DMLOP_TEST_SEED");
    const auto seed = given != nullptr ? static_cast<std::uint32_t>(std::stoul(given))
                                       : std::uint32_t{std::random_device{}()};
    MESSAGE("DMLOP_TEST_SEED=" << seed);
    random.seed(seed);
  }

  /// Lets a program run undisturbed, to know how long it takes.
  ProgramResult measure(const std::vector<std::string>& command, const ProgramOptions& options) {
    const Clock::time_point start = Clock::now();
    Process process(command, options);
    while (process.is_running()) std::this_thread::sleep_for(step);
    duration_ = Clock::now() - start;
    return process.wait();
  }

  struct Kill {
    bool was_running = false;
    bool was_writing = false;
  };

  /// Kills a program at a moment of its duration, or finds that it had ended before. The machine's
  /// other work changes how long it takes: who ends before tells anew.
  Kill kill(const std::vector<std::string>& command, const ProgramOptions& options,
            const Folder& folder) {
    const double share = std::uniform_real_distribution<double>(0, 1)(random);
    const Clock::time_point start = Clock::now();
    const auto moment = start + std::chrono::duration_cast<Clock::duration>(duration_ * share);
    Process process(command, options);
    while (process.is_running() && Clock::now() < moment)
      std::this_thread::sleep_for(std::min<Clock::duration>(step, moment - Clock::now()));
    const bool was_writing = process.is_writing_in(folder);
    if (process.is_running()) process.send(SIGKILL);
    const ProgramResult result = process.wait();
    CAPTURE(result.error);
    CHECK((result.code == 0 || result.code == 128 + SIGKILL));
    if (result.code == 0) duration_ = std::min(duration_, Clock::now() - start);
    return {result.code != 0, result.code != 0 && was_writing};
  }

  std::mt19937 random;

 private:
  static constexpr Clock::duration step = std::chrono::microseconds(200);
  Clock::duration duration_{};
};

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

/// Kills runs that write a file anew, or replace one; `most_left` temporary files stay behind.
void kill_runs(const std::vector<std::string>& environment, int most_left_new,
               int most_left_replaced) {
  constexpr std::size_t row = std::size_t{1} << 19;
  const Folder folder;
  folder.write("row.npy", float_npy("(524288,)", counted_up(row)));
  folder.write("op.json", R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", )"
                          R"("Sizes": [16, 524288], "Strides": [0, 1]}, "PaddingMode": "EDGE", )"
                          R"("StartPadding": [0, 1], "EndPadding": [0, 0]}, )"
                          R"("bindings": {"InputTensor": "row.npy"}})");
  const std::vector<std::string> command{program_path(), "run", "--cpu",
                                         "op.json",      "-o",  "out.npy"};
  ProgramOptions options{.folder = folder.path()};
  options.environment = environment;
  Moments moments;
  REQUIRE(moments.measure(command, options).code == 0);
  const std::string complete = folder.read("out.npy");
  std::vector<float> padded = counted_up(row);
  padded.insert(padded.begin(), 1.0F);
  std::string elements;
  for (int i = 0; i < 16; ++i) elements += bytes_of(padded);
  REQUIRE((complete == npy("<f4", "(16, 524289)", elements)));

  const std::string older = folder.read("row.npy");
  int running = 0, writing = 0, ended = 0, left_new = 0, left_replaced = 0;
  std::vector<fs::path> kept;  // some stay, and must do no harm
  for (int i = 0; i < kills; ++i) {
    CAPTURE(i);
    if (i % 10 == 0) CHECK(moments.measure(command, options).code == 0);
    const bool has_older = i % 2 == 0;
    fs::remove(folder / "out.npy");
    if (has_older) folder.write("out.npy", older);
    const auto [was_running, was_writing] = moments.kill(command, options, folder);
    const bool is_there = folder.has("out.npy");
    const std::string left = is_there ? folder.read("out.npy") : "";
    const bool is_complete = left == complete;
    CHECK((is_complete || (has_older ? left == older : !is_there)));
    if (!was_running) CHECK(is_complete);
    const auto temporary = temporary_files(folder.path());
    CHECK((temporary.size() == kept.size() ||
           (was_running && !is_complete && temporary.size() == kept.size() + 1)));
    running += was_running ? 1 : 0;
    writing += was_writing ? 1 : 0;
    (has_older ? left_replaced : left_new) += temporary.size() > kept.size() ? 1 : 0;
    ended += was_running ? 0 : 1;
    for (const fs::path& path : temporary) {
      if (std::find(kept.begin(), kept.end(), path) != kept.end()) continue;
      if (kept.size() < 3) {
        kept.push_back(path);
      } else {
        fs::remove(path);
      }
    }
  }
  MESSAGE("killed while running: " << running << ", of them with a part of the output written: "
                                   << writing << "; ended before: " << ended
                                   << "; temporary files left by a new output: " << left_new
                                   << ", by one that is replaced: " << left_replaced);
  CHECK(running > kills / 2);
  CHECK(writing > (is_sanitized ? 0 : kills / 5));  // a sanitizer starts slowly
  CHECK(left_new <= most_left_new);
  CHECK(left_replaced <= most_left_replaced);
  CHECK(moments.measure(command, options).code == 0);
  CHECK((folder.read("out.npy") == complete));
  CHECK(temporary_files(folder.path()).size() == kept.size());
}

}  // namespace

TEST_CASE("dmlop run, killed: the output is complete or absent, or still the older one") {
  const int moments_of_replacing = kills / 10;
  kill_runs({}, 0, moments_of_replacing);
}

TEST_CASE("dmlop run, killed where every file has a name: the same, and temporary files stay") {
  if (!can_inject_faults()) return;
  kill_runs(without_unnamed_files, kills, kills);
}

namespace {

/// A batch of jobs with an output each, and everything that a run of it may leave.
class KilledBatch : public BatchFolder {
 public:
  static constexpr std::size_t jobs = 80;

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

  std::vector<std::string> command() const {
    return {program_path(), "batch",  "jobs.jsonl", "--cpu",     "--jobs",  "2",
            "--out",        "out",    "--resume",   "--results", "r.jsonl", "--junit",
            "junit.xml",    "--html", "report.html"};
  }
  ProgramOptions options() const { return {.folder = path()}; }

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
    CHECK(contains(read("junit.xml"), "tests=\"80\" failures=\"0\" errors=\"0\""));
    for (std::size_t i = 0; i < jobs; ++i) {
      CHECK((read("out/job " + std::to_string(i) + "/OutputTensor.npy") == golden));
    }
  }

  std::string golden;
};

}  // namespace

TEST_CASE(
    "dmlop batch, killed: outputs and reports are complete or absent, --resume does the rest") {
  const KilledBatch batch;
  Moments moments;
  int running = 0, in_the_middle = 0, rounds = 0;
  for (int i = 0; i < kills; ++rounds) {
    CAPTURE(i);
    batch.clear();
    if (rounds % 10 == 0) {
      CHECK(moments.measure(batch.command(), batch.options()).code == 0);
      batch.check_all_done();
      batch.clear();
    }
    // Some of what --resume starts is killed as well.
    const int times = std::uniform_int_distribution<int>(1, 3)(moments.random);
    for (int time = 0; time < times && i < kills; ++time, ++i) {
      const std::size_t before = batch.records().size();
      const bool was_running = moments.kill(batch.command(), batch.options(), batch).was_running;
      batch.check_what_is_left();
      const std::size_t after = batch.records().size();
      CHECK(after >= before);
      if (!was_running) CHECK(after == KilledBatch::jobs);
      running += was_running ? 1 : 0;
      in_the_middle += was_running && after > before && after < KilledBatch::jobs ? 1 : 0;
    }
    const auto rest = Process(batch.command(), batch.options()).wait();
    CAPTURE(rest.error);
    CHECK(rest.code == 0);
    batch.check_all_done();
  }
  MESSAGE("killed while running: " << running << " of " << kills
                                   << ", of them with some jobs done: " << in_the_middle);
  CHECK(running > kills / 2);
  CHECK(in_the_middle > kills / 4);
}
